//! Shared by tests of maintenance: damage that bypasses the rules, single runs of tasks, and comparisons of
//! all stored rows.

use std::collections::BTreeMap;
use std::sync::Arc;
use terrace_testkit::kernel::Uuid;
use terrace_testkit::ops;
use terrace_testkit::ops::maintenance::{Counts, Round, RoundReport, RunOutcome, Unwatched, Wanted};
use terrace_testkit::ops::tasks::catalogue;
use terrace_testkit::storage::Storage;
use terrace_testkit::{DatabaseKind, TestApp};
use tokio::sync::watch;

/// Tables whose rows change with every run.
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

/// For each table, its rows without these columns, sorted.
pub(crate) type Stored = BTreeMap<String, Vec<String>>;

/// The counts of a repair that finds nothing.
pub(super) const NOTHING: [(&str, u64); 0] = [];

/// An id in the form that a statement takes.
pub(super) fn id(service: &TestApp, id: impl Into<Uuid>) -> String {
    let id = id.into();
    match service.kind() {
        DatabaseKind::Postgres => format!("'{id}'"),
        DatabaseKind::Sqlite => format!("x'{}'", id.simple()),
    }
}

/// Executes statements that bypass every rule.
pub(super) fn damage(service: &TestApp, statements: &[&str]) {
    service.storage().execute_by_hand(statements).expect("statements that the schema allows");
}

/// All stored rows, without the passing tables and without columns that are named as `table.column`.
pub(super) fn stored(service: &TestApp, apart_from: &[&str]) -> Stored {
    kept(service.storage(), &[&PASSING, apart_from].concat())
}

/// All rows of a database, without the named tables and columns.
pub(crate) fn kept(storage: &Storage, apart_from: &[&str]) -> Stored {
    let described = storage.describe_schema().expect("a schema");
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for column in described.columns {
        let name = format!("{}.{}", column.table, column.column);
        if !apart_from.contains(&column.table.as_str()) && !apart_from.contains(&name.as_str()) {
            columns.entry(column.table).or_default().push(column.column);
        }
    }
    let rows_of = |(table, columns): (&String, &Vec<String>)| {
        let shown = |column: &String| match storage.kind() {
            DatabaseKind::Postgres => format!("coalesce(CAST({column} AS text), 'NULL')"),
            DatabaseKind::Sqlite => format!("quote({column})"),
        };
        let row = columns.iter().map(shown).collect::<Vec<_>>().join(" || '|' || ");
        format!("SELECT '{table} ' || {row} AS text FROM {table}")
    };
    // One statement, because each has a connection of its own.
    let all = columns.iter().map(rows_of).collect::<Vec<_>>().join(" UNION ALL ");
    let mut stored: Stored = columns.into_keys().map(|table| (table, Vec::new())).collect();
    for row in storage.read_by_hand(&all).expect("the tables of the schema") {
        let (table, row) = row.split_once(' ').expect("the name of a table");
        stored.get_mut(table).expect("a table of the schema").push(row.to_owned());
    }
    for rows in stored.values_mut() {
        rows.sort_unstable();
    }
    stored
}

/// The rows that differ between the two.
pub(crate) fn differences(one: &Stored, other: &Stored) -> Vec<String> {
    let mut all = Vec::new();
    for (table, rows) in one {
        let others = &other[table];
        all.extend(rows.iter().filter(|row| !others.contains(row)).map(|row| format!("- {table}: {row}")));
        all.extend(others.iter().filter(|row| !rows.contains(row)).map(|row| format!("+ {table}: {row}")));
    }
    all
}

/// Runs these tasks, and none of their prerequisites.
pub(super) fn run(service: &TestApp, tasks: &[&str], is_dry: bool) -> RoundReport {
    let wanted = Wanted::Named(tasks.iter().map(ToString::to_string).collect());
    let plan = catalogue().plan(&wanted).expect("tasks").only_requested();
    let (_keep, stop) = watch::channel(false);
    let round = Round { plan, is_dry, only: false, by: "a test".to_owned(), arguments: String::new() };
    let ran = service
        .run(ops::maintenance::maintain(service.app(), round, Arc::new(Unwatched), stop))
        .expect("a run");
    assert!(ran.ran.iter().all(|ran| ran.outcome == RunOutcome::Succeeded), "{ran:?}");
    assert_eq!(ran.ran.len(), tasks.len(), "{ran:?}");
    ran
}

fn counts(report: &RoundReport) -> Counts {
    report.ran.iter().flat_map(|ran| ran.counts.clone()).collect()
}

/// The counts of a task: a dry run reports the same and writes nothing, and a second run finds nothing more
/// to do.
pub(super) fn repair_counts(service: &TestApp, task: &str) -> Vec<(&'static str, u64)> {
    let before = stored(service, &[]);
    let dry_run = counts(&run(service, &[task], true));
    assert_eq!(differences(&before, &stored(service, &[])), Vec::<String>::new(), "{task} dry run");
    let repaired = counts(&run(service, &[task], false));
    assert_eq!(dry_run, repaired, "{task}");
    let after = stored(service, &[]);
    assert_eq!(counts(&run(service, &[task], false)), Counts::new(), "{task} again");
    assert_eq!(differences(&after, &stored(service, &[])), Vec::<String>::new(), "{task} again");
    repaired.into_iter().collect()
}

/// Asserts that `verify` finds nothing wrong.
pub(super) fn verified(service: &TestApp) {
    let points = service.run(ops::verify_points(service.app())).expect("a working store");
    assert_eq!(points.wrong(), 0, "{points:?}");
    let ledger = service.run(ops::verify_ledger(service.app())).expect("a working store");
    assert_eq!(ledger.wrong(), 0, "{ledger:?}");
    let counters = service.found(terrace_testkit::ops::Verify);
    assert!(counters.iter().all(|check| check.wrong == 0), "{counters:?}");
}
