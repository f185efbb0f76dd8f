//! Databases of released versions, which `releases/` keeps with what their service answered: this version takes each of
//! them over.
//!
//! A release adds its own: run this test with `TERRACE_KEEP_RELEASE=1` in the environment and PostgreSQL's programs in the
//! path. From then on the migrations of that release stay as they are, and a change of the schema is a new migration.

use super::every_area::played;
use crate::contract::repairs::kept;
use crate::contract::schema;
use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use terrace_testkit::kernel::Timestamp;
use terrace_testkit::ops::{self, Verify};
use terrace_testkit::storage::{Storage, back_up};
use terrace_testkit::{Client, DatabaseKind, TestDatabase, TestService, on_each_database};

on_each_database! {
    every_area_leaves_rows,
    databases_of_releases_are_taken_over,
}

const FOLDER: &str = "releases";

/// How long after its start a kept service has ended.
const LATER: Duration = Duration::from_hours(3);

/// Tables without rows: what is only there while something runs; what the program, its daily jobs, or an import of an
/// older system writes; and disputes, which only Stripe reports.
const EMPTY: [&str; 16] = [
    "content",
    "content_pictures",
    "first_hundreds",
    "imports",
    "leases",
    "legacy_entries",
    "legacy_follows",
    "legacy_points",
    "legacy_runs",
    "legacy_steps",
    "legacy_team_follows",
    "legacy_users",
    "maintenance_runs",
    "outbox",
    "payment_disputes",
    "secret_marks",
];

/// What a fan reads, with what does not depend on the process that answers.
const READ: [&str; 9] = [
    "/api/user/export",
    "/api/leaderboard",
    "/api/locker-room",
    "/api/notifications",
    "/api/cart",
    "/api/packs",
    "/api/products",
    "/api/rewards",
    "/api/wheel",
];
const OF_A_PROCESS: [&str; 4] = ["sessions", "checkoutUrl", "exportedAt", "version"];

/// A database as it is kept, and what is kept beside it.
fn files(release: &Path, kind: DatabaseKind) -> [PathBuf; 2] {
    match kind {
        DatabaseKind::Sqlite => ["sqlite.db.gz", "sqlite.json"],
        DatabaseKind::Postgres => ["postgres.sql.gz", "postgres.json"],
    }
    .map(|name| release.join(name))
}

fn answers(fan: &Client) -> Value {
    READ.iter().map(|path| ((*path).to_owned(), fan.get(path).expect(200).json())).collect()
}

/// Where an answer of now lacks something of a kept one, or has another value there.
fn differences(at: &str, kept: &Value, now: &Value, found: &mut Vec<String>) {
    match (kept, now) {
        (Value::Object(kept), Value::Object(now)) => {
            for (name, value) in kept.iter().filter(|(name, _)| !OF_A_PROCESS.contains(&name.as_str())) {
                differences(&format!("{at}/{name}"), value, &now[name], found);
            }
        }
        (Value::Array(kept), Value::Array(now)) if kept.len() == now.len() => {
            for (nth, (value, now)) in kept.iter().zip(now).enumerate() {
                differences(&format!("{at}/{nth}"), value, now, found);
            }
        }
        _ if kept == now => {}
        _ => found.push(format!("{at}: {kept} is {now}")),
    }
}

/// The bytes of a copy: of the file, or of the statements that make it.
fn copy(service: &TestService, folder: &Path) -> Result<Vec<u8>> {
    let url = service.database_url();
    match service.storage().kind() {
        DatabaseKind::Sqlite => {
            let file = folder.join("copy.db");
            back_up(url, &file, Timestamp::from_micros(0))?;
            Ok(fs::read(file)?)
        }
        DatabaseKind::Postgres => {
            let flags = ["--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=100"];
            let dump = Command::new("pg_dump").args(flags).arg(url).output().context("no pg_dump")?;
            ensure!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
            let text = String::from_utf8(dump.stdout)?;
            // Commands of psql are no statements.
            let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('\\')).collect();
            Ok(lines.join("\n").into_bytes())
        }
    }
}

/// Puts a kept database where an empty one is.
fn restore(database: &TestDatabase, packed: &Path) -> Result<()> {
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(packed)?).read_to_end(&mut bytes)?;
    match database.url().strip_prefix("sqlite:") {
        Some(file) => fs::write(file, bytes)?,
        None => schema::open(database)?.execute_by_hand(&[&String::from_utf8(bytes)?])?,
    }
    Ok(())
}

fn keep(service: &TestService) -> Result<()> {
    let release = Path::new(FOLDER).join(env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(&release)?;
    let [database, beside] = files(&release, service.storage().kind());
    let answers = answers(&service.client().mobile_login("mia"));
    let bytes = copy(service, service.pictures())?;
    let mut packed = Vec::new();
    GzEncoder::new(&*bytes, Compression::best()).read_to_end(&mut packed)?;
    fs::write(database, packed)?;
    fs::write(beside, serde_json::to_string_pretty(&answers)? + "\n")?;
    Ok(())
}

fn every_area_leaves_rows(kind: DatabaseKind) -> Result<()> {
    let service = played(kind)?;
    let rows = kept(service.storage(), &EMPTY);
    let empty: Vec<_> = rows.iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
    assert_eq!(empty, Vec::<&String>::new());
    if std::env::var_os("TERRACE_KEEP_RELEASE").is_some() {
        keep(&service)?;
    }
    Ok(())
}

/// Every column and definition, without the order of indexes, which is another after a dump.
fn lines(storage: &Storage) -> Result<BTreeSet<String>> {
    let schema = storage.describe_schema()?;
    let columns = schema.columns.iter().map(|column| format!("{column:?}"));
    let definitions = schema.definitions.into_iter().filter(|line| !line.starts_with("indexes of "));
    Ok(columns.chain(definitions).collect())
}

fn databases_of_releases_are_taken_over(kind: DatabaseKind) -> Result<()> {
    let new = TestDatabase::empty(kind)?;
    let new = schema::open(&new)?;
    new.migrate()?;
    let mut releases = 0;
    for release in fs::read_dir(FOLDER)? {
        let [packed, beside] = files(&release?.path(), kind);
        let database = TestDatabase::empty(kind)?;
        restore(&database, &packed)?;
        let storage = schema::open(&database)?;
        storage.migrate()?;
        let (old, new) = (lines(&storage)?, lines(&new)?);
        let others: Vec<_> = old.symmetric_difference(&new).collect();
        assert_eq!(others, Vec::<&String>::new(), "a migration of the release was changed");
        storage.close();
        let service = TestService::builder(kind).without_catalogue().start_on_filled(database, LATER)?;
        let mut found = Vec::new();
        let then = serde_json::from_str(&fs::read_to_string(beside)?)?;
        differences("", &then, &answers(&service.client().mobile_login("mia")), &mut found);
        assert_eq!(found, Vec::<String>::new());
        for wrong in [
            service.run(ops::verify_points(service.app()))?.wrong(),
            service.run(ops::verify_ledger(service.app()))?.wrong(),
            service
                .run(service.app().query(Verify))
                .expect("a working store")
                .iter()
                .map(|check| check.wrong)
                .sum(),
        ] {
            assert_eq!(wrong, 0);
        }
        releases += 1;
    }
    assert_ne!(releases, 0);
    Ok(())
}
