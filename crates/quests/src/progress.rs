//! Starting quests and completing steps (`docs/spec.md` §3).

use crate::{Facts, Period, Quest, QuestId, Run, RunStatus, Step, StepDone, StepId};
use terrace_kernel::Timestamp;

/// Why a quest is not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StartRefusal {
    /// The quest is not open yet, no longer open, or retired.
    #[error("the quest is not open")]
    QuestClosed,
    /// A prerequisite was not completed.
    #[error("another quest comes first")]
    PrerequisitesMissing,
}

/// Why a step is not completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StepRefusal {
    /// The quest does not contain this step.
    #[error("the quest has no such step")]
    NoSuchStep,
    /// The fan has not started the quest.
    #[error("the quest was not started")]
    QuestNotStarted,
    /// The quest is not open yet, no longer open, or retired.
    #[error("the quest is not open")]
    QuestClosed,
    /// A prerequisite of the quest was not completed.
    #[error("another quest comes first")]
    QuestLocked,
    /// An earlier required step was not completed.
    #[error("another step comes first")]
    OutOfOrder,
    /// The check of the step does not hold.
    #[error("the step's condition does not hold")]
    ConditionNotMet,
}

/// The result of completing a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// The step was completed before: nothing is paid.
    AlreadyDone,
    /// The step is completed now.
    StepCompleted {
        /// The points of the step, paid at once.
        points: i64,
        /// Whether the quest is completed as well, and its bonus paid.
        completes_quest: bool,
    },
}

/// The run that a fan may start. `completed` lists the quests that the fan has ever completed. A caller returns an
/// existing run without calling this.
///
/// # Errors
///
/// Returns a refusal if the quest is not open, or a prerequisite is missing.
pub fn start(
    quest: &Quest,
    period: Period,
    completed: &[QuestId],
    now: Timestamp,
) -> Result<Run, StartRefusal> {
    if !quest.is_open(now) {
        return Err(StartRefusal::QuestClosed);
    }
    if quest.is_locked(completed) {
        return Err(StartRefusal::PrerequisitesMissing);
    }
    Ok(Run::started(quest.id, period, now))
}

