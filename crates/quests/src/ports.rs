//! What the rules of this crate need from a store. One call is one round trip to the database; a call that writes
//! reports whether it took.

use crate::{
    AchievementFacts, AchievementKey, Facts, Period, Quest, QuestId, QuestKey, Run, StepDone, StepId, Visits,
};
use chrono::NaiveDate;
use chrono_tz::Tz;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Reads quests, and how far fans are. Completed quests as fans read of them are not here: they are derived from the
/// records of points.
pub trait QuestRead {
    /// Every quest, those that were taken out of the content included, in the order of the content.
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

    /// The zone of a fan whose account is active, and their visits.
    fn visits_and_zone(&mut self, user: UserId) -> Result<Option<(Tz, Option<Visits>)>, StoreError>;

    /// What a check of a fan's progress goes by, of an account that is active.
    fn progress_of(&mut self, user: UserId) -> Result<Option<FanProgress>, StoreError>;

    /// Those of these quests that a fan has completed, on whatever day.
    fn completed_among(&mut self, user: UserId, quests: &[QuestId]) -> Result<Vec<QuestId>, StoreError>;

    /// Those of these fans who are in one of these quests and have not completed it, in no order.
    fn active_among(&mut self, users: &[UserId], quests: &[QuestId]) -> Result<Vec<UserId>, StoreError>;

    /// Those of these steps that these fans have not done in a run of theirs that began at `since` or later, or is of a
    /// quest that is gone through once; in no order, and more than once where there are several such runs.
    fn undone_among(
        &mut self,
        users: &[UserId],
        steps: &[StepId],
        since: Timestamp,
    ) -> Result<Vec<(UserId, StepId)>, StoreError>;

    /// Which of these achievements these fans have, in no order.
    fn achieved_among(
        &mut self,
        users: &[UserId],
        keys: &[AchievementKey],
    ) -> Result<Vec<(UserId, AchievementKey)>, StoreError>;

    /// The achievements that a fan has, and since when.
    fn achievements_of(&mut self, user: UserId) -> Result<Vec<(AchievementKey, Timestamp)>, StoreError>;
}

/// What a check of a fan's progress goes by, beside the runs.
#[derive(Debug, Clone)]
pub struct FanProgress {
    /// The fan's zone.
    pub zone: Tz,
    /// Their visits.
    pub visits: Option<Visits>,
    /// What is known of them, but for the rank.
    pub facts: Facts,
    /// How many quests they have completed; a daily one counts once for each day.
    pub quests_completed: u64,
    /// The achievements that they have.
    pub achievements: Vec<AchievementKey>,
}

impl FanProgress {
    /// What achievements go by.
    pub fn known(&self) -> AchievementFacts {
        AchievementFacts {
            facts: self.facts,
            quests_completed: self.quests_completed,
            longest_streak: self.visits.as_ref().map_or(0, |visits| visits.longest),
        }
    }
}

/// Writes quests, and how far fans are.
pub trait QuestWrite: QuestRead {
    /// As [`QuestRead::visits_and_zone`], with the account locked until the transaction ends: it stays active, and nobody
    /// else brings the fan forward meanwhile.
    fn lock_fan(&mut self, user: UserId) -> Result<Option<(Tz, Option<Visits>)>, StoreError>;

    /// Writes quests with their steps and prerequisites, each over the one of the same id if there is one. What fans did
    /// in steps that are not among them any more is kept.
    fn put_quests(&mut self, quests: &[Quest]) -> Result<(), StoreError>;

    /// Retires every quest whose key is not among these; says how many were not retired before.
    fn retire_quests(&mut self, keep: &[QuestKey]) -> Result<u64, StoreError>;

    /// Writes a run unless the fan has it; `false` when they had.
    fn start_run(&mut self, user: UserId, run: &Run) -> Result<bool, StoreError>;

    /// Moves the beginning of a fan's run back to `at`, unless it began before.
    fn start_run_by(
        &mut self,
        user: UserId,
        quest: QuestId,
        period: Period,
        at: Timestamp,
    ) -> Result<(), StoreError>;

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

    /// Removes what a fan did in quests, their visits and achievements. The records of points stay.
    fn remove_progress_of(&mut self, user: UserId) -> Result<(), StoreError>;

    /// Notes that a fan has an achievement; `false` when they had it.
    fn unlock_achievement(
        &mut self,
        user: UserId,
        key: &AchievementKey,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
