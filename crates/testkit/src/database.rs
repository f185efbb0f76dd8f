//! A fresh database of either kind for one test, and the kinds that a run covers.

use crate::postgres::FreshPostgres;
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::fs;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;
use terrace_kernel::Timestamp;
use terrace_storage::{DatabaseKind, back_up};

/// The variable that selects the kinds of database of a run: `sqlite`, `postgres`, or both separated by a comma.
const COVERED: &str = "TERRACE_TEST_DATABASES";

/// The kinds of database that this run covers: both, unless `TERRACE_TEST_DATABASES` is set. A missing PostgreSQL
/// server is detected later, when a test requests a database and fails.
pub fn databases() -> Result<Vec<DatabaseKind>> {
    match env::var(COVERED) {
        Ok(text) => covered(&text),
        Err(env::VarError::NotPresent) => Ok(vec![DatabaseKind::Sqlite, DatabaseKind::Postgres]),
        Err(error) => Err(error).context(COVERED),
    }
}

fn covered(text: &str) -> Result<Vec<DatabaseKind>> {
    let mut kinds = Vec::new();
    for word in text.split(',').map(str::trim) {
        let kind = match word {
            "sqlite" => DatabaseKind::Sqlite,
            "postgres" => DatabaseKind::Postgres,
            other => bail!("{COVERED}: `{other}` is neither `sqlite` nor `postgres`"),
        };
        ensure!(!kinds.contains(&kind), "{COVERED} names `{word}` twice");
        kinds.push(kind);
    }
    Ok(kinds)
}

/// The name of a SQLite database in its folder.
const FILE: &str = "terrace.db";

/// The file of a migrated SQLite database, once a test of this process has made one.
static MIGRATED: Mutex<Option<Vec<u8>>> = Mutex::new(None);

fn new_folder() -> Result<TempDir> {
    Ok(tempfile::Builder::new().prefix("terrace-db-").tempdir()?)
}

/// A database for a single test. It is removed when this value is dropped, even if connections are open.
#[derive(Debug)]
pub struct TestDatabase {
    url: String,
    kind: DatabaseKind,
    _place: Backing,
}

/// The storage to remove with the database.
#[derive(Debug)]
enum Backing {
    Folder(#[expect(dead_code, reason = "held for its drop")] TempDir),
    Server(#[expect(dead_code, reason = "held for its drop")] FreshPostgres),
}

impl TestDatabase {
    /// Creates an empty database without tables. Fails with instructions if PostgreSQL is requested and
    /// `TEST_DATABASE_URL` names no server.
    pub fn empty(kind: DatabaseKind) -> Result<Self> {
        match kind {
            DatabaseKind::Sqlite => Self::file(),
            DatabaseKind::Postgres => Ok(Self::server(FreshPostgres::empty()?)),
        }
    }

    /// Creates a database and has `migrate` apply the migrations to it; `migrate` receives the database's URL. It runs
    /// once for many tests, which get copies of the result: it must apply exactly the workspace's migrations.
    pub fn migrated(kind: DatabaseKind, migrate: impl FnOnce(&str) -> Result<()>) -> Result<Self> {
        match kind {
            DatabaseKind::Sqlite => Self::copied(migrate),
            DatabaseKind::Postgres => Ok(Self::server(FreshPostgres::migrated(migrate)?)),
        }
    }

    /// The URL to configure the service with.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn kind(&self) -> DatabaseKind {
        self.kind
    }

    fn file() -> Result<Self> {
        Ok(Self::in_folder(new_folder()?))
    }

    fn copied(migrate: impl FnOnce(&str) -> Result<()>) -> Result<Self> {
        let folder = new_folder()?;
        let file = folder.path().join(FILE);
        let database = Self::in_folder(folder);
        let mut template = MIGRATED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = &*template {
            fs::write(file, bytes)?;
        } else {
            migrate(database.url())?;
            // A pool may still be opening a connection, whose log holds a part of the database.
            let whole = file.with_file_name("whole.db");
            back_up(database.url(), &whole, Timestamp::from_micros(0))?;
            *template = Some(fs::read(whole)?);
        }
        Ok(database)
    }

    fn in_folder(folder: TempDir) -> Self {
        let url = format!("sqlite:{}", folder.path().join(FILE).display());
        Self { url, kind: DatabaseKind::Sqlite, _place: Backing::Folder(folder) }
    }

    fn server(fresh: FreshPostgres) -> Self {
        Self { url: fresh.url().to_owned(), kind: DatabaseKind::Postgres, _place: Backing::Server(fresh) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{ManualClock, SeededEntropy};
    use std::sync::Arc;
    use terrace_storage::{Storage, StorageConfig};

    #[test]
    fn the_kinds_are_named_and_a_mistake_is_not_an_empty_run() {
        assert_eq!(covered("sqlite").unwrap(), [DatabaseKind::Sqlite]);
        assert_eq!(covered("postgres, sqlite").unwrap(), [DatabaseKind::Postgres, DatabaseKind::Sqlite]);
        for wrong in ["", "mysql", "sqlite,", "sqlite,sqlite", "SQLite"] {
            assert!(covered(wrong).is_err(), "{wrong}");
        }
    }

    fn with_storage<T>(url: &str, ask: impl FnOnce(&Storage) -> Result<T>) -> Result<T> {
        let (clock, entropy) = (ManualClock::default(), SeededEntropy::default());
        let storage = Storage::open(StorageConfig::new(url), Arc::new(clock), Arc::new(entropy))?;
        let answer = ask(&storage);
        storage.close();
        answer
    }

    fn pending(url: &str) -> Result<usize> {
        with_storage(url, |storage| Ok(storage.pending_migrations()?.len()))
    }

    fn migrated(kind: DatabaseKind) -> Result<TestDatabase> {
        let migrate =
            |url: &str| with_storage(url, |storage| storage.migrate().map(drop).map_err(Into::into));
        let database = TestDatabase::migrated(kind, migrate)?;
        assert_eq!(database.kind(), kind);
        assert_eq!(pending(database.url())?, 0);
        assert_ne!(pending(TestDatabase::empty(kind)?.url())?, 0);
        Ok(database)
    }

    #[test]
    fn every_kind_has_databases_with_and_without_tables() -> Result<()> {
        databases()?.into_iter().try_for_each(|kind| migrated(kind).map(drop))
    }

    #[test]
    fn a_file_goes_with_its_value() -> Result<()> {
        let database = migrated(DatabaseKind::Sqlite)?;
        let path = std::path::PathBuf::from(database.url().trim_start_matches("sqlite:"));
        assert!(path.exists());
        drop(database);
        assert!(!path.exists());
        Ok(())
    }
}
