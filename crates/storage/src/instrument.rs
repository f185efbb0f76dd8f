//! Counts and times statements, and logs slow ones.

use crate::config::DatabaseKind;
use diesel::connection::{Connection, Instrumentation, InstrumentationEvent, SimpleConnection};
use diesel::result::QueryResult;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Statistics that all connections of a [`crate::Storage`] share.
#[derive(Debug)]
pub(crate) struct Stats {
    kind: DatabaseKind,
    slow: Duration,
    statements: AtomicU64,
}

impl Stats {
    pub(crate) fn new(kind: DatabaseKind, slow: Duration) -> Arc<Self> {
        Arc::new(Self { kind, slow, statements: AtomicU64::new(0) })
    }

    /// The number of statements executed so far, excluding those that only begin and end transactions.
    pub(crate) fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }
}

/// The instrumentation of one connection.
pub(crate) struct Meter {
    stats: Arc<Stats>,
    started: Option<Instant>,
    quiet: bool,
}

impl Meter {
    pub(crate) fn new(stats: Arc<Stats>) -> Self {
        Self { stats, started: None, quiet: false }
    }

    fn finish(&mut self, query: &dyn diesel::connection::DebugQuery) {
        let Some(started) = self.started.take() else {
            return;
        };
        let elapsed = started.elapsed();
        metrics::histogram!("terrace_store_statement_seconds", "database" => self.stats.kind.as_str())
            .record(elapsed.as_secs_f64());
        if elapsed >= self.stats.slow {
            log::warn!("slow statement, {} ms: {}", elapsed.as_millis(), without_values(&query.to_string()));
        }
    }
}

/// The SQL without the bound values, which diesel appends.
fn without_values(query: &str) -> &str {
    query.rsplit_once(" -- binds: ").map_or(query, |(sql, _)| sql)
}

impl Instrumentation for Meter {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if self.quiet {
            return;
        }
        // A query that loads rows reports its end only when the rows are dropped. A start without an end is therefore
        // possible and restarts the timer.
        if let InstrumentationEvent::StartQuery { .. } = event {
            self.started = Some(Instant::now());
            self.stats.statements.fetch_add(1, Ordering::Relaxed);
        } else if let InstrumentationEvent::FinishQuery { query, .. } = event {
            self.finish(query);
        }
    }
}

/// Runs `work` without counting its statements, for statements that serve the adapter itself rather than a command.
pub(crate) fn quietly<C: Connection, T>(conn: &mut C, work: impl FnOnce(&mut C) -> T) -> T {
    let before = set_quiet(conn, true);
    let result = work(conn);
    set_quiet(conn, before);
    result
}

/// Runs a statement that begins, marks or ends a transaction.
pub(crate) fn control<C: Connection + SimpleConnection>(conn: &mut C, sql: &str) -> QueryResult<()> {
    quietly(conn, |conn| conn.batch_execute(sql))
}

/// Returns what was set before.
fn set_quiet<C: Connection>(conn: &mut C, quiet: bool) -> bool {
    let meter = conn.instrumentation().downcast_mut::<Meter>();
    meter.is_some_and(|meter| std::mem::replace(&mut meter.quiet, quiet))
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::{RunQueryDsl, SqliteConnection};

    #[test]
    fn counts_what_commands_execute_and_nothing_else() {
        let stats = Stats::new(DatabaseKind::Sqlite, Duration::from_secs(1));
        let mut conn = SqliteConnection::establish(":memory:").unwrap();
        conn.set_instrumentation(Meter::new(Arc::clone(&stats)));
        control(&mut conn, "BEGIN IMMEDIATE").unwrap();
        diesel::sql_query("SELECT 1").execute(&mut conn).unwrap();
        diesel::sql_query("SELECT 2").execute(&mut conn).unwrap();
        control(&mut conn, "COMMIT").unwrap();
        assert_eq!(stats.statements(), 2);
        quietly(&mut conn, |conn| {
            control(conn, "SELECT 3").unwrap();
            diesel::sql_query("SELECT 4").execute(conn).unwrap();
        });
        assert_eq!(stats.statements(), 2, "work within work is quiet to its end");
    }

    #[test]
    fn the_log_holds_no_values() {
        assert_eq!(without_values("SELECT ? -- binds: [\"secret\"]"), "SELECT ?");
        assert_eq!(without_values("SELECT 1"), "SELECT 1");
    }
}
