//! Commands and queries: units that run in one transaction.

use crate::{Ports, ReadPorts};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp};

/// A change that runs in one transaction. Its body takes time, ids and randomness from `ctx` only, and has no effect
/// that a rollback does not undo, because it may run more than once.
pub trait Command: Sized + Send + 'static {
    /// Name in metrics and logs.
    const NAME: &'static str;
    /// The ports that the body uses, e.g. `dyn PackTx`.
    type Ports: Ports + ?Sized;
    /// Result of a successful run.
    type Output: Send + 'static;
    /// Refusals by rules of the domain.
    type Refusal: Send + 'static;
    /// Whether the outcome is visible on leaderboards. If so, the result is returned only after the boards show the
    /// change, so that readers need not wait for it.
    const AFFECTS_LEADERBOARD: bool = false;

    /// The body: follows the rule of the specification from top to bottom.
    fn run<'t>(
        &self,
        tx: &'t mut <Self::Ports as Ports>::Of<'t>,
        ctx: &mut Ctx,
    ) -> Outcome<Self::Output, Self::Refusal>;

    /// Whether this command may run together with others of its kind, with [`Command::run_batch`].
    fn batches(&self) -> bool {
        false
    }

    /// Runs several commands in one transaction, in fewer statements than one after another. The result of a command is
    /// that of [`Command::run`]; `None` means that it must be run again, in another batch or alone. Nothing is written
    /// for a command without a result or with a refusal, because the transaction is committed for the others.
    fn run_batch<'t>(
        batch: &mut [(&Self, &mut Ctx)],
        _tx: &'t mut <Self::Ports as Ports>::Of<'t>,
    ) -> Result<Batched<Self>, StoreError> {
        Ok(batch.iter().map(|_| None).collect())
    }
}

/// The results of a batch of commands, in their order.
pub type Batched<C> = Vec<Option<Result<<C as Command>::Output, <C as Command>::Refusal>>>;

/// A read that runs in one transaction.
pub trait Query: Send + 'static {
    /// Name in metrics and logs.
    const NAME: &'static str;
    /// Whether the answer may be stale, so that a replica can serve it. Must be false for answers that carry a stream
    /// position, a session or the caller's own data.
    const ALLOW_STALE: bool = false;
    /// Whether all statements must see the same state of the database. Costs two round trips on PostgreSQL.
    const CONSISTENT_SNAPSHOT: bool = false;
    /// Whether all committed events are assigned public positions in the transaction of the query, so that the rows
    /// that it reads correspond to the head of the log. On PostgreSQL this blocks the relay meanwhile: use it only
    /// after waiting for positions has failed.
    const PUBLISHES: bool = false;
    /// The ports that the body uses, e.g. `dyn RoomReadTx`.
    type Ports: ReadPorts + ?Sized;
    /// Result of a successful query.
    type Output: Send + 'static;
    /// Refusals by rules of the domain.
    type Refusal: Send + 'static;

    /// The body of the query.
    fn run<'t>(
        &self,
        tx: &'t mut <Self::Ports as ReadPorts>::Of<'t>,
        now: Timestamp,
    ) -> Outcome<Self::Output, Self::Refusal>;
}

/// Converts the outcome of an operation that no rule can refuse.
///
/// # Errors
///
/// When the store fails.
pub fn into_infallible<T>(outcome: Outcome<T, Infallible>) -> Result<T, StoreError> {
    outcome.map_err(|failure| match failure {
        Failure::Refused(never) => match never {},
        Failure::Broken(error) => error,
    })
}
