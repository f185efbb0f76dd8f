//! Progress checks: steps whose condition holds are completed, whoever or whatever brought it about (spec §1 rule 5).

use super::progress::not_given;
use super::{Checked, NotActive, Progress, QuestBook, pay_quest, pay_step};
use crate::awards::Awards;
use crate::store::Tx;
use std::collections::BTreeSet;
use terrace_kernel::{Ctx, Event, EventKind, Failure, NewEvent, Outcome, StoreError, Topic, UserId};
use terrace_quests::{Check, Facts, Quest, is_due, met_steps, today};

/// Completes what a fan has fulfilled in the quests that they are in, and grants the achievements that they have come to.
/// What they fulfil by that itself is seen, too: points may reach a threshold.
pub(crate) fn check_fan(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    awards: &Awards,
    book: &QuestBook,
    (user, rank): (UserId, Option<u64>),
) -> Outcome<Checked, NotActive> {
    let mut checked = Checked::default();
    // Locked: what is completed below is paid below, and nobody takes the account away in between.
    let Some((zone, visits)) = tx.lock_fan(user)? else { return Err(Failure::Refused(NotActive)) };
    let today = today(zone, visits.as_ref(), ctx.now());
    loop {
        let before = checked.steps.len();
        let facts = Facts { rank, ..tx.facts(user)? };
        for (run, done) in tx.open_runs(user, today)? {
            let Some(quest) = book.quest(run.quest) else { continue };
            if !is_due(quest, &run, &done, &facts, ctx.now()) {
                continue;
            }
            // Locked, and looked at again: somebody else may be at it.
            let Some((run, done)) = tx.lock_run(user, run.quest, run.period)? else { continue };
            let mut progress = Progress { user, quest, run, done };
            let met = met_steps(quest, &progress.run, &progress.done, &facts, ctx.now());
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
    checked.achievements = grant_achievements(tx, ctx, book, user)?;
    Ok(checked)
}

/// Grants the achievements that a fan has come to and does not have; says how many.
fn grant_achievements(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    book: &QuestBook,
    user: UserId,
) -> Result<u64, StoreError> {
    let Some(state) = tx.progress_of(user)? else { return Ok(0) };
    let mut granted = 0;
    let known = state.known();
    for achievement in book.achievements() {
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
            tx.append_told(&event, achievement.key.as_str(), ctx.now())?;
            granted += 1;
        }
    }
    Ok(granted)
}

/// Whom a social action may have brought forward.
fn concerned(event: &Event) -> Vec<UserId> {
    let subject = UserId::from_uuid(event.what.subject);
    match (event.what.kind, event.what.actor) {
        (EventKind::UserFollowed, Some(actor)) => vec![actor, subject],
        (EventKind::ProfileChanged, _) => vec![subject],
        (EventKind::ScoreChanged, Some(actor)) => vec![actor],
        (_, _) => Vec::new(),
    }
}

fn counts_points(quest: &Quest) -> bool {
    quest.steps.iter().any(|step| matches!(step.check, Some(Check::PointsThreshold { .. })))
}

/// Checks the fans whom these events concern, once each. Ranks are not looked at here: they move with everybody's
/// points.
pub(crate) fn check_after(tx: &mut dyn Tx, ctx: &mut Ctx, events: &[Event]) -> Result<(), StoreError> {
    let mut users: BTreeSet<UserId> = events.iter().flat_map(concerned).collect();
    let book = QuestBook::new(tx.quests()?);
    // Of the many who get points, those who are on their way to a number of them.
    let is_award = |event: &&Event| event.what.kind == EventKind::PointsAwarded;
    let richer: Vec<UserId> = events.iter().filter(is_award).filter_map(|event| event.what.actor).collect();
    let counted: Vec<_> =
        book.quests().iter().filter(|quest| counts_points(quest)).map(|quest| quest.id).collect();
    if !richer.is_empty() && !counted.is_empty() {
        users.extend(tx.active_among(&richer, &counted)?);
    }
    let awards = Awards::default();
    for user in users {
        match check_fan(tx, ctx, &awards, &book, (user, None)) {
            Ok(_) | Err(Failure::Refused(NotActive)) => {}
            Err(Failure::Broken(error)) => return Err(error),
        }
    }
    Ok(())
}
