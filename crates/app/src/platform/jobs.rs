//! The job schedule: work that falls due by the clock. Of all processes on one database, one does each run.
//!
//! Whoever runs a job holds its lease and prolongs it while the run lasts; a process that dies lets it run out.
//! When the next run is due is stored, so that a restart neither repeats nor forgets one.

mod at_once;

pub use at_once::AtOnce;

use crate::store::{BoxFuture, JobRecord, MAX_CLOCK_SKEW, ReadTx, Tx};
use crate::store::{Command, Query, into_infallible};
use crate::{App, AppConfig};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

/// How often a process looks whether another has run what it waits for, or left it undone.
const LOOK: Duration = Duration::from_secs(30);
/// How long a job that failed waits before it is tried again; each further failure doubles it, up to the period.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// Whether a run is due at `now` of a job that is due once in each `period`.
fn is_due(record: &JobRecord, now: Timestamp, period: Duration) -> bool {
    record.due_at.is_over(now) || record.due_at > now.plus(period.saturating_add(MAX_CLOCK_SKEW))
}

/// The record after a run that ended at `now`.
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
        // Nobody's fault: whoever is there next does it.
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
    /// A job that does `work` once in each `period`. It may be stopped between any two commands, and after a
    /// failure it begins again, so that it goes by what is there and not by what it remembers.
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

    /// The same as often as the configuration says.
    #[must_use]
    pub fn every(self, period: fn(&AppConfig) -> Duration) -> Self {
        Self { every: Some(period), ..self }
    }

    /// Its stable name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How often it is due where `config` is the configuration.
    pub fn period(&self, config: &AppConfig) -> Duration {
        self.every.map_or(self.period, |every| every(config))
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("name", &self.name).field("period", &self.period).finish_non_exhaustive()
    }
}

/// What became of an attempt to run a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It did its work.
    Done,
    /// It failed and will be tried again.
    Failed,
    /// It was stopped, and whoever is there next begins it again.
    Interrupted,
    /// It lasted so long without a word to the database that another process took it over.
    TakenOver,
    /// Another process is at it.
    HeldElsewhere,
    /// It is not due yet.
    NotDue(Timestamp),
}

/// How a run ended.
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
                // The record says when it is due again.
                Ok(Turn::Done | Turn::Failed) => Duration::ZERO,
                Ok(Turn::Interrupted | Turn::TakenOver | Turn::HeldElsewhere) => LOOK,
                Err(error) => {
                    log::warn!("job {} will try again: {error}", job.name);
                    FIRST_PAUSE
                }
            };
            tokio::select! {
                () = told(&mut stop) => return,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Runs `job` if it is due and nobody else is at it. Gives it up when `stop` turns true.
    ///
    /// # Errors
    ///
    /// When the database cannot be asked or told. A run that fails is no error: it is noted, and tried again.
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
        // Most looks end here, without a write.
        let (now, period) = (self.now(), job.period(&self.config));
        if let Some(record) = known.filter(|record| !is_due(record, now, period)) {
            return Ok(Turn::NotDue(record.due_at));
        }
        self.attempt(job, stop, false).await
    }

    /// Runs `job` if nobody else is at it and it is due, or `early`.
    async fn attempt(
        self: &Arc<Self>,
        job: &Job,
        stop: &mut watch::Receiver<bool>,
        early: bool,
    ) -> Result<Turn, StoreError> {
        // Of this run alone: two attempts in one process are as far apart as in two.
        let holder = self.seed().open().new_id();
        let (life, period) = (self.config.job_lease, job.period(&self.config));
        let begun = BeginJob { name: job.name, holder, life, period, early };
        match into_infallible(self.execute(begun).await)? {
            Begun::Ours => {}
            Begun::HeldElsewhere => return Ok(Turn::HeldElsewhere),
            Begun::NotDue(due) => return Ok(Turn::NotDue(due)),
        }
        let started = Instant::now();
        let end = self.see_through(job, holder, stop).await;
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

    /// Runs the job's work to its end, prolonging the lease; `None` when the lease was lost.
    async fn see_through(
        self: &Arc<Self>,
        job: &Job,
        holder: Uuid,
        stop: &mut watch::Receiver<bool>,
    ) -> Option<End> {
        // A task of its own, so that a panic is a failure of this run only.
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
                () = told(stop) => break Some(End::Interrupted),
                () = tokio::time::sleep(self.config.job_lease / 3) => {
                    let renewed = ProlongJob { name: job.name, holder, life: self.config.job_lease };
                    match into_infallible(self.execute(renewed).await) {
                        Ok(true) => {}
                        Ok(false) => break None,
                        // It may still be ours: the next attempt shows.
                        Err(error) => log::warn!("the lease of job {} was not prolonged: {error}", job.name),
                    }
                }
            }
        };
        run.abort();
        // Until it has stopped it may still hand in commands.
        let _ = run.await;
        end
    }
}

/// Comes about when `stop` turns true, or when nobody is left who could turn it.
async fn told(stop: &mut watch::Receiver<bool>) {
    // The error says the latter.
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
    type Output = Option<JobRecord>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.job(self.name)?)
    }
}

/// Takes a job's lease, if the job is due, or wanted `early`.
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
    type Output = Begun;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Begun, Infallible> {
        let now = ctx.now();
        if !tx.take_lease(&lease(self.name), self.holder, now, now.plus(self.life))? {
            return Ok(Begun::HeldElsewhere);
        }
        let record = tx.job(self.name)?.unwrap_or_else(|| JobRecord::new(self.name, now));
        // Another process may have run it since we looked.
        if !self.early && !is_due(&record, now, self.period) {
            tx.release_lease(&lease(self.name), self.holder)?;
            return Ok(Begun::NotDue(record.due_at));
        }
        tx.save_job(&JobRecord { started_at: Some(now), ..record })?;
        Ok(Begun::Ours)
    }
}

/// Prolongs a job's lease; false when another had it since.
struct ProlongJob {
    name: &'static str,
    holder: Uuid,
    life: Duration,
}

impl Command for ProlongJob {
    const NAME: &'static str = "prolong_job";
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.prolong_lease(&lease(self.name), self.holder, ctx.now().plus(self.life))?)
    }
}

/// Notes how a run ended and gives the lease back.
struct EndJob {
    name: &'static str,
    holder: Uuid,
    period: Duration,
    end: End,
}

impl Command for EndJob {
    const NAME: &'static str = "end_job";
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let now = ctx.now();
        // Who let it run out and lost it to another has no say any more.
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
