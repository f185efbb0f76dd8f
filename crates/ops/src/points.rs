//! Repair of points: rows derived from the ledger are compared with it and repaired where they differ (spec,
//! leaderboard scoring rules 2, 3 and 7).
//!
//! Legacy entries (rule 7) may lag behind the ledger in two cases: points of an announced season from before its start,
//! and what `Writer::Maintenance` writes for a season that is over.

use crate::maintenance::{
    Derived, Looked, Page, Portion, Settled, TaskContext, TaskFailure, WalkReport, walk,
};
use crate::on_demand::{Requested, RequestedJob};
use crate::quests;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use terrace_app::boards::{AwardPointsRefusal, AwardResult, Awards};
use terrace_app::platform::Job;
use terrace_app::{App, BoardsSynced};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, TeamId, Timestamp, UserId, distinct, num};
use terrace_scoring::{
    BoardId, BoardRead, Books, FanAudit, Fault, NewAward, PointsAudit, PointsCheck, RankIndex, RankLine,
    Ranked, SeasonId, Total,
};
use terrace_store::{OpsReadTx, OpsTx, Query, into_infallible};

/// Name and period of the job that verifies and repairs all of it.
const SYNC: &str = "sync-leaderboards";
const EVERY: Duration = Duration::from_hours(1);
/// Name and period of the job that opens and closes seasons.
const TURN: &str = "turn-seasons";
const TURN_EVERY: Duration = Duration::from_mins(1);

/// Result of a scan of points.
pub type PointsReport = WalkReport<PointsCheck>;

impl PointsReport {
    /// Number of boards whose stored number of fans was wrong.
    pub(crate) fn counted(&self) -> u64 {
        self.checks.get(&PointsCheck::Counts).map_or(0, |counts| counts.wrong)
    }
}

/// Result of one run of the job.
#[derive(Debug, Clone, Copy)]
struct Run {
    repaired: u64,
    seasons_turned: u64,
    steps_completed: u64,
}

/// The job that does everything.
const SYNC_JOB: RequestedJob<Run> = RequestedJob {
    name: SYNC,
    every: EVERY,
    run: |app| Box::pin(async move { keep_boards(&app).await }),
    failed: "the boards were not looked through",
    busy: "another process still looks through the boards",
};

/// The jobs that maintain boards.
pub(crate) fn jobs() -> [Job; 2] {
    let turn = Job::new(TURN, TURN_EVERY, |app| async move { turn_due_seasons(&app).await.map(drop) });
    [turn, SYNC_JOB.job()]
}

/// Opens and closes seasons that are due, repairs rows that differ from the ledger, and completes the quest steps
/// that require a rank which their fan has reached, whether or not the job is due. Of concurrent calls, in any
/// process, one does the work and the others wait for it.
///
/// # Errors
///
/// When the run fails, when another run lasts too long, and when the database is unavailable.
pub async fn sync_leaderboards(app: &Arc<App>) -> Result<BoardsSynced, StoreError> {
    let Requested { refreshed, took, result } = SYNC_JOB.request(app).await?;
    Ok(BoardsSynced {
        refreshed,
        took,
        repaired: result.map(|run| run.repaired),
        seasons_turned: result.map(|run| run.seasons_turned),
        steps_completed: result.map(|run| run.steps_completed),
    })
}

/// Compares all rows derived from the ledger with it, and the ranks of the active season with a sort by the
/// database. Writes nothing.
///
/// # Errors
///
/// When the database is unavailable.
pub async fn verify_points(app: &App) -> Result<PointsReport, StoreError> {
    let mut report = repair_points(app, true).await?;
    for (season, board) in into_infallible(app.query(ActiveBoards).await)? {
        let lines = into_infallible(app.query(SortedBoard { season, board }).await)?;
        report.count(PointsCheck::Ranks, num::to_u64(lines.len()));
        for fault in &misplaced(board, &lines) {
            report.note(fault.check, fault);
        }
    }
    Ok(report)
}

/// Repairs rows that differ from the ledger, or with `dry_run` only reports them. May be stopped and run again at
/// any time, also concurrently with itself and with awards.
///
/// # Errors
///
/// When the database is unavailable.
pub async fn repair_points(app: &App, dry_run: bool) -> Result<PointsReport, StoreError> {
    repair_points_task(app, &TaskContext::without_observer(dry_run)).await.map_err(TaskFailure::into_store)
}

/// Same as [`repair_points`], as part of a maintenance task.
pub(crate) async fn repair_points_task(app: &App, pace: &TaskContext) -> Result<PointsReport, TaskFailure> {
    let mut report = walk(app, pace, FanPoints).await?;
    report.merge(walk(app, pace, BoardCounts).await?);
    Ok(report)
}

