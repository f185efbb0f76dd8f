//! Commands of fans in quests, and loading of quest content.

use crate::boards::Awards;
use crate::content::ContentFaults;
use crate::quests::step_batch::complete_steps;
use crate::quests::visit_batch::record_visits;
use crate::quests::{
    Checked, NotActive, Progress, QuestBook, QuestContent, QuestSummary, append_quest_event, check_fan,
    grant_achievements, not_given, pay_step,
};
use crate::store::{Batched, Command, ProgressTx, QuestContentTx, QuestTx, TransferTx, VisitTx};
use chrono::NaiveDate;
use std::collections::HashMap;
use std::sync::Arc;
use terrace_kernel::{Ctx, EventKind, Failure, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_quests::{
    Achievement, Advance, Goal, Known, QuestId, Run, StartRefusal, StepDone, StepId, StepRefusal,
    VisitOutcome, VisitRules, VisitStatus, Visits, advance, plan, start, today, visit, visit_status,
};
use terrace_scoring::{NewAward, Points, SourceKey, Writer};

/// Loads quests by their keys. A quest or step whose key exists keeps its id, and so the progress of fans.
pub struct LoadQuests {
    pub content: QuestContent,
}

impl Command for LoadQuests {
    const NAME: &'static str = "load_quests";
    type Ports = dyn QuestContentTx;
    type Output = QuestSummary;
    type Refusal = ContentFaults;

    fn run(&self, tx: &mut dyn QuestContentTx, ctx: &mut Ctx) -> Outcome<QuestSummary, ContentFaults> {
        let known = tx.quests()?;
        let mut teams = HashMap::new();
        for team in self.content.drafts.iter().filter_map(|quest| quest.team.as_deref()) {
            if let Some(id) = tx.team_by_key(team)? {
                teams.insert(team.to_owned(), id);
            }
        }
        let team = |key: &str| teams.get(key).copied();
        // The dates of a club's folder are checked when it is planned; quests of the program may have closed.
        let known = Known { quests: &known, team: &team, closes_after: None };
        let planned = plan(&self.content.drafts, &known, || ctx.new_id()).map_err(|errors| {
            let mut faults = ContentFaults::default();
            self.content.locate(&errors, &mut faults);
            Failure::Refused(faults)
        })?;
        tx.put_quests(&planned)?;
        let keys: Vec<_> = planned.iter().map(|quest| quest.key.clone()).collect();
        let retired = tx.retire_quests(&keys)?;
        let steps = planned.iter().map(|quest| quest.steps.len()).sum();
        Ok(QuestSummary { quests: planned.len(), steps, retired })
    }
}

/// Starts a quest for a fan. If the fan has a current run of it, completed or not, nothing changes.
#[derive(Debug, Clone)]
pub struct StartQuest {
    /// Fan who starts the quest.
    pub user: UserId,
    /// Quest to start.
    pub quest: QuestId,
    /// All quests.
    pub book: Arc<QuestBook>,
}

/// Why a quest was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartQuestRefusal {
    /// There is no such quest.
    UnknownQuest,
    /// A rule refuses it.
    Rule(StartRefusal),
    /// The account was deleted or suspended in the meantime.
    NotActive,
}

impl Command for StartQuest {
    const NAME: &'static str = "start_quest";
    type Ports = dyn ProgressTx;
    type Output = ();
    type Refusal = StartQuestRefusal;

    fn run(&self, tx: &mut dyn ProgressTx, ctx: &mut Ctx) -> Outcome<(), StartQuestRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let quest = self.book.quest(self.quest).ok_or(refused(StartQuestRefusal::UnknownQuest))?;
        let (zone, visits) = tx.lock_fan(self.user)?.ok_or(refused(StartQuestRefusal::NotActive))?;
        let period = quest.cadence.period(today(zone, visits.as_ref(), ctx.now()));
        if !tx.runs(self.user, &[(quest.id, period)])?.is_empty() {
            return Ok(());
        }
        let completed = tx.completed_among(self.user, &quest.prerequisites)?;
        let run = start(quest, period, &completed, ctx.now())
            .map_err(|refusal| refused(StartQuestRefusal::Rule(refusal)))?;
        if tx.start_run(self.user, &run)? {
            append_quest_event(tx, ctx.now(), EventKind::QuestStarted, self.user, quest.id.as_uuid())?;
        }
        Ok(())
    }
}

