//! Jobs that are requested immediately, due or not: the routes under `/api/cron`.
//!
//! Of all concurrent requests for the same job, in any process, one runs it; the others wait for the run to end and
//! return its result.

use crate::App;
use crate::platform::jobs::{Job, JobRecord, Turn, lease};
use crate::store::{JobReadTx, Lease, Query, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Outcome, StoreError, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

/// How often a waiting request checks whether the other run has ended.
const LOOK: Duration = Duration::from_millis(50);

/// Result of a request to run a job immediately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestedRun {
    /// This request ran the job.
    Done,
    /// A run was in progress, and it succeeded.
    Joined,
    /// The run failed, whether it was this request's or another one's.
    Failed,
    /// Another run did not end within the waiting time.
    Busy,
}

/// How a run that another request started has ended.
enum Ended {
    Done,
    Failed,
    /// Without a result: its process died or was stopped.
    Abandoned,
    /// It has not ended within the waiting time.
    NotYet,
}

impl App {
    /// Runs `job` now, due or not, or waits up to `patience` for a run in progress to end. The job continues even if
    /// the caller disconnects.
    ///
    /// # Errors
    ///
    /// When the database is unavailable.
    pub async fn run_now(self: &Arc<Self>, job: Job, patience: Duration) -> Result<RequestedRun, StoreError> {
        let (app, name) = (Arc::clone(self), job.name);
        // In a separate task: if the caller's disconnect cancelled it, the job would be blocked until its lease
        // expires.
        let run = tokio::spawn(async move { app.do_or_join(&job, patience).await });
        run.await.unwrap_or_else(|error| Err(StoreError::defect(name, error)))
    }

    async fn do_or_join(self: &Arc<Self>, job: &Job, patience: Duration) -> Result<RequestedRun, StoreError> {
        let (_stop_sender, mut stop) = watch::channel(false);
        let since = Instant::now();
        loop {
            match self.attempt(job, &mut stop, true).await? {
                Turn::Done => return Ok(RequestedRun::Done),
                Turn::Failed => return Ok(RequestedRun::Failed),
                Turn::HeldElsewhere | Turn::TakenOver | Turn::Interrupted | Turn::NotDue(_) => {}
            }
            match self.await_end(job, since, patience).await? {
                Ended::Done => return Ok(RequestedRun::Joined),
                Ended::Failed => return Ok(RequestedRun::Failed),
                Ended::NotYet => return Ok(RequestedRun::Busy),
                Ended::Abandoned => {}
            }
        }
    }

    /// Waits for the end of a run that another request started.
    async fn await_end(&self, job: &Job, since: Instant, patience: Duration) -> Result<Ended, StoreError> {
        let mut joined: Option<Uuid> = None;
        loop {
            let (lease, record) = into_infallible(self.query(FindRun { name: job.name }).await)?;
            match lease {
                Some(lease) if lease.expires_at.is_over(self.now()) => return Ok(Ended::Abandoned),
                Some(lease) if joined.is_none_or(|holder| holder == lease.holder) => {
                    joined = Some(lease.holder);
                }
                // The run has ended; if another one has started since, its end is not awaited here.
                Some(_) | None => return Ok(end_of(record, lease.is_some())),
            }
            if since.elapsed() >= patience {
                return Ok(Ended::NotYet);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Returns how the previous run ended according to the record; `again` if another run has already started.
fn end_of(record: Option<JobRecord>, again: bool) -> Ended {
    let Some(record) = record else { return Ended::Abandoned };
    let ended =
        again || record.finished_at.is_some_and(|at| record.started_at.is_none_or(|began| at >= began));
    match (ended, record.failures) {
        (false, _) => Ended::Abandoned,
        (true, 0) => Ended::Done,
        (true, _) => Ended::Failed,
    }
}

/// Reads the lease of a job and its record.
struct FindRun {
    name: &'static str,
}

impl Query for FindRun {
    const NAME: &'static str = "find_run";
    type Ports = dyn JobReadTx;
    type Output = (Option<Lease>, Option<JobRecord>);
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn JobReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        // In this order: a run that ends in between has stored its record before it released the lease.
        let lease = tx.lease(&lease(self.name))?;
        Ok((lease, tx.job(self.name)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_holds_how_a_run_ended() {
        let at = |second: u64| Timestamp::from_micros(0).plus(Duration::from_secs(second));
        let record = JobRecord { started_at: Some(at(5)), ..JobRecord::new("a", at(0)) };
        let shown = |record: Option<JobRecord>, again| match end_of(record, again) {
            Ended::Done => "done",
            Ended::Failed => "failed",
            Ended::Abandoned => "abandoned",
            Ended::NotYet => "not yet",
        };
        let ended = JobRecord { finished_at: Some(at(6)), ..record.clone() };
        let before = JobRecord { finished_at: Some(at(4)), ..record.clone() };
        let failed = JobRecord { failures: 1, ..ended.clone() };
        assert_eq!(shown(None, false), "abandoned");
        assert_eq!(shown(Some(record), false), "abandoned");
        assert_eq!(shown(Some(before.clone()), false), "abandoned");
        assert_eq!(shown(Some(before), true), "done");
        assert_eq!(shown(Some(ended), false), "done");
        assert_eq!(shown(Some(failed), false), "failed");
    }
}
