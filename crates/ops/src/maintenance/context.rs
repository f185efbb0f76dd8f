//! How batches of work run: with counts, progress and a stop signal, and rolled back in a dry run.

use crate::maintenance::work::{Observer, TaskFailure, Unwatched};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, num};
use terrace_store::{Command, Ports, Tx};
use tokio::sync::watch;

/// After a batch, the task pauses for the batch's time divided by this, to let other writers proceed.
const TURN: u32 = 10;
/// Maximum time that a batch waits for publication of the events of the batch before the last.
const PUBLICATION_WAIT: Duration = Duration::from_secs(10);

/// Pauses after a batch that took so long: a server on the same embedded database only polls for its turn to write.
pub async fn yield_to_writers(took: Duration) {
    tokio::time::sleep(took / TURN).await;
}

/// How batched work runs: whether it is a dry run, its observer, and its stop signal. Shared by the parts of one
/// task.
#[derive(Clone)]
pub(crate) struct TaskContext(Arc<Inner>);

struct Inner {
    is_dry: bool,
    /// Whether it is a task of the catalogue, run by an operator: it then yields to servers between batches.
    is_task: bool,
    stop: watch::Receiver<bool>,
    /// Number of rows by kind.
    counts: Mutex<BTreeMap<&'static str, u64>>,
    done: AtomicU64,
    /// Total number of items; zero if unknown.
    expected: AtomicU64,
    /// Duration of the longest batch, in microseconds.
    longest: AtomicU64,
    /// The last event that was not yet published when the previous batch ended.
    pending: Mutex<Option<i64>>,
    observer: Arc<dyn Observer>,
}

impl TaskContext {
    pub(super) fn new(is_dry: bool, stop: watch::Receiver<bool>, observer: Arc<dyn Observer>) -> Self {
        Self::with(is_dry, true, stop, observer)
    }

    fn with(is_dry: bool, is_task: bool, stop: watch::Receiver<bool>, observer: Arc<dyn Observer>) -> Self {
        let (done, expected, longest) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let (counts, pending) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { is_dry, is_task, stop, counts, done, expected, longest, pending, observer }))
    }

    /// For work without an observer and without a stop signal.
    pub(crate) fn unwatched() -> Self {
        Self::without_observer(false)
    }

    /// Same as [`Self::unwatched`], possibly as a dry run.
    pub(crate) fn without_observer(is_dry: bool) -> Self {
        let (_, stop) = watch::channel(false);
        Self::with(is_dry, false, stop, Arc::new(Unwatched))
    }

    /// Whether all transactions are rolled back.
    pub(crate) fn is_dry(&self) -> bool {
        self.0.is_dry
    }

    /// Whether it is a task of the catalogue, which reports its progress.
    pub(crate) fn is_task(&self) -> bool {
        self.0.is_task
    }

    /// Fails if a stop was requested.
    pub(crate) fn go_on(&self) -> Result<(), TaskFailure> {
        if *self.0.stop.borrow() { Err(TaskFailure::Stopped) } else { Ok(()) }
    }

    /// Counts rows that were written, or would have been in a dry run.
    pub(crate) fn count(&self, kind: &'static str, rows: u64) {
        if rows > 0 {
            let mut counts = self.0.counts.lock().unwrap_or_else(PoisonError::into_inner);
            let count = counts.entry(kind).or_default();
            *count = count.saturating_add(rows);
        }
    }

    pub(super) fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Duration of the longest batch so far, from the start of its transaction to its commit: the longest time for
    /// which it may have blocked others. `None` if there was no batch.
    pub(super) fn longest_batch(&self) -> Option<Duration> {
        let micros = self.0.longest.load(Ordering::Relaxed);
        (micros > 0).then(|| Duration::from_micros(micros))
    }

    pub(crate) fn expect(&self, total: u64) {
        self.0.expected.fetch_add(total, Ordering::Relaxed);
        self.show(self.0.done.load(Ordering::Relaxed));
    }

    pub(crate) fn advance(&self, done: u64) {
        let before = self.0.done.fetch_add(done, Ordering::Relaxed);
        self.show(before.saturating_add(done));
    }

    fn show(&self, done: u64) {
        let expected = self.0.expected.load(Ordering::Relaxed);
        self.0.observer.moved(done, (expected > 0).then_some(expected));
    }

    pub(crate) fn print(&self, line: &str) {
        self.0.observer.print(line);
    }

    /// [`Work::batch`].
    pub(crate) async fn batch<C>(&self, app: &App, command: C) -> Result<C::Output, TaskFailure>
    where
        C: Command<Refusal = Infallible>,
    {
        self.attempt(app, command).await.map(|outcome| match outcome {
            Ok(output) => output,
            Err(never) => match never {},
        })
    }

    /// [`Work::attempt`].
    pub(crate) async fn attempt<C: Command>(
        &self,
        app: &App,
        command: C,
    ) -> Result<Result<C::Output, C::Refusal>, TaskFailure> {
        self.carry_out(app, command).await.map(|(outcome, _)| outcome)
    }

    /// Runs one transaction and measures it from its start: time spent waiting for locks before that is excluded.
    pub(crate) async fn carry_out<C: Command>(
        &self,
        app: &App,
        command: C,
    ) -> Result<(Result<C::Output, C::Refusal>, Duration), TaskFailure> {
        self.go_on()?;
        let begun = Arc::new(Mutex::new(Instant::now()));
        let command = Timed { command, begun: Arc::clone(&begun) };
        let outcome = if self.is_dry() { dry_run(app, command).await } else { app.execute(command).await };
        let took = begun.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        self.0.longest.fetch_max(num::to_u64(took.as_micros()), Ordering::Relaxed);
        if self.0.is_task {
            yield_to_writers(took).await;
            if !self.is_dry() {
                self.await_publication(app).await?;
            }
        }
        match outcome {
            Ok(output) => Ok((Ok(output), took)),
            Err(Failure::Refused(refusal)) => Ok((Err(refusal), took)),
            Err(Failure::Broken(error)) => Err(error.into()),
        }
    }

    /// Waits until the events of the batch before the last are published: servers show boards only up to the events
    /// that they have processed, and reject readers if events arrive much later than the rows change. If no process
    /// publishes events, no server shows boards either, and the wait ends after a timeout.
    async fn await_publication(&self, app: &App) -> Result<(), StoreError> {
        let last = app.unpublished().await?;
        let before =
            std::mem::replace(&mut *self.0.pending.lock().unwrap_or_else(PoisonError::into_inner), last);
        if let Some(before) = before {
            let published = tokio::time::timeout(PUBLICATION_WAIT, app.until_published(before)).await;
            published.unwrap_or(Ok(()))?;
        }
        Ok(())
    }

    /// [`Work::drain`].
    pub(crate) async fn drain<C>(
        &self,
        app: &App,
        portion: u32,
        command: impl Fn() -> C,
    ) -> Result<u64, TaskFailure>
    where
        C: Command<Output = u64, Refusal = Infallible>,
    {
        if self.is_dry() {
            return self.batch(app, Emptied { command: command(), portion }).await;
        }
        let mut all = 0_u64;
        loop {
            let some = self.batch(app, command()).await?;
            all = all.saturating_add(some);
            self.advance(some);
            if some < u64::from(portion) {
                return Ok(all);
            }
        }
    }
}

