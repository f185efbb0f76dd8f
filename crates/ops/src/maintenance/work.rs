//! The environment of a task, and how it ends.

use crate::maintenance::context::TaskContext;
use crate::maintenance::walk::{Derived, walk};
use crate::maintenance::{CountRows, Extent, Left, Task, TaskRun};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use terrace_app::App;
use terrace_kernel::StoreError;
use terrace_store::{Command, Query, into_infallible};

/// Why a task was not completed. Earlier batches remain committed.
#[derive(Debug, thiserror::Error)]
pub enum TaskFailure {
    /// The run was stopped. Another run does the rest.
    #[error("stopped between two batches")]
    Stopped,
    /// The store failed.
    #[error(transparent)]
    Broken(#[from] StoreError),
    /// The task is impossible in the current state; the text gives the reason.
    #[error("{0}")]
    Refused(String),
}

impl TaskFailure {
    /// Converts the failure for callers that are not tasks and cannot be stopped.
    pub(crate) fn into_store(self) -> StoreError {
        match self {
            Self::Broken(error) => error,
            Self::Stopped | Self::Refused(_) => StoreError::Unavailable(self.to_string()),
        }
    }
}

/// Receives progress of maintenance. Methods are called from within the work and must not block.
pub trait Observer: Send + Sync + 'static {
    /// A task starts.
    fn began(&self, task: &Task) {
        let _ = task;
    }

    /// Number of items processed so far, and the total if it is known.
    fn moved(&self, done: u64, of: Option<u64>) {
        let _ = (done, of);
    }

    /// A line of the task's own report.
    fn print(&self, line: &str) {
        let _ = line;
    }

    /// The task that started last has ended.
    fn ended(&self, ran: &TaskRun) {
        let _ = ran;
    }

    /// A task is skipped.
    fn left(&self, left: &Left) {
        let _ = left;
    }
}

/// An observer that ignores everything.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Observer for Unwatched {}

/// The environment of a task: the use cases, dry-run flag, counts, observer and stop signal. Clones belong to the
/// same run.
#[derive(Clone)]
pub struct Work {
    app: Arc<App>,
    pace: TaskContext,
}

impl Work {
    pub(super) fn new(app: Arc<App>, pace: TaskContext) -> Self {
        Self { app, pace }
    }

    /// The use cases.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Whether nothing may be written: [`Work::batch`] rolls back by itself; any other effect of the task (a call to
    /// another service, a file) must be skipped by the task.
    pub fn is_dry(&self) -> bool {
        self.pace.is_dry()
    }

    /// Runs one batch, which is one transaction. In a dry run the same transaction is rolled back and its output is
    /// returned all the same, so that a dry run counts exactly what the run would. If a stop was requested, it fails
    /// before the batch.
    ///
    /// A dry run changes nothing: a task whose batches take items from the front of a queue would see the same items
    /// forever. Such a task must page by key, or use [`Work::drain`].
    ///
    /// # Errors
    ///
    /// When a stop was requested, and when the database is unavailable.
    pub async fn batch<C: Command<Refusal = Infallible>>(
        &self,
        command: C,
    ) -> Result<C::Output, TaskFailure> {
        self.pace.batch(&self.app, command).await
    }

    /// Same as [`Work::batch`], for a command that rules may refuse.
    ///
    /// # Errors
    ///
    /// When a stop was requested, and when the database is unavailable; a refusal is part of the result.
    pub async fn attempt<C: Command>(
        &self,
        command: C,
    ) -> Result<Result<C::Output, C::Refusal>, TaskFailure> {
        self.pace.attempt(&self.app, command).await
    }

    /// Runs commands that each remove up to `portion` rows and return how many, until one removes fewer. Returns the
    /// total. A dry run does everything in one transaction, so that no portion is counted twice; for large amounts on
    /// a live system, page by key instead.
    ///
    /// # Errors
    ///
    /// When a stop was requested, and when the database is unavailable.
    pub async fn drain<C>(&self, portion: u32, command: impl Fn() -> C) -> Result<u64, TaskFailure>
    where
        C: Command<Output = u64, Refusal = Infallible>,
    {
        self.pace.drain(&self.app, portion, command).await
    }

    /// Runs a query that no rule can refuse. If a stop was requested, it fails before the query.
    ///
    /// # Errors
    ///
    /// When a stop was requested, and when the database is unavailable.
    pub async fn ask<Q: Query<Refusal = Infallible>>(&self, query: Q) -> Result<Q::Output, TaskFailure> {
        self.go_on()?;
        Ok(into_infallible(self.app.query(query).await)?)
    }

    /// Counts written rows by kind, for the report and the journal; in a dry run, the rows that would have been
    /// written. Rows that were only read must not be counted: the second of two runs counts nothing.
    pub fn count(&self, kind: &'static str, rows: u64) {
        self.pace.count(kind, rows);
    }

    /// Adds to the total number of items, for the progress bar and the time estimate.
    pub fn expect(&self, total: u64) {
        self.pace.expect(total);
    }

    /// Adds the number of all rows of a kind to the total number of items.
    pub(crate) async fn expect_all(&self, of: Extent) -> Result<(), TaskFailure> {
        self.expect(self.ask(CountRows(of)).await?);
        Ok(())
    }

    /// Scans derived rows and repairs the wrong ones.
    pub(crate) async fn walk<D: Derived>(&self, derived: D) -> Result<(), TaskFailure> {
        walk(&self.app, &self.pace, derived).await.map(drop)
    }

    /// Same as [`Work::walk`], for rows that are scanned by account: reports progress by the number of accounts.
    pub(crate) async fn walk_fans<D: Derived>(&self, derived: D) -> Result<(), TaskFailure> {
        self.expect_all(Extent::Accounts).await?;
        self.walk(derived).await
    }

    /// Adds to the number of processed items.
    pub fn advance(&self, done: u64) {
        self.pace.advance(done);
    }

    /// Adds a line to the task's report.
    pub fn print(&self, line: &str) {
        self.pace.print(line);
    }

    /// Fails if a stop was requested; call it between batches. [`Work::batch`] checks by itself.
    ///
    /// # Errors
    ///
    /// [`TaskFailure::Stopped`].
    pub fn go_on(&self) -> Result<(), TaskFailure> {
        self.pace.go_on()
    }

    pub(crate) fn pace(&self) -> &TaskContext {
        &self.pace
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("is_dry", &self.is_dry()).finish_non_exhaustive()
    }
}
