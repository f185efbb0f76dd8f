//! A store that records every command and query that it executes, and lets a test decide the outcome of
//! commands.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use terrace_testkit::app::store::{BoxFuture, ReadJob, Store, Tx, Verdict, WriteJob};
use terrace_testkit::identity::AuthorCard;
use terrace_testkit::kernel::{Position, StoreError};
use terrace_testkit::social::TrendRead;
use terrace_testkit::storage::Storage;
use tokio::sync::watch;

/// The longest that a test waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is executed.
    Done,
    /// It fails, and nothing is executed.
    Failed,
    /// It is held until [`RecordingStore::release`] or [`RecordingStore::fail`].
    Held,
}

type Rule = Box<dyn FnMut(&'static str) -> Decision + Send>;
type Changes = Arc<Mutex<Vec<(&'static str, i64)>>>;

pub(super) struct RecordingStore {
    store: Storage,
    seen: watch::Sender<Vec<&'static str>>,
    rule: Mutex<Rule>,
    held: Mutex<Vec<Box<dyn WriteJob>>>,
    changes: Changes,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RecordingStore {
    pub(super) fn on(store: Storage) -> Self {
        let done: Rule = Box::new(|_| Decision::Done);
        let (seen, _) = watch::channel(Vec::new());
        Self { store, seen, rule: Mutex::new(done), held: Mutex::default(), changes: Arc::default() }
    }

    /// Sets the rule that decides the outcome of commands from now on.
    pub(super) fn let_be(&self, rule: impl FnMut(&'static str) -> Decision + Send + 'static) {
        *lock(&self.rule) = Box::new(rule);
    }

    /// Waits until a command or query of this name has arrived.
    pub(super) async fn saw(&self, name: &'static str) {
        self.saw_times(name, 1).await;
    }

    /// Waits until `times` of this name have arrived.
    pub(super) async fn saw_times(&self, name: &'static str, times: usize) {
        let mut seen = self.seen.subscribe();
        let come = seen.wait_for(|seen| seen.iter().filter(|seen| **seen == name).count() >= times);
        let in_time = tokio::time::timeout(PATIENCE, come).await.is_ok();
        assert!(in_time, "{name} does not come");
    }

    /// How many of this name have arrived.
    pub(super) fn count(&self, name: &str) -> usize {
        self.seen.borrow().iter().filter(|seen| **seen == name).count()
    }

    /// By how many rows of trends each executed command has changed them.
    pub(super) fn changes(&self) -> Vec<(&'static str, i64)> {
        lock(&self.changes).clone()
    }

    /// Executes the held commands.
    pub(super) fn release(&self) {
        let held = std::mem::take(&mut *lock(&self.held));
        for job in held {
            self.store.submit(job);
        }
    }

    /// Fails the held commands.
    pub(super) fn fail(&self) {
        let held = std::mem::take(&mut *lock(&self.held));
        for job in held {
            on_purpose(job);
        }
    }

    fn tell(&self, name: &'static str) {
        self.seen.send_modify(|seen| seen.push(name));
    }
}

fn on_purpose(job: Box<dyn WriteJob>) {
    job.finish(Err(StoreError::Unavailable("on purpose".to_owned())));
}

impl Store for RecordingStore {
    fn submit(&self, job: Box<dyn WriteJob>) {
        let name = job.name();
        let fate = (lock(&self.rule))(name);
        let job: Box<dyn WriteJob> = Box::new(Counted { job, changes: Arc::clone(&self.changes), by: 0 });
        match fate {
            Decision::Done => self.store.submit(job),
            Decision::Failed => on_purpose(job),
            Decision::Held => lock(&self.held).push(job),
        }
        // Afterwards: a test that waits for it may release it.
        self.tell(name);
    }

    fn query(&self, job: Box<dyn ReadJob>) {
        self.tell(job.name());
        self.store.query(job);
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.store.ready()
    }

    fn settled(&self) -> BoxFuture<'_, Option<Position>> {
        self.store.settled()
    }

    fn changes(&self) -> &terrace_testkit::app::store::Changes {
        Store::changes(&self.store)
    }

    fn bell(&self) -> watch::Receiver<Position> {
        self.store.bell()
    }
}

/// A command, with a count of the rows of trends that it changes.
struct Counted {
    job: Box<dyn WriteJob>,
    changes: Changes,
    by: i64,
}

impl WriteJob for Counted {
    fn name(&self) -> &'static str {
        self.job.name()
    }

    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError> {
        let before = TrendRead::<AuthorCard>::trends_kept(tx)?.ranked;
        let verdict = self.job.run(tx)?;
        self.by = TrendRead::<AuthorCard>::trends_kept(tx)?.ranked - before;
        Ok(verdict)
    }

    fn finish(self: Box<Self>, outcome: Result<(), StoreError>) {
        if outcome.is_ok() {
            lock(&self.changes).push((self.job.name(), self.by));
        }
        self.job.finish(outcome);
    }
}