/// A command that records the start time of its transaction; of the last attempt, if it was retried.
struct Timed<C> {
    command: C,
    begun: Arc<Mutex<Instant>>,
}

impl<C: Command> Command for Timed<C> {
    const NAME: &'static str = C::NAME;
    type Ports = dyn Tx;
    type Output = C::Output;
    type Refusal = C::Refusal;
    const AFFECTS_LEADERBOARD: bool = C::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<C::Output, C::Refusal> {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.command.run(C::Ports::narrow(tx), ctx)
    }
}

/// Runs a command in a transaction that is rolled back, and returns its outcome.
pub(crate) async fn dry_run<C: Command>(app: &App, command: C) -> Outcome<C::Output, C::Refusal> {
    match app.execute(DryRun(command)).await {
        Ok(never) => match never {},
        Err(Failure::Refused(Ok(output))) => Ok(output),
        Err(Failure::Refused(Err(refusal))) => Err(Failure::Refused(refusal)),
        Err(Failure::Broken(error)) => Err(Failure::Broken(error)),
    }
}

/// A command that runs another one and then refuses, so that its changes are rolled back.
struct DryRun<C>(C);

impl<C: Command> Command for DryRun<C> {
    const NAME: &'static str = C::NAME;
    type Ports = dyn Tx;
    type Output = Infallible;
    type Refusal = Result<C::Output, C::Refusal>;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Infallible, Self::Refusal> {
        match self.0.run(C::Ports::narrow(tx), ctx) {
            Ok(output) => Err(Failure::Refused(Ok(output))),
            Err(failure) => Err(failure.map(Err)),
        }
    }
}

/// A command that removes portions until none is left, in one transaction.
struct Emptied<C> {
    command: C,
    portion: u32,
}

impl<C: Command<Output = u64, Refusal = Infallible>> Command for Emptied<C> {
    const NAME: &'static str = C::NAME;
    type Ports = dyn Tx;
    type Output = u64;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = C::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        let mut all = 0_u64;
        loop {
            let some = self.command.run(C::Ports::narrow(tx), ctx)?;
            all = all.saturating_add(some);
            if some < u64::from(self.portion) {
                return Ok(all);
            }
        }
    }
}
