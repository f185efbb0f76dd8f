//! Queries: a few threads, each using one connection at a time, for either database.

use crate::error::broken;
use crate::instrument::control;
use crate::job::{run_query, turn_away};
use crate::manager::{Link, Pool, Session};
use crate::migrate;
use crate::queue::Queue;
use diesel::QueryResult;
use std::sync::Arc;
use std::time::Instant;
use terrace_kernel::StoreError;
use terrace_store::ReadJob;
use tokio::sync::oneshot;

/// A request to a reading thread.
pub(crate) enum Question {
    /// A query of the program.
    Query(Box<dyn ReadJob>),
    /// A check that the database can be reached and has the schema that this program expects.
    Ready(oneshot::Sender<Result<(), StoreError>>),
}

/// A request with the time at which it was submitted.
pub(crate) struct QueuedRead {
    pub(crate) question: Question,
    pub(crate) since: Instant,
}

impl QueuedRead {
    pub(crate) fn now(question: Question) -> Self {
        Self { question, since: Instant::now() }
    }

    /// Rejects the request with `error`.
    pub(crate) fn turn_away(self, error: StoreError) {
        match self.question {
            Question::Query(job) => turn_away(job, error),
            // The receiver may already have been dropped.
            Question::Ready(answer) => drop(answer.send(Err(error))),
        }
    }
}

/// One of the threads that run queries.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) queue: Arc<Queue<QueuedRead>>,
    pub(crate) pool: Arc<Pool>,
}

impl Reader {
    /// Runs queries until the queue is closed and empty.
    pub(crate) fn serve(self) {
        while let Some(asked) = self.queue.pop() {
            match self.pool.checkout(asked.since) {
                Ok(mut session) => answer(&mut session, asked),
                Err(error) => asked.turn_away(error),
            }
        }
    }
}

fn answer(session: &mut Session, asked: QueuedRead) {
    match asked.question {
        Question::Ready(answer) => drop(answer.send(migrate::check(&mut session.conn()))),
        Question::Query(job) => {
            let (name, since) = (job.name(), asked.since);
            let scope = Scope::of(&*job);
            let sound = match open_snapshot(session, scope) {
                Ok(()) => run_query(job, session.conn()) && close_snapshot(session, scope).is_ok(),
                Err(error) => {
                    turn_away(job, broken("begin a query")(error));
                    false
                }
            };
            if !sound {
                session.discard();
            }
            metrics::histogram!("terrace_store_query_seconds", "query" => name)
                .record(since.elapsed().as_secs_f64());
        }
    }
}

/// The consistency guarantee across the statements of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// None on PostgreSQL.
    Statements,
    /// All statements see one snapshot of the database.
    OneState,
    /// All statements see one snapshot of the database, in which every event has its public position.
    Published,
}

impl Scope {
    pub(crate) fn of(job: &dyn ReadJob) -> Self {
        match (job.publishes(), job.consistent_snapshot()) {
            (true, _) => Self::Published,
            (false, true) => Self::OneState,
            (false, false) => Self::Statements,
        }
    }
}

/// Assigns public positions to all committed events before the snapshot of the transaction is taken, and prevents the
/// relay from assigning others until the transaction ends: `LOCK` precedes the first statement that needs the snapshot.
const PUBLISH: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ; \
    LOCK TABLE event_head IN EXCLUSIVE MODE; \
    SELECT relay_events(9223372036854775807)";

/// Begins the transaction of a query. On SQLite, a query always sees one snapshot, at no cost. On PostgreSQL, a
/// snapshot costs two round trips, so only queries that need one use it.
pub(crate) fn open_snapshot(session: &mut Session, scope: Scope) -> QueryResult<()> {
    match &mut session.link {
        Link::Sqlite(conn) => control(&mut **conn, "BEGIN"),
        Link::Pg(conn) => match scope {
            Scope::Statements => Ok(()),
            Scope::OneState => control(&mut **conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Scope::Published => control(&mut **conn, PUBLISH),
        },
    }
}

pub(crate) fn close_snapshot(session: &mut Session, scope: Scope) -> QueryResult<()> {
    match &mut session.link {
        Link::Sqlite(conn) => control(&mut **conn, "ROLLBACK"),
        Link::Pg(conn) => match scope {
            Scope::Statements => Ok(()),
            Scope::OneState => control(&mut **conn, "ROLLBACK"),
            Scope::Published => control(&mut **conn, "COMMIT"),
        },
    }
}
