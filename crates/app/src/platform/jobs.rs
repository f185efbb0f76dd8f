//! The job schedule: work that is due at intervals. Of all processes that share a database, one executes each run.
//!
//! The process that runs a job holds its lease and prolongs it during the run; if the process dies, the lease
//! expires. The time of the next run is stored, so that a restart neither repeats nor skips a run.

mod on_request;

pub use on_request::RequestedRun;

use crate::store::{
    BoxFuture, Command, JobRead, JobRecord, JobTx, LeaseWrite, MAX_CLOCK_SKEW, Query, into_infallible,
};
use crate::{App, AppConfig};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

/// How often a process checks whether another process has completed or abandoned the run that it waits for.
const LOOK: Duration = Duration::from_secs(30);
/// Delay before a failed job is retried; it doubles with each further failure, up to the period.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// Returns whether a job with this period is due at `now`.
fn is_due(record: &JobRecord, now: Timestamp, period: Duration) -> bool {
    record.due_at.is_over(now) || record.due_at > now.plus(period.saturating_add(MAX_CLOCK_SKEW))
}

/// Returns the record after a run that ended at `now`.
fn after(record: JobRecord, end: End, period: Duration, now: Timestamp) -> JobRecord {
    let started = record.started_at.unwrap_or(now);
    match end {
        End::Succeeded => JobRecord {
            due_at: started.plus(period).max(now),
            finished_at: Some(now),
            succeeded_at: Some(now),
            failures: 0,
            ..record
        },
        End::Failed => {
            let failures = record.failures.saturating_add(1);
            JobRecord {
                due_at: now.plus(pause(failures, period)),
                finished_at: Some(now),
                failures,
                ..record
            }
        }
        // Not a failure: the next available process runs it.
        End::Interrupted => JobRecord { due_at: now, ..record },
    }
}

fn pause(failures: u32, period: Duration) -> Duration {
    let doublings = failures.saturating_sub(1).min(20);
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(doublings)).min(period)
}

type Work = Arc<dyn Fn(Arc<App>) -> BoxFuture<'static, Result<(), StoreError>> + Send + Sync>;

/// A periodic job.
#[derive(Clone)]
pub struct Job {
    name: &'static str,
    period: Duration,
    every: Option<fn(&AppConfig) -> Duration>,
    work: Work,
}

impl Job {
    /// Creates a job that does `work` once in each `period`. The work may be stopped between any two commands and
    /// starts over after a failure, so it must rely on stored state and not on memory.
    pub fn new<F>(
        name: &'static str,
        period: Duration,
        work: impl Fn(Arc<App>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), StoreError>> + Send + 'static,
    {
        Self { name, period, every: None, work: Arc::new(move |app| Box::pin(work(app))) }
    }

    /// Takes the period from the configuration instead.
    #[must_use]
    pub fn every(self, period: fn(&AppConfig) -> Duration) -> Self {
        Self { every: Some(period), ..self }
    }

    /// Stable name of the job.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The period under the given configuration.
    pub fn period(&self, config: &AppConfig) -> Duration {
        self.every.map_or(self.period, |every| every(config))
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("name", &self.name).field("period", &self.period).finish_non_exhaustive()
    }
}

/// Result of an attempt to run a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// The run succeeded.
    Done,
    /// The run failed and will be retried.
    Failed,
    /// The run was stopped; the next available process starts it again.
    Interrupted,
    /// The lease was not prolonged in time and another process took it.
    TakenOver,
    /// Another process is running the job.
    HeldElsewhere,
    /// It is not due yet.
    NotDue(Timestamp),
}

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Succeeded,
    Failed,
    Interrupted,
}

