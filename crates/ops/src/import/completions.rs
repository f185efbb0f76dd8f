//! Import of quest steps that fans completed before this service recorded them (spec §1 rule 13).
//!
//! Existing rows are not changed: importing a line again has no effect, and a line whose step the fan has completed
//! here neither moves nor pays it. A file may be imported again, or resumed after a process was killed.
//!
//! - The step is stored with the time of the line, and the run starts with the earliest step. Windows, prerequisites
//!   and the order of steps are not checked, because the completion has already happened.
//! - The points of the line become the record of the step, under the key that a completion here would have, in the
//!   season of that time regardless of its status; on the board of the quest's team, or on none.
//! - A quest whose required steps are then done is completed as of the last of them, without a bonus: its record has
//!   zero points, so that the quest appears among the fan's completed quests.
//!
//! No events are published for single lines; only the boards receive the points.

use crate::import::Completion;
use crate::import::lines::printable;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::points::record_past;
use chrono::TimeDelta;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use terrace_app::App;
use terrace_app::accounts::find_named;
use terrace_app::boards::Awards;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId, distinct};
use terrace_quests::{Cadence, Mismatch, Period, Quest, Run, Step, StepDone, find_step, today};
use terrace_scoring::{NewAward, Points, SourceKey};
use terrace_store::{Command, OpsTx};

/// Maximum number of lines that one transaction imports. It locks the accounts of all of them; other writers wait
/// meanwhile.
pub const COMPLETIONS_BATCH: usize = 200;
/// Number of days around a local date on which the same instant may fall in another time zone: zones differ by up to
/// 26 hours.
const DAYS_APART: i64 = 2;

/// Result of importing lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionsImported {
    /// Lines that added something.
    pub recorded: u64,
    /// Lines that added nothing because everything existed.
    pub before: u64,
    /// Number of new steps.
    pub steps: u64,
    /// Number of quests completed by them.
    pub quests: u64,
    /// Number of records of points for new steps.
    pub records: u64,
    /// Sum of the points of these records.
    pub points: i64,
    /// Lines that were skipped, with their numbers.
    pub not_matched: Vec<NotMatched>,
}

impl std::ops::AddAssign for CompletionsImported {
    fn add_assign(&mut self, other: Self) {
        self.recorded += other.recorded;
        self.before += other.before;
        self.steps += other.steps;
        self.quests += other.quests;
        self.records += other.records;
        self.points = self.points.saturating_add(other.points);
        self.not_matched.extend(other.not_matched);
    }
}

/// A skipped line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotMatched {
    /// Line number.
    pub line: u64,
    /// Reason.
    pub why: WhyNotMatched,
    /// What the reason refers to: a name, a key, a title or a time, as in the line.
    pub about: String,
}

/// Why a line was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum WhyNotMatched {
    /// No account has this name, or it was deleted.
    #[error("no fan has this name")]
    UnknownFan,
    /// The account does not exist, or it was suspended or deleted.
    #[error("no such account is active")]
    NotActive,
    /// The step is unknown or ambiguous.
    #[error(transparent)]
    Step(#[from] Mismatch),
    /// The time of completion is in the future.
    #[error("completed in the future")]
    Future,
}

/// Imports up to [`COMPLETIONS_BATCH`] completions with their line numbers, in one transaction. With `dry_run`,
/// returns the result without writing anything.
///
/// # Errors
///
/// When the store is unavailable; nothing of the batch was written then.
pub async fn import_completions(
    app: &App,
    lines: Vec<(u64, Completion)>,
    dry_run: bool,
) -> Result<CompletionsImported, StoreError> {
    let import = ImportCompletions { lines, awards: app.awards() };
    TaskContext::without_observer(dry_run).batch(app, import).await.map_err(TaskFailure::into_store)
}

struct ImportCompletions {
    lines: Vec<(u64, Completion)>,
    awards: Awards,
}

impl Command for ImportCompletions {
    const NAME: &'static str = "import_completions";
    type Ports = dyn OpsTx;
    type Output = CompletionsImported;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<CompletionsImported, Infallible> {
        let fans = self.find_fans(tx)?;
        let ids = distinct(fans.values().flatten().copied());
        // Locked: progress and awards of these fans wait meanwhile, and the accounts cannot be deleted.
        let active: BTreeSet<UserId> = tx.lock_active(&ids)?.into_iter().collect();
        let quests = tx.quests()?;
        let mut imported = CompletionsImported::default();
        for (number, line) in &self.lines {
            let mut leave_out = |why, about: &str| {
                imported.not_matched.push(NotMatched { line: *number, why, about: printable(about) });
            };
            let Some(user) = fans.get(line.user.as_str()).copied().flatten() else {
                leave_out(WhyNotMatched::UnknownFan, &line.user);
                continue;
            };
            if !active.contains(&user) {
                leave_out(WhyNotMatched::NotActive, &line.user);
                continue;
            }
            let (quest, step) = match find_step(&quests, line.quest.as_deref(), &line.step) {
                Ok(found) => found,
                Err(why @ (Mismatch::UnknownQuest | Mismatch::AmbiguousQuest)) => {
                    leave_out(why.into(), line.quest.as_deref().unwrap_or_default());
                    continue;
                }
                Err(why @ (Mismatch::UnknownStep | Mismatch::AmbiguousStep)) => {
                    leave_out(why.into(), &line.step);
                    continue;
                }
            };
            if line.completed_at > ctx.now() {
                leave_out(WhyNotMatched::Future, &line.completed_at.to_string());
                continue;
            }
            if self.bring_in(tx, ctx, &Done { user, quest, step, line }, &mut imported)? {
                imported.recorded += 1;
            } else {
                imported.before += 1;
            }
        }
        Ok(imported)
    }
}

