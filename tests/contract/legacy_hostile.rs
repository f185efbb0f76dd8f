//! Spec §1 rule 13, seeding and setup: whatever the tables of an older system contain, what is read of them
//! can be written, and derived data agrees with it; a value that a database does not accept is reported as
//! bad, with its line.

use super::legacy::{ALL, agrees, check, import, service};
use anyhow::Result;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use terrace_testkit::ops::legacy::{LegacyError, LegacyTable};
use terrace_testkit::{DatabaseKind, on_each_database};

on_each_database! {
    any_table_is_imported_or_reported,
    totals_whose_sum_overflows_are_bad,
}

const TEXTS: [&str; 14] = [
    "A goal",
    "",
    " ",
    "\0",
    "a\0b",
    "\u{1b}[31m",
    "two\nlines",
    "\"quoted\", and with a comma",
    "\u{200b}",
    "\u{202e}resu",
    "\u{10ffff}\u{fffd}\u{feff}",
    "'; DROP TABLE users; --",
    "e\u{301}\u{fb03}",
    "🧤🧤🧤",
];
const TIMES: [&str; 10] = [
    "2025-07-01T10:00:00Z",
    "2024-02-29T23:59:59.999999999+14:00",
    "0001-01-01T00:00:00Z",
    "0000-01-01T00:00:00-23:59",
    "0001-01-01T00:00:00+23:59",
    "2016-12-31T23:59:60Z",
    "9999-12-31T23:59:59Z",
    "-0001-01-01T00:00:00Z",
    "yesterday",
    "",
];
const NUMBERS: [&str; 10] = [
    "7",
    "0",
    "-3",
    "+4",
    "1000000000",
    "1000000001",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1.5",
];
const NAMES: [&str; 8] = ["mia", "MIA", "ﬁn.n", "日本語", "a\0bc", "mi\u{202e}a", "J.doe_9-x", "_x"];
const ZONES: [&str; 6] = ["", "UTC", "Pacific/Kiritimati", "America/Caracas", "Nowhere/Else", "\0"];

/// A value for a column: mostly valid, now and then arbitrary.
fn cell(column: &'static str) -> BoxedStrategy<String> {
    let of = |values: &'static [&'static str]| select(values).prop_map(str::to_owned).boxed();
    let fits = match column {
        "id" | "key" => "[a-z]{1,2}[0-9]{1,4}".boxed(),
        "userId" | "followerId" | "followedId" => of(&["u1", "u2", "u3", ""]),
        "teamId" | "favouriteTeamId" => of(&["t1", "t2", ""]),
        "seasonId" => of(&["s0", "s3", "s5", ""]),
        "leaderboardId" => of(&["b1", "b2", "b5"]),
        "questId" => of(&["q1", "q2"]),
        "questStepId" => of(&["qs1", "qs2", "qs3", "qs4"]),
        "status" => of(&["completed", "active", "ACTIVE"]),
        "amount" | "points" => of(&NUMBERS),
        "username" => prop_oneof![of(&NAMES), "[a-z]{3,9}".boxed()].boxed(),
        "timeZone" => of(&ZONES),
        "createdAt" | "startedAt" | "completedAt" | "startsAt" | "endsAt" => of(&TIMES),
        _ => of(&TEXTS),
    };
    prop_oneof![12 => fits, 1 => of(&TEXTS), 1 => of(&TIMES), 1 => ".{0,30}".boxed()].boxed()
}

fn quoted(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
    format!("{}\n", cells.join(","))
}

/// A table with a valid row, followed by rows that may be invalid.
fn table(table: LegacyTable, good: &'static str) -> impl Strategy<Value = (LegacyTable, String)> {
    let columns = good.lines().next().unwrap_or_default().split(',');
    let row = columns.map(cell).collect::<Vec<_>>();
    vec(row, 0..8).prop_map(move |rows| {
        let more: String = rows.iter().map(|row| quoted(row)).collect();
        (table, format!("{good}{more}"))
    })
}

fn any_table_is_imported_or_reported(kind: DatabaseKind) -> Result<()> {
    let tables = ALL.iter().map(|(name, good)| table(*name, good)).collect::<Vec<_>>();
    let (moved, bad) = (Cell::new(0), Cell::new(0));
    let config = Config { cases: 12, failure_persistence: None, max_shrink_iters: 60, ..Config::default() };
    TestRunner::new(config).run(&tables, |files| {
        let service = service(kind).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let report = check(&service, &files).map_err(|error| TestCaseError::fail(format!("{error:?}")))?;
        bad.set(bad.get() + report.bad_records());
        match import(&service, &files) {
            Ok(_) => moved.set(moved.get() + 1),
            Err(LegacyError::Move(_)) => {}
            Err(error) => return Err(TestCaseError::fail(format!("{error:?}"))),
        }
        agrees(&service);
        Ok(())
    })?;
    assert!(moved.get() > 4 && bad.get() > 20, "{} moved, {} bad records", moved.get(), bad.get());
    Ok(())
}

/// Sums of totals are reported at the end: a sum that overflows would end the import after everything was
/// read.
fn totals_whose_sum_overflows_are_bad(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let row = |points: &str| format!("b5,u2,{points},2025-07-01T10:00:00Z\n");
    let more =
        ["9223372036854775807", "-9223372036854775808", "1000000000001", "1000000000000"].map(row).concat();
    let mut files = ALL.map(|(table, text)| (table, text.to_owned())).to_vec();
    for (table, text) in &mut files {
        if *table == LegacyTable::LeaderboardEntry {
            text.push_str(&more);
        }
    }
    assert_eq!(check(&service, &files)?.bad_records(), 3);
    import(&service, &files)?;
    agrees(&service);
    Ok(())
}
