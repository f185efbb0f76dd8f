//! The location of the database and the limits on its use by a process.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The kind of database that a URL refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseKind {
    /// An embedded SQLite file.
    Sqlite,
    /// A PostgreSQL server.
    Postgres,
}

impl DatabaseKind {
    /// The name, as used in metrics and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

impl fmt::Display for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The location of the database and the limits on its use by this process.
#[derive(Clone)]
pub struct StorageConfig {
    /// `sqlite:PATH` or a libpq URI (`postgres://…`, `postgresql://…`).
    pub database_url: String,
    /// PostgreSQL: a URL that connects to the server directly, for `LISTEN`, migrations and the relay, if
    /// `database_url` goes through a pooler that does not preserve sessions.
    pub listen_database_url: Option<String>,
    /// A replica of the database, of the same kind. Queries that allow stale results are sent to it, or to the primary
    /// if the replica is unavailable.
    pub read_database_url: Option<String>,
    /// The number of queries that run concurrently; each has a thread and a connection.
    pub read_connections: u32,
    /// PostgreSQL: the number of commands that run concurrently; each has a thread and a connection. SQLite has one
    /// writer.
    pub write_connections: u32,
    /// The time that a command or query may wait for a connection, including its time in the queue. On SQLite also the
    /// time that the writer waits for another process that writes.
    pub checkout_timeout: Duration,
    /// PostgreSQL: the time limit of one statement. It is set per session; behind a pooler in transaction mode, set it
    /// on the role instead (`ALTER ROLE … SET statement_timeout`). SQLite has no such limit.
    pub statement_timeout: Duration,
    /// The duration from which a statement is logged as slow, without its values.
    pub slow_query: Duration,
    /// The number of commands that may wait, and likewise of queries. Any beyond that are rejected immediately.
    pub write_queue: usize,
    /// SQLite: the maximum number of commands that share one commit.
    pub group_limit: usize,
    /// SQLite: the size of the writer's page cache, in KiB. A larger cache makes many random writes faster.
    pub write_cache_kib: u32,
    /// For tests: runs the body of each command, rolls it back and runs it again, because bodies must be repeatable.
    pub run_twice: bool,
}

impl StorageConfig {
    /// The defaults for one process on the database at `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            database_url: url.into(),
            listen_database_url: None,
            read_database_url: None,
            read_connections: 8,
            write_connections: 8,
            checkout_timeout: Duration::from_secs(3),
            statement_timeout: Duration::from_secs(5),
            slow_query: Duration::from_millis(200),
            write_queue: 1024,
            group_limit: 256,
            write_cache_kib: 16_384,
            run_twice: false,
        }
    }
}

/// Omits the URLs, because they contain passwords.
impl fmt::Debug for StorageConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageConfig")
            .field("database", &Address::parse(&self.database_url).map(|address| address.kind()))
            .field("read_connections", &self.read_connections)
            .field("write_connections", &self.write_connections)
            .field("checkout_timeout", &self.checkout_timeout)
            .field("statement_timeout", &self.statement_timeout)
            .field("slow_query", &self.slow_query)
            .field("write_queue", &self.write_queue)
            .field("group_limit", &self.group_limit)
            .field("run_twice", &self.run_twice)
            .finish_non_exhaustive()
    }
}

/// Why a database URL is rejected. The messages never repeat the URL, because it may contain a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The scheme is not supported.
    #[error(
        "not a database URL: expected sqlite:PATH, postgres://USER@HOST/DATABASE or \
         postgresql://USER@HOST/DATABASE"
    )]
    Unknown,
    /// `sqlite:` without a path.
    #[error("sqlite: needs the path of a file, as in sqlite:data/terrace.db")]
    NoPath,
    /// An in-memory database. Each connection would get a database of its own.
    #[error("a SQLite database in memory cannot be shared by connections: give the path of a file")]
    InMemory,
    /// Parameters, or SQLite's own URI form.
    #[error("sqlite: takes a plain path, without parameters and without file:")]
    Parameters,
    /// The URL requires TLS, which is not compiled in.
    #[error(
        "the database URL asks for TLS (sslmode), which this program was built without: build it with \
         `--features postgres-tls`"
    )]
    NoTls,
    /// The path or URI contains a NUL character.
    #[error("a database URL must not hold NUL characters")]
    Nul,
}

/// A parsed database URL.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// Path of a SQLite file.
    Sqlite(PathBuf),
    /// A libpq URI.
    Postgres(String),
}

