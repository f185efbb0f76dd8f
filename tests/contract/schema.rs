//! One schema on two databases, and its migrations up and down (docs/architecture.md, invariant 13).

use super::repairs::kept;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use terrace_testkit::app::store::Store;
use terrace_testkit::storage::{ColumnDescription, Storage, StorageConfig};
use terrace_testkit::{
    DatabaseKind, ManualClock, SeededEntropy, TestApp, TestDatabase, on, on_each_database, pgtemp,
};

on_each_database! {
    the_schema_is_the_one_in_the_snapshot,
    up_and_down_and_up_leave_the_same_schema,
    the_schema_is_the_one_that_the_program_declares,
    one_of_many_starting_processes_migrates,
    a_database_without_tables_is_not_ready,
}

/// Only on PostgreSQL: SQLite's writer assigns positions to events itself.
const ONLY_POSTGRES: [&str; 2] = ["event_head", "outbox"];

pub(crate) fn open(database: &TestDatabase) -> Result<Storage> {
    let config =
        StorageConfig { read_connections: 1, write_connections: 1, ..StorageConfig::new(database.url()) };
    let (clock, entropy) = (ManualClock::default(), SeededEntropy::default());
    Ok(Storage::open(config, Arc::new(clock), Arc::new(entropy))?)
}

pub(super) fn ready(storage: &Storage) -> Result<bool> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    Ok(runtime.block_on(storage.ready()).is_ok())
}

/// SQLite keeps statements as they were written, with what `ALTER TABLE` added put in: blanks and the case of words
/// outside texts mean nothing.
fn normalised(definition: &str) -> String {
    let lower = |(part, text): (usize, &str)| {
        if part % 2 == 1 { text.to_owned() } else { text.to_lowercase() }
    };
    let words = definition.split('\'').enumerate().map(lower).collect::<Vec<_>>().join("'");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace("( ", "(").replace(" )", ")").replace(" ,", ",")
}

/// Columns in their order, definitions and the rows that migrations insert, as text. The relay takes its lease as soon as
/// there are tables.
fn described(kind: DatabaseKind, storage: &Storage) -> Result<String> {
    let schema = storage.describe_schema()?;
    let mut text = String::new();
    for ColumnDescription { table, column, sql_type, nullable, key_place } in schema.columns {
        let null = if nullable { "null" } else { "not null" };
        let key = key_place.map(|place| format!(", key {place}")).unwrap_or_default();
        writeln!(text, "{table}.{column}: {sql_type}, {null}{key}")?;
    }
    for definition in schema.definitions {
        match kind {
            DatabaseKind::Postgres => writeln!(text, "{definition}")?,
            DatabaseKind::Sqlite => writeln!(text, "{}", normalised(&definition))?,
        }
    }
    for (table, rows) in kept(storage, &["leases"]) {
        for row in rows {
            writeln!(text, "row of {table}: {row}")?;
        }
    }
    Ok(text)
}

/// The schema that the migrations make is pinned in `snapshots/`. A migration that changes it on purpose renews both
/// files: run this test with `INSTA_UPDATE=always` in the environment, and review what changed in them, which must be
/// what the migration is for.
fn the_schema_is_the_one_in_the_snapshot(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let storage = open(&database)?;
    storage.migrate()?;
    let name = match kind {
        DatabaseKind::Postgres => "schema_postgres",
        DatabaseKind::Sqlite => "schema_sqlite",
    };
    let text = described(kind, &storage)?;
    insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!(name, text);
    });
    Ok(())
}

/// Every migration has a way down that leaves nothing, and the way up leads to the same schema each time,
/// taken whole or step by step.
fn up_and_down_and_up_leave_the_same_schema(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let storage = open(&database)?;
    let empty = storage.describe_schema()?;
    assert_eq!((empty.columns.len(), empty.definitions.len()), (0, 0));
    let applied = storage.migrate()?;
    let first = storage.describe_schema()?;
    assert!(first.columns.len() > 80 && first.definitions.len() > 20, "{first:?}");

    let mut reverted = Vec::new();
    for _ in &applied {
        reverted.extend(storage.revert_last()?);
        // Each step can be repeated at once.
        let below = storage.describe_schema()?;
        storage.migrate()?;
        assert_eq!(storage.describe_schema()?, first);
        for _ in &reverted {
            storage.revert_last()?;
        }
        assert_eq!(storage.describe_schema()?, below);
    }
    reverted.reverse();
    assert_eq!(reverted, applied);
    assert_eq!(storage.describe_schema()?, empty);
    assert_eq!(storage.migrate()?, applied);
    assert_eq!(storage.describe_schema()?, first);
    let mut all = storage.revert_all()?;
    all.reverse();
    assert_eq!(all, applied);
    assert_eq!(storage.describe_schema()?, empty);
    Ok(())
}

/// A table as an area's `schema.rs` declares it: its columns with their types, and its primary key.
#[derive(Debug, PartialEq, Eq)]
struct Table {
    columns: Vec<(String, String)>,
    key: Vec<String>,
}