/// Completes a step of a quest and awards its points.
#[derive(Debug, Clone)]
pub struct CompleteStep {
    /// Fan who completes the step.
    pub user: UserId,
    /// Step to complete.
    pub step: StepId,
    /// All quests.
    pub book: Arc<QuestBook>,
    /// The fan's rank on the global board, if it is known.
    pub rank: Option<u64>,
    /// Writes the awards.
    pub awards: Awards,
}

/// Result of completing a step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepCompleted {
    /// Points awarded by this call, including the quest's bonus.
    pub points: i64,
    /// Whether it completed the quest.
    pub completes_quest: bool,
    /// The fan's run of the quest after the call, with its completed steps.
    pub run: Option<(Run, Vec<StepDone>)>,
}

/// Why a step was not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompleteStepRefusal {
    /// There is no such step.
    UnknownStep,
    /// A rule refuses it.
    Rule(StepRefusal),
    /// The account was deleted or suspended in the meantime.
    NotActive,
}

impl Command for CompleteStep {
    const NAME: &'static str = "complete_step";
    type Ports = dyn QuestTx;
    type Output = StepCompleted;
    type Refusal = CompleteStepRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn batches(&self) -> bool {
        true
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn QuestTx) -> Result<Batched<Self>, StoreError> {
        complete_steps(batch, tx)
    }

    fn run(&self, tx: &mut dyn QuestTx, ctx: &mut Ctx) -> Outcome<StepCompleted, CompleteStepRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let gone = CompleteStepRefusal::NotActive;
        let (quest, step) = self.book.step(self.step).ok_or(refused(CompleteStepRefusal::UnknownStep))?;
        let (zone, visits) = tx.lock_fan(self.user)?.ok_or(refused(gone))?;
        let period = quest.cadence.period(today(zone, visits.as_ref(), ctx.now()));
        let facts = match step.check {
            Some(_) => Some(terrace_quests::Facts { rank: self.rank, ..tx.facts(self.user)? }),
            None => None,
        };
        let (run, done) = tx.lock_run(self.user, quest.id, period)?.unzip();
        let done = done.unwrap_or_default();
        let completed = tx.completed_among(self.user, &quest.prerequisites)?;
        let advanced = advance(quest, run.as_ref(), &done, step.id, facts.as_ref(), &completed, ctx.now())
            .map_err(|refusal| refused(CompleteStepRefusal::Rule(refusal)))?;
        let Some(run) = run else { return Ok(StepCompleted::default()) };
        if advanced == Advance::AlreadyDone {
            return Ok(StepCompleted { run: Some((run, done)), ..StepCompleted::default() });
        }
        let mut progress = Progress { user: self.user, quest, run, done };
        let mut checked = Checked::default();
        pay_step(tx, ctx, &self.awards, &mut progress, step, &mut checked)
            .map_err(|failure| not_given(failure, gone))?;
        if !checked.quests.is_empty() {
            grant_achievements(tx, ctx, self.book.achievements(), self.user)?;
        }
        Ok(StepCompleted {
            points: checked.points,
            completes_quest: !checked.quests.is_empty(),
            run: Some((progress.run, progress.done)),
        })
    }
}

/// Completes the steps and quests whose conditions a fan meets.
pub struct CheckProgress {
    /// The fan.
    pub user: UserId,
    /// All quests and achievements.
    pub book: Arc<QuestBook>,
    /// The fan's rank, if a step requires one.
    pub rank: Option<u64>,
    /// Writes the points.
    pub awards: Awards,
}

impl Command for CheckProgress {
    const NAME: &'static str = "check_progress";
    type Ports = dyn QuestTx;
    type Output = Checked;
    type Refusal = NotActive;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn QuestTx, ctx: &mut Ctx) -> Outcome<Checked, NotActive> {
        check_fan(tx, ctx, &self.awards, &self.book, (self.user, self.rank))
    }
}

/// Records a visit to the dashboard: the first visit on each of the fan's calendar dates pays.
#[derive(Debug, Clone)]
pub struct VisitDaily {
    /// Fan who visits.
    pub user: UserId,
    /// Writes the award.
    pub awards: Awards,
}

/// Result of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyVisit {
    /// Whether the date was paid before.
    pub already_completed: bool,
    /// Points awarded by this call.
    pub points: i64,
    /// Coins awarded by this call.
    pub coins: i64,
    /// The fan's visits after the call.
    pub status: VisitStatus,
}

