//! What one reader sees of streams that everybody reads.

use crate::App;
use crate::store::ReadTx;
use crate::store::{Query, into_infallible};
use std::collections::HashSet;
use std::convert::Infallible;
use terrace_kernel::{Outcome, SessionId, StoreError, TeamId, Timestamp, UserId};

/// Rows that are read in one go.
const PORTION: u32 = 2000;
/// Sessions that are looked at in one statement.
const TOGETHER: usize = 500;

/// Which parts of a view a reader needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewParts {
    /// Whom and which teams they follow.
    pub follows: bool,
    /// Their own teams: those that they follow, and their favourite.
    pub teams: bool,
}

impl ViewParts {
    /// What either needs.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { follows: self.follows || other.follows, teams: self.teams || other.teams }
    }

    /// Whether this is all that `other` needs.
    pub const fn covers(self, other: Self) -> bool {
        (self.follows || !other.follows) && (self.teams || !other.teams)
    }
}

/// What tells one reader from another, as it was at some moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReaderView {
    /// Whom a block hides from them, whoever of the two blocks.
    pub hidden: HashSet<UserId>,
    /// Whom they follow, where that was asked for.
    pub followed: HashSet<UserId>,
    /// Which teams they follow, where anything was asked for.
    pub teams: HashSet<TeamId>,
    /// Their favourite team, where their own teams were asked for.
    pub favorite: Option<TeamId>,
}

impl ReaderView {
    /// Whether they follow neither people nor teams.
    pub fn follows_nobody(&self) -> bool {
        self.followed.is_empty() && self.teams.is_empty()
    }

    /// Whether a team is one of theirs.
    pub fn is_own_team(&self, team: TeamId) -> bool {
        self.favorite == Some(team) || self.teams.contains(&team)
    }
}

impl App {
    /// Reads what tells a reader from others.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub async fn reader_view(&self, reader: UserId, parts: ViewParts) -> Result<ReaderView, StoreError> {
        into_infallible(self.query(ReadView { reader, parts }).await)
    }

    /// Those of these sessions that are over by now.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
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
            // A catalogue is not large.
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
