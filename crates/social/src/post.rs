//! Posts and comments.

use crate::{ReactionCounts, ReactionKind};
use terrace_kernel::text::{TextError, paragraphs};
use terrace_kernel::{CommentId, MediaHash, PostId, TeamId, TimeKey, Timestamp, UserId};

/// The text of a post: 1 to 2000 characters after trimming.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn post_body(text: &str) -> Result<String, TextError> {
    paragraphs(text, 1, 2000)
}

/// The text of a comment: 1 to 2000 characters after trimming.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn comment_body(text: &str) -> Result<String, TextError> {
    paragraphs(text, 1, 2000)
}

/// Why somebody reports a post: 1 to 500 characters after trimming.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn report_reason(text: &str) -> Result<String, TextError> {
    paragraphs(text, 1, 500)
}

/// A post that is being created. Its feed shows it with the identity of its author (spec §1 rule 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPost {
    /// Its id.
    pub id: PostId,
    /// Who wrote it.
    pub author: UserId,
    /// The team whose room it is in, or none for everybody's.
    pub team: Option<TeamId>,
    /// Its text, checked by [`post_body`].
    pub body: String,
    /// A picture that goes with it.
    pub image: Option<MediaHash>,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A post as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Its id.
    pub id: PostId,
    /// Who wrote it.
    pub author: UserId,
    /// The team whose room it is in.
    pub team: Option<TeamId>,
    /// Its text.
    pub body: String,
    /// A picture that goes with it.
    pub image: Option<MediaHash>,
    /// How many comments it has.
    pub comment_count: i64,
    /// How many reactions of each kind it has.
    pub reactions: ReactionCounts,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Post {
    /// Its place in lists ordered by time.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.created_at, id: self.id.as_uuid() }
    }
}

/// A post as a reader sees it. `A` is the author's card; who that is, is another domain's matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostView<A> {
    /// The post.
    pub post: Post,
    /// Who wrote it, as shown.
    pub author: A,
    /// The reader's own reaction; none when signed out.
    pub my_reaction: Option<ReactionKind>,
}

/// A comment that is being created: the child of one post (spec §1 rule 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// Its id.
    pub id: CommentId,
    /// The post that it belongs to.
    pub post: PostId,
    /// Who wrote it.
    pub author: UserId,
    /// Its text, checked by [`comment_body`].
    pub body: String,
    /// When it was created.
    pub created_at: Timestamp,
}

/// A comment as a reader sees it. `A` is the author's card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment<A> {
    /// Its id.
    pub id: CommentId,
    /// The post that it belongs to.
    pub post: PostId,
    /// Who wrote it, as shown.
    pub author: A,
    /// Its text.
    pub body: String,
    /// When it was created.
    pub created_at: Timestamp,
}

impl<A> Comment<A> {
    /// Its place in lists ordered by time.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.created_at, id: self.id.as_uuid() }
    }
}
