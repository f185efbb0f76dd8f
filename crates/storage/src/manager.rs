//! Connections: how one is opened, by the scheme of its URL, and the pools that keep them.

use crate::config::{Address, DatabaseKind, StorageConfig};
use crate::conn::Conn;
use crate::error::one_line;
use crate::instrument::{Meter, Stats};
use crate::overdue::waited_too_long;
use diesel::connection::SimpleConnection;
use diesel::r2d2::R2D2Connection;
use diesel::{Connection, PgConnection, SqliteConnection};
use scheduled_thread_pool::{OnPoolDropBehavior, ScheduledThreadPool};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use terrace_kernel::StoreError;

/// A connection could not be opened, or is no longer one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConnectError(String);

impl From<ConnectError> for StoreError {
    fn from(error: ConnectError) -> Self {
        Self::Unavailable(error.0)
    }
}

/// What a SQLite connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    /// Changes the schema: foreign keys are checked once, at the end.
    Migrate,
}

/// Opens connections to one database.
#[derive(Clone)]
pub(crate) struct Connector {
    address: Address,
    patience: Duration,
    statement_timeout: Duration,
    write_cache_kib: u32,
    stats: Arc<Stats>,
}

impl Connector {
    pub(crate) fn new(address: Address, config: &StorageConfig, stats: Arc<Stats>) -> Self {
        Self {
            address,
            patience: config.checkout_timeout,
            statement_timeout: config.statement_timeout,
            write_cache_kib: config.write_cache_kib,
            stats,
        }
    }

    /// The same, waiting so long for a connection.
    pub(crate) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    pub(crate) const fn kind(&self) -> DatabaseKind {
        self.address.kind()
    }

    /// A connection for queries, or for anything on PostgreSQL.
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
        // First of all, how long to wait for others: every pragma after it may meet a lock.
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
            self.keep_a_log(&mut conn).map_err(|e| fail(&e))?;
        }
        conn.set_instrumentation(Meter::new(Arc::clone(&self.stats)));
        Ok(conn)
    }

    /// Chooses the write-ahead log. SQLite does not wait for others here, whatever its timeout: of several processes
    /// that start on a new database at once, all but one are told that it is locked.
    fn keep_a_log(&self, conn: &mut SqliteConnection) -> diesel::QueryResult<()> {
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
        // Our statements are short; compiling one that the planner misjudges takes longer than it saves.
        conn.batch_execute(&format!(
            "SET statement_timeout = {statement}; SET lock_timeout = {lock}; \
             SET idle_in_transaction_session_timeout = {idle}; SET jit = off",
            lock = statement / 2,
            idle = statement.saturating_mul(2),
        ))
        .map_err(|e| fail(&e))?;
        // Errors are told apart by their words, so those should be untranslated. Not every role may ask for
        // that, and few servers translate: without it a deadlock there is not retried, and no worse.
        let untranslated = "DO $$ BEGIN PERFORM set_config('lc_messages', 'C', false); \
                            EXCEPTION WHEN OTHERS THEN NULL; END $$";
        if let Err(error) = conn.batch_execute(untranslated) {
            log::debug!("messages of the database stay as they are: {error}");
        }
        conn.set_instrumentation(Meter::new(Arc::clone(&self.stats)));
        Ok(conn)
    }

    /// The URI with limits on how long a dead network can hold a thread, where it sets none itself.
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

/// libpq repeats what it cannot read, the whole URI included.
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

/// One connection, as a pool keeps it.
pub(crate) struct Session {
    pub(crate) link: Link,
    spent: bool,
}

impl Session {
    /// The connection, for ports.
    pub(crate) fn conn(&mut self) -> Conn<'_> {
        match &mut self.link {
            Link::Pg(conn) => Conn::Pg(conn),
            Link::Sqlite(conn) => Conn::Sqlite(conn),
        }
    }

    /// The pool shall not give it out again: nobody knows what state it is in.
    pub(crate) fn discard(&mut self) {
        self.spent = true;
    }

    /// Whether nothing speaks against using it, without asking the server: an answer would cost each command a
    /// round trip. A server that went away has closed its end, which reading the socket shows; the first read
    /// may still find its parting words.
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

/// The threads on which pools open connections. Those that r2d2 starts by itself outlive their pool.
pub(crate) fn openers() -> Arc<ScheduledThreadPool> {
    let openers = ScheduledThreadPool::builder()
        .num_threads(2)
        .thread_name_pattern("terrace-connect-{}")
        .on_drop_behavior(OnPoolDropBehavior::DiscardPendingScheduled)
        .build();
    Arc::new(openers)
}

/// How long a command still waits once the database is known to be away.
const AWAY: Duration = Duration::from_millis(250);

/// A pool of [`Session`]s that opens them when they are needed and drops broken ones.
pub(crate) struct Pool {
    sessions: r2d2::Pool<Connector>,
    patience: Duration,
    away: AtomicBool,
}

impl Pool {
    /// A pool of up to `size`, whose connections are opened on `openers`.
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

    /// A session for work that has waited since `since`.
    pub(crate) fn checkout(&self, since: Instant) -> Result<r2d2::PooledConnection<Connector>, StoreError> {
        let left = self.patience.saturating_sub(since.elapsed());
        if left.is_zero() {
            return Err(waited_too_long());
        }
        // The pool goes on trying to connect by itself, so it is enough to look whether it has.
        let patience = if self.away.load(Ordering::Relaxed) { left.min(AWAY) } else { left };
        let session = self.sessions.get_timeout(patience);
        // Only a pool without any connection is a database that is away; else all are at work.
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
