//! What a fan did in quests, all of it: for their export, and for a walk through everybody.

use crate::{FanStanding, Period, QuestId, Run, StepId};
use chrono::NaiveDate;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// A step that a fan did, in whatever run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnStep {
    /// The step; it may have been taken out of its quest since.
    pub step: StepId,
    /// In which run.
    pub period: Period,
    /// When.
    pub at: Timestamp,
}

/// Reads what one fan did, page by page.
pub trait OwnQuestRead {
    /// Up to `limit` of a fan's runs after `after`, in the order of quests and periods.
    fn own_runs(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<(QuestId, Period)>,
    ) -> Result<Vec<Run>, StoreError>;

    /// Up to `limit` of the steps that a fan did after `after`, in the order of steps and periods.
    fn own_steps(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<(StepId, Period)>,
    ) -> Result<Vec<OwnStep>, StoreError>;
}

/// Reads how far everybody is, in portions.
pub trait StandingsRead {
    /// How far the active accounts from `first` to `last` are, both included, by their ids: with their runs of quests
    /// that are gone through once and of these dates, and nobody's rank. Four statements.
    fn standings_between(
        &mut self,
        first: UserId,
        last: UserId,
        dates: &[NaiveDate],
    ) -> Result<Vec<FanStanding>, StoreError>;
}
