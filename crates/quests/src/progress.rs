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
    let run = run.filter(|run| run.quest == quest.id).ok_or(StepRefusal::QuestNotStarted)?;
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
pub fn met_steps(quest: &Quest, run: &Run, done: &[StepDone], facts: &Facts, now: Timestamp) -> Vec<StepId> {
    if run.quest != quest.id || !quest.is_open(now) {
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

/// Whether a run is active although all of its quest is done: a change of the content left nothing to do.
pub fn is_left_complete(quest: &Quest, run: &Run, done: &[StepDone]) -> bool {
    run.status == RunStatus::Active && quest.is_complete(done)
}

/// Whether a check of a fan's progress has anything to do in a run.
pub fn is_due(quest: &Quest, run: &Run, done: &[StepDone], facts: &Facts, now: Timestamp) -> bool {
    is_left_complete(quest, run, done) || !met_steps(quest, run, done, facts, now).is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Check;
    use crate::quest::tests::{at, done, quest, step_id};
    use proptest::prelude::*;
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp::from_micros(50);

    fn run(quest: &Quest) -> Run {
        Run::started(quest.id, Period::Once, at(0))
    }

    fn completed(points: i64, completes_quest: bool) -> Advance {
        Advance::StepCompleted { points, completes_quest }
    }

    #[test]
    fn rules_2_and_3_a_step_pays_at_once_and_the_last_required_one_completes() {
        for (steps, before, step, outcome) in [
            ("rr", &[][..], 1, Ok(completed(1, false))),
            ("rr", &[1], 2, Ok(completed(2, true))),
            ("rr", &[2], 1, Ok(completed(1, true))),
            ("ror", &[1], 3, Ok(completed(3, true))),
            ("ror", &[1], 2, Ok(completed(2, false))),
            ("oo", &[1], 2, Ok(completed(2, true))),
            ("rr", &[1], 1, Ok(Advance::AlreadyDone)),
            ("rr", &[1, 2], 1, Ok(Advance::AlreadyDone)),
            ("rr", &[], 3, Err(StepRefusal::NoSuchStep)),
        ] {
            let quest = quest(steps);
            let advanced = advance(&quest, Some(&run(&quest)), &done(before), step_id(step), None, NOW);
            assert_eq!(advanced, outcome, "{steps}, {before:?}, {step}");
        }
    }

    #[test]
    fn a_quest_is_completed_once_whatever_steps_follow() {
        let quest = quest("ro");
        let run = Run { status: RunStatus::Completed, completed_at: Some(at(1)), ..run(&quest) };
        assert_eq!(advance(&quest, Some(&run), &done(&[1]), step_id(2), None, NOW), Ok(completed(2, false)));
        // A required step that content added since pays, and completes nothing again.
        let grown = self::quest("rr");
        assert_eq!(advance(&grown, Some(&run), &done(&[1]), step_id(2), None, NOW), Ok(completed(2, false)));
    }

    #[test]
    fn a_step_waits_for_its_quest() {
        let open = quest("rr");
        let begun = run(&open);
        let later = Quest { opens_at: Some(at(51)), ..open.clone() };
        let over = Quest { closes_at: Some(at(50)), ..open.clone() };
        let retired = Quest { is_retired: true, ..open.clone() };
        let others = Run { quest: QuestId::from_uuid(Uuid::from_u128(9)), ..begun };
        for none in [None, Some(&others)] {
            let refused = advance(&open, none, &[], step_id(1), None, NOW);
            assert_eq!(refused, Err(StepRefusal::QuestNotStarted));
        }
        for closed in [later, over, retired] {
            assert_eq!(
                advance(&closed, Some(&begun), &[], step_id(1), None, NOW),
                Err(StepRefusal::QuestClosed)
            );
            // The answer to what was done does not change.
            assert_eq!(
                advance(&closed, Some(&begun), &done(&[1]), step_id(1), None, NOW),
                Ok(Advance::AlreadyDone)
            );
            assert_eq!(start(&closed, Period::Once, &[], NOW), Err(StartRefusal::QuestClosed));
        }
        assert_eq!(start(&open, Period::Once, &[], NOW), Ok(Run::started(open.id, Period::Once, NOW)));
    }

    #[test]
    fn a_sequential_quest_goes_by_its_required_steps() {
        for (steps, before, step, is_in_order) in [
            ("rrr", &[][..], 1, true),
            ("rrr", &[], 2, false),
            ("rrr", &[1], 2, true),
            ("rrr", &[2], 3, false),
            ("ror", &[1], 3, true),
            ("ror", &[], 2, false),
            ("orr", &[], 2, true),
        ] {
            let loose = quest(steps);
            let strict = Quest { is_sequential: true, ..loose.clone() };
            let begun = run(&loose);
            let refused = |quest: &Quest| {
                advance(quest, Some(&begun), &done(before), step_id(step), None, NOW)
                    == Err(StepRefusal::OutOfOrder)
            };
            assert!(!refused(&loose));
            assert_eq!(refused(&strict), !is_in_order, "{steps}, {before:?}, {step}");
        }
    }

    #[test]
    fn a_step_with_a_check_is_completed_by_its_facts_alone() {
        let mut quest = quest("rr");
        quest.steps[0].check = Some(Check::FollowUser { count: 2 });
        let begun = run(&quest);
        let claim = |facts: Option<&Facts>| advance(&quest, Some(&begun), &[], step_id(1), facts, NOW);
        assert_eq!(claim(None), Err(StepRefusal::ConditionNotMet));
        assert_eq!(claim(Some(&Facts { follows: 1, ..Facts::default() })), Err(StepRefusal::ConditionNotMet));
        assert_eq!(claim(Some(&Facts { follows: 2, ..Facts::default() })), Ok(completed(1, false)));
    }

    #[test]
    fn prerequisites_come_first() {
        let before = [1, 2].map(|n| QuestId::from_uuid(Uuid::from_u128(n)));
        let quest = Quest { prerequisites: before.to_vec(), ..quest("r") };
        for missing in [&[][..], &before[..1], &before[1..]] {
            assert_eq!(start(&quest, Period::Once, missing, NOW), Err(StartRefusal::PrerequisitesMissing));
        }
        assert!(start(&quest, Period::Once, &before, NOW).is_ok());
    }

    /// A quest whose steps have checks where there is a number: follow so many.
    fn checked(is_sequential: bool, steps: &[Option<u32>]) -> Quest {
        let mut quest = Quest { is_sequential, ..quest(&"r".repeat(steps.len())) };
        for (step, count) in quest.steps.iter_mut().zip(steps) {
            step.check = count.map(|count| Check::FollowUser { count });
        }
        quest
    }

    #[test]
    fn checks_complete_what_they_can_in_order() {
        for (is_sequential, steps, before, met) in [
            (false, &[Some(1), None, Some(9), Some(2)][..], &[][..], &[1, 4][..]),
            // A step may be there because of the one before it; the fan's own step stands in the way.
            (true, &[Some(1), Some(2), None, Some(1)], &[], &[1, 2]),
            (true, &[Some(1), Some(2), None, Some(1)], &[3], &[1, 2, 4]),
            (true, &[Some(9), Some(1)], &[], &[]),
            (false, &[Some(1), Some(2)], &[1], &[2]),
            (false, &[Some(1), Some(2)], &[1, 2], &[]),
        ] {
            let quest = checked(is_sequential, steps);
            let facts = Facts { follows: 2, ..Facts::default() };
            let met: Vec<_> = met.iter().map(|n| step_id(*n)).collect();
            assert_eq!(met_steps(&quest, &run(&quest), &done(before), &facts, NOW), met, "{steps:?}");
            let closed = Quest { closes_at: Some(NOW), ..quest };
            assert!(met_steps(&closed, &run(&closed), &done(before), &facts, NOW).is_empty());
        }
    }

    proptest! {
        /// Whatever is claimed in whatever order, and however often: each step pays once, the quest is completed once,
        /// and just when its required steps are done.
        #[test]
        fn each_step_pays_once_and_the_quest_completes_once(
            steps in "[ro]{1,8}",
            is_sequential in any::<bool>(),
            claims in prop::collection::vec(0_u32..10, 0..60),
        ) {
            let quest = Quest { is_sequential, ..quest(&steps) };
            let (mut run, mut done) = (run(&quest), Vec::new());
            let (mut paid, mut completions) = (0, 0);
            for claim in claims {
                let outcome = advance(&quest, Some(&run), &done, step_id(claim), None, NOW);
                if let Ok(Advance::StepCompleted { points, completes_quest }) = outcome {
                    done.push(StepDone { step: step_id(claim), at: NOW });
                    paid += points;
                    prop_assert_eq!(completes_quest, completions == 0 && quest.is_complete(&done));
                    if completes_quest {
                        completions += 1;
                        run.status = RunStatus::Completed;
                    }
                }
            }
            let steps_done = quest.steps.iter().filter(|step| is_done(step, &done));
            prop_assert_eq!(paid, steps_done.map(|step| step.points).sum::<i64>());
            prop_assert_eq!(completions == 1, quest.is_complete(&done));
        }

        /// What checks complete can be completed one by one, and then there is nothing left for them.
        #[test]
        fn met_steps_are_those_that_advance_takes(
            steps in prop::collection::vec(prop::option::of(1_u32..4), 1..8),
            is_sequential in any::<bool>(),
            before in prop::collection::btree_set(1_u32..8, 0..4),
            follows in 0_u64..4,
        ) {
            let quest = checked(is_sequential, &steps);
            let facts = Facts { follows, ..Facts::default() };
            let run = run(&quest);
            let mut done = done(&before.into_iter().collect::<Vec<_>>());
            for step in met_steps(&quest, &run, &done, &facts, NOW) {
                let outcome = advance(&quest, Some(&run), &done, step, Some(&facts), NOW);
                let is_completed = matches!(outcome, Ok(Advance::StepCompleted { .. }));
                prop_assert!(is_completed, "{:?}", outcome);
                done.push(StepDone { step, at: NOW });
            }
            prop_assert!(met_steps(&quest, &run, &done, &facts, NOW).is_empty());
            for step in quest.steps.iter().filter(|step| step.check.is_some()) {
                let outcome = advance(&quest, Some(&run), &done, step.id, Some(&facts), NOW);
                let is_completed = matches!(outcome, Ok(Advance::StepCompleted { .. }));
                prop_assert!(!is_completed, "{:?} was overlooked", step);
            }
        }
    }
}
