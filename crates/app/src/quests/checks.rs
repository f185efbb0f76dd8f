//! Progress checks: a step whose condition holds is completed, whatever caused the condition to hold (spec §1 rule
//! 5).

use crate::boards::Awards;
use crate::quests::by_points::brought_by_points;
use crate::quests::progress::not_given;
use crate::quests::{Checked, NotActive, Progress, QuestBook, pay_quest, pay_step};
use crate::store::{ProgressTx, QuestTx};
use std::collections::BTreeMap;
use terrace_kernel::{Ctx, Event, EventKind, Failure, NewEvent, Outcome, StoreError, Topic, UserId};
use terrace_quests::{Achievement, Facts, QuestId, Step, StepId, is_due, met_steps, today};

/// Completes the steps and quests whose conditions a fan meets, and grants achievements that the fan has reached.
/// Repeats until nothing changes, because awarded points may reach another threshold.
pub(crate) fn check_fan(
    tx: &mut dyn QuestTx,
    ctx: &mut Ctx,
    awards: &Awards,
    book: &QuestBook,
    (user, rank): (UserId, Option<u64>),
) -> Outcome<Checked, NotActive> {
    let mut checked = Checked::default();
    // Locked: the account cannot be deleted between completing a step and paying it.
    let Some((zone, visits)) = tx.lock_fan(user)? else { return Err(Failure::Refused(NotActive)) };
    let today = today(zone, visits.as_ref(), ctx.now());
    loop {
        let before = checked.steps.len();
        let facts = Facts { rank, ..tx.facts(user)? };
        let runs = tx.open_runs(user, today)?;
        let needed: Vec<QuestId> = runs
            .iter()
            .filter_map(|(run, _)| book.quest(run.quest))
            .flat_map(|quest| quest.prerequisites.iter().copied())
            .collect();
        let completed = tx.completed_among(user, &needed)?;
        for (run, done) in runs {
            let Some(quest) = book.quest(run.quest) else { continue };
            if !is_due(quest, &run, &done, &facts, &completed, ctx.now()) {
                continue;
            }
            // Locked and read again, because of concurrent transactions.
            let Some((run, done)) = tx.lock_run(user, run.quest, run.period)? else { continue };
            let mut progress = Progress { user, quest, run, done };
            let met = met_steps(quest, &progress.run, &progress.done, &facts, &completed, ctx.now());
            for step in met.into_iter().filter_map(|id| quest.step(id)) {
                pay_step(tx, ctx, awards, &mut progress, step, &mut checked)
                    .map_err(|failure| not_given(failure, NotActive))?;
            }
            pay_quest(tx, ctx, awards, &mut progress, &mut checked)
                .map_err(|failure| not_given(failure, NotActive))?;
        }
        if checked.steps.len() == before {
            break;
        }
    }
    checked.achievements = grant_achievements(tx, ctx, book.achievements(), user)?;
    Ok(checked)
}

/// Grants the achievements that a fan has reached and does not have; returns how many.
pub(crate) fn grant_achievements(
    tx: &mut dyn ProgressTx,
    ctx: &mut Ctx,
    achievements: &[Achievement],
    user: UserId,
) -> Result<u64, StoreError> {
    let Some(state) = tx.progress_of(user)? else { return Ok(0) };
    let mut granted = 0;
    let known = state.known();
    for achievement in achievements {
        if !state.achievements.contains(&achievement.key)
            && achievement.is_reached(&known)
            && tx.unlock_achievement(user, &achievement.key, ctx.now())?
        {
            let event = NewEvent {
                topic: Topic::Quests,
                kind: EventKind::AchievementUnlocked,
                actor: Some(user),
                team: None,
                subject: user.as_uuid(),
                object: None,
            };
            tx.append_with_detail(&event, achievement.key.as_str(), ctx.now())?;
            granted += 1;
        }
    }
    Ok(granted)
}

/// Fans affected by an event, according to its kind alone.
fn concerned(book: &QuestBook, event: &Event) -> Vec<UserId> {
    let subject = event.what.subject;
    let has_check = |step: &Step| step.check.is_some();
    match (event.what.kind, event.what.actor) {
        (EventKind::UserFollowed, Some(actor)) => vec![actor, UserId::from_uuid(subject)],
        (EventKind::ProfileChanged | EventKind::AccountRestored, _) => vec![UserId::from_uuid(subject)],
        (EventKind::ScoreChanged, Some(actor)) => vec![actor],
        // A condition that held before the start counts from the start.
        (EventKind::QuestStarted, Some(actor)) => {
            let quest = book.quest(QuestId::from_uuid(subject));
            if quest.is_some_and(|quest| quest.steps.iter().any(has_check)) {
                vec![actor]
            } else {
                Vec::new()
            }
        }
        // It may unlock another quest, whose steps may have conditions that already hold.
        (EventKind::QuestCompleted, Some(actor)) => {
            let before = QuestId::from_uuid(subject);
            let mut unlocked = book.quests().iter().filter(|quest| quest.prerequisites.contains(&before));
            if unlocked.any(|quest| quest.steps.iter().any(has_check)) { vec![actor] } else { Vec::new() }
        }
        // The next step may have a condition that already holds.
        (EventKind::StepCompleted, Some(actor)) => {
            let quest = book.step(StepId::from_uuid(subject)).map(|(quest, _)| quest);
            let opens = quest.is_some_and(|quest| quest.is_sequential && quest.steps.iter().any(has_check));
            if opens { vec![actor] } else { Vec::new() }
        }
        (_, _) => Vec::new(),
    }
}

/// Checks each fan affected by these events, once.
pub(crate) fn check_after(tx: &mut dyn QuestTx, ctx: &mut Ctx, events: &[Event]) -> Result<(), StoreError> {
    let book = QuestBook::new(tx.quests()?);
    let mut users: BTreeMap<UserId, Option<u64>> =
        events.iter().flat_map(|event| concerned(&book, event)).map(|user| (user, None)).collect();
    for (user, rank) in brought_by_points(tx, ctx, &book, events)? {
        let known = users.entry(user).or_default();
        *known = known.or(rank);
    }
    let awards = Awards::default();
    for (user, rank) in users {
        match check_fan(tx, ctx, &awards, &book, (user, rank)) {
            Ok(_) | Err(Failure::Refused(NotActive)) => {}
            Err(Failure::Broken(error)) => return Err(error),
        }
    }
    Ok(())
}
