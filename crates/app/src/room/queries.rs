//! Queries for feeds, posts and comments.

use crate::accounts::NotFound;
use crate::room::followed;
use crate::store::{FeedReadTx, OwnFeedReadTx, Query, RoomReadTx};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use terrace_identity::AuthorCard;
use terrace_kernel::{
    CommentId, Failure, Limit, Outcome, Page, Position, PostId, TeamId, TimeKey, Timestamp, UserId, num,
};
use terrace_social::{Comment, FeedFilter, OwnReaction, PostView, ReactionKind};

/// A page of posts as one reader sees them.
pub type PostPage = Page<PostView<AuthorCard>>;

/// Part of the locker room to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedScope {
    /// Posts of all rooms.
    All,
    /// Posts in the room of one team.
    Team(TeamId),
    /// Posts in the rooms of the reader's own teams: followed teams and the favourite.
    OwnTeams,
    /// Posts by fans and in rooms of teams that the reader follows, and the reader's own posts; posts of all rooms if
    /// the reader follows nothing.
    Following,
    /// Later pages of [`FeedScope::Following`] for a reader who follows nothing: posts of all rooms.
    InsteadOfFollowing,
}

impl FeedScope {
    /// Whether the scope requires a signed-in reader.
    pub const fn is_personal(self) -> bool {
        match self {
            Self::All | Self::Team(_) => false,
            Self::OwnTeams | Self::Following | Self::InsteadOfFollowing => true,
        }
    }
}

/// Reads a page of the feed, newest first. Takes two statements for shared scopes (one more for an empty room), three
/// for `OwnTeams`, and at most five for `Following`.
#[derive(Debug, Clone)]
pub struct ReadFeed {
    /// Part to read.
    pub scope: FeedScope,
    /// Reader, if signed in.
    pub reader: Option<UserId>,
    /// Maximum number of posts.
    pub limit: Limit,
    /// Key after which the page starts.
    pub after: Option<TimeKey>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// Scope of the page. It differs from the requested scope if that is [`FeedScope::Following`] and the reader
    /// follows nothing. Request the next page with this scope.
    pub scope: FeedScope,
    /// Posts of the page.
    pub page: PostPage,
    /// Position from which to follow the stream: later changes may be missing from the page.
    pub position: Position,
}

/// Why a feed was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedRefusal {
    /// The scope requires a signed-in reader.
    SignInFirst,
    /// No team has this id.
    UnknownTeam,
}

impl Query for ReadFeed {
    const NAME: &'static str = "read_feed";
    type Ports = dyn FeedReadTx;
    type Output = FeedPage;
    type Refusal = FeedRefusal;

    fn run(&self, tx: &mut dyn FeedReadTx, _now: Timestamp) -> Outcome<FeedPage, FeedRefusal> {
        // Before the list: a change that commits in between is in the list as well as in the stream, never in
        // neither.
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

/// Reads which posts a shared feed contains, newest first, in one statement. Some may not be shown: those of authors who
/// are not active, which [`ReadPosts`] leaves out, or who are hidden from a reader.
#[derive(Debug, Clone, Copy)]
pub struct ReadFeedKeys {
    pub filter: FeedFilter,
    /// Maximum number of posts.
    pub most: u16,
    /// Key after which to start.
    pub after: Option<TimeKey>,
}

impl Query for ReadFeedKeys {
    const NAME: &'static str = "read_feed_keys";
    type Ports = dyn FeedReadTx;
    type Output = Vec<TimeKey>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn FeedReadTx, _now: Timestamp) -> Outcome<Vec<TimeKey>, Infallible> {
        Ok(tx.feed_keys(self.filter, self.most, self.after)?)
    }
}

/// Reads these posts as a signed-out reader sees them, in any order, in one statement. Posts that are not shown are left
/// out.
#[derive(Debug, Clone)]
pub struct ReadPosts {
    /// Posts to read.
    pub posts: Vec<PostId>,
}

impl Query for ReadPosts {
    const NAME: &'static str = "read_posts";
    type Ports = dyn RoomReadTx;
    type Output = Vec<PostView<AuthorCard>>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn RoomReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.posts_among(&self.posts)?)
    }
}

/// What a shared feed is for one reader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OwnFeedView {
    /// Accounts hidden from the reader by a block in either direction.
    pub hidden: HashSet<UserId>,
    /// The reader's own reactions; `None` if they are more than [`OwnFeedView::MOST_REACTIONS`].
    pub reactions: Option<HashMap<PostId, ReactionKind>>,
}

impl OwnFeedView {
    /// Maximum number of reactions.
    pub const MOST_REACTIONS: usize = 500;
}

/// Reads what a shared feed is for one reader, in two statements.
#[derive(Debug, Clone, Copy)]
pub struct ReadOwnFeedView {
    /// Reader of the feed.
    pub reader: UserId,
}

impl Query for ReadOwnFeedView {
    const NAME: &'static str = "read_own_feed_view";
    type Ports = dyn OwnFeedReadTx;
    type Output = OwnFeedView;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OwnFeedReadTx, _now: Timestamp) -> Outcome<OwnFeedView, Infallible> {
        let hidden = tx.hidden_from(self.reader)?.into_iter().collect();
        let most = OwnFeedView::MOST_REACTIONS;
        // One more shows whether they are too many.
        let own = tx.reactions_of(self.reader, num::to_u32(most + 1), None)?;
        let kinds = |own: Vec<OwnReaction>| own.into_iter().map(|one| (one.post, one.kind)).collect();
        let reactions = (own.len() <= most).then(|| kinds(own));
        Ok(OwnFeedView { hidden, reactions })
    }
}

/// Finds a post.
#[derive(Debug, Clone)]
pub struct GetPost {
    /// Post to find.
    pub post: PostId,
    /// Reader, if signed in.
    pub reader: Option<UserId>,
}

impl Query for GetPost {
    const NAME: &'static str = "get_post";
    type Ports = dyn RoomReadTx;
    type Output = PostView<AuthorCard>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn RoomReadTx, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        tx.post(self.post, self.reader)?.ok_or(Failure::Refused(NotFound))
    }
}

/// Reads a page of a post's comments, oldest first.
#[derive(Debug, Clone)]
pub struct ListComments {
    /// Post whose comments are read.
    pub post: PostId,
    /// Reader, if signed in.
    pub reader: Option<UserId>,
    /// Maximum number of comments.
    pub limit: Limit,
    /// Key after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ListComments {
    const NAME: &'static str = "list_comments";
    type Ports = dyn RoomReadTx;
    type Output = Page<Comment<AuthorCard>>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn RoomReadTx, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        tx.post(self.post, self.reader)?.ok_or(Failure::Refused(NotFound))?;
        Ok(tx.comments(self.post, self.reader, self.limit, self.after)?)
    }
}

/// Finds a comment.
#[derive(Debug, Clone)]
pub struct GetComment {
    /// Post that the comment belongs to.
    pub post: PostId,
    /// Comment to find.
    pub comment: CommentId,
    /// Reader, if signed in.
    pub reader: Option<UserId>,
}

impl Query for GetComment {
    const NAME: &'static str = "get_comment";
    type Ports = dyn RoomReadTx;
    type Output = Comment<AuthorCard>;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn RoomReadTx, _now: Timestamp) -> Outcome<Self::Output, NotFound> {
        // A comment is visible only if its post is.
        tx.post(self.post, self.reader)?.ok_or(Failure::Refused(NotFound))?;
        tx.comment(self.post, self.comment, self.reader)?.ok_or(Failure::Refused(NotFound))
    }
}