impl Address {
    /// Parses `url` by its scheme only, so that a mistyped server URL is never taken for a file.
    pub(crate) fn parse(url: &str) -> Result<Self, UrlError> {
        let url = url.trim();
        if url.contains('\0') {
            return Err(UrlError::Nul);
        }
        let (scheme, rest) = url.split_once(':').ok_or(UrlError::Unknown)?;
        match scheme.to_ascii_lowercase().as_str() {
            "sqlite" => Self::parse_path(rest.strip_prefix("//").unwrap_or(rest)),
            "postgres" | "postgresql" if rest.starts_with("//") => {
                if !cfg!(feature = "postgres-tls") && asks_for_tls(rest) {
                    return Err(UrlError::NoTls);
                }
                Ok(Self::Postgres(format!("postgresql:{rest}")))
            }
            _ => Err(UrlError::Unknown),
        }
    }

    fn parse_path(path: &str) -> Result<Self, UrlError> {
        if path.is_empty() || path == "/" {
            return Err(UrlError::NoPath);
        }
        if path.contains(":memory:") || path.contains("mode=memory") {
            return Err(UrlError::InMemory);
        }
        if path.starts_with("file:") || path.contains('?') {
            return Err(UrlError::Parameters);
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }

    pub(crate) const fn kind(&self) -> DatabaseKind {
        match self {
            Self::Sqlite(_) => DatabaseKind::Sqlite,
            Self::Postgres(_) => DatabaseKind::Postgres,
        }
    }
}

/// Reports whether a libpq URI requires an encrypted connection. The default, `prefer`, also accepts an unencrypted
/// one.
fn asks_for_tls(uri: &str) -> bool {
    let parameters = uri.split_once('?').map_or("", |(_, parameters)| parameters);
    parameters.split('&').any(|pair| {
        matches!(pair.split_once('='), Some(("sslmode", mode)) if matches!(mode, "require" | "verify-ca" | "verify-full"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_alone_picks_the_database() {
        let sqlite = |path: &str| Ok(Address::Sqlite(PathBuf::from(path)));
        let postgres = |uri: &str| Ok(Address::Postgres(uri.to_owned()));
        let table = [
            ("sqlite:data/terrace.db", sqlite("data/terrace.db")),
            ("sqlite://data/terrace.db", sqlite("data/terrace.db")),
            ("sqlite:///var/terrace.db", sqlite("/var/terrace.db")),
            ("SQLite:a.db", sqlite("a.db")),
            ("postgres://u:p@h/d", postgres("postgresql://u:p@h/d")),
            ("postgresql:///d?host=/run", postgres("postgresql:///d?host=/run")),
            ("postgres:u:p@h/d", Err(UrlError::Unknown)),
            ("postgre://u:p@h/d", Err(UrlError::Unknown)),
            ("mysql://u:p@h/d", Err(UrlError::Unknown)),
            ("data/terrace.db", Err(UrlError::Unknown)),
            ("", Err(UrlError::Unknown)),
            ("sqlite:", Err(UrlError::NoPath)),
            ("sqlite://", Err(UrlError::NoPath)),
            ("sqlite::memory:", Err(UrlError::InMemory)),
            ("sqlite:file:x?mode=memory", Err(UrlError::InMemory)),
            ("sqlite:file:x", Err(UrlError::Parameters)),
            ("sqlite:x.db?cache=shared", Err(UrlError::Parameters)),
            ("sqlite:x\0.db", Err(UrlError::Nul)),
        ];
        for (url, expected) in table {
            assert!(Address::parse(url) == expected, "{url}");
        }
    }

    #[test]
    fn tls_that_is_not_built_in_is_refused_by_name() {
        for (url, asks) in [
            ("postgres://h/d", false),
            ("postgres://h/d?sslmode=disable", false),
            ("postgres://h/d?sslmode=prefer", false),
            ("postgres://h/d?sslmode=require", true),
            ("postgresql://u:sslmode=require@h/d?connect_timeout=3&sslmode=verify-full", true),
            ("postgresql://u:sslmode=require@h/d", false),
        ] {
            assert_eq!(asks_for_tls(url), asks, "{url}");
            let refused = Address::parse(url).err() == Some(UrlError::NoTls);
            assert_eq!(refused, asks && !cfg!(feature = "postgres-tls"), "{url}");
        }
        assert!(UrlError::NoTls.to_string().contains("postgres-tls"));
    }

    #[test]
    fn no_word_about_a_url_repeats_its_password() {
        let error = Address::parse("mysql://fan:s3cret@db/terrace").err().unwrap();
        assert!(!error.to_string().contains("s3cret") && error.to_string().contains("postgresql://"));
        let config = StorageConfig::new("postgres://fan:s3cret@db/terrace");
        assert!(!format!("{config:?}").contains("s3cret"));
    }
}