impl App {
    pub(crate) async fn keep_job(self: Arc<Self>, job: &Job, mut stop: watch::Receiver<bool>) {
        loop {
            let wait = match self.try_job(job, &mut stop).await {
                Ok(Turn::NotDue(due)) => due.since(self.now()).min(LOOK),
                // The record holds the next due time.
                Ok(Turn::Done | Turn::Failed) => Duration::ZERO,
                Ok(Turn::Interrupted | Turn::TakenOver | Turn::HeldElsewhere) => LOOK,
                Err(error) => {
                    log::warn!("job {} will retry: {error}", job.name);
                    FIRST_PAUSE
                }
            };
            tokio::select! {
                () = stop_requested(&mut stop) => return,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Runs `job` if it is due and no other process is running it. Aborts the run when `stop` turns true.
    ///
    /// # Errors
    ///
    /// When the database is unavailable. A failed run is not an error: it is recorded and retried.
    pub async fn try_job(
        self: &Arc<Self>,
        job: &Job,
        stop: &mut watch::Receiver<bool>,
    ) -> Result<Turn, StoreError> {
        let known = into_infallible(self.query(FindJob { name: job.name }).await)?;
        if let Some(succeeded) = known.as_ref().and_then(|record| record.succeeded_at) {
            metrics::gauge!("terrace_job_last_success_age_seconds", "job" => job.name)
                .set(self.now().since(succeeded).as_secs_f64());
        }
        // Most checks end here, without a write.
        let (now, period) = (self.now(), job.period(&self.config));
        if let Some(record) = known.filter(|record| !is_due(record, now, period)) {
            return Ok(Turn::NotDue(record.due_at));
        }
        self.attempt(job, stop, false).await
    }

    /// Runs `job` if no other process is running it and it is due or `early` is set.
    async fn attempt(
        self: &Arc<Self>,
        job: &Job,
        stop: &mut watch::Receiver<bool>,
        early: bool,
    ) -> Result<Turn, StoreError> {
        // Unique to this run: two attempts in one process are as independent as in two processes.
        let holder = self.seed().open().new_id();
        let (life, period) = (self.config.job_lease, job.period(&self.config));
        let begun = BeginJob { name: job.name, holder, life, period, early };
        match into_infallible(self.execute(begun).await)? {
            Begun::Ours => {}
            Begun::HeldElsewhere => return Ok(Turn::HeldElsewhere),
            Begun::NotDue(due) => return Ok(Turn::NotDue(due)),
        }
        let started = Instant::now();
        let end = self.run_to_end(job, holder, stop).await;
        let took = started.elapsed();
        let (turn, outcome) = match end {
            Some(End::Succeeded) => (Turn::Done, "done"),
            Some(End::Failed) => (Turn::Failed, "failed"),
            Some(End::Interrupted) => (Turn::Interrupted, "interrupted"),
            None => (Turn::TakenOver, "taken_over"),
        };
        metrics::counter!("terrace_job_runs_total", "job" => job.name, "outcome" => outcome).increment(1);
        metrics::histogram!("terrace_job_duration_seconds", "job" => job.name).record(took.as_secs_f64());
        let Some(end) = end else {
            log::warn!("job {} was taken over by another process", job.name);
            return Ok(turn);
        };
        let ended = EndJob { name: job.name, holder, period, end };
        into_infallible(self.execute(ended).await)?;
        Ok(turn)
    }

    /// Runs the job's work to completion while prolonging the lease; `None` if the lease was lost.
    async fn run_to_end(
        self: &Arc<Self>,
        job: &Job,
        holder: Uuid,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<End> {
        // In a separate task, so that a panic fails only this run.
        let mut run = tokio::spawn((job.work)(Arc::clone(self)));
        let end = loop {
            tokio::select! {
                done = &mut run => {
                    return Some(match done {
                        Ok(Ok(())) => End::Succeeded,
                        Ok(Err(error)) => {
                            log::error!("job {} failed: {error}", job.name);
                            End::Failed
                        }
                        Err(error) => {
                            log::error!("job {} failed: {error}", job.name);
                            End::Failed
                        }
                    });
                }
                () = stop_requested(stop) => break Some(End::Interrupted),
                () = tokio::time::sleep(self.config.job_lease / 3) => {
                    let renewed = ProlongJob { name: job.name, holder, life: self.config.job_lease };
                    match into_infallible(self.execute(renewed).await) {
                        Ok(true) => {}
                        Ok(false) => break None,
                        // The lease may still be held: the next attempt decides.
                        Err(error) => log::warn!("the lease of job {} was not prolonged: {error}", job.name),
                    }
                }
            }
        };
        run.abort();
        // It may submit commands until it has actually stopped.
        let _ = run.await;
        end
    }
}

/// Completes when `stop` turns true, or when its sender is dropped.
async fn stop_requested(stop: &mut watch::Receiver<bool>) {
    // An error means that the sender was dropped.
    let _ = stop.wait_for(|stop| *stop).await;
}

fn lease(job: &str) -> String {
    format!("job:{job}")
}

struct FindJob {
    name: &'static str,
}

impl Query for FindJob {
    const NAME: &'static str = "find_job";
    type Ports = dyn JobRead;
    type Output = Option<JobRecord>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn JobRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.job(self.name)?)
    }
}

/// Takes a job's lease if the job is due or `early` is set.
struct BeginJob {
    name: &'static str,
    holder: Uuid,
    life: Duration,
    period: Duration,
    early: bool,
}

enum Begun {
    Ours,
    HeldElsewhere,
    NotDue(Timestamp),
}

impl Command for BeginJob {
    const NAME: &'static str = "begin_job";
    type Ports = dyn JobTx;
    type Output = Begun;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn JobTx, ctx: &mut Ctx) -> Outcome<Begun, Infallible> {
        let now = ctx.now();
        if !tx.take_lease(&lease(self.name), self.holder, now, now.plus(self.life))? {
            return Ok(Begun::HeldElsewhere);
        }
        let record = tx.job(self.name)?.unwrap_or_else(|| JobRecord::new(self.name, now));
        // Another process may have run it since the previous check.
        if !self.early && !is_due(&record, now, self.period) {
            tx.release_lease(&lease(self.name), self.holder)?;
            return Ok(Begun::NotDue(record.due_at));
        }
        tx.save_job(&JobRecord { started_at: Some(now), ..record })?;
        Ok(Begun::Ours)
    }
}

/// Prolongs a job's lease; false if another process has held it since.
struct ProlongJob {
    name: &'static str,
    holder: Uuid,
    life: Duration,
}

impl Command for ProlongJob {
    const NAME: &'static str = "prolong_job";
    type Ports = dyn LeaseWrite;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn LeaseWrite, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.prolong_lease(&lease(self.name), self.holder, ctx.now().plus(self.life))?)
    }
}

