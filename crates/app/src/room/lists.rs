//! Lists of posts with one topic, or by one author.

use crate::accounts::NotFound;
use crate::room::PostPage;
use crate::store::{FeedReadTx, PostsOfReadTx, Query};
use std::convert::Infallible;
use terrace_kernel::{Failure, Limit, Outcome, Position, TimeKey, Timestamp, UserId};
use terrace_social::Tag;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPosts {
    pub page: PostPage,
    /// Position from which to follow the stream: later changes may be missing from the page.
    pub position: Position,
}

/// Reads a page of the posts with a topic, newest first, in two statements.
#[derive(Debug, Clone)]
pub struct ReadTagged {
    /// Topic of the posts.
    pub tag: Tag,
    /// Reader, if signed in.
    pub reader: Option<UserId>,
    /// Maximum number of posts.
    pub limit: Limit,
    /// Key after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ReadTagged {
    const NAME: &'static str = "read_tagged";
    type Ports = dyn FeedReadTx;
    type Output = ListedPosts;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn FeedReadTx, _now: Timestamp) -> Outcome<ListedPosts, Infallible> {
        // Before the list, so that a change that commits in between is in one of the two.
        let position = tx.head()?;
        Ok(ListedPosts { page: tx.posts_tagged(&self.tag, self.reader, self.limit, self.after)?, position })
    }
}

/// Reads a page of the posts of an active account that is not hidden from the reader, newest first.
#[derive(Debug, Clone)]
pub struct ReadPostsOf {
    pub author: UserId,
    /// Reader, if signed in.
    pub reader: Option<UserId>,
    /// Maximum number of posts.
    pub limit: Limit,
    /// Key after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ReadPostsOf {
    const NAME: &'static str = "read_posts_of";
    type Ports = dyn PostsOfReadTx;
    type Output = ListedPosts;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn PostsOfReadTx, _now: Timestamp) -> Outcome<ListedPosts, NotFound> {
        let position = tx.head()?;
        tx.public_profile(self.author)?.ok_or(Failure::Refused(NotFound))?;
        if let Some(reader) = self.reader
            && reader != self.author
            && tx.ties(reader, self.author)?.hidden
        {
            return Err(Failure::Refused(NotFound));
        }
        Ok(ListedPosts { page: tx.posts_by(self.author, self.reader, self.limit, self.after)?, position })
    }
}
