//! Records of periodic jobs.

use terrace_kernel::{StoreError, Timestamp};

/// What is stored of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRecord {
    /// Its stable name.
    pub name: String,
    /// When the next run is due.
    pub due_at: Timestamp,
    /// When the last run began.
    pub started_at: Option<Timestamp>,
    /// When the last run that came to an end did so, well or not.
    pub finished_at: Option<Timestamp>,
    /// When the last run that did its work ended.
    pub succeeded_at: Option<Timestamp>,
    /// How many runs in a row have failed.
    pub failures: u32,
}

impl JobRecord {
    /// The record of a job that has not run, due at `now`.
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

/// Reads what is stored of jobs.
pub trait JobRead {
    /// What is stored of the job `name`; nothing before its first run.
    fn job(&mut self, name: &str) -> Result<Option<JobRecord>, StoreError>;

    /// What is stored of every job, by name; jobs that later versions dropped are among them.
    fn jobs(&mut self) -> Result<Vec<JobRecord>, StoreError>;
}

/// Stores what became of jobs. Only who holds the job's lease writes.
pub trait JobWrite: JobRead {
    /// Stores the record in place of the one before it.
    fn save_job(&mut self, record: &JobRecord) -> Result<(), StoreError>;
}
