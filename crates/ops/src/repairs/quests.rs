//! Repairs of quest participation: onboarding of earlier fans, missing runs of completed steps, and the order of
//! steps.

use crate::maintenance::{
    Category, Derived, Looked, OrphanProgress, Page, Settled, Task, WalkReport, Work, hold,
};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_app::quests::{QuestBook, portion_of_standings};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId};
use terrace_quests::{Period, Quest, QuestId, Run, StepId};
use terrace_store::{Command, OpsTx};

/// Starts onboarding quests for fans who registered before these existed.
pub(crate) fn onboarding() -> Task {
    let about = "Starts the onboarding quests for fans who registered before these quests existed";
    Task::new("backfill-onboarding", Category::Backfill, about, |work: Work| async move {
        let book = crate::quests::fresh_quest_book(work.app()).await?;
        work.walk_fans(Onboarding { book }).await
    })
    // A lost run keeps its original start time instead of starting now.
    .after(&["repair-quest-runs"])
}

/// Restores missing runs of completed steps.
pub(crate) fn quest_runs() -> Task {
    let about = "Creates missing quest runs for completed steps";
    Task::new("repair-quest-runs", Category::Repair, about, |work: Work| async move {
        let book = crate::quests::fresh_quest_book(work.app()).await?;
        work.walk_fans(QuestRuns { book }).await
    })
    .after(&["repair-step-order"])
}

/// Renumbers steps.
pub(crate) fn step_order() -> Task {
    let about = "Renumbers the steps of each quest from 1, without gaps, in their current order";
    Task::new("repair-step-order", Category::Repair, about, |work: Work| async move {
        let moved = work.batch(OrderSteps).await?;
        work.count("places of steps", moved);
        work.app().forget_quest_book();
        Ok(())
    })
}

#[derive(Clone)]
struct Onboarding {
    book: Arc<QuestBook>,
}

impl Onboarding {
    fn quests(&self, now: Timestamp) -> Vec<&Quest> {
        self.book.quests().iter().filter(|quest| quest.is_onboarding && quest.is_open(now)).collect()
    }
}

impl Derived for Onboarding {
    const NAME: &'static str = "backfill_onboarding";
    type Key = UserId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId> {
        let (now, quests) = (page.now, self.quests(page.now));
        page.fans(|tx, first, last| {
            let lacks = |runs: &[(Run, Vec<_>)]| {
                quests.iter().any(|quest| runs.iter().all(|(run, _)| run.quest != quest.id))
            };
            let standings = portion_of_standings(tx, (first, last), now)?;
            Ok(standings.iter().filter(|fan| lacks(&fan.runs)).map(|fan| fan.user).collect())
        })
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[UserId]) -> Settled {
        let mut report = WalkReport::default();
        for fan in tx.lock_active(suspects)? {
            for quest in self.quests(ctx.now()) {
                let run = Run::started(quest.id, Period::Once, ctx.now());
                report.wrote("runs", u64::from(tx.start_run(fan, &run)?));
            }
        }
        Ok(report)
    }
}

#[derive(Clone)]
struct QuestRuns {
    book: Arc<QuestBook>,
}

impl Derived for QuestRuns {
    const NAME: &'static str = "repair_quest_runs";
    type Key = UserId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId> {
        page.fans(|tx, first, last| {
            Ok(tx.orphan_progress_between(first, last)?.into_iter().map(|one| one.user).collect())
        })
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[UserId]) -> Settled {
        let mut report = WalkReport::default();
        let Some(held) = hold(tx, suspects)? else { return Ok(report) };
        for OrphanProgress { user, quest, period, first_at } in
            tx.orphan_progress_between(held.first, held.last)?
        {
            if !held.contains(user) || !tx.start_run(user, &Run::started(quest, period, first_at))? {
                continue;
            }
            report.wrote("runs", 1);
            report.wrote("completed quests", u64::from(self.complete(tx, user, quest, period)?));
        }
        Ok(report)
    }
}

impl QuestRuns {
    /// Completes a run whose quest's requirements are met, as of the time they were met; returns whether it did.
    fn complete(
        &self,
        tx: &mut dyn OpsTx,
        user: UserId,
        quest: QuestId,
        period: Period,
    ) -> Result<bool, StoreError> {
        let (Some(quest), Some((_, done))) = (self.book.quest(quest), tx.lock_run(user, quest, period)?)
        else {
            return Ok(false);
        };
        match quest.complete_since(&done) {
            Some(since) => tx.complete_run(user, quest.id, period, since),
            None => Ok(false),
        }
    }
}

/// Renumbers steps; returns how many changed.
struct OrderSteps;

impl Command for OrderSteps {
    const NAME: &'static str = "order_steps";
    type Ports = dyn OpsTx;
    type Output = u64;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        let mut moved = 0;
        for (step, from, to) in out_of_place(&tx.step_places()?) {
            moved += u64::from(tx.move_step(step, from, to)?);
        }
        Ok(moved)
    }
}

/// Returns the steps whose position is wrong, as (step, current position, correct position). `places` is sorted by
/// quest, in the order of its steps.
fn out_of_place(places: &[(QuestId, StepId, u32)]) -> Vec<(StepId, u32, u32)> {
    let mut moves = Vec::new();
    let (mut before, mut place) = (None, 0_u32);
    for (quest, step, at) in places {
        place = if before == Some(quest) { place.saturating_add(1) } else { 1 };
        before = Some(quest);
        if *at != place {
            moves.push((*step, *at, place));
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::Uuid;

    #[test]
    fn steps_stand_from_1_on_without_gaps() {
        let quest = |n| QuestId::from_uuid(Uuid::from_u128(n));
        let step = |n| StepId::from_uuid(Uuid::from_u128(n));
        let right = [(quest(1), step(1), 1), (quest(1), step(2), 2), (quest(2), step(3), 1)];
        assert_eq!(out_of_place(&right), []);
        let wrong = [
            (quest(1), step(1), 0),
            (quest(1), step(2), 2),
            (quest(1), step(3), 2),
            (quest(1), step(4), 9),
            (quest(2), step(5), 3),
        ];
        let moves = [(step(1), 0, 1), (step(3), 2, 3), (step(4), 9, 4), (step(5), 3, 1)];
        assert_eq!(out_of_place(&wrong), moves);
        assert_eq!(out_of_place(&[]), []);
    }
}
