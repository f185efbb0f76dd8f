//! Jobs that somebody wants done now, whether or not they are due: the routes under `/api/cron`.
//!
//! Of all who want the same job at once, in any process, one does it; the others wait for its end and are told that.

use crate::App;
use crate::platform::jobs::{Job, JobRecord, Turn, lease};
use crate::store::{Lease, ReadTx};
use crate::store::{Query, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Outcome, StoreError, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

/// How often who waits for another's run looks whether it has ended.
const LOOK: Duration = Duration::from_millis(50);

/// What became of the wish to have a job done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtOnce {
    /// It was done.
    Done,
    /// It was being done, and that came to its end.
    Joined,
    /// It was begun, by us or by another, and failed.
    Failed,
    /// Another is at it, for longer than we wait.
    Busy,
}

/// How a run that another began has ended.
enum Ended {
    Done,
    Failed,
    /// Without an end: whoever did it is gone or was stopped.
    Abandoned,
    /// It has not, in our time.
    NotYet,
}

impl App {
    /// Does `job` now, due or not, or waits until whoever is at it has done it, up to `patience`. It goes on when
    /// nobody waits for it any more.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked or told.
    pub async fn run_now(self: &Arc<Self>, job: Job, patience: Duration) -> Result<AtOnce, StoreError> {
        let (app, name) = (Arc::clone(self), job.name);
        // A task of its own: who hangs up would otherwise leave the job to nobody until its lease is over.
        let run = tokio::spawn(async move { app.do_or_join(&job, patience).await });
        run.await.unwrap_or_else(|error| Err(StoreError::defect(name, error)))
    }

    async fn do_or_join(self: &Arc<Self>, job: &Job, patience: Duration) -> Result<AtOnce, StoreError> {
        let (_nobody_stops_it, mut stop) = watch::channel(false);
        let since = Instant::now();
        loop {
            match self.attempt(job, &mut stop, true).await? {
                Turn::Done => return Ok(AtOnce::Done),
                Turn::Failed => return Ok(AtOnce::Failed),
                Turn::HeldElsewhere | Turn::TakenOver | Turn::Interrupted | Turn::NotDue(_) => {}
            }
            match self.see_out(job, since, patience).await? {
                Ended::Done => return Ok(AtOnce::Joined),
                Ended::Failed => return Ok(AtOnce::Failed),
                Ended::NotYet => return Ok(AtOnce::Busy),
                Ended::Abandoned => {}
            }
        }
    }

    /// Waits for the end of a run that another began.
    async fn see_out(&self, job: &Job, since: Instant, patience: Duration) -> Result<Ended, StoreError> {
        let mut joined: Option<Uuid> = None;
        loop {
            let (lease, record) = into_infallible(self.query(FindRun { name: job.name }).await)?;
            match lease {
                Some(lease) if lease.expires_at.is_over(self.now()) => return Ok(Ended::Abandoned),
                Some(lease) if joined.is_none_or(|holder| holder == lease.holder) => {
                    joined = Some(lease.holder);
                }
                // It has ended, and if another has begun since, that one's end is not ours to wait for.
                Some(_) | None => return Ok(end_of(record, lease.is_some())),
            }
            if since.elapsed() >= patience {
                return Ok(Ended::NotYet);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// What the record says of the run before; `again` when another is at it already.
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

/// Who is at a job, and what is stored of it.
struct FindRun {
    name: &'static str,
}

impl Query for FindRun {
    const NAME: &'static str = "find_run";
    type Output = (Option<Lease>, Option<JobRecord>);
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        // In this order: a run that ends in between has told its record before it gave the lease back.
        let lease = tx.lease(&lease(self.name))?;
        Ok((lease, tx.job(self.name)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_tells_how_a_run_ended() {
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
