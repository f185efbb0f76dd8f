//! What the rules of this crate need from a store. One call is one round trip to the database; a call that writes
//! reports whether it took.

use crate::{AchievementKey, Facts, Period, Quest, QuestId, QuestKey, Run, StepDone, StepId, Visits};
use chrono::NaiveDate;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Reads quests, and how far fans are. Completed quests as fans read of them are not here: they are derived from the
/// records of points.
pub trait QuestRead {
    /// Every quest, those that were taken out of the content included, in the order of their keys.
    fn quests(&mut self) -> Result<Vec<Quest>, StoreError>;

    /// Those of these runs of a fan that there are, with the steps done in each.
    fn runs(
        &mut self,
        user: UserId,
        of: &[(QuestId, Period)],
    ) -> Result<Vec<(Run, Vec<StepDone>)>, StoreError>;

    /// A fan's runs of quests that are gone through once, and those of the day `today`, active and completed, with the
    /// steps done in each.
    fn open_runs(&mut self, user: UserId, today: NaiveDate) -> Result<Vec<(Run, Vec<StepDone>)>, StoreError>;

    /// What is known of a fan, but for the rank, which stays `None`.
    fn facts(&mut self, user: UserId) -> Result<Facts, StoreError>;

    /// A fan's visits.
    fn visits(&mut self, user: UserId) -> Result<Option<Visits>, StoreError>;

    /// The achievements that a fan has, and since when.
    fn achievements_of(&mut self, user: UserId) -> Result<Vec<(AchievementKey, Timestamp)>, StoreError>;
}

/// Writes quests, and how far fans are.
pub trait QuestWrite {
    /// Writes a quest with its steps and prerequisites, over the one of the same key if there is one. What fans did in
    /// steps that are not among them any more is kept.
    fn put_quest(&mut self, quest: &Quest) -> Result<(), StoreError>;

    /// Retires every quest whose key is not among these; says how many were not retired before.
    fn retire_quests(&mut self, keep: &[QuestKey]) -> Result<u64, StoreError>;

    /// Writes a run unless the fan has it; `false` when they had.
    fn start_run(&mut self, user: UserId, run: &Run) -> Result<bool, StoreError>;

    /// A fan's run and the steps done in it, and lets nobody else change it until the transaction ends.
    fn lock_run(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
    ) -> Result<Option<(Run, Vec<StepDone>)>, StoreError>;

    /// Notes that a step was done in a run; `false` when it had been.
    fn complete_step(
        &mut self,
        user: UserId,
        step: StepId,
        period: Period,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Completes an active run; `false` when it is none.
    fn complete_run(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Writes a fan's visits where the last paid date is still `expected_last` (`None`: there are none, or none was paid);
    /// `false` where it is another one.
    fn put_visits(
        &mut self,
        user: UserId,
        visits: &Visits,
        expected_last: Option<NaiveDate>,
    ) -> Result<bool, StoreError>;

    /// Notes that a fan has an achievement; `false` when they had it.
    fn unlock_achievement(
        &mut self,
        user: UserId,
        key: &AchievementKey,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
