//! Connections: how they are opened, depending on the scheme of the URL, and the pools that hold them.

use crate::config::{Address, DatabaseKind, StorageConfig};
use crate::conn::Conn;
use crate::error::{one_line, waited_too_long};
use crate::instrument::{Meter, Stats};
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::r2d2::R2D2Connection;
use diesel::sql_types::Text;
use diesel::{Connection, PgConnection, RunQueryDsl, SqliteConnection};
use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use terrace_kernel::StoreError;

/// A connection could not be opened, or is broken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConnectError(String);

impl From<ConnectError> for StoreError {
    fn from(error: ConnectError) -> Self {
        Self::Unavailable(error.0)
    }
}

/// The purpose of a SQLite connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    /// Changes the schema; foreign keys are checked once, at the end.
    Migrate,
}

/// Opens connections to one database.
#[derive(Clone)]
pub(crate) struct Connector {
    address: Address,
    patience: Duration,
    statement_timeout: Duration,
    write_cache_kib: u32,
    plans_once: bool,
    stats: Arc<Stats>,
}

impl Connector {
    pub(crate) fn new(address: Address, config: &StorageConfig, stats: Arc<Stats>) -> Self {
        Self {
            address,
            patience: config.checkout_timeout,
            statement_timeout: config.statement_timeout,
            write_cache_kib: config.write_cache_kib,
            plans_once: false,
            stats,
        }
    }

    /// The same connector for connections that plan each prepared statement once, whatever its values are. For large
    /// statements whose best plan does not depend on them: planning such a statement takes longer than executing it.
    pub(crate) fn planning_once(self) -> Self {
        Self { plans_once: true, ..self }
    }

    /// The same connector with another time limit for waiting for a connection.
    pub(crate) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    pub(crate) const fn kind(&self) -> DatabaseKind {
        self.address.kind()
    }

    /// Opens a connection. On PostgreSQL the mode has no effect.
    pub(crate) fn connect(&self, mode: Mode) -> Result<Session, ConnectError> {
        let link = match &self.address {
            Address::Sqlite(path) => Link::Sqlite(Box::new(self.connect_sqlite(path, mode)?)),
            Address::Postgres(uri) => Link::Pg(Box::new(self.connect_pg(uri)?)),
        };
        Ok(Session { link, spent: false })
    }

    fn connect_sqlite(&self, path: &Path, mode: Mode) -> Result<SqliteConnection, ConnectError> {
        let fail = |error: &dyn std::fmt::Display| ConnectError(format!("{}: {error}", path.display()));
        let mut conn = SqliteConnection::establish(&path.to_string_lossy()).map_err(|e| fail(&e))?;
        // The busy timeout comes first, because each of the following pragmas may encounter a lock.
        let busy = self.patience.as_millis();
        let own = match mode {
            Mode::Read => {
                "PRAGMA foreign_keys = ON; PRAGMA cache_size = -4096; PRAGMA query_only = ON;".to_owned()
            }
            Mode::Write => {
                format!("PRAGMA foreign_keys = ON; PRAGMA cache_size = -{};", self.write_cache_kib)
            }
            Mode::Migrate => "PRAGMA foreign_keys = OFF;".to_owned(),
        };
        conn.batch_execute(&format!(
            "PRAGMA busy_timeout = {busy}; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; \
             PRAGMA mmap_size = 0; PRAGMA journal_size_limit = 67108864; {own}"
        ))
        .map_err(|e| fail(&e))?;
        if mode != Mode::Read {
            self.enable_wal(&mut conn).map_err(|e| fail(&e))?;
        }
        conn.set_instrumentation(Meter::new(Arc::clone(&self.stats)));
        Ok(conn)
    }

    /// Enables the write-ahead log. SQLite ignores the busy timeout for this: if several processes start on a new
    /// database at the same time, all but one fail because it is locked, so this retries until `patience` has elapsed.
    fn enable_wal(&self, conn: &mut SqliteConnection) -> diesel::QueryResult<()> {
        const PAUSE: Duration = Duration::from_millis(10);
        let mut left = self.patience;
        loop {
            match conn.batch_execute("PRAGMA journal_mode = WAL") {
                Err(error) if !left.is_zero() && error.to_string().contains("locked") => {
                    std::thread::sleep(PAUSE);
                    left = left.saturating_sub(PAUSE);
                }
                outcome => return outcome,
            }
        }
    }

