//! Databases that the earlier migrations made, before one migration per area replaced them.

use super::repairs::stored;
use super::schema::{open, ready};
use anyhow::{Context, Result};
use terrace_testkit::storage::{EARLIER_VERSIONS, Storage};
use terrace_testkit::{DatabaseKind, TestApp, TestDatabase, on_each_database};

on_each_database! {
    a_database_of_the_earlier_migrations_is_adopted,
    of_processes_that_adopt_at_once_all_find_it_done,
    a_database_with_only_some_of_the_earlier_migrations_is_refused,
    an_earlier_database_of_a_newer_version_is_refused,
}

pub(super) fn recorded(storage: &Storage) -> Result<Vec<String>> {
    let versions = "SELECT version AS text FROM __diesel_schema_migrations ORDER BY version";
    Ok(storage.read_by_hand(versions)?)
}

/// Records these versions as applied, and no others. The tables stay: both sets of migrations make the same ones, which
/// the snapshots of `schema.rs` show, as the earlier migrations made them first.
pub(crate) fn record(storage: &Storage, versions: &[&str]) -> Result<()> {
    let rows: Vec<_> = versions.iter().map(|version| format!("('{version}')")).collect();
    let insert = format!("INSERT INTO __diesel_schema_migrations (version) VALUES {}", rows.join(", "));
    Ok(storage.execute_by_hand(&["DELETE FROM __diesel_schema_migrations", &insert])?)
}

/// The newest of the migrations that replace the earlier ones.
const LAST_REPLACEMENT: &str = "20261122000330";

/// Reverts the migrations that came after the replacements; returns their names, oldest first.
pub(crate) fn revert_later(storage: &Storage) -> Result<Vec<String>> {
    let mut later = Vec::new();
    while recorded(storage)?.last().is_some_and(|version| version.as_str() > LAST_REPLACEMENT) {
        later.extend(storage.revert_last()?);
    }
    later.reverse();
    Ok(later)
}

fn a_database_of_the_earlier_migrations_is_adopted(kind: DatabaseKind) -> Result<()> {
    let app = TestApp::start(kind)?;
    app.fan("mia");
    app.team("harbour");
    let storage = app.storage();
    let (current, later) = (recorded(storage)?, revert_later(storage)?);
    let (rows, schema) = (stored(&app, &[]), storage.describe_schema()?);
    assert!(rows["users"].len() == 1 && rows["teams"].len() == 1, "{rows:?}");
    record(storage, &EARLIER_VERSIONS)?;
    assert!(!ready(storage)?);
    assert_eq!(storage.pending_migrations()?.len(), current.len());
    assert_eq!(storage.examine()?.unknown, Vec::<String>::new());

    assert_eq!(storage.migrate()?, later, "no statement of a replacement ran");
    assert_eq!(recorded(storage)?, current);
    assert!(ready(storage)? && storage.pending_migrations()?.is_empty());
    assert_eq!(storage.migrate()?, Vec::<String>::new());
    revert_later(storage)?;
    assert_eq!((stored(&app, &[]), storage.describe_schema()?), (rows, schema));

    // The way down is that of the replacements.
    record(storage, &EARLIER_VERSIONS)?;
    assert_eq!(storage.revert_all()?.len(), current.len() - later.len());
    assert_eq!((recorded(storage)?, storage.describe_schema()?.columns), (Vec::new(), Vec::new()));
    Ok(())
}

fn of_processes_that_adopt_at_once_all_find_it_done(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let storages = [open(&database)?, open(&database)?, open(&database)?];
    storages[0].migrate()?;
    let (current, later) = (recorded(&storages[0])?, revert_later(&storages[0])?);
    record(&storages[0], &EARLIER_VERSIONS)?;
    let applied = std::thread::scope(|scope| {
        let threads = storages.each_ref().map(|storage| scope.spawn(|| storage.migrate()));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    let applied = applied.into_iter().collect::<Result<Vec<_>, _>>()?;
    assert_eq!(applied.concat(), later, "one of them applied the later ones");
    for storage in &storages {
        assert_eq!(recorded(storage)?, current);
        assert!(ready(storage)?);
    }
    Ok(())
}

/// Every way to migrate, and every way to ask how the schema stands, fails with these words and changes nothing.
fn refuses(storage: &Storage, versions: &[&str], words: &[&str]) -> Result<()> {
    record(storage, versions)?;
    let (before, schema) = (recorded(storage)?, storage.describe_schema()?);
    for refused in [storage.migrate(), storage.revert_last(), storage.revert_all()] {
        let said = refused.err().context("the database was migrated")?.to_string();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    assert!(!ready(storage)?);
    assert_eq!((recorded(storage)?, storage.describe_schema()?), (before, schema));
    Ok(())
}

fn a_database_with_only_some_of_the_earlier_migrations_is_refused(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let storage = open(&database)?;
    storage.migrate()?;
    let replacement = recorded(&storage)?.swap_remove(0);
    let (_, all_but_the_last) = EARLIER_VERSIONS.split_last().context("versions")?;
    let (first, all_but_the_first) = EARLIER_VERSIONS.split_first().context("versions")?;
    let with_another: Vec<_> = EARLIER_VERSIONS.iter().copied().chain([replacement.as_str()]).collect();
    let in_the_place_of_one: Vec<_> =
        all_but_the_first.iter().copied().chain([replacement.as_str()]).collect();
    for versions in [all_but_the_last, all_but_the_first, &[*first], &with_another, &in_the_place_of_one] {
        refuses(&storage, versions, &["only in part", "start the previous version once"])?;
        for asked in [storage.pending_migrations().err(), storage.examine().err()] {
            let said = asked.context("the schema passes for one that is known")?.to_string();
            assert!(said.contains("start the previous version once"), "{said}");
        }
    }
    Ok(())
}

fn an_earlier_database_of_a_newer_version_is_refused(kind: DatabaseKind) -> Result<()> {
    const NEWER: &str = "29991231000001";
    let database = TestDatabase::empty(kind)?;
    let storage = open(&database)?;
    storage.migrate()?;
    let versions: Vec<_> = EARLIER_VERSIONS.iter().copied().chain([NEWER]).collect();
    refuses(&storage, &versions, &["newer version", NEWER])?;
    assert_eq!(storage.examine()?.unknown, [NEWER]);
    Ok(())
}
