//! What a task works with: batches that a rehearsal rolls back, counts of what was written, and how far it is.

use crate::App;
use crate::maintenance::stride::AdaptiveBatch;
use crate::maintenance::{Counts, Left, Task, TaskRun};
use crate::store::Tx;
use crate::store::{Command, Query, into_infallible};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Failure, Outcome, StoreError};
use tokio::sync::watch;

/// The share of a batch's time for which others get their turn after it.
const TURN: u32 = 10;
/// How long a batch waits at most for the events of the one before the last to be told.
const TELLING: Duration = Duration::from_secs(10);

/// Why a task did not come to its end. What its batches wrote before stays.
#[derive(Debug, thiserror::Error)]
pub enum TaskFailure {
    /// Somebody wanted it to stop. Run again, it does the rest.
    #[error("stopped between two batches")]
    Stopped,
    /// Something broke.
    #[error(transparent)]
    Broken(#[from] StoreError),
    /// It cannot be done as things are; the words say why.
    #[error("{0}")]
    Refused(String),
}

impl TaskFailure {
    /// The same for those who know of no tasks, and whom nobody stops.
    pub(crate) fn into_store(self) -> StoreError {
        match self {
            Self::Broken(error) => error,
            Self::Stopped | Self::Refused(_) => StoreError::Unavailable(self.to_string()),
        }
    }
}

/// Who is told how maintenance comes along. Calls come from within the work and must not wait.
pub trait Observer: Send + Sync + 'static {
    /// A task begins.
    fn began(&self, task: &Task) {
        let _ = task;
    }

    /// So many of what the task goes through are done, of how many, where that is known.
    fn moved(&self, done: u64, of: Option<u64>) {
        let _ = (done, of);
    }

    /// A line of the task's own report.
    fn told(&self, line: &str) {
        let _ = line;
    }

    /// The task that began has ended.
    fn ended(&self, ran: &TaskRun) {
        let _ = ran;
    }

    /// A task is left out.
    fn left(&self, left: &Left) {
        let _ = left;
    }
}

/// Nobody looks.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Observer for Unwatched {}

/// How work is done that goes in batches: whether it only rehearses, who hears of it, whether it is to stop. Shared by the
/// parts of one task.
#[derive(Clone)]
pub(crate) struct TaskContext(Arc<Inner>);

struct Inner {
    is_dry: bool,
    /// Whether somebody at a terminal runs it: servers get their turn between batches then.
    is_task: bool,
    stop: watch::Receiver<bool>,
    /// Rows by kind.
    counts: Mutex<BTreeMap<&'static str, u64>>,
    done: AtomicU64,
    /// Nothing where nobody knows.
    expected: AtomicU64,
    /// How long the longest batch took, in microseconds.
    longest: AtomicU64,
    /// The last event that nobody could be told of yet when the batch before ended.
    untold: Mutex<Option<i64>>,
    observer: Arc<dyn Observer>,
}

impl TaskContext {
    pub(super) fn new(is_dry: bool, stop: watch::Receiver<bool>, observer: Arc<dyn Observer>) -> Self {
        Self::with(is_dry, true, stop, observer)
    }