    fn connect_pg(&self, uri: &str) -> Result<PgConnection, ConnectError> {
        let fail = |error: &dyn std::fmt::Display| ConnectError(without_password(&error.to_string(), uri));
        let mut conn = PgConnection::establish(&self.with_timeouts(uri)).map_err(|e| fail(&e))?;
        let statement = self.statement_timeout.as_millis().max(2);
        // The statements are short; JIT compilation of a misjudged plan takes longer than it saves.
        conn.batch_execute(&format!(
            "SET statement_timeout = {statement}; SET lock_timeout = {lock}; \
             SET idle_in_transaction_session_timeout = {idle}; SET jit = off; SET plan_cache_mode = {plans}",
            lock = statement / 2,
            idle = statement.saturating_mul(2),
            plans = if self.plans_once { "force_generic_plan" } else { "auto" },
        ))
        .map_err(|e| fail(&e))?;
        if let Err(error) = untranslated(&mut conn) {
            log::debug!("cannot request untranslated database messages: {error}");
        }
        conn.set_instrumentation(Meter::new(Arc::clone(&self.stats)));
        Ok(conn)
    }

    /// The URI with limits on the time for which a dead network can block a thread, except where the URI sets its own.
    fn with_timeouts(&self, uri: &str) -> String {
        let silence = self.statement_timeout.saturating_add(self.patience).as_millis();
        let wanted = [
            ("connect_timeout", self.patience.as_secs().max(2).to_string()),
            ("tcp_user_timeout", silence.to_string()),
            ("keepalives_idle", "10".to_owned()),
            ("keepalives_interval", "5".to_owned()),
            ("keepalives_count", "3".to_owned()),
            ("application_name", "terrace".to_owned()),
        ];
        let mut whole = uri.to_owned();
        for (name, value) in wanted {
            if !uri.contains(&format!("{name}=")) {
                let joint = if whole.contains('?') { '&' } else { '?' };
                whole = format!("{whole}{joint}{name}={value}");
            }
        }
        whole
    }
}

/// Requests error messages that are not translated, because errors are classified by their message. Not every role may
/// change this setting, and few servers translate; the only consequence is that a deadlock there is not retried.
fn untranslated(conn: &mut PgConnection) -> diesel::QueryResult<()> {
    let locale: String = diesel::select(sql::<Text>("current_setting('lc_messages')")).get_result(conn)?;
    // Most servers do not translate, and a first block of PL/pgSQL takes a connection ten times as long as this question.
    if ["C.", "en_"].iter().any(|english| locale.starts_with(english)) || locale == "C" || locale == "POSIX" {
        return Ok(());
    }
    conn.batch_execute(
        "DO $$ BEGIN PERFORM set_config('lc_messages', 'C', false); EXCEPTION WHEN OTHERS THEN NULL; END $$",
    )
}

/// Removes passwords from a message, because libpq repeats a URI that it cannot parse.
fn without_password(message: &str, uri: &str) -> String {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let before_parameters = rest.split_once('?').map_or(rest, |(before, _)| before);
    let user_info = before_parameters.rsplit_once('@').map(|(user_info, _)| user_info);
    let in_front = user_info.and_then(|user_info| user_info.split_once(':')).map(|(_, password)| password);
    let parameter = rest
        .split_once("password=")
        .map(|(_, password)| password.split_once('&').map_or(password, |(password, _)| password));
    let mut message = one_line(message).replace(rest, "…");
    for password in [in_front, parameter].into_iter().flatten().filter(|password| !password.is_empty()) {
        message = message.replace(password, "…");
    }
    message
}

/// The connection of a [`Session`].
pub(crate) enum Link {
    Pg(Box<PgConnection>),
    Sqlite(Box<SqliteConnection>),
}

/// One connection, as held by a pool.
pub(crate) struct Session {
    pub(crate) link: Link,
    spent: bool,
}

impl Session {
    /// Borrows the connection for the ports.
    pub(crate) fn conn(&mut self) -> Conn<'_> {
        match &mut self.link {
            Link::Pg(conn) => Conn::Pg(conn),
            Link::Sqlite(conn) => Conn::Sqlite(conn),
        }
    }

    /// Prevents the pool from reusing the connection, because its state is unknown.
    pub(crate) fn discard(&mut self) {
        self.spent = true;
    }

    /// Reports whether the connection appears usable, without a query, which would cost each command a round trip. A
    /// server that went away has closed its end of the socket, which reading from it reveals; the first read may still
    /// return the server's last message.
    pub(crate) fn is_alive(&mut self) -> bool {
        match &mut self.link {
            Link::Sqlite(_) => true,
            Link::Pg(conn) => (0..3).all(|_| !matches!(conn.notifications_iter().next(), Some(Err(_)))),
        }
    }

    fn is_broken(&mut self) -> bool {
        self.spent
            || match &mut self.link {
                Link::Pg(conn) => conn.is_broken(),
                Link::Sqlite(conn) => conn.is_broken(),
            }
    }
}

