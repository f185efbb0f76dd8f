//! Periodic progress checks for all fans. They find what no event triggers: windows open and close by the clock,
//! content changes, achievements are added, ranks move with the points of other fans (spec §1 rules 5 and 12).

use crate::maintenance::{TaskContext, TaskFailure};
use crate::on_demand::{Requested, RequestedJob};
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::time::Duration;
use terrace_app::boards::{BoardChoice, ReadBoard};
use terrace_app::quests::{ActiveAmong, CheckProgress, QuestBook, ReadStandingInQuests, ReadStandings};
use terrace_app::{App, QuestSweep, QuestsSynced};
use terrace_kernel::{Failure, Limit, StoreError, Timestamp, UserId, num};
use terrace_quests::{Check, FanStanding, Quest, QuestId};
use terrace_scoring::RankKey;
use terrace_store::into_infallible;

/// Accounts that one query reads.
const PORTION: u32 = 500;
/// Number of fans who are checked concurrently, each in a transaction of their own: these share commits, and leave
/// room in the queue for other commands.
const TOGETHER: usize = 16;
/// Name and period of the job.
const SYNC: &str = "sync-quests";
const EVERY: Duration = Duration::from_hours(1);

/// The job that checks all fans.
pub(crate) const SYNC_JOB: RequestedJob<QuestSweep> = RequestedJob {
    name: SYNC,
    every: EVERY,
    run: |app| {
        Box::pin(async move {
            check_everybody(&app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
        })
    },
    failed: "the fans in quests were not looked through",
    busy: "another process still looks through the fans in quests",
};

/// A fan with something that may be due, with their rank if a step requires it.
type Suspect = (UserId, Option<u64>);

/// Completes steps and quests whose conditions fans meet and grants the achievements they have reached, whether
/// or not the job is due. Of concurrent calls, in any process, one does the work and the others wait for it.
///
/// # Errors
///
/// When the run fails, when another run lasts too long, and when the database is unavailable.
pub async fn sync_quests(app: &Arc<App>) -> Result<QuestsSynced, StoreError> {
    let Requested { refreshed, took, result: sweep } = SYNC_JOB.request(app).await?;
    Ok(QuestsSynced { refreshed, took, sweep })
}

/// Scans all accounts in ascending order of id, a portion per query, and checks fans with something that may
/// be due. It relies on stored state only, so it may be stopped and restarted at any time.
pub(crate) async fn check_everybody(app: &App, pace: &TaskContext) -> Result<QuestSweep, TaskFailure> {
    let book = fresh_quest_book(app).await?;
    let mut sweep = QuestSweep::default();
    let mut failed = None;
    let mut after = None;
    while let Some(portion) = into_infallible(app.query(ReadStandings { after, limit: PORTION }).await)? {
        pace.go_on()?;
        let mut suspects = Vec::new();
        for standing in &portion.fans {
            suspects.extend(suspect(app, &book, standing).await?);
        }
        let fans = num::to_u64(portion.fans.len());
        sweep.fans += fans;
        bring_forward(app, &book, suspects, pace, &mut sweep, &mut failed).await;
        pace.advance(fans);
        after = Some(portion.last);
    }
    failed.map_or(Ok(sweep), Err)
}

/// Completes steps that require a rank which their fan has reached: reads the global board from the top down to
/// the lowest required rank.
pub(crate) async fn check_ranks(app: &App) -> Result<QuestSweep, StoreError> {
    let book = fresh_quest_book(app).await?;
    let mut sweep = QuestSweep::default();
    let Some((lowest, quests)) = required_ranks(&book, app.now()) else { return Ok(sweep) };
    let mut failed = None;
    let mut after = None;
    loop {
        let (ranked, next) = global_ranks(app, after).await?;
        let within: Vec<(UserId, u64)> = ranked.into_iter().take_while(|(_, rank)| *rank <= lowest).collect();
        let is_last = within.len() < usize::from(Limit::MAX.rows()) || next.is_none();
        let users = within.iter().map(|(user, _)| *user).collect();
        let active = into_infallible(app.query(ActiveAmong { users, quests: quests.clone() }).await)?;
        sweep.fans += num::to_u64(active.len());
        let mut suspects = Vec::new();
        for (user, rank) in within.into_iter().filter(|(user, _)| active.contains(user)) {
            let standing = into_infallible(app.query(ReadStandingInQuests { user }).await)?;
            let has_news = standing.is_some_and(|standing| {
                standing.has_news(book.quests(), book.achievements(), Some(rank), app.now())
            });
            suspects.extend(has_news.then_some((user, Some(rank))));
        }
        bring_forward(app, &book, suspects, &TaskContext::unwatched(), &mut sweep, &mut failed).await;
        if is_last {
            return failed.map_or(Ok(sweep), |failure| Err(failure.into_store()));
        }
        after = next;
    }
}

/// Returns the next page of the global board of the active season as fans with ranks, and the key of the page
/// after it. Empty if no season is active.
async fn global_ranks(
    app: &App,
    after: Option<RankKey>,
) -> Result<(Vec<(UserId, u64)>, Option<RankKey>), StoreError> {
    let now = app.boards_now(None).await;
    let board = BoardChoice::Global;
    let shown = match app.find_board(now, board, None).await {
        Ok(shown) => shown,
        Err(Failure::Refused(_)) => return Ok((Vec::new(), None)),
        Err(Failure::Broken(error)) => return Err(error),
    };
    if !shown.season.is_active() {
        return Ok((Vec::new(), None));
    }
    let (limit, before) = (Limit::MAX, None);
    let asked = ReadBoard { board, season: None, around: None, limit, after, before, reader: None };
    let page = app.read_board(now, &shown, &asked).await?;
    let line = |line: &terrace_app::boards::BoardLine| {
        Some((line.ranked.user, u64::try_from(line.ranked.rank).ok()?))
    };
    Ok((page.lines.iter().filter_map(line).collect(), page.next))
}

/// Returns the fan if something may be due; looks up the rank if a step requires it.
async fn suspect(app: &App, book: &QuestBook, standing: &FanStanding) -> Result<Option<Suspect>, StoreError> {
    let now = app.now();
    let rank =
        if standing.asks_rank(book.quests(), now) { app.global_rank(standing.user).await? } else { None };
    let has_news = standing.has_news(book.quests(), book.achievements(), rank, now);
    Ok(has_news.then_some((standing.user, rank)))
}

/// Checks these fans, each in a transaction. A failure does not stop the others; the first failure is kept.
async fn bring_forward(
    app: &App,
    book: &Arc<QuestBook>,
    suspects: Vec<Suspect>,
    pace: &TaskContext,
    sweep: &mut QuestSweep,
    failed: &mut Option<TaskFailure>,
) {
    let check = |(user, rank): Suspect| async move {
        let check = CheckProgress { user, book: Arc::clone(book), rank, awards: app.awards() };
        (user, pace.attempt(app, check).await)
    };
    let mut checks = stream::iter(suspects).map(check).buffer_unordered(TOGETHER);
    while let Some((user, outcome)) = checks.next().await {
        match outcome {
            Ok(Ok(checked)) => {
                sweep.steps += num::to_u64(checked.steps.len());
                sweep.quests += num::to_u64(checked.quests.len());
                sweep.points = sweep.points.saturating_add(checked.points);
                sweep.achievements += checked.achievements;
            }
            // Deleted or suspended in the meantime.
            Ok(Err(terrace_app::quests::NotActive)) => {}
            Err(stopped @ TaskFailure::Stopped) => {
                failed.get_or_insert(stopped);
            }
            Err(error @ (TaskFailure::Broken(_) | TaskFailure::Refused(_))) => {
                log::error!("{SYNC} could not check account {user}: {error}");
                failed.get_or_insert(error);
            }
        }
    }
}

/// Reads the quests, bypassing the cache.
pub(crate) async fn fresh_quest_book(app: &App) -> Result<Arc<QuestBook>, StoreError> {
    app.forget_quest_book();
    app.quest_book().await
}

/// The lowest rank that an open quest requires, and the quests that require one; `None` if there are none.
fn required_ranks(book: &QuestBook, now: Timestamp) -> Option<(u64, Vec<QuestId>)> {
    let asked = |quest: &Quest| {
        let ranks = quest.steps.iter().filter_map(|step| match step.check {
            Some(Check::RankThreshold { rank }) => Some(u64::from(rank)),
            Some(_) | None => None,
        });
        ranks.max().map(|rank| (rank, quest.id))
    };
    let asked: Vec<(u64, QuestId)> =
        book.quests().iter().filter(|quest| quest.is_open(now)).filter_map(asked).collect();
    let lowest = asked.iter().map(|(rank, _)| *rank).max()?;
    Some((lowest, asked.into_iter().map(|(_, quest)| quest).collect()))
}
