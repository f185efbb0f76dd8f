//! Jobs that look for what no event reports. They append events, which the consumer follows as any other.

use crate::App;
use crate::platform::Job;
use crate::store::{Command, FirstHundredTx, Query, StreakTx, into_infallible};
use std::convert::Infallible;
use std::time::Duration;
use terrace_kernel::{Ctx, EventKind, NewEvent, Outcome, StoreError, Timestamp, Topic, UserId, num};
use terrace_quests::streak_at_risk;
use terrace_scoring::{Board, BoardRead, BoardScope, SeasonId, SeasonStatus};

/// The number of fans of a board who are notified when they leave it.
const FIRST: u32 = 100;
/// The number of streaks that one transaction looks at.
const PORTION: u32 = 500;

pub(crate) fn jobs() -> Vec<Job> {
    let ranks = Job::new("notify-rank-lost", Duration::from_hours(24), |app| async move {
        compare_first_hundreds(&app).await
    });
    let streaks = Job::new("notify-streak-at-risk", Duration::from_hours(1), |app| async move {
        warn_of_streaks(&app).await
    });
    vec![ranks, streaks]
}

/// Compares the first hundred of every board of the active season with those of the last comparison.
async fn compare_first_hundreds(app: &App) -> Result<(), StoreError> {
    let Some((season, boards)) = into_infallible(app.query(ActiveBoards).await)? else { return Ok(()) };
    for board in boards {
        into_infallible(app.execute_background(CompareFirstHundred { season, board }).await)?;
    }
    Ok(())
}

async fn warn_of_streaks(app: &App) -> Result<(), StoreError> {
    let mut after = None;
    loop {
        after = into_infallible(app.execute_background(WarnOfStreaks { after }).await)?;
        if after.is_none() {
            return Ok(());
        }
    }
}

struct ActiveBoards;

impl Query for ActiveBoards {
    const NAME: &'static str = "active_boards";
    type Ports = dyn BoardRead;
    type Output = Option<(SeasonId, Vec<Board>)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BoardRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let seasons = tx.seasons()?;
        let active = seasons.iter().find(|season| season.status == SeasonStatus::Active);
        let Some(season) = active.map(|season| season.id) else { return Ok(None) };
        Ok(Some((season, tx.boards(season)?)))
    }
}

/// Stores the first hundred of a board, and appends an event for each fan who was among them and is now behind them.
struct CompareFirstHundred {
    season: SeasonId,
    board: Board,
}

impl Command for CompareFirstHundred {
    const NAME: &'static str = "compare_first_hundred";
    type Ports = dyn FirstHundredTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn FirstHundredTx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let board = self.board.id;
        let ranked = tx.ranked(self.season, board, FIRST, None)?;
        let fans: Vec<UserId> = ranked.into_iter().map(|key| key.user).collect();
        let team = match self.board.scope {
            BoardScope::Global(_) => None,
            BoardScope::Team(team) => Some(team),
        };
        for fan in tx.replace_first_hundred(self.season.as_uuid(), board.as_uuid(), &fans)? {
            // One who is on the board no more has not been overtaken.
            if tx.listed(self.season, board, fan)?.is_none() {
                continue;
            }
            let event = NewEvent {
                topic: Topic::Notifications,
                kind: EventKind::RankLost,
                actor: Some(fan),
                team,
                subject: board.as_uuid(),
                object: None,
            };
            tx.append(&event, ctx.now())?;
        }
        Ok(())
    }
}

/// Appends an event for each of some fans whose streak ends today without a visit, once on each date.
struct WarnOfStreaks {
    after: Option<UserId>,
}

impl Command for WarnOfStreaks {
    const NAME: &'static str = "warn_of_streaks";
    type Ports = dyn StreakTx;
    /// The last fan, if more may follow.
    type Output = Option<UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn StreakTx, ctx: &mut Ctx) -> Outcome<Option<UserId>, Infallible> {
        let streaks = tx.streaks_after(self.after, PORTION)?;
        let is_full = num::to_u32(streaks.len()) >= PORTION;
        let last = streaks.last().map(|(fan, ..)| *fan).filter(|_| is_full);
        let at_risk: Vec<_> = streaks
            .iter()
            .filter_map(|(fan, zone, visits)| Some((*fan, streak_at_risk(visits, *zone, ctx.now())?)))
            .collect();
        let fans: Vec<UserId> = at_risk.iter().map(|(fan, _)| *fan).collect();
        if !fans.is_empty() {
            tx.lock_inboxes(&fans)?;
        }
        for (fan, (date, streak)) in at_risk {
            if !tx.note_streak_warning(fan, &date.to_string())? {
                continue;
            }
            let event = NewEvent {
                topic: Topic::Notifications,
                kind: EventKind::StreakAtRisk,
                actor: Some(fan),
                team: None,
                subject: fan.as_uuid(),
                object: None,
            };
            tx.append_with_detail(&event, &streak.to_string(), ctx.now())?;
        }
        Ok(last)
    }
}