/// Records how a run ended and releases the lease.
struct EndJob {
    name: &'static str,
    holder: Uuid,
    period: Duration,
    end: End,
}

impl Command for EndJob {
    const NAME: &'static str = "end_job";
    type Ports = dyn JobTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn JobTx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let now = ctx.now();
        // A process whose lease expired and was taken by another must not record anything.
        if !tx.prolong_lease(&lease(self.name), self.holder, now)? {
            return Ok(());
        }
        let record = tx.job(self.name)?.unwrap_or_else(|| JobRecord::new(self.name, now));
        tx.save_job(&after(record, self.end, self.period, now))?;
        tx.release_lease(&lease(self.name), self.holder)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000).plus(Duration::from_secs(seconds))
    }

    #[test]
    fn the_next_run_counts_from_the_start_and_never_lies_behind() {
        let record = JobRecord { started_at: Some(at(0)), failures: 3, ..JobRecord::new("a", at(0)) };
        let done = after(record.clone(), End::Succeeded, MINUTE, at(20));
        assert_eq!((done.due_at, done.failures, done.succeeded_at), (at(60), 0, Some(at(20))));
        assert_eq!(after(record.clone(), End::Succeeded, MINUTE, at(200)).due_at, at(200));
    }

    #[test]
    fn failures_wait_longer_and_longer_but_never_longer_than_the_period() {
        let pauses: Vec<_> = (1..=6).map(|failures| pause(failures, MINUTE).as_secs()).collect();
        assert_eq!(pauses, [5, 10, 20, 40, 60, 60]);
        assert_eq!(pause(u32::MAX, MINUTE), MINUTE);
        let failed = after(JobRecord::new("a", at(0)), End::Failed, MINUTE, at(20));
        assert_eq!((failed.due_at, failed.failures, failed.succeeded_at), (at(25), 1, None));
    }

    #[test]
    fn what_was_interrupted_is_due_at_once() {
        let record = JobRecord { failures: 2, ..JobRecord::new("a", at(0)) };
        let interrupted = after(record.clone(), End::Interrupted, MINUTE, at(20));
        assert_eq!((interrupted.due_at, interrupted.failures), (at(20), 2));
    }
}
