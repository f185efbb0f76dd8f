//! What tests of maintenance have in common: damage past every rule, tasks run alone, and all that is stored held against
//! what it was.

use std::collections::BTreeMap;
use std::sync::Arc;
use terrace_testkit::app::maintenance::{
    Counts, Round, RoundReport, RunOutcome, Unwatched, Wanted, catalogue,
};
use terrace_testkit::kernel::Uuid;
use terrace_testkit::storage::Storage;
use terrace_testkit::{DatabaseKind, TestApp};
use tokio::sync::watch;

/// Tables whose rows come and go with whatever runs.
const PASSING: [&str; 9] = [
    "events",
    "outbox",
    "event_head",
    "event_consumers",
    "leases",
    "job_runs",
    "maintenance_runs",
    "idempotency_keys",
    "ledger_transfers",
];

/// The rows of every table but for these columns, sorted.
pub(crate) type Stored = BTreeMap<String, Vec<String>>;

/// An id as a statement names it.
pub(super) fn id(service: &TestApp, id: impl Into<Uuid>) -> String {
    let id = id.into();
    match service.kind() {
        DatabaseKind::Postgres => format!("'{id}'"),
        DatabaseKind::Sqlite => format!("x'{}'", id.simple()),
    }
}

/// Statements that no rule looks at.
pub(super) fn damage(service: &TestApp, statements: &[&str]) {
    service.storage().execute_by_hand(statements).expect("statements that the schema allows");
}

/// All that is stored, but for what passes, and for columns that are named as `table.column`.
pub(super) fn stored(service: &TestApp, apart_from: &[&str]) -> Stored {
    kept(service.storage(), &[&PASSING, apart_from].concat())
}

/// All that a database keeps, but for tables and columns that are named.
pub(crate) fn kept(storage: &Storage, apart_from: &[&str]) -> Stored {
    let described = storage.describe_schema().expect("a schema");
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for column in described.columns {
        let name = format!("{}.{}", column.table, column.column);
        if !apart_from.contains(&column.table.as_str()) && !apart_from.contains(&name.as_str()) {
            columns.entry(column.table).or_default().push(column.column);
        }
    }
    let mut stored = Stored::new();
    for (table, columns) in columns {
        let shown = |column: &String| match storage.kind() {
            DatabaseKind::Postgres => format!("coalesce(CAST({column} AS text), 'NULL')"),
            DatabaseKind::Sqlite => format!("quote({column})"),
        };
        let row = columns.iter().map(shown).collect::<Vec<_>>().join(" || '|' || ");
        let mut rows = storage
            .read_by_hand(&format!("SELECT {row} AS text FROM {table}"))
            .expect("a table of the schema");
        rows.sort_unstable();
        stored.insert(table, rows);
    }
    stored
}

/// What is not the same in both.
pub(crate) fn differences(one: &Stored, other: &Stored) -> Vec<String> {
    let mut all = Vec::new();
    for (table, rows) in one {
        let others = &other[table];
        all.extend(rows.iter().filter(|row| !others.contains(row)).map(|row| format!("- {table}: {row}")));
        all.extend(others.iter().filter(|row| !rows.contains(row)).map(|row| format!("+ {table}: {row}")));
    }
    all
}

/// Runs tasks, and none that they come after.
pub(super) fn run(service: &TestApp, tasks: &[&str], is_dry: bool) -> RoundReport {
    let wanted = Wanted::Named(tasks.iter().map(ToString::to_string).collect());
    let plan = catalogue().plan(&wanted).expect("tasks").only_asked();
    let (_keep, stop) = watch::channel(false);
    let round = Round { plan, is_dry, only: false, by: "a test".to_owned(), arguments: String::new() };
    let ran = service.run(service.app().maintain(round, Arc::new(Unwatched), stop)).expect("a run");
    assert!(ran.ran.iter().all(|ran| ran.outcome == RunOutcome::Succeeded), "{ran:?}");
    assert_eq!(ran.ran.len(), tasks.len(), "{ran:?}");
    ran
}

fn counts(report: &RoundReport) -> Counts {
    report.ran.iter().flat_map(|ran| ran.counts.clone()).collect()
}

/// What a task comes to: a rehearsal says the same and writes nothing, and run again the task finds nothing more to do.
pub(super) fn mends(service: &TestApp, task: &str) -> Vec<(&'static str, u64)> {
    let before = stored(service, &[]);
    let rehearsed = counts(&run(service, &[task], true));
    assert_eq!(differences(&before, &stored(service, &[])), Vec::<String>::new(), "{task} rehearsed");
    let mended = counts(&run(service, &[task], false));
    assert_eq!(rehearsed, mended, "{task}");
    let after = stored(service, &[]);
    assert_eq!(counts(&run(service, &[task], false)), Counts::new(), "{task} again");
    assert_eq!(differences(&after, &stored(service, &[])), Vec::<String>::new(), "{task} again");
    mended.into_iter().collect()
}

/// Everything that is verified is right.
pub(super) fn verified(service: &TestApp) {
    let points = service.run(service.app().verify_points()).expect("a working store");
    assert_eq!(points.wrong(), 0, "{points:?}");
    let ledger = service.run(service.app().verify_ledger()).expect("a working store");
    assert_eq!(ledger.wrong(), 0, "{ledger:?}");
    let counters = service.found(terrace_testkit::app::platform::Verify);
    assert!(counters.iter().all(|check| check.wrong == 0), "{counters:?}");
}
