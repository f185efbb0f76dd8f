//! Examines a database for an operator before it is used.

use crate::conn::Conn;
use crate::error::broken;
use crate::instrument::quietly;
use crate::manager::{Connector, Link, Mode, Session};
use crate::migrate;
use crate::migrate::Standing;
use diesel::connection::SimpleConnection;
use diesel::sql_types::Text;
use diesel::{PgConnection, QueryableByName, RunQueryDsl, SqliteConnection, sql_query};
use std::collections::BTreeMap;
use terrace_kernel::StoreError;

/// The results of an examination.
#[derive(Debug)]
pub struct Examination {
    /// The version of the server or library.
    pub version: String,
    /// The settings that affect durability and text handling, by their own names.
    pub settings: BTreeMap<String, String>,
    /// Migrations that this program contains and the database lacks.
    pub pending: Vec<String>,
    /// Migrations that the database has and this program does not contain, because the program is older than the
    /// database.
    pub unknown: Vec<String>,
    /// Whether the database accepts writes. The attempted write is rolled back.
    pub writable: Result<(), StoreError>,
}

/// Examines the database on a separate connection.
pub(crate) fn examine(connector: &Connector) -> Result<Examination, StoreError> {
    let mut session = connector.connect(Mode::Write)?;
    let Standing { pending, unknown } = migrate::standing(&mut session.conn())?;
    let (version, settings) = match &mut session.link {
        Link::Pg(conn) => quietly(&mut **conn, facts_of_server),
        Link::Sqlite(conn) => quietly(&mut **conn, facts_of_file),
    }
    .map_err(broken("examine the database"))?;
    // Without the tables there is nothing to write to.
    let writable = if pending.is_empty() { try_to_write(&mut session) } else { Ok(()) };
    Ok(Examination { version, settings, pending, unknown, writable })
}

type Facts = (String, BTreeMap<String, String>);

#[derive(QueryableByName)]
struct Fact {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    value: String,
}

fn facts_of_server(conn: &mut PgConnection) -> diesel::QueryResult<Facts> {
    let facts: Vec<Fact> = sql_query(
        "SELECT name, setting AS value FROM pg_settings WHERE name IN \
         ('server_version', 'fsync', 'full_page_writes', 'synchronous_commit', 'server_encoding', \
          'max_connections', 'transaction_read_only')",
    )
    .load(conn)?;
    let mut settings: BTreeMap<_, _> = facts.into_iter().map(|fact| (fact.name, fact.value)).collect();
    let version = settings.remove("server_version").unwrap_or_default();
    Ok((version, settings))
}

fn facts_of_file(conn: &mut SqliteConnection) -> diesel::QueryResult<Facts> {
    let facts: Vec<Fact> = sql_query(
        "SELECT 'version' AS name, sqlite_version() AS value \
         UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode \
         UNION ALL SELECT 'synchronous', CAST(synchronous AS TEXT) FROM pragma_synchronous",
    )
    .load(conn)?;
    let mut settings: BTreeMap<_, _> = facts.into_iter().map(|fact| (fact.name, fact.value)).collect();
    let version = settings.remove("version").unwrap_or_default();
    Ok((version, settings))
}

fn try_to_write(session: &mut Session) -> Result<(), StoreError> {
    const WRITE: &str = "UPDATE leases SET name = name";
    match session.conn() {
        Conn::Pg(conn) => quietly(conn, |conn| {
            conn.batch_execute(&format!("BEGIN; {WRITE}; ROLLBACK")).map_err(broken("try to write"))
        }),
        Conn::Sqlite(conn) => quietly(conn, |conn| {
            conn.batch_execute(&format!("BEGIN IMMEDIATE; {WRITE}; ROLLBACK")).map_err(broken("try to write"))
        }),
    }
}
