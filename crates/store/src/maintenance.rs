//! The journal of maintenance.

use std::collections::BTreeMap;
use std::str::FromStr;
use terrace_kernel::{StoreError, Timestamp};
use uuid::Uuid;

/// How a run of a task stands, as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// Nobody has said how it ended.
    Running,
    /// It did its work.
    Succeeded,
    /// It broke, or was refused.
    Failed,
    /// Somebody stopped it between two batches.
    Stopped,
}

impl RunOutcome {
    /// The stable name, as the journal holds it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }
}

/// No outcome has this name.
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
    /// Its id; ids follow the time.
    pub id: Uuid,
    /// The command that it was part of, whose lease it ran under.
    pub holder: Uuid,
    /// The task.
    pub task: String,
    /// Who ran it, in their own words.
    pub started_by: String,
    /// What was asked for, as it could be typed again.
    pub arguments: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, however.
    pub finished_at: Option<Timestamp>,
    /// What it came to.
    pub outcome: RunOutcome,
    /// How many rows of which kind it wrote.
    pub counts: BTreeMap<String, u64>,
    /// Why it failed.
    pub failure: Option<String>,
}

/// Rows that tasks go through, all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Accounts, whatever their state.
    Accounts,
    /// Posts, deleted ones included.
    Posts,
}

/// Reads the journal.
pub trait MaintenanceRead {
    /// How many rows there are, for an estimate of how long it takes to go through them.
    fn extent(&mut self, of: Extent) -> Result<u64, StoreError>;

    /// The newest `limit` runs, the newest first.
    fn maintenance_runs(&mut self, limit: u32) -> Result<Vec<RunRecord>, StoreError>;

    /// The runs under a lease, the oldest first.
    fn maintenance_runs_of(&mut self, holder: Uuid) -> Result<Vec<RunRecord>, StoreError>;

    /// When each task that ever did its work did so last, by name.
    fn maintenance_successes(&mut self) -> Result<BTreeMap<String, Timestamp>, StoreError>;
}

/// Writes the journal.
pub trait MaintenanceWrite: MaintenanceRead {
    /// Notes a run that begins.
    fn begin_maintenance(&mut self, run: &RunRecord) -> Result<(), StoreError>;

    /// Notes how the run of this id ended, if nobody has yet.
    fn end_maintenance(
        &mut self,
        id: Uuid,
        at: Timestamp,
        outcome: RunOutcome,
        counts: &BTreeMap<String, u64>,
        failure: Option<&str>,
    ) -> Result<(), StoreError>;

    /// Removes up to `limit` of the runs that began before `before`; says how many. Of each task the last of those stays,
    /// and the last of those that did its work, by which it is known that it ever has.
    fn sweep_maintenance(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
