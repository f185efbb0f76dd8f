//! Runs queries that allow stale results on a replica. Queries that the replica cannot answer go to the primary.

use crate::job::try_query;
use crate::manager::Pool;
use crate::queue::Queue;
use crate::reads::{Question, QueuedRead, Scope, close_snapshot, open_snapshot};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_store::ReadJob;

/// The time during which no queries are sent to a replica that was found unavailable.
const AWAY: Duration = Duration::from_secs(1);
/// The time that a query waits for a connection to the replica before it is passed to the primary.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// A query with the time at which it was submitted.
type Waiting = (Box<dyn ReadJob>, Instant);

/// The queue of the replica and its availability.
pub(crate) struct Replica {
    queue: Queue<Waiting>,
    away_until: Mutex<Option<Instant>>,
}

impl Replica {
    pub(crate) fn new(limit: usize) -> Self {
        Self { queue: Queue::new("replica", limit), away_until: Mutex::new(None) }
    }

    /// Queues a query for the replica, or returns it for the primary.
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

    /// Accepts no more queries; queued ones are still answered.
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

/// One of the threads that query the replica.
#[derive(Clone)]
pub(crate) struct ReplicaReader {
    pub(crate) replica: Arc<Replica>,
    pub(crate) pool: Arc<Pool>,
    /// The queue of the primary's readers.
    pub(crate) primary: Arc<Queue<QueuedRead>>,
}

impl ReplicaReader {
    /// Runs queries until the replica's queue is closed and empty.
    pub(crate) fn serve(self) {
        while let Some((job, since)) = self.replica.queue.pop() {
            if let Some(job) = self.answer(job, since) {
                self.pass_on(job);
            }
        }
    }

    /// Answers the query, or returns it.
    fn answer(&self, job: Box<dyn ReadJob>, since: Instant) -> Option<Box<dyn ReadJob>> {
        let mut session = match self.pool.checkout(since) {
            Ok(session) => session,
            Err(error) => {
                log::debug!("the replica is unavailable: {error}");
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
            asked.turn_away(reason.into());
        }
    }
}

/// Counts which database answered a query that was eligible for the replica.
fn count(answered_by: &'static str) {
    metrics::counter!("terrace_replica_queries_total", "answered_by" => answered_by).increment(1);
}
