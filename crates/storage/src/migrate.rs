//! Migrations, embedded for both databases. One run applies or reverts all of its migrations in one transaction, and
//! only one process runs them at a time.

use crate::adoption::{adopt, is_adoptable, is_earlier};
use crate::config::DatabaseKind;
use crate::conn::Conn;
use crate::error::broken;
use crate::instrument::quietly;
use crate::manager::{Connector, Link, Mode};
use diesel::backend::Backend;
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::migration::{Migration, MigrationSource};
use diesel::sql_types::{Bool, Text};
use diesel::{Connection, QueryResult, QueryableByName, RunQueryDsl, sql_query};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use std::collections::BTreeMap;
use terrace_kernel::StoreError;

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// The key of the advisory lock for migrations on PostgreSQL: "terrace" in ASCII.
const LOCK: i64 = 0x0074_6572_7261_6365;

/// The direction and extent of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Applies all pending migrations.
    Up,
    /// Reverts the newest migration.
    DownOne,
    /// Reverts all migrations.
    DownAll,
}

/// Runs migrations and returns the names of those applied or reverted, in that order. A failure changes nothing.
pub(crate) fn run(connector: &Connector, direction: Direction) -> Result<Vec<String>, StoreError> {
    let mut session = connector.connect(Mode::Migrate)?;
    match &mut session.link {
        Link::Pg(conn) => quietly(&mut **conn, |conn| {
            // There is no time limit on migrating or on waiting for another process that migrates. The lock is released
            // with the transaction, so it also works behind a pooler.
            let begin = format!(
                "BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
                 SET LOCAL idle_in_transaction_session_timeout = 0; SELECT pg_advisory_xact_lock({LOCK})"
            );
            in_transaction(conn, &begin, |conn| take(conn, &POSTGRES, direction))
        }),
        Link::Sqlite(conn) => quietly(&mut **conn, |conn| {
            // Another process that migrates holds the lock for longer than commands do.
            conn.batch_execute("PRAGMA busy_timeout = 60000").map_err(broken("migrate"))?;
            in_transaction(conn, "BEGIN IMMEDIATE", |conn| {
                let names = take(conn, &SQLITE, direction)?;
                // Only migrations write without foreign key checks. Checking all rows takes seconds on a large
                // database, and every start executes this code.
                if !names.is_empty() {
                    check_references(conn)?;
                }
                Ok(names)
            })
        }),
    }
}

/// Like diesel's own transactions, but started with `begin`; the harness nests its transactions in it.
fn in_transaction<C>(
    conn: &mut C,
    begin: &str,
    work: impl FnOnce(&mut C) -> Result<Vec<String>, StoreError>,
) -> Result<Vec<String>, StoreError>
where
    C: Connection<TransactionManager = AnsiTransactionManager>,
{
    AnsiTransactionManager::begin_transaction_sql(conn, begin).map_err(broken("migrate"))?;
    match work(conn) {
        Ok(names) => {
            AnsiTransactionManager::commit_transaction(conn).map_err(broken("migrate"))?;
            Ok(names)
        }
        Err(error) => {
            if let Err(rollback) = AnsiTransactionManager::rollback_transaction(conn) {
                log::warn!("rollback of migrations: {rollback}");
            }
            Err(error)
        }
    }
}

fn take<DB, C>(
    conn: &mut C,
    source: &EmbeddedMigrations,
    direction: Direction,
) -> Result<Vec<String>, StoreError>
where
    DB: Backend,
    C: MigrationHarness<DB> + SimpleConnection,
{
    let fail = |error| StoreError::defect("migrate", error);
    let applied = conn.applied_migrations().map_err(fail)?;
    let mut applied: Vec<_> = applied.iter().map(ToString::to_string).collect();
    let mut known = source.migrations().map_err(fail)?;
    known.sort_by_key(|migration| migration.name().version().as_owned());
    let versions: Vec<_> = known.iter().map(|migration| migration.name().version().to_string()).collect();
    let unknown = unknown(&applied, |version| versions.contains(version));
    if !unknown.is_empty() {
        return Err(newer(&unknown));
    }
    if is_adoptable(&applied)? {
        applied = adopt(conn, &versions).map_err(broken("migrate"))?;
    }
    let is_applied =
        |migration: &dyn Migration<DB>| applied.contains(&migration.name().version().to_string());
    let (chosen, count) = match direction {
        Direction::Up => {
            (known.iter().filter(|migration| !is_applied(&**migration)).collect::<Vec<_>>(), usize::MAX)
        }
        Direction::DownOne => (known.iter().rev().filter(|migration| is_applied(&**migration)).collect(), 1),
        Direction::DownAll => {
            (known.iter().rev().filter(|migration| is_applied(&**migration)).collect(), usize::MAX)
        }
    };
    let mut names = Vec::new();
    for migration in chosen.into_iter().take(count) {
        match direction {
            Direction::Up => conn.run_migration(migration),
            Direction::DownOne | Direction::DownAll => conn.revert_migration(migration),
        }
        .map_err(fail)?;
        names.push(migration.name().to_string());
    }
    Ok(names)
}

