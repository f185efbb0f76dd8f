//! Keeps the points in order: what stands beside the ledger is compared with it, and mended where it disagrees (spec,
//! leaderboard scoring rules 2, 3 and 7).
//!
//! Accounts are walked in the order of their ids, a portion a query. What looks wrong there may be an award that came
//! between two statements; so each account that is suspected is looked at again in a transaction that holds it, and
//! only what is wrong then is reported, and mended if that is wanted. Nobody waits for more than the accounts of one such
//! transaction.

use crate::App;
use crate::maintenance::{AdaptiveBatch, TaskContext, TaskFailure};
use crate::platform::{AtOnce, Job};
use crate::store::{Command, Query, into_infallible};
use crate::store::{ReadTx, Tx};
use crate::walked::{HELD, PORTION, Portion, Settled, WalkReport};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId};
use terrace_scoring::{
    BoardCount, BoardId, Books, FanAudit, Fault, PointsCheck, RankIndex, RankLine, Ranked, SeasonId, Total,
    TotalsRepair,
};

/// The name of the job that does all of it, and how often.
const SYNC: &str = "sync-leaderboards";
const EVERY: Duration = Duration::from_hours(1);
/// The name of the job that turns seasons, and how often.
const TURN: &str = "turn-seasons";
const TURN_EVERY: Duration = Duration::from_mins(1);
/// How long who asks for it waits for a run that another has begun.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a walk through the points found.
pub type PointsReport = WalkReport<PointsCheck>;

impl PointsReport {
    /// How many boards kept a wrong number of fans.
    pub(crate) fn counted(&self) -> u64 {
        self.checks.get(&PointsCheck::Counts).map_or(0, |counts| counts.wrong)
    }
}

/// What a wish for boards in order came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardsSynced {
    /// Whether this call did the work; if not, it waited for another that was at it.
    pub refreshed: bool,
    /// How long it took.
    pub took: Duration,
    /// How many fans' rows were mended, where this call did the work.
    pub mended: Option<u64>,
    /// How many seasons began or ended, where this call did the work.
    pub seasons_turned: Option<u64>,
    /// How many steps were completed by the ranks of fans, where this call did the work.
    pub steps_completed: Option<u64>,
}

/// What one run of the job did.
#[derive(Debug, Clone, Copy)]
struct Run {
    mended: u64,
    seasons_turned: u64,
    steps_completed: u64,
}

/// The jobs that keep boards in order.
pub(crate) fn jobs() -> [Job; 2] {
    let turn = Job::new(TURN, TURN_EVERY, |app| async move { app.turn_due_seasons().await.map(drop) });
    [turn, sync(Arc::default())]
}

/// The job that does everything, and says what it did.
fn sync(done: Arc<Mutex<Option<Run>>>) -> Job {
    Job::new(SYNC, EVERY, move |app| {
        let done = Arc::clone(&done);
        async move {
            let run = app.keep_boards().await?;
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
            Ok(())
        }
    })
}

impl App {
    /// Turns the seasons that are due, mends what disagrees with the ledger and completes the steps of quests that ask for
    /// a rank and whose fan has it, due or not. Of several who ask at once,
    /// in any process, one does the work, and the others wait for it.
    ///
    /// # Errors
    ///
    /// When the run fails or another's lasts too long, and when the database is not to be had.
    pub async fn sync_leaderboards(self: &Arc<Self>) -> Result<BoardsSynced, StoreError> {
        let began = Instant::now();
        let done = Arc::default();
        let unavailable = |why: &str| StoreError::Unavailable(why.to_owned());
        let refreshed = match self.run_now(sync(Arc::clone(&done)), PATIENCE).await? {
            AtOnce::Done => true,
            AtOnce::Joined => false,
            AtOnce::Failed => return Err(unavailable("the boards were not looked through")),
            AtOnce::Busy => return Err(unavailable("another process still looks through the boards")),
        };
        let run = *done.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(BoardsSynced {
            refreshed,
            took: began.elapsed(),
            mended: run.map(|run| run.mended),
            seasons_turned: run.map(|run| run.seasons_turned),
            steps_completed: run.map(|run| run.steps_completed),
        })
    }

    /// Compares everything that stands beside the ledger with it, and the ranks of the active season with a sort by the
    /// database. Writes nothing.
    ///
    /// # Errors
    ///
    /// When the database is not to be had.
    pub async fn verify_points(&self) -> Result<PointsReport, StoreError> {
        let pace = TaskContext::unwatched();
        let mut report = self.walk_points(false, &pace).await.map_err(TaskFailure::into_store)?;
        for (season, board) in into_infallible(self.query(ActiveBoards).await)? {
            let lines = into_infallible(self.query(SortedBoard { season, board }).await)?;
            let checked = u64::try_from(lines.len()).unwrap_or(u64::MAX);
            report.count(BTreeMap::from([(PointsCheck::Ranks, checked)]));
            for fault in &misplaced(board, &lines) {
                report.note(fault.check, fault);
            }
        }
        self.count_boards(&mut report, false, &pace).await.map_err(TaskFailure::into_store)?;
        Ok(report)
    }