/// One run of the job.
async fn keep_boards(app: &App) -> Result<Run, StoreError> {
    let seasons_turned = turn_due_seasons(app).await?;
    let report = repair_points(app, false).await?;
    for (check, found) in report.checks.iter().filter(|(_, found)| found.wrong > 0) {
        let (name, example) = (check.as_str(), found.examples.first().map_or("", String::as_str));
        log::warn!("{SYNC} repaired {} of {} {name}: {example}", found.wrong, found.checked);
        metrics::counter!("terrace_points_mended_total", "check" => name).increment(found.wrong);
    }
    // Last: ranks require boards that are correct.
    let ranked = quests::check_ranks(app).await?;
    Ok(Run { repaired: report.repaired, seasons_turned, steps_completed: ranked.steps })
}

async fn turn_due_seasons(app: &App) -> Result<u64, StoreError> {
    let turned = app.turn_seasons().await?;
    for season in &turned {
        log::info!("season {} is {}", season.key, season.status);
    }
    Ok(num::to_u64(turned.len()))
}

/// The reference data for comparing fans' rows.
fn books(tx: &mut dyn OpsReadTx) -> Result<Books, StoreError> {
    Ok(Books::new(tx.seasons()?, &tx.every_board()?))
}

/// Writes a record as of the time of the award, on the board of the quest's team, or else of the fan's favourite team
/// at that time if it is known; `None` if there is a record already, or the account is gone.
pub(crate) fn record_past(
    tx: &mut dyn OpsTx,
    ctx: &mut Ctx,
    awards: &Awards,
    award: &NewAward,
    team: Option<TeamId>,
) -> Result<Option<i64>, StoreError> {
    match awards.backfill_award(tx, ctx, award, team) {
        Ok(AwardResult::Now { record, .. }) => Ok(Some(record.amount.get())),
        Ok(AwardResult::Before) | Err(Failure::Refused(AwardPointsRefusal::NotActive)) => Ok(None),
        Err(Failure::Broken(error)) => Err(error),
        // Content validation bounds the points of quests, and teams are never removed.
        Err(Failure::Refused(refusal @ (AwardPointsRefusal::Rule(_) | AwardPointsRefusal::UnknownTeam))) => {
            Err(StoreError::defect("record what a fan did", format!("{refusal:?}")))
        }
    }
}

/// Makes the derived rows of these fans consistent with their records; returns for how many fans they were wrong. The
/// caller holds the locks on their accounts. A record that was written for a past season has not updated the legacy
/// entries of that season (scoring rule 7); they are corrected here.
pub(crate) fn reconcile(tx: &mut dyn OpsTx, fans: Vec<UserId>, now: Timestamp) -> Result<u64, StoreError> {
    let fans = distinct(fans);
    if fans.is_empty() { Ok(0) } else { Ok(compare(tx, &fans, now)?.repaired) }
}

/// Compares the rows of locked fans, in ascending order of id, with their records, and repairs them.
fn compare(tx: &mut dyn OpsTx, fans: &[UserId], now: Timestamp) -> Settled<PointsCheck> {
    let books = books(tx)?;
    let (mut report, mut repairs) = (WalkReport::default(), Vec::new());
    for fan in tx.points_of_each(fans)? {
        let audit = books.audit(&fan, now);
        for fault in &audit.faults {
            report.note(fault.check, fault);
        }
        repairs.extend(audit.repair);
    }
    report.repaired = num::to_u64(repairs.len());
    tx.write_points_repairs(&repairs, now)?;
    Ok(report)
}

/// Totals, listings and entries of fans.
#[derive(Clone)]
struct FanPoints;

impl Derived for FanPoints {
    const NAME: &'static str = "repair_points";
    const AFFECTS_LEADERBOARD: bool = true;
    const PAGE: u32 = 2_000;
    const CHECKS: &'static [PointsCheck] = &[PointsCheck::Totals, PointsCheck::Listing, PointsCheck::Entries];
    type Key = UserId;
    type Check = PointsCheck;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId, PointsCheck> {
        let now = page.now;
        page.audit_fans(|tx, portion, first, last| {
            let books = books(tx)?;
            for fan in tx.points_between(first, last)? {
                let FanAudit { checked, faults, .. } = books.audit(&fan, now);
                portion.audited(fan.user, checked, !faults.is_empty());
            }
            Ok(())
        })
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, fans: &[UserId]) -> Settled<PointsCheck> {
        // Before any read: the lock keeps the data from changing until the transaction ends.
        tx.hold_fans(fans)?;
        compare(tx, fans, ctx.now())
    }
}

