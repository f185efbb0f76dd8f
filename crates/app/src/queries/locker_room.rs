//! The feed, posts and comments.

use super::NotFound;
use crate::execute::Query;
use crate::store::ReadTx;
use std::convert::Infallible;
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Failure, Limit, Outcome, Page, Position, PostId, TeamId, TimeKey, Timestamp, UserId,
};
use terrace_social::{Comment, FeedFilter, PostView, ReactionKind};

/// Posts as one reader sees them.
pub type PostPage = Page<PostView<AuthorCard>>;

/// Which part of the locker room is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedScope {
    /// Everybody's posts.
    All,
    /// The room of one team.
    Team(TeamId),
    /// The rooms of the reader's own teams.
    OwnTeams,
}

/// Reads a page of the feed, newest first: two statements, one more for `OwnTeams` and for an empty room.
#[derive(Debug, Clone)]
pub struct ReadFeed {
    /// Which part.
    pub scope: FeedScope,
    /// Who reads.
    pub reader: Option<UserId>,
    /// How many posts.
    pub limit: Limit,
    /// After which post.
    pub after: Option<TimeKey>,
}

/// A page of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// The posts.
    pub page: PostPage,
    /// Where the stream goes on: what happened after it may not be in the page.
    pub position: Position,
}

/// Why a feed was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedRefusal {
    /// Only who is signed in has teams of their own.
    SignInFirst,
    /// No team has this id.
    UnknownTeam,
}

impl Query for ReadFeed {
    const NAME: &'static str = "read_feed";
    type Output = FeedPage;
    type Refusal = FeedRefusal;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<FeedPage, FeedRefusal> {
        // Before the list: what commits between the two comes in the list and in the stream, never in neither.
        let position = tx.head()?;
        let filter = match self.scope {
            FeedScope::All => FeedFilter::All,
            FeedScope::Team(team) => FeedFilter::Teams(vec![team]),
            FeedScope::OwnTeams => {
                let reader = self.reader.ok_or(Failure::Refused(FeedRefusal::SignInFirst))?;
                let own = tx.account(reader)?.and_then(|account| account.favorite_team);
                FeedFilter::Teams(own.into_iter().collect())
            }
        };
        let page = tx.feed(&filter, self.reader, self.limit, self.after)?;
        if let FeedScope::Team(team) = self.scope
            && page.items.is_empty()
            && tx.team(team)?.is_none()
        {
            return Err(Failure::Refused(FeedRefusal::UnknownTeam));
        }
        Ok(FeedPage { page, position })
    }
}

/// Finds one's own reactions to some posts, in one statement.
#[derive(Debug, Clone)]
pub struct OwnReactions {
    /// Whose.
    pub reader: UserId,
    /// To which posts.
    pub posts: Vec<PostId>,
}

impl Query for OwnReactions {
    const NAME: &'static str = "own_reactions";
    type Output = Vec<(PostId, ReactionKind)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.own_reactions(self.reader, &self.posts)?)
    }
}

/// Finds a post.
#[derive(Debug, Clone)]
pub struct GetPost {
    /// Which.
    pub post: PostId,
    /// Who reads.
    pub reader: Option<UserId>,
}

impl Query for GetPost {
    const NAME: &'static str = "get_post";
    type Output = PostView<AuthorCard>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        tx.post(self.post, self.reader)?.ok_or(Failure::Refused(NotFound))
    }
}

/// Reads a page of a post's comments, oldest first.
#[derive(Debug, Clone)]
pub struct ListComments {
    /// Of which post.
    pub post: PostId,
    /// Who reads.
    pub reader: Option<UserId>,
    /// How many comments.
    pub limit: Limit,
    /// After which comment.
    pub after: Option<TimeKey>,
}

impl Query for ListComments {
    const NAME: &'static str = "list_comments";
    type Output = Page<Comment<AuthorCard>>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        tx.post(self.post, self.reader)?.ok_or(Failure::Refused(NotFound))?;
        Ok(tx.comments(self.post, self.limit, self.after)?)
    }
}

/// Finds a comment.
#[derive(Debug, Clone)]
pub struct GetComment {
    /// On which post.
    pub post: PostId,
    /// Which.
    pub comment: CommentId,
    /// Who reads.
    pub reader: Option<UserId>,
}

impl Query for GetComment {
    const NAME: &'static str = "get_comment";
    type Output = Comment<AuthorCard>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        // A comment is not seen where its post is not.
        tx.post(self.post, self.reader)?.ok_or(Failure::Refused(NotFound))?;
        tx.comment(self.post, self.comment, self.reader)?.ok_or(Failure::Refused(NotFound))
    }
}
