//! Brings in what fans completed of quests elsewhere, before this service kept it (spec §1 rule 13).
//!
//! What is there stays as it is: a line that is brought in again changes nothing, and one whose step the fan has done here
//! neither moves nor pays it. A file can be brought in again, or go on where a process that was killed left off.
//!
//! - The step is noted with the time of the line, and the run begins with the earliest. Windows, prerequisites and the
//!   order of steps do not matter: what happened has happened.
//! - What the line paid is the record of the step, under the key that a completion here would have, in the season of that
//!   time whatever became of it; on the board of the quest's team, or on none.
//! - A quest whose required steps are done by it is complete since the last of them, and pays nothing for that: its record
//!   is one of zero points, so that fans find the quest among those that they completed.
//!
//! Nobody is told of each: boards hear of points, and that is all.

use crate::App;
use crate::accounts::find_named;
use crate::boards::{AwardPointsRefusal, AwardResult, Awards};
use crate::import::completion_lines::{Completion, told};
use crate::store::Command;
use crate::store::Tx;
use chrono::TimeDelta;
use std::collections::{BTreeMap, BTreeSet};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, TeamId, Timestamp, UserId};
use terrace_quests::{Cadence, Mismatch, Period, Quest, Run, Step, StepDone, find_step, today};
use terrace_scoring::{NewAward, Points, SourceKey};

/// Lines that one transaction brings in. It holds the accounts of all of them, and other writes wait meanwhile.
pub const COMPLETIONS_BATCH: usize = 200;
/// Days around a local date in which the same instant may have been another zone's date: zones are up to 26 hours apart.
const DAYS_APART: i64 = 2;

/// What lines came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionsImported {
    /// Lines that brought something new.
    pub recorded: u64,
    /// Lines of which everything was there.
    pub before: u64,
    /// Steps that are new.
    pub steps: u64,
    /// Quests that are complete by them.
    pub quests: u64,
    /// Records of points for steps that are new.
    pub records: u64,
    /// The points in them.
    pub points: i64,
    /// Lines that were left out, by their numbers.
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

/// A line that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotMatched {
    /// Its number.
    pub line: u64,
    /// Why.
    pub why: WhyNotMatched,
    /// What it is about: a name, a key, a title or a time, as the line has it.
    pub about: String,
}

/// Why a line is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum WhyNotMatched {
    /// No account has this name, or it was deleted.
    #[error("no fan has this name")]
    UnknownFan,
    /// There is no account, or it was suspended or deleted.
    #[error("no such account is active")]
    NotActive,
    /// Nobody can say which step it means.
    #[error(transparent)]
    Step(#[from] Mismatch),
    /// Its time has not come.
    #[error("completed in the future")]
    Future,
}

impl App {
    /// Brings in completions, up to [`COMPLETIONS_BATCH`] of them with the numbers of their lines, in one transaction.
    /// `dry_run`: says what would come of it, and writes nothing.
    ///
    /// # Errors
    ///
    /// When the store is not to be had; then nothing of them was written.
    pub async fn import_completions(
        &self,
        lines: Vec<(u64, Completion)>,
        dry_run: bool,
    ) -> Result<CompletionsImported, StoreError> {
        match self.execute(ImportCompletions { lines, dry_run, awards: self.awards() }).await {
            Ok(imported) | Err(Failure::Refused(DryRun(imported))) => Ok(imported),
            Err(Failure::Broken(error)) => Err(error),
        }
    }
}

struct ImportCompletions {
    lines: Vec<(u64, Completion)>,
    dry_run: bool,
    awards: Awards,
}

/// What would have been brought in. As a refusal it takes everything back.
struct DryRun(CompletionsImported);

impl Command for ImportCompletions {
    const NAME: &'static str = "import_completions";
    type Output = CompletionsImported;
    type Refusal = DryRun;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<CompletionsImported, DryRun> {
        let fans = self.find_fans(tx)?;
        let ids: Vec<UserId> =
            fans.values().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
        // Held: whatever is done in quests or paid meanwhile waits, and nobody takes the account away.
        let active: BTreeSet<UserId> = tx.lock_active(&ids)?.into_iter().collect();
        let quests = tx.quests()?;
        let mut imported = CompletionsImported::default();
        for (number, line) in &self.lines {
            let mut leave_out = |why, about: &str| {
                imported.not_matched.push(NotMatched { line: *number, why, about: told(about) });
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
        if self.dry_run { Err(Failure::Refused(DryRun(imported))) } else { Ok(imported) }
    }
}

/// A line of which everything is known.
struct Done<'a> {
    user: UserId,
    quest: &'a Quest,
    step: &'a Step,
    line: &'a Completion,
}

impl ImportCompletions {
    /// Whom the lines mean: nobody where no account has the name.
    fn find_fans(&self, tx: &mut dyn Tx) -> Result<BTreeMap<&str, Option<UserId>>, StoreError> {
        let named: BTreeSet<&str> = self.lines.iter().map(|(_, line)| line.user.as_str()).collect();
        let mut fans = BTreeMap::new();
        for user in named {
            let fan = match user.parse() {
                // No name is as long as an id.
                Ok(id) => Some(id),
                Err(_) => find_named(tx, user)?.map(|found| found.user_id),
            };
            fans.insert(user, fan);
        }
        Ok(fans)
    }

    /// Notes the step and what it paid, and completes the quest by it; says whether anything of that is new.
    fn bring_in(
        &self,
        tx: &mut dyn Tx,
        ctx: &mut Ctx,
        line: &Done<'_>,
        imported: &mut CompletionsImported,
    ) -> Outcome<bool, DryRun> {
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
        // Also of nothing, where the step pays now: it was not to pay then, and nobody makes up for it.
        if points > 0 || (is_new && step.points > 0) {
            let source = SourceKey::quest_step(step.id.as_uuid(), date);
            let is_recorded =
                self.record(tx, ctx, quest.team, &award(line, points, &step.title, source, at))?;
            has_paid = is_recorded && points > 0;
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
            self.record(tx, ctx, quest.team, &award(line, 0, &quest.title, source, since))?;
        }
        Ok(true)
    }

    /// Writes a record as of then; `false` where the fact has one.
    fn record(
        &self,
        tx: &mut dyn Tx,
        ctx: &mut Ctx,
        team: Option<TeamId>,
        award: &NewAward,
    ) -> Outcome<bool, DryRun> {
        match self.awards.backfill_award(tx, ctx, award, team) {
            Ok(AwardResult::Now { .. }) => Ok(true),
            Ok(AwardResult::Before) => Ok(false),
            Err(Failure::Broken(error)) => Err(Failure::Broken(error)),
            // The account is held, the amount was looked at, and no team of a quest goes away.
            Err(Failure::Refused(
                refusal @ (AwardPointsRefusal::Rule(_)
                | AwardPointsRefusal::NotActive
                | AwardPointsRefusal::UnknownTeam),
            )) => Err(Failure::Broken(StoreError::defect("record an old step", format!("{refusal:?}")))),
        }
    }
}

/// The points of a line, or of the quest that it completes.
fn award(line: &Done<'_>, points: i64, words: &str, source: SourceKey, at: Timestamp) -> NewAward {
    NewAward { user: line.user, amount: Points::new(points), reason: words.to_owned(), source, at }
}

/// The run that a line belongs to: of a daily quest that of the date which the fan's zone had. Where the fan has done the
/// step at that very instant it is the run in which they did: the zone may have been another one when it was noted.
fn period(tx: &mut dyn Tx, line: &Done<'_>) -> Result<Period, StoreError> {
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
