//! Progress checks: steps whose condition holds are completed, whoever or whatever brought it about (spec §1 rule 5).

use super::progress::not_given;
use super::{Checked, NotActive, Progress, QuestBook, pay_quest, pay_step, tell};
use crate::awards::Awards;
use crate::store::Tx;
use std::collections::BTreeSet;
use terrace_kernel::{Ctx, Event, EventKind, Failure, Outcome, StoreError, UserId};
use terrace_quests::{AchievementFacts, Check, Quest, Run, RunStatus, StepDone, Visits, met_steps};

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
    let visits = visits.unwrap_or_else(|| Visits::none(zone));
    let today = visits.date(zone, ctx.now());
    loop {
        let before = checked.steps.len();
        let mut facts = tx.facts(user)?;
        facts.rank = rank;
        for (run, done) in tx.open_runs(user, today)? {
            let Some(quest) = book.quest(run.quest) else { continue };
            let is_due = is_left_complete(quest, &run, &done);
            if !is_due && met_steps(quest, &run, &done, &facts, ctx.now()).is_empty() {
                continue;
            }
            // Locked, and looked at again: somebody else may be at it.
            let Some((run, done)) = tx.lock_run(user, run.quest, run.period)? else { continue };
            let mut progress = Progress { user, quest, run, done };
            for id in met_steps(quest, &progress.run, &progress.done, &facts, ctx.now()) {
                let Some(step) = quest.step(id) else { continue };
                let mut after = progress.done.clone();
                after.push(StepDone { step: id, at: ctx.now() });
                let completes = progress.run.status == RunStatus::Active && quest.is_complete(&after);
                pay_step(tx, ctx, awards, &mut progress, (step, completes), &mut checked)
                    .map_err(|failure| not_given(failure, NotActive))?;
            }
            if is_left_complete(quest, &progress.run, &progress.done) {
                pay_quest(tx, ctx, awards, &mut progress, &mut checked)
                    .map_err(|failure| not_given(failure, NotActive))?;
            }
        }
        if checked.steps.len() == before {
            break;
        }
    }
    grant_achievements(tx, ctx, book, user, visits.longest)?;
    Ok(checked)
}

/// Whether a change of the quest left nothing to be done in it.
fn is_left_complete(quest: &Quest, run: &Run, done: &[StepDone]) -> bool {
    run.status == RunStatus::Active && quest.is_complete(done)
}

/// Grants the achievements that a fan has come to and does not have.
fn grant_achievements(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    book: &QuestBook,
    user: UserId,
    longest_streak: u32,
) -> Result<(), StoreError> {
    let known = AchievementFacts {
        facts: tx.facts(user)?,
        quests_completed: tx.count_completed_quests(user)?,
        longest_streak,
    };
    let granted = tx.achievements_of(user)?;
    for achievement in book.achievements() {
        let is_new = !granted.iter().any(|(key, _)| *key == achievement.key);
        if is_new
            && achievement.is_reached(&known)
            && tx.unlock_achievement(user, &achievement.key, ctx.now())?
        {
            tell(tx, ctx.now(), EventKind::AchievementUnlocked, user, user.as_uuid())?;
        }
    }
    Ok(())
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