/// Reads the `table!` blocks of every area's `schema.rs`.
fn known_tables() -> Result<BTreeMap<String, Table>> {
    let mut source = String::new();
    for area in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/storage/src"))? {
        let file = area?.path().join("schema.rs");
        if file.exists() {
            source.push_str(&fs::read_to_string(file)?);
        }
    }
    let mut tables = BTreeMap::new();
    for block in source.split("table! {").skip(1) {
        let lines = block.lines().map(str::trim).filter(|line| !line.starts_with("use ") && !line.is_empty());
        let mut lines = lines.take_while(|line| *line != "}");
        let head = lines.next().context("an empty table!")?;
        let (name, key) = head
            .strip_suffix(") {")
            .and_then(|head| head.split_once(" ("))
            .with_context(|| format!("no head of a table: {head}"))?;
        let mut columns = Vec::new();
        for line in lines {
            let (column, sql_type) = line
                .strip_suffix(',')
                .and_then(|line| line.split_once(" -> "))
                .with_context(|| format!("no column: {line}"))?;
            columns.push((column.to_owned(), sql_type.to_owned()));
        }
        let key = key.split(", ").map(str::to_owned).collect();
        tables.insert(name.to_owned(), Table { columns, key });
    }
    Ok(tables)
}

/// Whether the column's type in `schema.rs` (`known`) fits its description, where that follows from it.
/// SQLite has fewer types than the program distinguishes.
fn fits(kind: DatabaseKind, known: &str, column: &ColumnDescription) -> bool {
    let (bare, nullable) = match known.strip_prefix("Nullable<").and_then(|inner| inner.strip_suffix('>')) {
        Some(inner) => (inner, true),
        None => (known, false),
    };
    let (postgres, sqlite) = match bare {
        "BigInt" => ("bigint", "INTEGER"),
        "Integer" => ("integer", "INTEGER"),
        "SmallInt" => ("smallint", "INTEGER"),
        "Bool" => ("boolean", "INTEGER"),
        "Text" => ("text", "TEXT"),
        "Binary" => ("bytea", "BLOB"),
        "Uid" => ("uuid", "BLOB"),
        "Instant" => ("timestamp with time zone", "INTEGER"),
        "WordList" => ("tsvector", "TEXT"),
        other => panic!("the type {other} is new here"),
    };
    let sql_type = if kind == DatabaseKind::Postgres { postgres } else { sqlite };
    column.sql_type == sql_type && column.nullable == nullable
}

/// `schema.rs` names every table and column in its order, with its type, its nullability, and the key.
fn the_schema_is_the_one_that_the_program_declares(kind: DatabaseKind) -> Result<()> {
    let mut known = known_tables()?;
    assert!(known.len() > 10 && known.contains_key("posts"), "schema.rs is read wrongly: {known:?}");
    if kind == DatabaseKind::Sqlite {
        for table in ONLY_POSTGRES {
            known.remove(table).context(table)?;
        }
    }
    let service = TestApp::start(kind)?;
    let mut stored = BTreeMap::<String, Vec<ColumnDescription>>::new();
    for column in service.storage().describe_schema()?.columns {
        stored.entry(column.table.clone()).or_default().push(column);
    }
    assert_eq!(stored.keys().collect::<Vec<_>>(), known.keys().collect::<Vec<_>>());
    for (name, columns) in &stored {
        let table = &known[name];
        let names: Vec<_> = columns.iter().map(|column| column.column.as_str()).collect();
        let expected: Vec<_> = table.columns.iter().map(|(column, _)| column.as_str()).collect();
        assert_eq!(names, expected, "{name}");
        for (column, (_, sql_type)) in columns.iter().zip(&table.columns) {
            assert!(fits(kind, sql_type, column), "{sql_type} is not {column:?}");
        }
        let mut key: Vec<_> =
            columns.iter().filter_map(|column| Some((column.key_place?, column.column.clone()))).collect();
        key.sort();
        let key: Vec<_> = key.into_iter().map(|(_, column)| column).collect();
        assert_eq!(key, table.key, "{name}");
    }
    Ok(())
}

/// Several processes that start on one fresh database all come up; one of them migrates.
fn one_of_many_starting_processes_migrates(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let storages = [open(&database)?, open(&database)?, open(&database)?];
    let applied = std::thread::scope(|scope| {
        let threads = storages.each_ref().map(|storage| scope.spawn(|| storage.migrate()));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    let applied = applied.into_iter().collect::<Result<Vec<_>, _>>()?;
    assert_eq!(applied.iter().filter(|names| !names.is_empty()).count(), 1, "{applied:?}");
    for storage in &storages {
        assert!(ready(storage)? && storage.pending_migrations()?.is_empty());
    }
    Ok(())
}

/// Ready means: reachable, and with the schema of this program.
fn a_database_without_tables_is_not_ready(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let storage = open(&database)?;
    assert!(!ready(&storage)?);
    storage.migrate()?;
    assert!(ready(&storage)?);
    storage.revert_last()?;
    assert!(!ready(&storage)? && storage.pending_migrations()?.len() == 1);
    Ok(())
}

/// A database that a newer program has migrated is not changed. (SQLite is tested in the storage crate: no
/// other crate can write such a row there.)
#[test]
fn a_newer_schema_is_refused_on_postgres() -> Result<()> {
    on(DatabaseKind::Postgres, newer_schema_is_refused)
}

fn newer_schema_is_refused(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let storage = open(&database)?;
    storage.migrate()?;
    let before = storage.describe_schema()?;
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('29991231000001')";
    pgtemp::execute(database.url(), &[newer])?;
    for refused in [storage.migrate(), storage.revert_last(), storage.revert_all()] {
        let words = refused.err().context("a newer schema was touched")?.to_string();
        assert!(words.contains("newer version") && words.contains("29991231000001"), "{words}");
    }
    assert!(!ready(&storage)?);
    assert_eq!(storage.describe_schema()?, before);
    Ok(())
}