/// A line with its fan, quest and step resolved.
struct Done<'a> {
    user: UserId,
    quest: &'a Quest,
    step: &'a Step,
    line: &'a Completion,
}

impl ImportCompletions {
    /// Resolves the fans that the lines name; `None` if no account has the name.
    fn find_fans(&self, tx: &mut dyn OpsTx) -> Result<BTreeMap<&str, Option<UserId>>, StoreError> {
        let named: BTreeSet<&str> = self.lines.iter().map(|(_, line)| line.user.as_str()).collect();
        let mut fans = BTreeMap::new();
        for user in named {
            let fan = match user.parse() {
                // Names are shorter than ids.
                Ok(id) => Some(id),
                Err(_) => find_named(tx, user)?.map(|found| found.user_id),
            };
            fans.insert(user, fan);
        }
        Ok(fans)
    }

    /// Stores the step and its points, and completes the quest if possible; returns whether anything is new.
    fn bring_in(
        &self,
        tx: &mut dyn OpsTx,
        ctx: &mut Ctx,
        line: &Done<'_>,
        imported: &mut CompletionsImported,
    ) -> Result<bool, StoreError> {
        let &Done { user, quest, step, line: &Completion { completed_at: at, points, .. } } = line;
        let period = period(tx, line)?;
        let found = tx.lock_run(user, quest.id, period)?;
        let is_begun = found.is_some();
        let (run, mut done) = found.unwrap_or_else(|| (Run::started(quest.id, period, at), Vec::new()));
        if !is_begun {
            tx.start_run(user, &run)?;
        }
        let date = period.local_date();
        let is_new = tx.complete_step(user, step.id, period, at)?;
        let mut has_paid = false;
        // Also record zero points if the step pays today: it did not pay at that time, and no backfill must pay it
        // later.
        if points > 0 || (is_new && step.points > 0) {
            let source = SourceKey::quest_step(step.id.as_uuid(), date);
            let award = award(line, points, &step.title, source, at);
            let recorded = record_past(tx, ctx, &self.awards, &award, quest.team)?;
            has_paid = recorded.is_some() && points > 0;
        }
        if has_paid {
            imported.records += 1;
            imported.points = imported.points.saturating_add(points);
        }
        if !is_new {
            return Ok(has_paid);
        }
        imported.steps += 1;
        if at < run.started_at {
            tx.start_run_by(user, quest.id, period, at)?;
        }
        done.push(StepDone { step: step.id, at });
        if let Some(since) = quest.complete_since(&done)
            && tx.complete_run(user, quest.id, period, since)?
        {
            imported.quests += 1;
            let source = SourceKey::quest(quest.id.as_uuid(), date);
            record_past(tx, ctx, &self.awards, &award(line, 0, &quest.title, source, since), quest.team)?;
        }
        Ok(true)
    }
}

/// The award of a line, or of the quest that it completes.
fn award(line: &Done<'_>, points: i64, words: &str, source: SourceKey, at: Timestamp) -> NewAward {
    NewAward { user: line.user, amount: Points::new(points), reason: words.to_owned(), source, at }
}

/// The run that a line belongs to. For a daily quest, it is the run of the local date in the fan's time zone. If the
/// fan completed the step at exactly this instant, it is the run that contains it: the time zone may have been a
/// different one then.
fn period(tx: &mut dyn OpsTx, line: &Done<'_>) -> Result<Period, StoreError> {
    let &Done { user, quest, step, line: &Completion { completed_at: at, .. } } = line;
    if quest.cadence == Cadence::Once {
        return Ok(Period::Once);
    }
    let Some((zone, visits)) = tx.visits_and_zone(user)? else {
        return Err(StoreError::defect("record an old step", "an account that is held has gone"));
    };
    let date = today(zone, visits.as_ref(), at);
    let around = (-DAYS_APART..=DAYS_APART).filter_map(|days| date.checked_add_signed(TimeDelta::days(days)));
    let runs: Vec<_> = around.map(|date| (quest.id, Period::Day(date))).collect();
    let same = StepDone { step: step.id, at };
    let found = tx.runs(user, &runs)?.into_iter().find(|(_, done)| done.contains(&same));
    Ok(found.map_or(Period::Day(date), |(run, _)| run.period))
}