    /// Mends what disagrees with the ledger, or with `dry_run` only says what that is. It may be stopped and run again
    /// at any time, also beside itself and while points are given.
    ///
    /// # Errors
    ///
    /// When the database is not to be had.
    pub async fn repair_points(&self, dry_run: bool) -> Result<PointsReport, StoreError> {
        self.settle_points(!dry_run, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
    }

    /// [`App::repair_points`], at a pace.
    pub(crate) async fn mend_points(&self, pace: &TaskContext) -> Result<PointsReport, TaskFailure> {
        self.settle_points(!pace.is_dry(), pace).await
    }

    async fn settle_points(&self, mends: bool, pace: &TaskContext) -> Result<PointsReport, TaskFailure> {
        let mut report = self.walk_points(mends, pace).await?;
        self.count_boards(&mut report, mends, pace).await?;
        Ok(report)
    }

    async fn walk_points(&self, mends: bool, pace: &TaskContext) -> Result<PointsReport, TaskFailure> {
        let mut report = PointsReport::of([PointsCheck::Totals, PointsCheck::Listing, PointsCheck::Entries]);
        let look = async |after| into_infallible(self.query(LookAtPoints { after }).await);
        let mut stride = AdaptiveBatch::up_to(HELD);
        let mut found = look(None).await?;
        while let Some(portion) = found {
            pace.go_on()?;
            report.count(portion.checked);
            let told = |settled| report.settled(&settled, |fault: &Fault| fault.check);
            let command = |fans| SettlePoints { fans, mends };
            // What is suspected is looked at again while it is held: the next may be looked at meanwhile.
            let settled = pace.settle(self, &mut stride, &portion.suspects, command, told);
            let (settled, next) = tokio::join!(settled, look(Some(portion.last)));
            settled?;
            pace.advance(portion.fans);
            found = next?;
        }
        Ok(report)
    }

    async fn count_boards(
        &self,
        report: &mut PointsReport,
        mends: bool,
        pace: &TaskContext,
    ) -> Result<(), TaskFailure> {
        let Counted { boards, wrong } = into_infallible(self.query(CountBoards).await)?;
        report.count(BTreeMap::from([(PointsCheck::Counts, boards)]));
        let wrong = if mends && !wrong.is_empty() { pace.batch(self, RecountBoards).await? } else { wrong };
        for count in &wrong {
            let words = format!("{} fans are kept, {} are listed", count.kept, count.listed);
            let fault = Fault { check: PointsCheck::Counts, user: None, board: count.board, words };
            report.note(fault.check, &fault);
        }
        Ok(())
    }

    /// One run of the job.
    async fn keep_boards(&self) -> Result<Run, StoreError> {
        let seasons_turned = self.turn_due_seasons().await?;
        let report = self.repair_points(false).await?;
        for (check, found) in report.checks.iter().filter(|(_, found)| found.wrong > 0) {
            let (name, example) = (check.as_str(), found.examples.first().map_or("", String::as_str));
            log::warn!("{SYNC} mended {} of {} {name}: {example}", found.wrong, found.checked);
            metrics::counter!("terrace_points_mended_total", "check" => name).increment(found.wrong);
        }
        // Last: ranks are those of boards that are right.
        let ranked = self.check_ranks().await?;
        Ok(Run { mended: report.mended, seasons_turned, steps_completed: ranked.steps })
    }

    async fn turn_due_seasons(&self) -> Result<u64, StoreError> {
        let turned = self.turn_seasons().await?;
        for season in &turned {
            log::info!("season {} is {}", season.key, season.status);
        }
        Ok(u64::try_from(turned.len()).unwrap_or(u64::MAX))
    }
}

/// What fans' rows are held against.
pub(crate) fn books(tx: &mut dyn ReadTx) -> Result<Books, StoreError> {
    Ok(Books::new(tx.seasons()?, &tx.every_board()?))
}

/// Makes what stands beside the records of these fans, in the order of their ids, what their records say; says of how many it
/// was something else. The caller holds their accounts. A record of a season that is over leaves the legacy entries of that
/// season behind (scoring rule 7).
pub(crate) fn reconcile(
    tx: &mut dyn Tx,
    books: &Books,
    fans: &[UserId],
    now: Timestamp,
) -> Result<u64, StoreError> {
    let (settled, mends) = compare(tx, books, fans, now)?;
    tx.mend_points(&mends, now)?;
    Ok(settled.mended)
}

/// What is wrong with fans who are held, and what makes it right.
fn compare(
    tx: &mut dyn Tx,
    books: &Books,
    fans: &[UserId],
    now: Timestamp,
) -> Result<(Settled<Fault>, Vec<TotalsRepair>), StoreError> {
    let (mut settled, mut mends) = (Settled::default(), Vec::new());
    for fan in tx.points_of_each(fans)? {
        let audit = books.audit(&fan, now);
        settled.faults.extend(audit.faults);
        mends.extend(audit.mend);
    }
    settled.mended = u64::try_from(mends.len()).unwrap_or(u64::MAX);
    Ok((settled, mends))
}

/// Looks at the next portion of accounts.
struct LookAtPoints {
    after: Option<UserId>,
}

impl Query for LookAtPoints {
    const NAME: &'static str = "look_at_points";
    /// Nothing behind the last account.
    type Output = Option<Portion<PointsCheck>>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let fans = tx.fans_after(self.after, PORTION)?;
        let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(None) };
        let books = books(tx)?;
        let count = u64::try_from(fans.len()).unwrap_or(u64::MAX);
        let mut portion =
            Portion { checked: BTreeMap::new(), fans: count, suspects: Vec::new(), last: *last };
        for fan in tx.points_between(*first, *last)? {
            let FanAudit { checked, faults, .. } = books.audit(&fan, now);
            for (check, count) in checked {
                *portion.checked.entry(check).or_default() += count;
            }
            if !faults.is_empty() {
                portion.suspects.push(fan.user);
            }
        }
        Ok(Some(portion))
    }
}

