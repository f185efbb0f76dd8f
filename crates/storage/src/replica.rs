//! Queries whose answers may be old, on a replica. What the replica cannot answer, the primary does.

use crate::job::try_query;
use crate::manager::Pool;
use crate::queue::Queue;
use crate::reads::{Question, QueuedRead, Scope, close_snapshot, open_snapshot};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_store::ReadJob;

/// How long nobody is sent to a replica that was found away.
const AWAY: Duration = Duration::from_secs(1);
/// How long a query waits for a connection to the replica before the primary gets it.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// A query, with when it was asked.
type Waiting = (Box<dyn ReadJob>, Instant);

/// The way to the replica.
pub(crate) struct Replica {
    queue: Queue<Waiting>,
    away_until: Mutex<Option<Instant>>,
}

impl Replica {
    pub(crate) fn new(limit: usize) -> Self {
        Self { queue: Queue::new("replica", limit), away_until: Mutex::new(None) }
    }

    /// Takes a query that may be answered from the replica, or gives it back for the primary.
    pub(crate) fn take(&self, job: Box<dyn ReadJob>) -> Result<(), Box<dyn ReadJob>> {
        let refused = if self.is_away() {
            job
        } else {
            match self.queue.push((job, Instant::now())) {
                Ok(()) => return Ok(()),
                Err((_, (job, _))) => job,
            }
        };
        count("primary");
        Err(refused)
    }

    /// Takes nothing more; what waits is still answered.
    pub(crate) fn close(&self) {
        self.queue.close();
    }

    fn is_away(&self) -> bool {
        let until = self.away_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn note_away(&self) {
        let mut until = self.away_until.lock().unwrap_or_else(PoisonError::into_inner);
        *until = Some(Instant::now() + AWAY);
    }
}

/// One of the threads that ask the replica.
#[derive(Clone)]
pub(crate) struct ReplicaReader {
    pub(crate) replica: Arc<Replica>,
    pub(crate) pool: Arc<Pool>,
    /// Where the primary's readers take their questions from.
    pub(crate) primary: Arc<Queue<QueuedRead>>,
}

impl ReplicaReader {
    /// Works until the replica's queue is closed and empty.
    pub(crate) fn serve(self) {
        while let Some((job, since)) = self.replica.queue.pop() {
            if let Some(job) = self.answer(job, since) {
                self.pass_on(job);
            }
        }
    }

    /// Answers the query, or gives it back.
    fn answer(&self, job: Box<dyn ReadJob>, since: Instant) -> Option<Box<dyn ReadJob>> {
        let mut session = match self.pool.checkout(since) {
            Ok(session) => session,
            Err(error) => {
                log::debug!("the replica is away: {error}");
                self.replica.note_away();
                return Some(job);
            }
        };
        let (name, scope) = (job.name(), Scope::of(&*job));
        if open_snapshot(&mut session, scope).is_err() {
            session.discard();
            return Some(job);
        }
        let (left, sound) = try_query(job, session.conn());
        if !(close_snapshot(&mut session, scope).is_ok() && sound) {
            session.discard();
        }
        if left.is_none() {
            count("replica");
            metrics::histogram!("terrace_store_query_seconds", "query" => name)
                .record(since.elapsed().as_secs_f64());
        }
        left
    }

    fn pass_on(&self, job: Box<dyn ReadJob>) {
        count("primary");
        if let Err((reason, asked)) = self.primary.push(QueuedRead::now(Question::Query(job))) {
            asked.turn_away(crate::store::refusal(reason));
        }
    }
}

/// Counts who answered what the replica was there for.
fn count(answered_by: &'static str) {
    metrics::counter!("terrace_replica_queries_total", "answered_by" => answered_by).increment(1);
}
