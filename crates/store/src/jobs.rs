//! Records of periodic jobs.

use terrace_kernel::{StoreError, Timestamp};

/// Stored state of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// Stable name of the job.
    pub name: String,
    /// Time at which the next run is due.
    pub due_at: Timestamp,
    /// Start of the last run.
    pub started_at: Option<Timestamp>,
    /// End of the last run that ended, successful or not.
    pub finished_at: Option<Timestamp>,
    /// End of the last successful run.
    pub succeeded_at: Option<Timestamp>,
    /// Number of consecutive failed runs.
    pub failures: u32,
}

impl JobRecord {
    /// Creates the record of a job that has not run, due at `now`.
    pub fn new(name: &str, now: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            due_at: now,
            started_at: None,
            finished_at: None,
            succeeded_at: None,
            failures: 0,
        }
    }
}

pub trait JobRead {
    /// Returns the record of the job `name`; `None` before its first run.
    fn job(&mut self, name: &str) -> Result<Option<JobRecord>, StoreError>;

    /// Returns the records of all jobs, ordered by name, including jobs that later versions removed.
    fn jobs(&mut self) -> Result<Vec<JobRecord>, StoreError>;
}

/// Writes job records. Only the holder of the job's lease may write.
pub trait JobWrite: JobRead {
    /// Stores the record in place of the previous one.
    fn save_job(&mut self, record: &JobRecord) -> Result<(), StoreError>;
}