    fn with(is_dry: bool, is_task: bool, stop: watch::Receiver<bool>, observer: Arc<dyn Observer>) -> Self {
        let (done, expected, longest) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let (counts, untold) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { is_dry, is_task, stop, counts, done, expected, longest, untold, observer }))
    }

    /// For work that nobody looks at and nobody stops.
    pub(crate) fn unwatched() -> Self {
        let (_, stop) = watch::channel(false);
        Self::with(false, false, stop, Arc::new(Unwatched))
    }

    /// Whether everything is rolled back.
    pub(crate) fn is_dry(&self) -> bool {
        self.0.is_dry
    }

    /// Whether it is a task of the catalogue, of which somebody wants to know how far it is.
    pub(crate) fn is_task(&self) -> bool {
        self.0.is_task
    }

    /// Fails where it is to stop.
    pub(crate) fn go_on(&self) -> Result<(), TaskFailure> {
        if *self.0.stop.borrow() { Err(TaskFailure::Stopped) } else { Ok(()) }
    }

    /// Counts rows that were written, or in a rehearsal would have been.
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

    /// How long the longest batch took so far, from when its transaction had begun to its commit: so long others waited for
    /// it at most. Nothing where there was none.
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

    pub(crate) fn tell(&self, line: &str) {
        self.0.observer.told(line);
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

    /// Settles suspects in batches, as many in each as others can bear, and tells what each came to.
    pub(crate) async fn settle<T: Clone, C>(
        &self,
        app: &App,
        stride: &mut AdaptiveBatch,
        suspects: &[T],
        command: impl Fn(Vec<T>) -> C,
        mut told: impl FnMut(C::Output),
    ) -> Result<(), TaskFailure>
    where
        C: Command<Refusal = Infallible>,
    {
        let mut rest = suspects;
        while !rest.is_empty() {
            let (held, more) = stride.step(rest);
            let (outcome, took) = self.carry_out(app, command(held.to_vec())).await?;
            told(match outcome {
                Ok(output) => output,
                Err(never) => match never {},
            });
            stride.took(took);
            rest = more;
        }
        Ok(())
    }

    /// [`Work::attempt`].
    pub(crate) async fn attempt<C: Command>(
        &self,
        app: &App,
        command: C,
    ) -> Result<Result<C::Output, C::Refusal>, TaskFailure> {
        self.carry_out(app, command).await.map(|(outcome, _)| outcome)
    }

    /// One transaction, and how long it took once it had begun: what others held before is not its own.
    async fn carry_out<C: Command>(
        &self,
        app: &App,
        command: C,
    ) -> Result<(Result<C::Output, C::Refusal>, Duration), TaskFailure> {
        self.go_on()?;
        let begun = Arc::new(Mutex::new(Instant::now()));
        let command = Timed { command, begun: Arc::clone(&begun) };
        let outcome = if self.is_dry() { rehearse(app, command).await } else { app.execute(command).await };
        let took = begun.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
        self.0.longest.fetch_max(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        if self.0.is_task {
            // A server on the same embedded database looks only now and then whether it may write.
            tokio::time::sleep(took / TURN).await;
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

    /// Waits until what was written before the last batch is told: servers show a board only as far as they were told of it,
    /// and turn readers away where they hear of changes much later than those are in the tables. Where nobody tells of
    /// anything, nobody shows it either.
    async fn await_publication(&self, app: &App) -> Result<(), StoreError> {
        let last = app.unpublished().await?;
        let before =
            std::mem::replace(&mut *self.0.untold.lock().unwrap_or_else(PoisonError::into_inner), last);
        if let Some(before) = before {
            let told = tokio::time::timeout(TELLING, app.until_published(before)).await;
            told.unwrap_or(Ok(()))?;
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

/// A command that notes when its transaction had begun; the last time, where it had to begin anew.
struct Timed<C> {
    command: C,
    begun: Arc<Mutex<Instant>>,
}

impl<C: Command> Command for Timed<C> {
    const NAME: &'static str = C::NAME;
    type Output = C::Output;
    type Refusal = C::Refusal;
    const AFFECTS_LEADERBOARD: bool = C::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<C::Output, C::Refusal> {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.command.run(tx, ctx)
    }
}

/// Runs a command in a transaction that is rolled back, and says what it would have come to.
async fn rehearse<C: Command>(app: &App, command: C) -> Outcome<C::Output, C::Refusal> {
    match app.execute(DryRun(command)).await {
        Ok(never) => match never {},
        Err(Failure::Refused(Ok(output))) => Ok(output),
        Err(Failure::Refused(Err(refusal))) => Err(Failure::Refused(refusal)),
        Err(Failure::Broken(error)) => Err(Failure::Broken(error)),
    }
}

/// A command that does all that another does and then refuses, so that nothing of it is kept.
struct DryRun<C>(C);

impl<C: Command> Command for DryRun<C> {
    const NAME: &'static str = C::NAME;
    type Output = Infallible;
    type Refusal = Result<C::Output, C::Refusal>;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Infallible, Self::Refusal> {
        match self.0.run(tx, ctx) {
            Ok(output) => Err(Failure::Refused(Ok(output))),
            Err(failure) => Err(failure.map(Err)),
        }
    }
}

/// A command that takes portions off until there is none, in one transaction.
struct Emptied<C> {
    command: C,
    portion: u32,
}

impl<C: Command<Output = u64, Refusal = Infallible>> Command for Emptied<C> {
    const NAME: &'static str = C::NAME;
    type Output = u64;
    type Refusal = Infallible;
    const AFFECTS_LEADERBOARD: bool = C::AFFECTS_LEADERBOARD;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<u64, Infallible> {
        let mut all = 0_u64;
        loop {
            let some = self.command.run(tx, ctx)?;
            all = all.saturating_add(some);
            if some < u64::from(self.portion) {
                return Ok(all);
            }
        }
    }
}

/// What a task works with: the use cases, whether it only rehearses, whom it tells of its counts, whether it is to stop.
/// A clone is of the same run.
#[derive(Clone)]
pub struct Work {
    app: Arc<App>,
    pace: TaskContext,
}

impl Work {
    pub(super) fn new(app: Arc<App>, pace: TaskContext) -> Self {
        Self { app, pace }
    }

    /// The use cases.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Whether nothing is to be written: what goes through [`Work::batch`] sees to that, and whatever else the task does
    /// (a call to somebody else, a file) it must leave out.
    pub fn is_dry(&self) -> bool {
        self.pace.is_dry()
    }

    /// Does one batch, which is one transaction; in a rehearsal the very same transaction is rolled back, and what it came
    /// to is told all the same, so that a rehearsal counts exactly what the run does. It stops before the batch where that
    /// is wanted.
    ///
    /// A rehearsal leaves everything where it is: a task whose batches take from the front of what is left would meet the
    /// same front for ever. Such a task goes by keys, or through [`Work::drain`].
    ///
    /// # Errors
    ///
    /// When it is to stop, and when the database is not to be had.
    pub async fn batch<C: Command<Refusal = Infallible>>(
        &self,
        command: C,
    ) -> Result<C::Output, TaskFailure> {
        self.pace.batch(&self.app, command).await
    }

    /// Settles suspects in batches, as many in each as others can bear, and counts the rows that each wrote.
    pub(super) async fn settle<T: Clone, C>(
        &self,
        stride: &mut AdaptiveBatch,
        suspects: &[T],
        command: impl Fn(Vec<T>) -> C,
    ) -> Result<(), TaskFailure>
    where
        C: Command<Output = Counts, Refusal = Infallible>,
    {
        let told = |settled: Counts| settled.into_iter().for_each(|(kind, rows)| self.count(kind, rows));
        self.pace.settle(&self.app, stride, suspects, command, told).await
    }

    /// [`Work::batch`] of a command that rules may refuse.
    ///
    /// # Errors
    ///
    /// When it is to stop, and when the database is not to be had; a refusal is none of these.
    pub async fn attempt<C: Command>(
        &self,
        command: C,
    ) -> Result<Result<C::Output, C::Refusal>, TaskFailure> {
        self.pace.attempt(&self.app, command).await
    }

    /// Does commands that each take up to `portion` rows off what is left and say how many, until one finds less. Says how
    /// many all were. A rehearsal does all of it in one transaction, so that no portion comes twice: of what may be much
    /// beside servers that run, go by keys.
    ///
    /// # Errors
    ///
    /// When it is to stop, and when the database is not to be had.
    pub async fn drain<C>(&self, portion: u32, command: impl Fn() -> C) -> Result<u64, TaskFailure>
    where
        C: Command<Output = u64, Refusal = Infallible>,
    {
        self.pace.drain(&self.app, portion, command).await
    }

    /// Asks something that nothing can refuse. It stops before that where it is wanted.
    ///
    /// # Errors
    ///
    /// When it is to stop, and when the database is not to be had.
    pub async fn ask<Q: Query<Refusal = Infallible>>(&self, query: Q) -> Result<Q::Output, TaskFailure> {
        self.go_on()?;
        Ok(into_infallible(self.app.query(query).await)?)
    }

    /// Counts rows that were written, by kind, for the report and the journal. In a rehearsal, those that would have been.
    /// What was only looked at is no count: the second of two runs counts nothing.
    pub fn count(&self, kind: &'static str, rows: u64) {
        self.pace.count(kind, rows);
    }

    /// Says how much there is to go through, for the bar and the estimate; what several parts say adds up.
    pub fn expect(&self, total: u64) {
        self.pace.expect(total);
    }

    /// Says that so much more of it is done.
    pub fn advance(&self, done: u64) {
        self.pace.advance(done);
    }

    /// Adds a line to the task's report.
    pub fn tell(&self, line: &str) {
        self.pace.tell(line);
    }

    /// Fails where somebody wants the run to stop: to be asked between batches. [`Work::batch`] asks by itself.
    ///
    /// # Errors
    ///
    /// [`TaskFailure::Stopped`].
    pub fn go_on(&self) -> Result<(), TaskFailure> {
        self.pace.go_on()
    }

    pub(crate) fn pace(&self) -> &TaskContext {
        &self.pace
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").field("is_dry", &self.is_dry()).finish_non_exhaustive()
    }
}
