//! Commands and queries as the threads of the adapter run them.

use crate::conn::Conn;
use crate::error::panicked;
use crate::tx::DieselTx;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use terrace_kernel::{Appended, StoreError};
use terrace_store::{ReadJob, RunBatch, Verdict, WriteJob};

/// A command that is queued or running.
pub(crate) struct QueuedCommand {
    job: Box<dyn WriteJob>,
    /// The time at which it was submitted.
    pub(crate) since: Instant,
}

/// The result of one run of a body.
pub(crate) struct RunResult {
    pub(crate) verdict: Verdict,
    /// The events that the body appended to the log.
    pub(crate) appended: Vec<Appended>,
}

impl QueuedCommand {
    pub(crate) fn new(job: Box<dyn WriteJob>) -> Self {
        Self { job, since: Instant::now() }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.job.name()
    }

    /// Runs the body once. A panic in the body becomes the error of this command and does not affect others.
    pub(crate) fn run(&mut self, conn: Conn<'_>) -> Result<RunResult, StoreError> {
        let mut tx = DieselTx::new(conn);
        let ran = catch_unwind(AssertUnwindSafe(|| self.job.run(&mut tx)));
        let appended = tx.appended;
        match ran {
            Ok(result) => result.map(|verdict| RunResult { verdict, appended }),
            Err(panic) => {
                log::error!("command {} panicked", self.name());
                Err(panicked(self.name(), &*panic))
            }
        }
    }

    /// The function that runs several commands of this kind at once, if there is one.
    pub(crate) fn batch(&self) -> Option<RunBatch> {
        self.job.batch()
    }

    /// Sends the outcome to the caller.
    pub(crate) fn finish(self, outcome: Result<(), StoreError>) {
        let name = self.name();
        let result = if outcome.is_ok() { "ok" } else { "error" };
        metrics::histogram!("terrace_store_command_seconds", "command" => name, "result" => result)
            .record(self.since.elapsed().as_secs_f64());
        guarded(name, || self.job.finish(outcome));
    }
}

/// Runs commands of one kind at once. Returns which of them have a result, and the events that the batch appended to
/// the log. A panic becomes the error of the batch.
pub(crate) fn run_batch(
    commands: &mut [QueuedCommand],
    conn: Conn<'_>,
) -> Result<(Vec<bool>, Vec<Appended>), StoreError> {
    let Some((name, run)) = commands.first().and_then(|first| Some((first.name(), first.batch()?))) else {
        return Ok((vec![false; commands.len()], Vec::new()));
    };
    let mut tx = DieselTx::new(conn);
    let mut jobs: Vec<&mut dyn WriteJob> = commands.iter_mut().map(|command| &mut *command.job).collect();
    let ran = catch_unwind(AssertUnwindSafe(|| run(&mut jobs, &mut tx)));
    let verdicts = ran.unwrap_or_else(|panic| {
        log::error!("a batch of {name} panicked");
        Err(panicked(name, &*panic))
    })?;
    Ok((verdicts.iter().map(Option::is_some).collect(), tx.appended))
}

/// Rejects a query for which there is no connection.
pub(crate) fn turn_away(job: Box<dyn ReadJob>, error: StoreError) {
    guarded(job.name(), || job.run(Err(error)));
}

/// Runs a query; `false` if it panicked.
pub(crate) fn run_query(job: Box<dyn ReadJob>, conn: Conn<'_>) -> bool {
    let mut tx = DieselTx::new(conn);
    guarded(job.name(), || job.run(Ok(&mut tx)))
}

/// Runs a query on a replica. Returns the query if the replica could not answer it, and whether the connection is still
/// usable.
pub(crate) fn try_query(job: Box<dyn ReadJob>, conn: Conn<'_>) -> (Option<Box<dyn ReadJob>>, bool) {
    let mut tx = DieselTx::new(conn);
    let mut left = None;
    let ran = guarded(job.name(), || left = job.run_on_replica(&mut tx));
    let sound = ran && left.is_none();
    (left, sound)
}

/// Catches a panic, so that the thread survives and can serve other work.
fn guarded(name: &'static str, work: impl FnOnce()) -> bool {
    let ran = catch_unwind(AssertUnwindSafe(work));
    if ran.is_err() {
        log::error!("{name} panicked");
    }
    ran.is_ok()
}
