//! Steps of several fans, completed in one transaction with a fixed number of statements.

use crate::boards::{AwardPoints, Awards};
use crate::quests::progress::{quest_event, step_award};
use crate::quests::{CompleteStep, CompleteStepRefusal, StepCompleted};
use crate::store::{Batched, QuestTx};
use std::collections::{BTreeMap, HashSet};
use terrace_kernel::{Ctx, EventKind, StoreError, Timestamp, UserId};
use terrace_quests::{Advance, Quest, Run, Step, StepDone, advance, is_left_complete, today};
use terrace_scoring::Writer;

/// A step that the rules permit.
struct DueStep<'a> {
    command: &'a CompleteStep,
    quest: &'a Quest,
    step: &'a Step,
    run: Run,
    done: Vec<StepDone>,
    at: Timestamp,
}

/// The steps that are due, and the results of the others, each by its place in the batch.
#[derive(Default)]
struct Sorted<'a> {
    due: BTreeMap<usize, DueStep<'a>>,
    results: BTreeMap<usize, Result<StepCompleted, CompleteStepRefusal>>,
}

/// Completes steps as [`CompleteStep`] does for each. There is no result for a further step of the same fan, for a fan
/// whose account is not active or is held by another transaction, for a step with a check, for a step of a quest with
/// prerequisites, and for the last step of a quest: these run alone.
pub(crate) fn complete_steps(
    batch: &mut [(&CompleteStep, &mut Ctx)],
    tx: &mut dyn QuestTx,
) -> Result<Batched<CompleteStep>, StoreError> {
    let Sorted { due, mut results } = sort(batch, tx)?;
    let mut points = pay(&due, batch, tx)?;
    for (place, DueStep { step, run, mut done, at, .. }) in due {
        done.push(StepDone { step: step.id, at });
        let points = points.remove(&place).unwrap_or(0);
        let completed = StepCompleted { points, completes_quest: false, run: Some((run, done)) };
        results.insert(place, Ok(completed));
    }
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}

/// Whether the rules for the step depend only on the run of its quest.
fn is_plain(quest: &Quest, step: &Step) -> bool {
    step.check.is_none() && quest.prerequisites.is_empty()
}

/// Locks the fans and their runs, and applies the rules.
fn sort<'a>(batch: &[(&'a CompleteStep, &mut Ctx)], tx: &mut dyn QuestTx) -> Result<Sorted<'a>, StoreError> {
    let mut sorted = Sorted::default();
    let mut wanted = Vec::new();
    let mut users = HashSet::new();
    for (place, (command, ctx)) in batch.iter().enumerate() {
        match command.book.step(command.step) {
            None => drop(sorted.results.insert(place, Err(CompleteStepRefusal::UnknownStep))),
            Some((quest, step)) if is_plain(quest, step) && users.insert(command.user) => {
                wanted.push((place, *command, quest, step, ctx.now()));
            }
            Some(_) => {}
        }
    }
    let users: Vec<UserId> = wanted.iter().map(|(_, command, ..)| command.user).collect();
    let fans = tx.lock_fans(&users)?;
    let mut runs = Vec::new();
    for (_, command, quest, _, now) in &wanted {
        if let Some((zone, visits)) = fans.get(&command.user) {
            runs.push((command.user, quest.id, quest.cadence.period(today(*zone, visits.as_ref(), *now))));
        }
    }
    let mut found = tx.lock_runs(&runs)?;
    for (place, command, quest, step, at) in wanted {
        if !fans.contains_key(&command.user) {
            continue;
        }
        let (run, done) = found.remove(&command.user).unzip();
        let mut done = done.unwrap_or_default();
        let advanced = advance(quest, run.as_ref(), &done, step.id, None, &[], at);
        let result = match (advanced, run) {
            (Err(refusal), _) => Err(CompleteStepRefusal::Rule(refusal)),
            (Ok(_), None) => Ok(StepCompleted::default()),
            (Ok(Advance::AlreadyDone), Some(run)) => {
                Ok(StepCompleted { run: Some((run, done)), ..StepCompleted::default() })
            }
            (Ok(_), Some(run)) => {
                done.push(StepDone { step: step.id, at });
                let completes_quest = is_left_complete(quest, &run, &done);
                done.pop();
                if !completes_quest {
                    sorted.due.insert(place, DueStep { command, quest, step, run, done, at });
                }
                continue;
            }
        };
        sorted.results.insert(place, result);
    }
    Ok(sorted)
}

/// Writes the steps, their events and their points; returns the points by the place of the step.
fn pay(
    due: &BTreeMap<usize, DueStep<'_>>,
    batch: &mut [(&CompleteStep, &mut Ctx)],
    tx: &mut dyn QuestTx,
) -> Result<BTreeMap<usize, i64>, StoreError> {
    let rows: Vec<_> =
        due.values().map(|one| (one.command.user, one.step.id, one.run.period, one.at)).collect();
    if tx.complete_steps(&rows)?.len() != rows.len() {
        // The fans are locked, so that no other transaction completes their steps.
        return Err(StoreError::defect("complete steps", "a step was completed under a lock"));
    }
    let event = |one: &DueStep<'_>| {
        (quest_event(EventKind::StepCompleted, one.command.user, one.step.id.as_uuid()), one.at)
    };
    tx.append_all(&due.values().map(event).collect::<Vec<_>>())?;
    let paid = due.iter().filter(|(_, one)| one.step.points > 0);
    let orders: BTreeMap<usize, AwardPoints> = paid
        .map(|(place, one)| {
            let award = step_award(one.command.user, one.step, &one.run, one.at);
            let awards = one.command.awards.clone();
            (*place, AwardPoints { awards, award, team: one.quest.team, by: Writer::Service })
        })
        .collect();
    let mut awarded: Vec<(&AwardPoints, &mut Ctx)> = batch
        .iter_mut()
        .enumerate()
        .filter_map(|(place, (_, ctx))| Some((orders.get(&place)?, &mut **ctx)))
        .collect();
    let points = Awards::give_all(tx, &mut awarded)?;
    Ok(orders.into_keys().zip(points).collect())
}
