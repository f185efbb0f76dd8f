//! Queries for trending topics and posts.

use crate::App;
use crate::store::{Query, TrendReadTx, TrendingReadTx};
use std::convert::Infallible;
use std::time::Duration;
use terrace_identity::AuthorCard;
use terrace_kernel::{Failure, Limit, Outcome, Page, Position, TeamId, Timestamp, UserId, distinct};
use terrace_social::{PostView, RankedTopic, TrendEpoch, TrendKey, TrendRead, TrendRoom};

/// Maximum number of topics.
const TOPICS: u32 = 20;
/// Number of posts returned with the topics.
const POSTS: i64 = 10;

/// Which trending posts to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendingScope {
    /// Posts of all rooms.
    All,
    /// Posts in the room of one team.
    Team(TeamId),
    /// Posts in the rooms of the reader's own teams.
    OwnTeams,
}

/// A page of trending posts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendingPage {
    /// The posts, best first.
    pub page: Page<PostView<AuthorCard>, TrendKey>,
    /// Position from which to follow the stream: later changes may be missing from the page.
    pub position: Position,
}

/// Why trending posts were not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrendingRefusal {
    /// The scope requires a signed-in reader.
    SignInFirst,
    /// No team has this id.
    UnknownTeam,
    /// The ranking of the previous page has been removed.
    Expired,
}

/// Trending topics and posts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trends {
    /// The topics, best first.
    pub topics: Vec<RankedTopic>,
    /// The posts, best first.
    pub posts: Vec<PostView<AuthorCard>>,
    /// Time for which they were ranked; `None` before the first ranking.
    pub refreshed_at: Option<Timestamp>,
}

impl App {
    /// Reads a page of trending posts. Later pages continue in the same ranking for a bounded time after a newer one
    /// has replaced it, so that no post is repeated or skipped.
    pub async fn trending(
        &self,
        scope: TrendingScope,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TrendKey>,
    ) -> Outcome<TrendingPage, TrendingRefusal> {
        let keep = self.config.trend_keep;
        self.query(ReadTrending { scope, reader, limit, after, keep }).await
    }

    /// Reads an overview of what is trending, as `reader` sees it.
    pub async fn trends(&self, reader: Option<UserId>) -> Outcome<Trends, Infallible> {
        self.query(ReadTrends { reader }).await
    }
}

/// Reads trending posts. Takes three statements, two more for `OwnTeams` and one for an empty room.
struct ReadTrending {
    scope: TrendingScope,
    reader: Option<UserId>,
    limit: Limit,
    after: Option<TrendKey>,
    keep: Duration,
}

impl ReadTrending {
    /// Returns the ranking to read and the rank after which the page starts.
    fn place(
        &self,
        tx: &mut dyn TrendReadTx,
        now: Timestamp,
    ) -> Outcome<Option<(TrendEpoch, i64)>, TrendingRefusal> {
        let Some(key) = self.after else {
            return Ok(tx.current_epoch()?.map(|epoch| (epoch, 0)));
        };
        let epoch = tx.epoch(key.epoch)?.filter(|epoch| !epoch.is_over(now, self.keep));
        epoch.map(|epoch| Some((epoch, key.rank))).ok_or(Failure::Refused(TrendingRefusal::Expired))
    }
}

impl Query for ReadTrending {
    const NAME: &'static str = "read_trending";
    type Ports = dyn TrendingReadTx;
    type Output = TrendingPage;
    type Refusal = TrendingRefusal;

    fn run(&self, tx: &mut dyn TrendingReadTx, now: Timestamp) -> Outcome<TrendingPage, TrendingRefusal> {
        // Before the list: a change that commits in between is in the list as well as in the stream, never in
        // neither.
        let position = tx.head()?;
        let room = match self.scope {
            TrendingScope::All => TrendRoom::Everybody,
            TrendingScope::Team(team) => TrendRoom::Teams(vec![team]),
            TrendingScope::OwnTeams => {
                let reader = self.reader.ok_or(Failure::Refused(TrendingRefusal::SignInFirst))?;
                let favorite = tx.account(reader)?.and_then(|account| account.favorite_team);
                let followed = tx.list_followed_teams(reader)?.into_iter().map(|follow| follow.team.id);
                TrendRoom::Teams(distinct(favorite.into_iter().chain(followed)))
            }
        };
        let page = match self.place(tx, now)? {
            Some((epoch, after)) => tx.trending_posts(epoch.id, &room, self.reader, self.limit, after)?,
            None => Page { items: Vec::new(), next: None },
        };
        if let TrendingScope::Team(team) = self.scope
            && page.items.is_empty()
            && tx.team(team)?.is_none()
        {
            return Err(Failure::Refused(TrendingRefusal::UnknownTeam));
        }
        Ok(TrendingPage { page, position })
    }
}

/// Reads the overview. Takes three statements.
struct ReadTrends {
    reader: Option<UserId>,
}

impl Query for ReadTrends {
    const NAME: &'static str = "read_trends";
    type Ports = dyn TrendReadTx;
    type Output = Trends;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TrendReadTx, _now: Timestamp) -> Outcome<Trends, Infallible> {
        let Some(epoch) = tx.current_epoch()? else {
            return Ok(Trends { topics: Vec::new(), posts: Vec::new(), refreshed_at: None });
        };
        let topics = TrendRead::<AuthorCard>::trending_topics(tx, epoch.id, TOPICS)?;
        let limit = Limit::new(POSTS).unwrap_or_default();
        let posts = tx.trending_posts(epoch.id, &TrendRoom::Everybody, self.reader, limit, 0)?.items;
        Ok(Trends { topics, posts, refreshed_at: Some(epoch.begun_at) })
    }
}
