//! What one reader may see of streams that are shared by all readers.

use crate::App;
use crate::store::ReadTx;
use crate::store::{Query, into_infallible};
use std::collections::HashSet;
use std::convert::Infallible;
use terrace_kernel::{Outcome, SessionId, StoreError, TeamId, Timestamp, UserId};

/// Maximum number of rows that one query reads.
const PORTION: u32 = 2000;
/// Maximum number of sessions that one statement checks.
const TOGETHER: usize = 500;

/// Parts of a view that a reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewParts {
    /// The fans and teams that the reader follows.
    pub follows: bool,
    /// The reader's own teams: followed teams and the favourite.
    pub teams: bool,
}

impl ViewParts {
    /// Union of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { follows: self.follows || other.follows, teams: self.teams || other.teams }
    }

    /// Whether this includes everything in `other`.
    pub const fn covers(self, other: Self) -> bool {
        (self.follows || !other.follows) && (self.teams || !other.teams)
    }
}

/// The properties by which streams differ between readers, as of some moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReaderView {
    /// Accounts that a block hides from the reader, in either direction.
    pub hidden: HashSet<UserId>,
    /// Fans that the reader follows, if requested.
    pub followed: HashSet<UserId>,
    /// Teams that the reader follows, if `follows` or `teams` was requested.
    pub teams: HashSet<TeamId>,
    /// The reader's favourite team, if own teams were requested.
    pub favorite: Option<TeamId>,
}

impl ReaderView {
    /// Whether the reader follows neither fans nor teams.
    pub fn follows_no_one(&self) -> bool {
        self.followed.is_empty() && self.teams.is_empty()
    }

    /// Whether a team is one of the reader's own teams.
    pub fn is_own_team(&self, team: TeamId) -> bool {
        self.favorite == Some(team) || self.teams.contains(&team)
    }
}

impl App {
    /// Reads the view of a reader.
    ///
    /// # Errors
    ///
    /// When the database is unavailable.
    pub async fn reader_view(&self, reader: UserId, parts: ViewParts) -> Result<ReaderView, StoreError> {
        into_infallible(self.query(ReadView { reader, parts }).await)
    }

    /// Returns the subset of these sessions that have ended.
    ///
    /// # Errors
    ///
    /// When the database is unavailable.
    pub async fn ended_among(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, StoreError> {
        let mut ended = Vec::new();
        for some in sessions.chunks(TOGETHER) {
            let live = into_infallible(self.query(LiveAmong(some.to_vec())).await)?;
            let live: HashSet<SessionId> = live.into_iter().collect();
            ended.extend(some.iter().copied().filter(|session| !live.contains(session)));
        }
        Ok(ended)
    }
}

struct ReadView {
    reader: UserId,
    parts: ViewParts,
}

impl Query for ReadView {
    const NAME: &'static str = "read_stream_view";
    type Output = ReaderView;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<ReaderView, Infallible> {
        let Self { reader, parts } = *self;
        let mut view =
            ReaderView { hidden: tx.hidden_from(reader)?.into_iter().collect(), ..ReaderView::default() };
        if parts.follows {
            let mut after = None;
            loop {
                let ties = tx.own_follows(reader, PORTION, after)?;
                after = ties.last().map(|tie| tie.user);
                let full = u32::try_from(ties.len()).is_ok_and(|count| count >= PORTION);
                view.followed.extend(ties.into_iter().map(|tie| tie.user));
                if !full {
                    break;
                }
            }
        }
        if parts.follows || parts.teams {
            // A catalogue of teams is small.
            let teams = tx.own_team_follows(reader, PORTION, None)?;
            view.teams.extend(teams.into_iter().map(|follow| follow.team));
        }
        if parts.teams {
            view.favorite = tx.account(reader)?.and_then(|account| account.favorite_team);
        }
        Ok(view)
    }
}

struct LiveAmong(Vec<SessionId>);

impl Query for LiveAmong {
    const NAME: &'static str = "live_among";
    type Output = Vec<SessionId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.live_among(&self.0, now)?)
    }
}
