//! Complete progress data of fans, for exports and for scans over all accounts.

use crate::{FanStanding, Period, QuestId, Run, StepId, Visits};
use chrono::NaiveDate;
use chrono_tz::Tz;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// A step that a fan completed, in any run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnStep {
    /// Id of the step, which may have been removed from its quest since.
    pub step: StepId,
    /// The period of the run.
    pub period: Period,
    /// When the step was completed.
    pub at: Timestamp,
}

/// Reads the progress of one fan, page by page.
pub trait OwnQuestRead {
    /// Up to `limit` of a fan's runs after `after`, ordered by quest and period.
    fn own_runs(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<(QuestId, Period)>,
    ) -> Result<Vec<Run>, StoreError>;

    /// Up to `limit` of a fan's completed steps after `after`, ordered by step and period.
    fn own_steps(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<(StepId, Period)>,
    ) -> Result<Vec<OwnStep>, StoreError>;
}

/// Reads the progress of all fans, in batches.
pub trait StandingsRead {
    /// The progress of the active accounts with ids from `first` to `last`, both included: with their runs of once-only
    /// quests and of these dates, and without ranks. Four statements.
    fn standings_between(
        &mut self,
        first: UserId,
        last: UserId,
        dates: &[NaiveDate],
    ) -> Result<Vec<FanStanding>, StoreError>;

    /// Up to `limit` active accounts after `after` whose streak of daily visits has at least two dates and no freeze left,
    /// ordered by id: with their zone and visits.
    fn streaks_after(
        &mut self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<(UserId, Tz, Visits)>, StoreError>;
}