impl r2d2::ManageConnection for Connector {
    type Connection = Session;
    type Error = ConnectError;

    fn connect(&self) -> Result<Session, ConnectError> {
        Self::connect(self, Mode::Read)
    }

    fn is_valid(&self, session: &mut Session) -> Result<(), ConnectError> {
        if session.is_alive() {
            Ok(())
        } else {
            Err(ConnectError("the server closed the connection".to_owned()))
        }
    }

    fn has_broken(&self, session: &mut Session) -> bool {
        session.is_broken()
    }
}

#[derive(Debug)]
struct LogError;

impl r2d2::HandleError<ConnectError> for LogError {
    fn handle_error(&self, error: ConnectError) {
        log::warn!("database connection: {error}");
    }
}

/// The threads on which pools open connections. Those that r2d2 would start by itself outlive their pool.
pub(crate) fn openers() -> Arc<ScheduledThreadPool> {
    let openers = ScheduledThreadPool::builder()
        .num_threads(2)
        .thread_name_pattern("terrace-connect-{}")
        .on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled)
        .build();
    Arc::new(openers)
}

/// The time that a command still waits once the database is known to be unavailable.
const AWAY: Duration = Duration::from_millis(250);

/// A pool of [`Session`]s that opens them on demand and discards broken ones.
pub(crate) struct Pool {
    sessions: r2d2::Pool<Connector>,
    patience: Duration,
    away: AtomicBool,
}

impl Pool {
    /// Creates a pool of up to `size` connections, which are opened on the threads of `openers`.
    pub(crate) fn new(connector: Connector, size: u32, openers: &Arc<ScheduledThreadPool>) -> Self {
        let patience = connector.patience;
        let on_server = connector.kind() == DatabaseKind::Postgres;
        let mut builder = r2d2::Pool::builder()
            .max_size(size.max(1))
            .min_idle(Some(1))
            .connection_timeout(patience.max(Duration::from_millis(1)))
            .test_on_check_out(on_server)
            .thread_pool(Arc::clone(openers))
            .error_handler(Box::new(LogError));
        if !on_server {
            builder = builder.max_lifetime(None).idle_timeout(None);
        }
        Self { sessions: builder.build_unchecked(connector), patience, away: AtomicBool::new(false) }
    }

    /// Checks out a session for work that has been waiting since `since`.
    pub(crate) fn checkout(&self, since: Instant) -> Result<r2d2::PooledConnection<Connector>, StoreError> {
        let left = self.patience.saturating_sub(since.elapsed());
        if left.is_zero() {
            return Err(waited_too_long());
        }
        // The pool keeps trying to connect in the background, so a short wait for its success is sufficient.
        let patience = if self.away.load(Ordering::Relaxed) { left.min(AWAY) } else { left };
        let session = self.sessions.get_timeout(patience);
        // The database counts as unavailable only if the pool has no connections; otherwise all are in use.
        self.away.store(session.is_err() && self.sessions.state().connections == 0, Ordering::Relaxed);
        session.map_err(|error| StoreError::Unavailable(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_in_what_libpq_says() {
        let uri = "postgresql://fan:s3cret@db:x/terrace?password=other";
        for message in [
            "invalid port number: \"x\"".to_owned(),
            format!("unexpected character in URI: \"{uri}\""),
            "role fan, s3cret, other".to_owned(),
        ] {
            let shown = without_password(&message, uri);
            assert!(!shown.contains("s3cret") && !shown.contains("other"), "{shown}");
        }
    }

    #[test]
    fn timeouts_are_added_where_the_uri_has_none() {
        let config = StorageConfig::new("");
        let stats = Stats::new(DatabaseKind::Postgres, config.slow_query);
        let connector = Connector::new(Address::Postgres(String::new()), &config, stats);
        let plain = connector.with_timeouts("postgresql://h/d");
        assert!(plain.starts_with("postgresql://h/d?connect_timeout=3&tcp_user_timeout=8000&"), "{plain}");
        let own = connector.with_timeouts("postgresql://h/d?connect_timeout=9");
        assert!(own.starts_with("postgresql://h/d?connect_timeout=9&tcp_user_timeout="), "{own}");
    }
}
