//! Units of work, and where they are handed in.

use crate::{ReadTx, Tx};
use std::future::Future;
use std::pin::Pin;
use terrace_kernel::{Position, StoreError};
use tokio::sync::watch;

/// A future that can be sent between threads and named in a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a command's body wants to become of its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Keep everything.
    Commit,
    /// Keep nothing: a rule said no.
    Rollback,
}

/// A command on its way through the store. The store calls [`WriteJob::run`] in a transaction, as often as it
/// must, each time after rolling back what the run before did, and [`WriteJob::finish`] exactly once.
pub trait WriteJob: Send {
    /// What it is called in metrics and logs.
    fn name(&self) -> &'static str;

    /// Runs the command's body once, keeping its result for [`WriteJob::finish`].
    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError>;

    /// Answers whoever waits: `Ok` after the commit (or after the rollback that the body wanted), else why
    /// nothing was kept. A commit whose outcome is unknown is an error too.
    fn finish(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// A query on its way through the store. It runs at most once, in one snapshot on SQLite and statement by
/// statement on PostgreSQL.
pub trait ReadJob: Send {
    /// What it is called in metrics and logs.
    fn name(&self) -> &'static str;

    /// Whether the answer may be old, as a replica's is. Never what carries a stream's position, one's own data or
    /// a session: a client that has just written would miss it.
    fn allow_stale(&self) -> bool {
        false
    }

    /// Whether all its statements have to see one state of the database.
    fn consistent_snapshot(&self) -> bool {
        false
    }

    /// Whether every event that its rows follow from must have its public position when it reads them.
    fn publishes(&self) -> bool {
        false
    }

    /// Answers whoever waits. `tx` is an error when no connection could be had.
    fn run(self: Box<Self>, tx: Result<&mut dyn ReadTx, StoreError>);

    /// Answers whoever waits from a replica, or gives the query back unanswered when that breaks, so that the
    /// primary can be asked.
    fn run_on_replica(self: Box<Self>, tx: &mut dyn ReadTx) -> Option<Box<dyn ReadJob>>;
}

/// Where commands and queries go. Neither call blocks.
pub trait Store: Send + Sync + 'static {
    /// Hands in a command.
    fn submit(&self, job: Box<dyn WriteJob>);

    /// Hands in a query.
    fn query(&self, job: Box<dyn ReadJob>);

    /// Fails when the database cannot be reached or its schema is not the one that this program knows.
    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Grows before anybody is told that a command of this process which appended an event was committed, and
    /// when events of other processes become public here. What was read when it stood lower may be stale.
    fn changes(&self) -> u64;

    /// Waits until whatever this process has committed has its public positions, and says the last of them: who has
    /// read the log up to there knows of everything that somebody was told of here. Nothing where that takes too long.
    fn settled(&self) -> BoxFuture<'_, Option<Position>>;

    /// Rings after events became public. The value is a hint: whoever wakes reads the log.
    fn bell(&self) -> watch::Receiver<Position>;
}