/// Applied versions that neither this program nor an earlier one made.
fn unknown(applied: &[String], is_known: impl Fn(&String) -> bool) -> Vec<String> {
    applied.iter().filter(|version| !is_known(version) && !is_earlier(version)).cloned().collect()
}

fn newer(unknown: &[String]) -> StoreError {
    let words = format!(
        "the database was migrated by a newer version of this program: it holds {}, unknown here; use that version, or \
         restore what was backed up before it",
        unknown.join(", ")
    );
    StoreError::defect("migrate", words)
}

#[derive(QueryableByName)]
struct Flag {
    #[diesel(sql_type = Bool)]
    flag: bool,
}

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Text)]
    version: String,
}

/// Fails if a table that was rebuilt without foreign key checks left dangling references.
fn check_references(conn: &mut diesel::SqliteConnection) -> Result<(), StoreError> {
    let query = "SELECT EXISTS (SELECT 1 FROM pragma_foreign_key_check) AS flag";
    let dangling: Flag = sql_query(query).get_result(conn).map_err(broken("check references"))?;
    if dangling.flag {
        return Err(StoreError::defect("migrate", "foreign keys would point nowhere"));
    }
    Ok(())
}

/// The differences between the schema of a database and the one that this program expects.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Names of migrations that are not applied; all of them where those of an earlier version are, until they are adopted.
    pub(crate) pending: Vec<String>,
    /// Versions that are applied and that this program does not contain.
    pub(crate) unknown: Vec<String>,
}

/// Compares the schemas without writing anything. A database with only some migrations of an earlier version is an error.
pub(crate) fn standing(conn: &mut Conn<'_>) -> Result<Standing, StoreError> {
    let (kind, applied) = match conn {
        Conn::Pg(conn) => (
            DatabaseKind::Postgres,
            quietly(*conn, |conn| {
                let exists = "SELECT to_regclass('__diesel_schema_migrations') IS NOT NULL AS flag";
                sql_query(exists)
                    .get_result(conn)
                    .and_then(|Flag { flag }| versions(flag, |all| all.load(conn)))
            }),
        ),
        Conn::Sqlite(conn) => (
            DatabaseKind::Sqlite,
            quietly(*conn, |conn| {
                let exists = "SELECT EXISTS (SELECT 1 FROM sqlite_schema \
                          WHERE type = 'table' AND name = '__diesel_schema_migrations') AS flag";
                sql_query(exists)
                    .get_result(conn)
                    .and_then(|Flag { flag }| versions(flag, |all| all.load(conn)))
            }),
        ),
    };
    let applied = applied.map_err(broken("read the applied migrations"))?;
    let known = known(kind)?;
    let unknown = unknown(&applied, |version| known.contains_key(version));
    if unknown.is_empty() {
        is_adoptable(&applied)?;
    }
    let pending =
        known.iter().filter(|(version, _)| !applied.contains(version)).map(|(_, name)| name.clone());
    Ok(Standing { pending: pending.collect(), unknown })
}

fn versions(
    table_exists: bool,
    load: impl FnOnce(diesel::query_builder::SqlQuery) -> QueryResult<Vec<Version>>,
) -> QueryResult<Vec<String>> {
    if !table_exists {
        return Ok(Vec::new());
    }
    let all = load(sql_query("SELECT version FROM __diesel_schema_migrations ORDER BY version"))?;
    Ok(all.into_iter().map(|row| row.version).collect())
}

/// The embedded migrations: names by version.
fn known(kind: DatabaseKind) -> Result<BTreeMap<String, String>, StoreError> {
    fn list<DB: Backend>(source: &EmbeddedMigrations) -> diesel::migration::Result<BTreeMap<String, String>> {
        let all: Vec<Box<dyn Migration<DB>>> = source.migrations()?;
        Ok(all.iter().map(|each| (each.name().version().to_string(), each.name().to_string())).collect())
    }
    match kind {
        DatabaseKind::Sqlite => list::<diesel::sqlite::Sqlite>(&SQLITE),
        DatabaseKind::Postgres => list::<diesel::pg::Pg>(&POSTGRES),
    }
    .map_err(|error| StoreError::defect("embedded migrations", error))
}

/// Fails unless the database can be reached and has exactly the schema that this program expects.
pub(crate) fn check(conn: &mut Conn<'_>) -> Result<(), StoreError> {
    let standing = standing(conn)?;
    if !standing.unknown.is_empty() {
        return Err(newer(&standing.unknown));
    }
    if !standing.pending.is_empty() {
        return Err(StoreError::Unavailable(format!(
            "migrations are pending: {}",
            standing.pending.join(", ")
        )));
    }
    Ok(())
}
