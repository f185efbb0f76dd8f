//! The single writer of SQLite. It takes the queued commands, runs each in a savepoint, commits once and then answers
//! all of them, so that one fsync serves many commands.

use crate::config::DatabaseKind;
use crate::conn::Conn;
use crate::error::{again, broken};
use crate::instrument::{control, quietly};
use crate::job::{QueuedCommand, RunResult};
use crate::manager::{Connector, Link, Mode, Session};
use crate::numbered::Numbered;
use crate::queue::{Queue, Taken};
use diesel::sql_types::{BigInt, Text};
use diesel::{IntoSql, OptionalExtension, QueryResult, RunQueryDsl, SqliteConnection};
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::{Appended, Position, StoreError, num};
use terrace_store::{Changes, Verdict};
use tokio::sync::watch;

/// The interval at which an idle writer checks for events that another process wrote.
const LOOK: Duration = Duration::from_millis(500);

/// The thread that owns the writing connection.
pub(crate) struct Writer {
    pub(crate) connector: Connector,
    pub(crate) queue: Arc<Queue<QueuedCommand>>,
    pub(crate) bell: watch::Sender<Position>,
    pub(crate) changes: Arc<Changes>,
    pub(crate) group_limit: usize,
    pub(crate) run_twice: bool,
    /// `None` after a failure that may have affected the connection itself; the next command opens a new one.
    pub(crate) conn: Option<Box<SqliteConnection>>,
}

/// The result of a command: the events that it has left in the log.
type Outcome = Result<Vec<Appended>, StoreError>;

/// Why a group was not committed.
enum GroupError {
    /// The transaction could not begin; none of the commands ran.
    Begin(StoreError),
    /// The transaction failed, and the command that caused it is unknown.
    Broken(StoreError),
}

impl Writer {
    /// Runs commands until the queue is closed and empty.
    pub(crate) fn serve(mut self) {
        self.ring(&[]);
        loop {
            match self.queue.pop_group(self.group_limit, LOOK, false) {
                Taken::Some(group) => self.run_group(group),
                Taken::Nothing => self.ring(&[]),
                Taken::Closed => return,
            }
        }
    }

    fn run_group(&mut self, mut group: Vec<QueuedCommand>) {
        metrics::histogram!("terrace_store_group_size").record(num::to_f64(group.len()));
        let outcomes = match self.try_group(&mut group) {
            Ok(outcomes) => outcomes,
            Err(GroupError::Begin(error)) => group.iter().map(|_| Err(again(&error))).collect(),
            Err(GroupError::Broken(error)) => {
                log::warn!("retrying a group of {} commands one by one: {error}", group.len());
                metrics::counter!("terrace_store_group_retries_total").increment(1);
                group.iter_mut().map(|command| self.run_alone(command)).collect()
            }
        };
        let appended: Vec<Appended> = outcomes.iter().flatten().flatten().copied().collect();
        self.ring(&appended);
        for (command, outcome) in group.into_iter().zip(outcomes) {
            command.finish(outcome.map(drop));
        }
    }

    fn try_group(&mut self, group: &mut [QueuedCommand]) -> Result<Vec<Outcome>, GroupError> {
        if let [command] = group {
            return Ok(vec![self.run_alone(command)]);
        }
        let run_twice = self.run_twice;
        let conn = self.begin().map_err(GroupError::Begin)?;
        let ran: QueryResult<Vec<_>> =
            group.iter_mut().map(|command| in_savepoint(conn, command, run_twice)).collect();
        let ran = ran.and_then(|outcomes| commit(conn).map(|()| outcomes));
        ran.map_err(|error| {
            self.roll_back();
            GroupError::Broken(broken("commit of a group")(error))
        })
    }

    /// Runs one command in a transaction of its own.
    fn run_alone(&mut self, command: &mut QueuedCommand) -> Outcome {
        let run_twice = self.run_twice;
        let conn = self.begin()?;
        let ran = run_whole(conn, command, run_twice);
        if !matches!(ran, Ok(RunResult { verdict: Verdict::Commit, .. })) {
            self.roll_back();
        }
        ran.map(kept)
    }

