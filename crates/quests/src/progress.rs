//! What may be done in a quest, and what comes of it (`docs/spec.md` §3).

use crate::{Facts, Period, Quest, QuestId, Run, RunStatus, Step, StepDone, StepId};
use terrace_kernel::Timestamp;

/// Why a quest is not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartRefusal {
    /// It is not open yet, not any more, or was taken out of the content.
    #[error("the quest is not open")]
    QuestClosed,
    /// A quest that comes before it was not completed.
    #[error("another quest comes first")]
    PrerequisitesMissing,
}

/// Why a step is not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StepRefusal {
    /// The quest has no such step.
    #[error("the quest has no such step")]
    NoSuchStep,
    /// The fan has not started the quest.
    #[error("the quest was not started")]
    QuestNotStarted,
    /// It is not open yet, not any more, or was taken out of the content.
    #[error("the quest is not open")]
    QuestClosed,
    /// A required step that comes before it was not completed.
    #[error("another step comes first")]
    OutOfOrder,
    /// The step's condition does not hold.
    #[error("the step's condition does not hold")]
    ConditionNotMet,
}

/// What completing a step comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// It was completed before: nothing is paid.
    AlreadyDone,
    /// It is completed now.
    StepCompleted {
        /// What the step pays, at once.
        points: i64,
        /// Whether the quest is completed by it, and its bonus paid.
        completes_quest: bool,
    },
}

/// The run that a fan may start. Who has started it already gets the run that there is, without asking this:
/// `completed` are the quests that the fan has ever completed.
///
/// # Errors
///
/// The quest is not open, or another one comes first.
pub fn start(
    quest: &Quest,
    period: Period,
    completed: &[QuestId],
    now: Timestamp,
) -> Result<Run, StartRefusal> {
    if !quest.is_open(now) {
        return Err(StartRefusal::QuestClosed);
    }
    if !quest.prerequisites.iter().all(|before| completed.contains(before)) {
        return Err(StartRefusal::PrerequisitesMissing);
    }
    Ok(Run::started(quest.id, period, now))
}

/// What comes of a step in a fan's run: `done` are the steps of that run. Without `facts` a step that has a condition is
/// refused, so they may be left out where it has none.
///
/// # Errors
///
/// The step is not one of the quest's; the quest was not started or is not open; steps before it are missing; its
/// condition does not hold. A step that is done already is refused for none of the latter three.
pub fn advance(
    quest: &Quest,
    run: Option<&Run>,
    done: &[StepDone],
    step: StepId,
    facts: Option<&Facts>,
    now: Timestamp,
) -> Result<Advance, StepRefusal> {
    let step = quest.step(step).ok_or(StepRefusal::NoSuchStep)?;
    let run = run.ok_or(StepRefusal::QuestNotStarted)?;
    if is_done(step, done) {
        return Ok(Advance::AlreadyDone);
    }
    if !quest.is_open(now) {
        return Err(StepRefusal::QuestClosed);
    }
    if !is_in_order(quest, step, done) {
        return Err(StepRefusal::OutOfOrder);
    }
    if step.check.is_some_and(|check| !facts.is_some_and(|facts| check.is_met(facts))) {
        return Err(StepRefusal::ConditionNotMet);
    }
    let mut after = done.to_vec();
    after.push(StepDone { step: step.id, at: now });
    Ok(Advance::StepCompleted {
        points: step.points,
        completes_quest: run.status == RunStatus::Active && quest.is_complete(&after),
    })
}

/// The steps of a run that their conditions complete now, in the order in which they are to be completed: a step may
/// be there because of one before it. None where the quest is not open.
pub fn met_steps(quest: &Quest, _run: &Run, done: &[StepDone], facts: &Facts, now: Timestamp) -> Vec<StepId> {
    if !quest.is_open(now) {
        return Vec::new();
    }
    let mut after = done.to_vec();
    let mut met = Vec::new();
    for step in &quest.steps {
        let is_met = step.check.is_some_and(|check| check.is_met(facts));
        if is_met && !is_done(step, &after) && is_in_order(quest, step, &after) {
            after.push(StepDone { step: step.id, at: now });
            met.push(step.id);
        }
    }
    met
}

fn is_done(step: &Step, done: &[StepDone]) -> bool {
    done.iter().any(|one| one.step == step.id)
}

/// Whether every required step before this one is done, where the order matters.
fn is_in_order(quest: &Quest, step: &Step, done: &[StepDone]) -> bool {
    !quest.is_sequential
        || quest
            .steps
            .iter()
            .filter(|before| before.is_required && before.position < step.position)
            .all(|before| is_done(before, done))
}
