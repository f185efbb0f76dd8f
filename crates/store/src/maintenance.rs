//! The maintenance journal.

use std::collections::BTreeMap;
use std::str::FromStr;
use terrace_kernel::{StoreError, Timestamp};
use uuid::Uuid;

/// Outcome of a task's run, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// No outcome has been recorded.
    Running,
    /// The run completed its work.
    Succeeded,
    /// The run failed or was refused.
    Failed,
    /// An operator stopped the run between two batches.
    Stopped,
}

impl RunOutcome {
    /// The stable name, as stored in the journal.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// The text does not name an outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no outcome of a run")]
pub struct UnknownOutcome(String);

impl FromStr for RunOutcome {
    type Err = UnknownOutcome;

    fn from_str(text: &str) -> Result<Self, UnknownOutcome> {
        let all = [Self::Running, Self::Succeeded, Self::Failed, Self::Stopped];
        all.into_iter().find(|one| one.as_str() == text).ok_or_else(|| UnknownOutcome(text.to_owned()))
    }
}

/// One run of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Id of the run; ids sort by time.
    pub id: Uuid,
    /// Id of the command that the run is part of, which holds the lease.
    pub holder: Uuid,
    /// Name of the task.
    pub task: String,
    /// Name of the operator who ran it, in free text.
    pub started_by: String,
    /// Arguments of the command, in a form that can be typed again.
    pub arguments: String,
    /// Start time.
    pub started_at: Timestamp,
    /// End time, whatever the outcome.
    pub finished_at: Option<Timestamp>,
    pub outcome: RunOutcome,
    /// Number of rows written, by kind.
    pub counts: BTreeMap<String, u64>,
    /// Reason of the failure.
    pub failure: Option<String>,
}

/// Row sets that tasks scan in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All accounts, regardless of their state.
    Accounts,
    /// All posts, deleted ones included.
    Posts,
    /// All comments, those of deleted posts included.
    Comments,
}

/// Reads the journal.
pub trait MaintenanceRead {
    /// Returns the number of rows, as the basis of a time estimate.
    fn extent(&mut self, of: Extent) -> Result<u64, StoreError>;

    /// Returns the newest `limit` runs, newest first.
    fn maintenance_runs(&mut self, limit: u32) -> Result<Vec<RunRecord>, StoreError>;

    /// Returns the runs of a command's lease, oldest first.
    fn maintenance_runs_of(&mut self, holder: Uuid) -> Result<Vec<RunRecord>, StoreError>;

    /// Returns the time of the last successful run of each task that has one, by name.
    fn maintenance_successes(&mut self) -> Result<BTreeMap<String, Timestamp>, StoreError>;
}

/// Writes the journal.
pub trait MaintenanceWrite: MaintenanceRead {
    /// Records the start of a run.
    fn begin_maintenance(&mut self, run: &RunRecord) -> Result<(), StoreError>;

    /// Records the end of the run `id`, unless one is recorded.
    fn end_maintenance(
        &mut self,
        id: Uuid,
        at: Timestamp,
        outcome: RunOutcome,
        counts: &BTreeMap<String, u64>,
        failure: Option<&str>,
    ) -> Result<(), StoreError>;

    /// Removes up to `limit` of the runs that started before `before`; returns how many. Each task keeps the last
    /// such run, and the last successful one, which shows that the task has ever succeeded.
    fn sweep_maintenance(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
