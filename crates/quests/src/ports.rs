//! The store interface that the rules of this crate need. One call is one round trip to the database; a call that
//! writes conditionally returns whether it wrote.

use crate::{
    AchievementFacts, AchievementKey, Facts, Period, Quest, QuestId, QuestKey, Run, StepDone, StepId, Visits,
};
use chrono::NaiveDate;
use chrono_tz::Tz;
use std::collections::{HashMap, HashSet};
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Reads quests and the progress of fans. The list of completed quests that fans see is not here: it is derived from
/// the records of points.
pub trait QuestRead {
    /// All quests, including retired ones, in the order of the content.
    fn quests(&mut self) -> Result<Vec<Quest>, StoreError>;

    /// The existing runs of a fan among these, each with its completed steps.
    fn runs(
        &mut self,
        user: UserId,
        of: &[(QuestId, Period)],
    ) -> Result<Vec<(Run, Vec<StepDone>)>, StoreError>;

    /// A fan's runs of once-only quests and of the day `today`, active and completed, each with its completed steps.
    fn open_runs(&mut self, user: UserId, today: NaiveDate) -> Result<Vec<(Run, Vec<StepDone>)>, StoreError>;

    /// The facts about a fan, without the rank, which is `None`.
    fn facts(&mut self, user: UserId) -> Result<Facts, StoreError>;

    /// The time zone and the visits of a fan; `None` if the account is not active.
    fn visits_and_zone(&mut self, user: UserId) -> Result<Option<(Tz, Option<Visits>)>, StoreError>;

    /// The inputs of a progress check; `None` if the account is not active.
    fn progress_of(&mut self, user: UserId) -> Result<Option<FanProgress>, StoreError>;

    /// The quests among `quests` that a fan has completed, on any day.
    fn completed_among(&mut self, user: UserId, quests: &[QuestId]) -> Result<Vec<QuestId>, StoreError>;

    /// The fans among `users` who have an active run of at least one of these quests, in no order.
    fn active_among(&mut self, users: &[UserId], quests: &[QuestId]) -> Result<Vec<UserId>, StoreError>;

    /// The steps among these that these fans have not completed in one of their runs that began at `since` or later or
    /// is of a once-only quest; in no order, and repeated if there are several such runs.
    fn undone_among(
        &mut self,
        users: &[UserId],
        steps: &[StepId],
        since: Timestamp,
    ) -> Result<Vec<(UserId, StepId)>, StoreError>;

    /// The achievements among these that these fans have, in no order.
    fn achieved_among(
        &mut self,
        users: &[UserId],
        keys: &[AchievementKey],
    ) -> Result<Vec<(UserId, AchievementKey)>, StoreError>;

    /// A fan's achievements, and when each was unlocked.
    fn achievements_of(&mut self, user: UserId) -> Result<Vec<(AchievementKey, Timestamp)>, StoreError>;
}

/// The inputs of a progress check, apart from the runs.
#[derive(Debug, Clone)]
pub struct FanProgress {
    /// The fan's time zone.
    pub zone: Tz,
    /// The fan's visits.
    pub visits: Option<Visits>,
    /// The facts about the fan, without the rank.
    pub facts: Facts,
    /// How many quests the fan completed; a daily one counts once for each day.
    pub quests_completed: u64,
    /// The achievements that the fan has.
    pub achievements: Vec<AchievementKey>,
}

impl FanProgress {
    /// The facts that achievements use.
    pub fn known(&self) -> AchievementFacts {
        AchievementFacts {
            facts: self.facts,
            quests_completed: self.quests_completed,
            longest_streak: self.visits.as_ref().map_or(0, |visits| visits.longest),
        }
    }
}

/// Locks a fan's account.
pub trait FanLock {
    /// The same as [`QuestRead::visits_and_zone`], with the account locked until the transaction ends: the account
    /// stays active, and no other transaction can change the fan's progress meanwhile.
    fn lock_fan(&mut self, user: UserId) -> Result<Option<(Tz, Option<Visits>)>, StoreError>;

    /// Locks the accounts of several fans in the same way, without waiting; returns those that are locked. Accounts that
    /// are not active, and those that other transactions hold, are missing.
    fn lock_free_fans(&mut self, users: &[UserId]) -> Result<HashSet<UserId>, StoreError>;
}

/// Visits of a fan, and the date that must still be the last paid one: see [`QuestWrite::put_visits`].
#[derive(Debug, Clone)]
pub struct VisitsChange {
    /// The fan, whose account is locked.
    pub user: UserId,
    /// The visits after the change.
    pub visits: Visits,
    /// The last paid date before.
    pub before: Option<NaiveDate>,
}

/// Steps and visits of several fans at once. No list names a fan twice.
pub trait QuestBatch {
    /// [`FanLock::lock_fan`] for several fans, without waiting: accounts that are not active, and those that other
    /// transactions hold, are missing.
    fn lock_fans(&mut self, users: &[UserId]) -> Result<HashMap<UserId, (Tz, Option<Visits>)>, StoreError>;

    /// [`QuestWrite::lock_run`] for several fans. Runs that do not exist are missing. The fans must be locked.
    fn lock_runs(
        &mut self,
        runs: &[(UserId, QuestId, Period)],
    ) -> Result<HashMap<UserId, (Run, Vec<StepDone>)>, StoreError>;

    /// [`QuestWrite::complete_step`] for several fans; returns those whose step was not completed before.
    fn complete_steps(
        &mut self,
        steps: &[(UserId, StepId, Period, Timestamp)],
    ) -> Result<HashSet<UserId>, StoreError>;

    /// [`QuestWrite::put_visits`] for several fans; returns how many were written.
    fn put_all_visits(&mut self, changes: &[VisitsChange]) -> Result<usize, StoreError>;
}

/// Writes quests and the progress of fans.
pub trait QuestWrite: QuestRead + FanLock {
    /// Inserts or overwrites quests with their steps and prerequisites, by id. Progress in steps that were removed is
    /// kept.
    fn put_quests(&mut self, quests: &[Quest]) -> Result<(), StoreError>;

    /// Retires every quest whose key is not in `keep`; returns how many were not retired before.
    fn retire_quests(&mut self, keep: &[QuestKey]) -> Result<u64, StoreError>;

    /// Inserts a run; `false` if the fan has it already.
    fn start_run(&mut self, user: UserId, run: &Run) -> Result<bool, StoreError>;

    /// Sets the start of a fan's run to `at`, unless it started earlier.
    fn start_run_by(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// A fan's run and its completed steps, locked until the transaction ends.
    fn lock_run(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
    ) -> Result<Option<(Run, Vec<StepDone>)>, StoreError>;

    /// Marks a step as completed in a run; `false` if it was already.
    fn complete_step(
        &mut self,
        user: UserId,
        step: StepId,
        period: Period,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Completes an active run; `false` if it is not active.
    fn complete_run(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Writes a fan's visits if the stored last paid date is `expected_last` (`None`: no visits are stored, or none was
    /// paid); `false` otherwise.
    fn put_visits(
        &mut self,
        user: UserId,
        visits: &Visits,
        expected_last: Option<NaiveDate>,
    ) -> Result<bool, StoreError>;

    /// Removes a fan's progress in quests, visits and achievements. The records of points stay.
    fn remove_progress_of(&mut self, user: UserId) -> Result<(), StoreError>;

    /// Unlocks an achievement for a fan; `false` if the fan has it already.
    fn unlock_achievement(
        &mut self,
        user: UserId,
        key: &AchievementKey,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
