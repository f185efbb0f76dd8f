//! Units of work and the interface to which they are submitted.

use crate::future::BoxFuture;
use crate::{Changes, ReadTx, Tx};
use std::any::Any;
use terrace_kernel::{Position, StoreError};
use tokio::sync::watch;

/// Decision of a command's body about its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Commit all changes.
    Commit,
    /// Discard all changes: a rule refused the command.
    Rollback,
}

/// Runs jobs of one kind in one transaction and keeps the result of each for [`WriteJob::finish`]. Returns for each job
/// its verdict, or `None` if it must be run again: this has written nothing for it then. It has written nothing for a
/// job whose verdict is [`Verdict::Rollback`] either.
pub type RunBatch = fn(&mut [&mut dyn WriteJob], &mut dyn Tx) -> Result<Vec<Option<Verdict>>, StoreError>;

/// A submitted command. The store calls [`WriteJob::run`] in a transaction, once or more, each time after rolling
/// back the effects of the previous call, and [`WriteJob::finish`] exactly once.
pub trait WriteJob: Any + Send {
    /// Name in metrics and logs.
    fn name(&self) -> &'static str;

    /// Runs the command's body once and keeps its result for [`WriteJob::finish`].
    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError>;

    /// The function that runs this job together with others of its kind, if it may. A store in which statements are
    /// expensive calls it in place of [`WriteJob::run`] for jobs that have the same function.
    fn batch(&self) -> Option<RunBatch> {
        None
    }

    /// Returns the result to the caller: `Ok` after the commit (or after the rollback that the body requested),
    /// otherwise the reason why nothing was committed. A commit with an unknown outcome is an error too.
    fn finish(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// A submitted query. It runs at most once: in one snapshot on SQLite, statement by statement on PostgreSQL.
pub trait ReadJob: Send {
    /// Name in metrics and logs.
    fn name(&self) -> &'static str;

    /// Whether the answer may be stale, as on a replica. Must be false for answers that carry a stream position, the
    /// caller's own data or a session: a client that has just written would miss its own write.
    fn allow_stale(&self) -> bool {
        false
    }

    /// Whether all statements must see the same state of the database.
    fn consistent_snapshot(&self) -> bool {
        false
    }

    /// Whether all events that led to the rows it reads must have a public position at the time of the read.
    fn publishes(&self) -> bool {
        false
    }

    /// Runs the query and returns the result to the caller. `tx` is an error if no connection was available.
    fn run(self: Box<Self>, tx: Result<&mut dyn ReadTx, StoreError>);

    /// Runs the query on a replica and returns the result to the caller, or returns the unanswered job if the replica
    /// fails, so that it can run on the primary.
    fn run_on_replica(self: Box<Self>, tx: &mut dyn ReadTx) -> Option<Box<dyn ReadJob>>;
}

/// Accepts commands and queries. Neither call blocks.
pub trait Store: Send + Sync + 'static {
    /// Submits a command.
    fn submit(&self, job: Box<dyn WriteJob>);

    /// Submits a query.
    fn query(&self, job: Box<dyn ReadJob>);

    /// Fails if the database is unreachable or its schema differs from the one that this program expects.
    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The changes of this process, and those of other processes whose events are public here.
    fn changes(&self) -> &Changes;

    /// Waits until all commits of this process have public positions, and returns the last of them: a reader that has
    /// read the log up to there has seen every event that this process has reported to a client. Returns `None` if
    /// this takes too long.
    fn settled(&self) -> BoxFuture<'_, Option<Position>>;

    /// Notifies after events became public. The value is a hint: the receiver reads the log itself.
    fn bell(&self) -> watch::Receiver<Position>;
}