impl Command for VisitDaily {
    const NAME: &'static str = "visit_daily";
    type Ports = dyn VisitTx;
    type Output = DailyVisit;
    type Refusal = NotActive;
    const AFFECTS_LEADERBOARD: bool = true;

    fn batches(&self) -> bool {
        true
    }

    fn run_batch(batch: &mut [(&Self, &mut Ctx)], tx: &mut dyn VisitTx) -> Result<Batched<Self>, StoreError> {
        record_visits(batch, tx)
    }

    fn run(&self, tx: &mut dyn VisitTx, ctx: &mut Ctx) -> Outcome<DailyVisit, NotActive> {
        let (zone, known) = tx.lock_fan(self.user)?.ok_or(Failure::Refused(NotActive))?;
        let before = known.as_ref().and_then(|visits| visits.last_paid);
        let (now, rules) = (ctx.now(), VisitRules::default());
        let (state, paid) = match visit(known.as_ref(), zone, now, &rules).outcome {
            VisitOutcome::AlreadyToday { streak: _, noted } => {
                if let Some(noted) = noted {
                    tx.put_visits(self.user, &noted, before)?;
                }
                let status = visit_status(known.as_ref(), zone, now, &rules);
                return Ok(DailyVisit { already_completed: true, points: 0, coins: 0, status });
            }
            VisitOutcome::Paid { local_date, points, coins, milestone: _, state } => {
                (state, (local_date, points, coins))
            }
        };
        if !tx.put_visits(self.user, &state, before)? {
            // The account is locked, so there is no concurrent writer.
            return Err(Failure::Broken(terrace_kernel::StoreError::defect(
                "visit",
                "visits changed under a lock",
            )));
        }
        let (local_date, points, coins) = paid;
        let reached = reached(known.as_ref(), &state);
        if !reached.is_empty() {
            grant_achievements(tx, ctx, &reached, self.user)?;
        }
        let coins = give_milestone_coins(tx, ctx, self.user, (local_date, state.streak), coins)?;
        let award = visit_award(self.user, local_date, points, now);
        let given = self
            .awards
            .give(tx, ctx, &award, None, Writer::Service)
            .map_err(|failure| not_given(failure, NotActive))?;
        let points = match given {
            crate::boards::AwardResult::Now { record, .. } => record.amount.get(),
            crate::boards::AwardResult::Before => 0,
        };
        let status = visit_status(Some(&state), zone, now, &rules);
        Ok(DailyVisit { already_completed: false, points, coins, status })
    }
}

/// The achievements that a fan reaches by a visit.
pub(super) fn reached(known: Option<&Visits>, state: &Visits) -> Vec<Achievement> {
    let longest = known.map_or(0, |visits| visits.longest);
    let is_reached = |one: &&Achievement| matches!(one.goal, Goal::VisitStreak(days) if longest < days && days <= state.longest);
    QuestBook::default().achievements().iter().filter(is_reached).cloned().collect()
}

/// The award for a visit on a date.
pub(crate) fn visit_award(user: UserId, date: NaiveDate, points: i64, at: Timestamp) -> NewAward {
    let reason = "Daily visit".to_owned();
    NewAward { user, amount: Points::new(points), reason, source: SourceKey::daily_visit(date), at }
}

/// Pays the coins of a milestone, once for the date on which it was reached; returns what was paid now.
pub(crate) fn give_milestone_coins(
    tx: &mut dyn TransferTx,
    ctx: &mut Ctx,
    user: UserId,
    (date, streak): (NaiveDate, u32),
    coins: i64,
) -> Result<i64, StoreError> {
    // A milestone may pay no coins.
    let Ok(amount) = Amount::new(coins) else { return Ok(0) };
    let paid = Transfer {
        id: ctx.new_id(),
        kind: AccountKind::Coins,
        debit: Holder::House(House::Issuance),
        credit: Holder::Fan(user),
        amount,
        reason: format!("{streak} days in a row"),
        source: TransferSource::of_fan("milestone", user, date),
        at: ctx.now(),
    };
    let moved = crate::balances::transfer(tx, &paid)?;
    Ok(if matches!(moved, TransferOutcome::Now { .. }) { coins } else { 0 })
}