/// Stored numbers of fans of boards.
#[derive(Clone)]
struct BoardCounts;

impl Derived for BoardCounts {
    const NAME: &'static str = "repair_board_counts";
    const CHECKS: &'static [PointsCheck] = &[PointsCheck::Counts];
    type Key = BoardId;
    type Check = PointsCheck;

    fn look(&self, Page { tx, after, .. }: Page<'_, BoardId>) -> Looked<BoardId, PointsCheck> {
        let boards = tx.every_board()?;
        // All boards are on one page.
        let Some(last) = boards.last().map(|board| board.id).filter(|_| after.is_none()) else {
            return Ok(None);
        };
        let suspects = tx.miscounted_boards()?.into_iter().map(|count| count.board).collect();
        let checked = BTreeMap::from([(PointsCheck::Counts, num::to_u64(boards.len()))]);
        // Progress is reported by the number of accounts.
        Ok(Some(Portion { rows: 0, last, suspects, checked }))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, boards: &[BoardId]) -> Settled<PointsCheck> {
        tx.hold_counts()?;
        let mut report = WalkReport::default();
        for count in tx.miscounted_boards()?.iter().filter(|count| boards.contains(&count.board)) {
            let words = format!("{} fans are kept, {} are listed", count.kept, count.listed);
            let fault = Fault { check: PointsCheck::Counts, user: None, board: count.board, words };
            report.note(fault.check, &fault);
            tx.put_count(count)?;
        }
        Ok(report)
    }
}

/// Finds the boards of the active season.
struct ActiveBoards;

impl Query for ActiveBoards {
    const NAME: &'static str = "active_boards";
    type Ports = dyn BoardRead;
    type Output = Vec<(SeasonId, BoardId)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn BoardRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let seasons = tx.seasons()?;
        let Some(season) = seasons.active() else { return Ok(Vec::new()) };
        Ok(tx.boards(season.id)?.into_iter().map(|board| (season.id, board.id)).collect())
    }
}

/// Reads a board in the sort order of the database.
struct SortedBoard {
    season: SeasonId,
    board: BoardId,
}

impl Query for SortedBoard {
    const NAME: &'static str = "sorted_board";
    type Ports = dyn PointsAudit;
    type Output = Vec<RankLine>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PointsAudit, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.sorted_board(self.season, self.board)?)
    }
}

/// Compares places and ranks of the served index with those of the database.
fn misplaced(board: BoardId, lines: &[RankLine]) -> Vec<Fault> {
    let total = |line: &RankLine| {
        let total = Total { points: line.key.points, reached_at: line.key.reached_at, version: 1 };
        (line.key.user, total)
    };
    let index: RankIndex = lines.iter().map(total).collect();
    let place = |ranked: &Ranked| (num::to_u64(ranked.position), num::to_u64(ranked.rank));
    let wrong = |line: &&RankLine| {
        let served = index.standing(line.key.user).map(|standing| place(&standing.ranked));
        served != Some((line.position, line.rank))
    };
    let fault = |line: &RankLine| {
        let served = index.standing(line.key.user).map(|standing| place(&standing.ranked));
        let words = format!("place and rank are {served:?}, sorting gives {:?}", (line.position, line.rank));
        Fault { check: PointsCheck::Ranks, user: Some(line.key.user), board, words }
    };
    lines.iter().filter(wrong).map(fault).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_scoring::{Points, RankKey};
    use uuid::Uuid;

    #[test]
    fn ranks_that_disagree_with_a_sort_are_found() {
        let board = BoardId::from_uuid(Uuid::from_u128(1));
        let line = |n: u32, points, position, rank| RankLine {
            key: RankKey {
                points: Points::new(points),
                reached_at: Timestamp::from_micros(n.into()),
                user: UserId::from_uuid(Uuid::from_u128(n.into())),
            },
            position,
            rank,
        };
        let sorted = [line(1, 9, 1, 1), line(2, 5, 2, 2), line(3, 5, 3, 2), line(4, 1, 4, 4)];
        assert_eq!(misplaced(board, &sorted), []);
        let other = [line(1, 9, 1, 1), line(2, 5, 3, 2), line(3, 5, 2, 2), line(4, 1, 4, 3)];
        let wrong: Vec<_> =
            misplaced(board, &other).into_iter().filter_map(|fault| Some(fault.user?.as_uuid())).collect();
        assert_eq!(wrong, [2, 3, 4].map(Uuid::from_u128));
    }
}