/// The result of completing a step in a fan's run, in which the steps `done` are completed. Without `facts`, a step
/// with a check is refused, so `facts` may be omitted for steps without one. `completed` lists the quests that the fan
/// has ever completed, at least among the prerequisites: content may add prerequisites after the run began.
///
/// # Errors
///
/// Returns a refusal if the step is not part of the quest, the quest was not started, is not open or is locked, earlier
/// required steps are missing, or the check does not hold. A step that is completed already is never refused for a
/// closed or locked quest, its order or its check.
pub fn advance(
    quest: &Quest,
    run: Option<&Run>,
    done: &[StepDone],
    step: StepId,
    facts: Option<&Facts>,
    completed: &[QuestId],
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
    if quest.is_locked(completed) {
        return Err(StepRefusal::QuestLocked);
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

/// The steps of a run whose checks hold now, in the order in which they are to be completed: a step may become
/// available through one before it. Empty if the quest is not open or is locked; `completed` as for [`advance`].
pub fn met_steps(
    quest: &Quest,
    run: &Run,
    done: &[StepDone],
    facts: &Facts,
    completed: &[QuestId],
    now: Timestamp,
) -> Vec<StepId> {
    if run.quest != quest.id || !quest.is_open(now) || quest.is_locked(completed) {
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

/// Whether a run is active although its quest is complete: a change of the content removed the remaining steps.
pub fn is_left_complete(quest: &Quest, run: &Run, done: &[StepDone]) -> bool {
    run.status == RunStatus::Active && quest.is_complete(done)
}

/// Whether a progress check would change a run; `completed` as for [`advance`].
pub fn is_due(
    quest: &Quest,
    run: &Run,
    done: &[StepDone],
    facts: &Facts,
    completed: &[QuestId],
    now: Timestamp,
) -> bool {
    is_left_complete(quest, run, done) || !met_steps(quest, run, done, facts, completed, now).is_empty()
}

fn is_done(step: &Step, done: &[StepDone]) -> bool {
    done.iter().any(|one| one.step == step.id)
}

/// Whether all earlier required steps are completed, if the quest is sequential.
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
    fn spec_3_rules_2_and_3_a_step_pays_at_once_and_the_last_required_one_completes() {
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
            let advanced = advance(&quest, Some(&run(&quest)), &done(before), step_id(step), None, &[], NOW);
            assert_eq!(advanced, outcome, "{steps}, {before:?}, {step}");
        }
    }

    #[test]
    fn a_quest_is_completed_once_whatever_steps_follow() {
        let quest = quest("ro");
        let run = Run { status: RunStatus::Completed, completed_at: Some(at(1)), ..run(&quest) };
        assert_eq!(
            advance(&quest, Some(&run), &done(&[1]), step_id(2), None, &[], NOW),
            Ok(completed(2, false))
        );
        // A required step that was added later pays, but does not complete the quest again.
        let grown = self::quest("rr");
        assert_eq!(
            advance(&grown, Some(&run), &done(&[1]), step_id(2), None, &[], NOW),
            Ok(completed(2, false))
        );
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
            let refused = advance(&open, none, &[], step_id(1), None, &[], NOW);
            assert_eq!(refused, Err(StepRefusal::QuestNotStarted));
        }
        for closed in [later, over, retired] {
            assert_eq!(
                advance(&closed, Some(&begun), &[], step_id(1), None, &[], NOW),
                Err(StepRefusal::QuestClosed)
            );
            // The result for a completed step does not change.
            assert_eq!(
                advance(&closed, Some(&begun), &done(&[1]), step_id(1), None, &[], NOW),
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
                advance(quest, Some(&begun), &done(before), step_id(step), None, &[], NOW)
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
        let claim = |facts: Option<&Facts>| advance(&quest, Some(&begun), &[], step_id(1), facts, &[], NOW);
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

    #[test]
    fn the_steps_of_a_locked_quest_wait() {
        let before = [1, 2].map(|n| QuestId::from_uuid(Uuid::from_u128(n)));
        let mut quest = Quest { prerequisites: before.to_vec(), ..quest("rr") };
        quest.steps[0].check = Some(Check::FollowUser { count: 1 });
        let (begun, facts) = (run(&quest), Facts { follows: 1, ..Facts::default() });
        for completed in [&[][..], &before[..1], &before[1..], &before] {
            let is_locked = completed.len() < 2;
            assert_eq!(quest.is_locked(completed), is_locked);
            let expected =
                if is_locked { Err(StepRefusal::QuestLocked) } else { Ok(self::completed(2, false)) };
            assert_eq!(advance(&quest, Some(&begun), &[], step_id(2), None, completed, NOW), expected);
            // Without its facts the check would refuse; the lock is reported first.
            let claim = advance(&quest, Some(&begun), &[], step_id(1), None, completed, NOW);
            let refusal = if is_locked { StepRefusal::QuestLocked } else { StepRefusal::ConditionNotMet };
            assert_eq!(claim, Err(refusal));
            let met = met_steps(&quest, &begun, &[], &facts, completed, NOW);
            assert_eq!(met.is_empty(), is_locked);
            assert_eq!(is_due(&quest, &begun, &[], &facts, completed, NOW), !is_locked);
            let again = advance(&quest, Some(&begun), &done(&[2]), step_id(2), None, completed, NOW);
            assert_eq!(again, Ok(Advance::AlreadyDone));
        }
    }

    /// A quest whose steps have a `follow_user` check with the given count, if any.
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
            // A step may become available through an earlier one; the step without a check blocks the rest.
            (true, &[Some(1), Some(2), None, Some(1)], &[], &[1, 2]),
            (true, &[Some(1), Some(2), None, Some(1)], &[3], &[1, 2, 4]),
            (true, &[Some(9), Some(1)], &[], &[]),
            (false, &[Some(1), Some(2)], &[1], &[2]),
            (false, &[Some(1), Some(2)], &[1, 2], &[]),
        ] {
            let quest = checked(is_sequential, steps);
            let facts = Facts { follows: 2, ..Facts::default() };
            let met: Vec<_> = met.iter().map(|n| step_id(*n)).collect();
            assert_eq!(met_steps(&quest, &run(&quest), &done(before), &facts, &[], NOW), met, "{steps:?}");
            let closed = Quest { closes_at: Some(NOW), ..quest };
            assert!(met_steps(&closed, &run(&closed), &done(before), &facts, &[], NOW).is_empty());
        }
    }

    proptest! {
        /// For any claims in any order and number: each step pays once, and the quest is completed once, exactly when
        /// its required steps are completed.
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
                let outcome = advance(&quest, Some(&run), &done, step_id(claim), None, &[], NOW);
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

        /// The steps that checks complete can be completed one by one, and then none is left.
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
            for step in met_steps(&quest, &run, &done, &facts, &[], NOW) {
                let outcome = advance(&quest, Some(&run), &done, step, Some(&facts), &[], NOW);
                let is_completed = matches!(outcome, Ok(Advance::StepCompleted { .. }));
                prop_assert!(is_completed, "{:?}", outcome);
                done.push(StepDone { step, at: NOW });
            }
            prop_assert!(met_steps(&quest, &run, &done, &facts, &[], NOW).is_empty());
            for step in quest.steps.iter().filter(|step| step.check.is_some()) {
                let outcome = advance(&quest, Some(&run), &done, step.id, Some(&facts), &[], NOW);
                let is_completed = matches!(outcome, Ok(Advance::StepCompleted { .. }));
                prop_assert!(!is_completed, "{:?} was overlooked", step);
            }
        }
    }
}
