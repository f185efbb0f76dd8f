//! Commands and queries: what runs in one transaction.

use crate::{ReadTx, Tx};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, Timestamp};

/// Something that is to be done, in one transaction. Its body takes time, ids and randomness from `ctx` only,
/// and does nothing that a rollback does not undo, because it may run more than once.
pub trait Command: Send + 'static {
    /// What it is called in metrics and logs.
    const NAME: &'static str;
    /// What it comes to when it is done.
    type Output: Send + 'static;
    /// The rules that can say no.
    type Refusal: Send + 'static;
    /// Whether who is told of its outcome finds something of it on boards: it waits until they show it, so that readers
    /// need not.
    const AFFECTS_LEADERBOARD: bool = false;

    /// The body: the rule of the specification, top to bottom.
    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Self::Output, Self::Refusal>;
}

/// Something that is to be found out.
pub trait Query: Send + 'static {
    /// What it is called in metrics and logs.
    const NAME: &'static str;
    /// Whether the answer may be old, so that a replica can give it: nothing that carries a stream's position, no
    /// session, nobody's own data.
    const ALLOW_STALE: bool = false;
    /// Whether all its statements have to see one state of the database. On PostgreSQL that costs two round trips.
    const CONSISTENT_SNAPSHOT: bool = false;
    /// Whether all committed events are given their public positions in the transaction of the query, so that the rows
    /// that it reads are those as of the head of the log. On PostgreSQL it holds the relay up meanwhile: only for what
    /// has waited for positions in vain.
    const PUBLISHES: bool = false;
    /// What is found.
    type Output: Send + 'static;
    /// The rules that can say no.
    type Refusal: Send + 'static;

    /// The body.
    fn run(&self, tx: &mut dyn ReadTx, now: Timestamp) -> Outcome<Self::Output, Self::Refusal>;
}

/// The outcome of something that no rule can refuse.
///
/// # Errors
///
/// When the store is broken.
pub fn into_infallible<T>(outcome: Outcome<T, Infallible>) -> Result<T, StoreError> {
    outcome.map_err(|failure| match failure {
        Failure::Refused(never) => match never {},
        Failure::Broken(error) => error,
    })
}
