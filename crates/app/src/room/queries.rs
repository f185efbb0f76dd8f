//! The feed, posts and comments.

use crate::accounts::NotFound;
use crate::room::followed;
use crate::store::Query;
use crate::store::ReadTx;
use std::convert::Infallible;
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Failure, Limit, Outcome, Page, Position, PostId, TeamId, TimeKey, Timestamp, UserId,
};
use terrace_social::{Comment, FeedFilter, PostView, SeenBy};

/// Posts as one reader sees them.
pub type PostPage = Page<PostView<AuthorCard>>;

/// Which part of the locker room is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedScope {
    /// Everybody's posts.
    All,
    /// The room of one team.
    Team(TeamId),
    /// The rooms of the reader's own teams: those that they follow, and their favourite.
    OwnTeams,
    /// Posts of the people and in the rooms of the teams that the reader follows, and their own; everybody's to who
    /// follows nobody.
    Following,
    /// The later pages of what [`FeedScope::Following`] began with for who follows nobody: everybody's posts.
    InsteadOfFollowing,
}

impl FeedScope {
    /// Whether it takes a reader who is signed in.
    pub const fn is_personal(self) -> bool {
        match self {
            Self::All | Self::Team(_) => false,
            Self::OwnTeams | Self::Following | Self::InsteadOfFollowing => true,
        }
    }
}

/// Reads a page of the feed, newest first: two statements for what everybody sees (one more for an empty room), three
/// for `OwnTeams`, at most five for `Following`.
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
    /// Which part it is of: another than was asked for where that is [`FeedScope::Following`] and the reader follows
    /// nobody. The next page is to be asked for under this one.
    pub scope: FeedScope,
    /// The posts.
    pub page: PostPage,
    /// Where the stream goes on: what happened after it may not be in the page.
    pub position: Position,
}

/// Why a feed was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedRefusal {
    /// Only who is signed in has teams of their own, and follows anybody.
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
        let (mut scope, limit, after) = (self.scope, self.limit, self.after);
        let page = match scope {
            FeedScope::All => tx.feed(FeedFilter::All, self.reader, limit, after)?,
            FeedScope::Team(team) => {
                let page = tx.feed(FeedFilter::Team(team), self.reader, limit, after)?;
                if page.items.is_empty() && tx.team(team)?.is_none() {
                    return Err(Failure::Refused(FeedRefusal::UnknownTeam));
                }
                page
            }
            FeedScope::OwnTeams => followed::read_own_teams(tx, self.signed_in()?, limit, after)?,
            FeedScope::Following => {
                if let Some(page) = followed::read_followed(tx, self.signed_in()?, limit, after)? {
                    page
                } else {
                    scope = FeedScope::InsteadOfFollowing;
                    tx.feed(FeedFilter::All, self.reader, limit, after)?
                }
            }
            FeedScope::InsteadOfFollowing => {
                tx.feed(FeedFilter::All, Some(self.signed_in()?), limit, after)?
            }
        };
        Ok(FeedPage { scope, page, position })
    }
}

impl ReadFeed {
    fn signed_in(&self) -> Result<UserId, Failure<FeedRefusal>> {
        self.reader.ok_or(Failure::Refused(FeedRefusal::SignInFirst))
    }
}

/// Finds what one reader sees otherwise than others of a page that was read for nobody in particular, in one statement.
#[derive(Debug, Clone)]
pub struct SeenByReader {
    /// Who.
    pub reader: UserId,
    /// The page's posts.
    pub posts: Vec<PostId>,
    /// Who wrote them.
    pub authors: Vec<UserId>,
}

impl Query for SeenByReader {
    const NAME: &'static str = "seen_by_reader";
    type Output = SeenBy;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<SeenBy, Infallible> {
        Ok(tx.seen_by(self.reader, &self.posts, &self.authors)?)
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
        Ok(tx.comments(self.post, self.reader, self.limit, self.after)?)
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
