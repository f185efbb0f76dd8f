//! Points of steps and quests, awarded in the transaction that completes them.

use crate::boards::{AwardPointsRefusal, Awards};
use crate::quests::Checked;
use crate::store::{BoardTx, QuestTx};
use terrace_kernel::{
    Ctx, EventKind, EventLog, Failure, NewEvent, Outcome, StoreError, Timestamp, Topic, UserId,
};
use terrace_quests::{Quest, Run, RunStatus, Step, StepDone, is_left_complete};
use terrace_scoring::{NewAward, Points, SourceKey, Writer};
use uuid::Uuid;

/// A fan's run of a quest while it advances.
pub(crate) struct Progress<'a> {
    pub(crate) user: UserId,
    pub(crate) quest: &'a Quest,
    pub(crate) run: Run,
    pub(crate) done: Vec<StepDone>,
}

/// Completes a step that the rules permit, and the quest with its last required step; each is paid now
/// (`docs/spec.md` §3 rules 2 and 3). Does nothing if the step was completed in the meantime.
pub(crate) fn pay_step(
    tx: &mut dyn QuestTx,
    ctx: &mut Ctx,
    awards: &Awards,
    progress: &mut Progress<'_>,
    step: &Step,
    checked: &mut Checked,
) -> Outcome<(), AwardPointsRefusal> {
    let Progress { user, quest, run, done } = progress;
    let (user, quest, now) = (*user, *quest, ctx.now());
    if !tx.complete_step(user, step.id, run.period, now)? {
        return Ok(());
    }
    done.push(StepDone { step: step.id, at: now });
    checked.steps.push(step.id);
    append_quest_event(tx, now, EventKind::StepCompleted, user, step.id.as_uuid())?;
    if step.points > 0 {
        let award = step_award(user, step, run, now);
        checked.points += give(tx, ctx, awards, quest, &award)?;
    }
    pay_quest(tx, ctx, awards, progress, checked)
}

/// Completes a quest, unless it is complete, if all its required steps are done, and pays its bonus.
pub(crate) fn pay_quest(
    tx: &mut dyn QuestTx,
    ctx: &mut Ctx,
    awards: &Awards,
    progress: &mut Progress<'_>,
    checked: &mut Checked,
) -> Outcome<(), AwardPointsRefusal> {
    let Progress { user, quest, run, done } = progress;
    if is_left_complete(quest, run, done) && tx.complete_run(*user, quest.id, run.period, ctx.now())? {
        run.status = RunStatus::Completed;
        run.completed_at = Some(ctx.now());
        checked.quests.push(quest.id);
        append_quest_event(tx, ctx.now(), EventKind::QuestCompleted, *user, quest.id.as_uuid())?;
        // Also for a bonus of zero: completed quests are read from the records.
        let award = NewAward {
            user: *user,
            amount: Points::new(quest.bonus),
            reason: quest.title.clone(),
            source: SourceKey::quest(quest.id.as_uuid(), run.period.local_date()),
            at: ctx.now(),
        };
        checked.points += give(tx, ctx, awards, quest, &award)?;
    }
    Ok(())
}

/// The award for a step that was completed at `at`.
pub(crate) fn step_award(user: UserId, step: &Step, run: &Run, at: Timestamp) -> NewAward {
    let source = SourceKey::quest_step(step.id.as_uuid(), run.period.local_date());
    NewAward { user, amount: Points::new(step.points), reason: step.title.clone(), source, at }
}

fn give(
    tx: &mut dyn BoardTx,
    ctx: &mut Ctx,
    awards: &Awards,
    quest: &Quest,
    award: &NewAward,
) -> Outcome<i64, AwardPointsRefusal> {
    match awards.give(tx, ctx, award, quest.team, Writer::Service)? {
        crate::boards::AwardResult::Now { record, .. } => Ok(record.amount.get()),
        crate::boards::AwardResult::Before => Ok(0),
    }
}

/// Appends an event about a fan's progress in quests.
pub(crate) fn append_quest_event(
    tx: &mut dyn EventLog,
    now: Timestamp,
    kind: EventKind,
    user: UserId,
    subject: Uuid,
) -> Result<(), StoreError> {
    tx.append(&quest_event(kind, user, subject), now)
}

/// An event about a fan's progress in quests.
pub(crate) fn quest_event(kind: EventKind, user: UserId, subject: Uuid) -> NewEvent {
    NewEvent { topic: Topic::Quests, kind, actor: Some(user), team: None, subject, object: None }
}

/// Maps a failed award: the account is no longer active, or the quest's team is missing, which no rule permits.
pub(crate) fn not_given<R>(failure: Failure<AwardPointsRefusal>, gone: R) -> Failure<R> {
    match failure {
        Failure::Broken(error) => Failure::Broken(error),
        Failure::Refused(AwardPointsRefusal::NotActive) => Failure::Refused(gone),
        Failure::Refused(refusal @ (AwardPointsRefusal::Rule(_) | AwardPointsRefusal::UnknownTeam)) => {
            Failure::Broken(StoreError::defect("pay a quest", format!("{refusal:?}")))
        }
    }
}