    /// Begins a transaction in write mode. A transaction that starts with a read fails on its first write if another
    /// process has written in the meantime.
    fn begin(&mut self) -> Result<&mut SqliteConnection, StoreError> {
        let mut conn = match self.conn.take() {
            Some(conn) => conn,
            None => open(&self.connector)?,
        };
        // On failure the connection is dropped here, in case it is the cause.
        control(&mut *conn, "BEGIN IMMEDIATE").map_err(broken("begin"))?;
        Ok(self.conn.insert(conn))
    }

    fn roll_back(&mut self) {
        let Some(conn) = self.conn.as_deref_mut() else {
            return;
        };
        if let Err(error) = control(conn, "ROLLBACK") {
            // After some failures SQLite has already rolled back, and this statement then fails. In either case, a new
            // connection has no open transaction.
            log::debug!("rollback: {error}");
            self.conn = None;
        }
    }

    /// Notes the events that the writer has committed, and notifies subscribers if there is a newer event.
    fn ring(&mut self, appended: &[Appended]) {
        if !appended.is_empty() {
            self.changes.note(appended);
        }
        let Some(head) = self.conn.as_deref_mut().and_then(newest_event) else {
            return;
        };
        self.bell.send_if_modified(|known| {
            let moved = head > *known;
            if moved && usize::try_from(head.get() - known.get()) != Ok(appended.len()) {
                // Another process wrote some of the events.
                self.changes.note_unknown();
            }
            *known = head.max(*known);
            moved
        });
    }
}

/// Opens a connection for the writer.
pub(crate) fn open(connector: &Connector) -> Result<Box<SqliteConnection>, StoreError> {
    let Session { link: Link::Sqlite(conn), .. } = connector.connect(Mode::Write)? else {
        return Err(StoreError::Unavailable(format!("not a {} database", DatabaseKind::Sqlite)));
    };
    Ok(conn)
}

/// Runs one command in a savepoint. The outer result is that of the transaction, the inner one that of the command.
fn in_savepoint(
    conn: &mut SqliteConnection,
    command: &mut QueuedCommand,
    run_twice: bool,
) -> QueryResult<Outcome> {
    control(conn, "SAVEPOINT command")?;
    if run_twice {
        drop(command.run(Conn::Sqlite(conn)));
        control(conn, "ROLLBACK TO command")?;
    }
    let ran = command.run(Conn::Sqlite(conn));
    if !matches!(ran, Ok(RunResult { verdict: Verdict::Commit, .. })) {
        control(conn, "ROLLBACK TO command")?;
    }
    control(conn, "RELEASE command")?;
    Ok(ran.map(kept))
}

/// Runs one command in the transaction that was begun for it, and commits if the command requests it.
fn run_whole(
    conn: &mut SqliteConnection,
    command: &mut QueuedCommand,
    run_twice: bool,
) -> Result<RunResult, StoreError> {
    if run_twice {
        control(conn, "SAVEPOINT dry_run").map_err(broken("run twice"))?;
        drop(command.run(Conn::Sqlite(conn)));
        control(conn, "ROLLBACK TO dry_run; RELEASE dry_run").map_err(broken("run twice"))?;
    }
    let ran = command.run(Conn::Sqlite(conn))?;
    if ran.verdict == Verdict::Commit {
        commit(conn).map_err(broken("commit"))?;
    }
    Ok(ran)
}

/// The events that a run has left in the log.
fn kept(RunResult { verdict, appended }: RunResult) -> Vec<Appended> {
    match verdict {
        Verdict::Commit => appended,
        Verdict::Rollback => Vec::new(),
    }
}

fn commit(conn: &mut SqliteConnection) -> QueryResult<()> {
    let started = Instant::now();
    control(conn, "COMMIT")?;
    metrics::histogram!("terrace_store_commit_seconds", "database" => DatabaseKind::Sqlite.as_str())
        .record(started.elapsed().as_secs_f64());
    Ok(())
}

/// The highest position ever assigned; `None` before the first event, and in a database without a schema.
fn newest_event(conn: &mut SqliteConnection) -> Option<Position> {
    let query = "SELECT seq FROM sqlite_sequence WHERE name = $1";
    let newest = quietly(conn, |conn| {
        Numbered::<_, BigInt>::typed(query, ("events".into_sql::<Text>(),)).get_result(conn).optional()
    });
    Position::new(newest.ok()??)
}