/// Looks at suspected accounts while nobody else writes what is theirs, and mends what is wrong if that is wanted.
struct SettlePoints {
    /// In the order of their ids.
    fans: Vec<UserId>,
    mends: bool,
}

impl Command for SettlePoints {
    const NAME: &'static str = "settle_points";
    type Output = Settled<Fault>;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Settled<Fault>, Infallible> {
        // Before anything is read: what is read now is what there is until the end.
        tx.hold_fans(&self.fans)?;
        let books = books(tx)?;
        let (settled, mends) = compare(tx, &books, &self.fans, ctx.now())?;
        if self.mends {
            tx.mend_points(&mends, ctx.now())?;
        }
        Ok(settled)
    }
}

/// Finds the boards of the active season.
struct ActiveBoards;

impl Query for ActiveBoards {
    const NAME: &'static str = "active_boards";
    type Output = Vec<(SeasonId, BoardId)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let seasons = tx.seasons()?;
        let Some(season) = seasons.active() else { return Ok(Vec::new()) };
        Ok(tx.boards(season.id)?.into_iter().map(|board| (season.id, board.id)).collect())
    }
}

/// Reads a board as the database sorts it.
struct SortedBoard {
    season: SeasonId,
    board: BoardId,
}

impl Query for SortedBoard {
    const NAME: &'static str = "sorted_board";
    type Output = Vec<RankLine>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.sorted_board(self.season, self.board)?)
    }
}

/// What a look at the counts of boards came to.
struct Counted {
    boards: u64,
    wrong: Vec<BoardCount>,
}

/// Counts the fans of every board.
struct CountBoards;

impl Query for CountBoards {
    const NAME: &'static str = "count_boards";
    type Output = Counted;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Counted, Infallible> {
        let boards = u64::try_from(tx.every_board()?.len()).unwrap_or(u64::MAX);
        Ok(Counted { boards, wrong: tx.miscounted_boards()? })
    }
}

/// Counts the fans of every board anew, and keeps what there is.
struct RecountBoards;

impl Command for RecountBoards {
    const NAME: &'static str = "recount_boards";
    type Output = Vec<BoardCount>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<Vec<BoardCount>, Infallible> {
        tx.hold_counts()?;
        let wrong = tx.miscounted_boards()?;
        for count in &wrong {
            tx.put_count(count)?;
        }
        Ok(wrong)
    }
}

/// Where the index that boards are served from puts somebody elsewhere than the database does.
fn misplaced(board: BoardId, lines: &[RankLine]) -> Vec<Fault> {
    let total = |line: &RankLine| {
        let total = Total { points: line.key.points, reached_at: line.key.reached_at, version: 1 };
        (line.key.user, total)
    };
    let index: RankIndex = lines.iter().map(total).collect();
    let place = |ranked: &Ranked| (widened(ranked.position), widened(ranked.rank));
    let wrong = |line: &&RankLine| {
        let served = index.standing(line.key.user).map(|standing| place(&standing.ranked));
        served != Some((line.position, line.rank))
    };
    let fault = |line: &RankLine| {
        let served = index.standing(line.key.user).map(|standing| place(&standing.ranked));
        let words = format!("place and rank are {served:?}, a sort says {:?}", (line.position, line.rank));
        Fault { check: PointsCheck::Ranks, user: Some(line.key.user), board, words }
    };
    lines.iter().filter(wrong).map(fault).collect()
}

fn widened(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
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
