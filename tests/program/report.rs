//! `terrace report`, beside a server that runs on the same database.

use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{DatabaseKind, Ended, Invocation, TestDatabase, on_each_database};

on_each_database! {
    a_report_is_printed_in_three_forms_beside_a_server,
}

fn terrace(invocation: &Invocation, arguments: &[&str]) -> Result<Ended> {
    invocation.clone().args(arguments.iter().copied()).run()
}

fn a_report_is_printed_in_three_forms_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?.env("TERRACE_DEMO", "never");
    let program = invocation.serve()?;
    let client = program.client();
    client.register("mia");
    client.post("/api/quests/daily-visit", &json!({})).expect(200);
    let since = ["report", "--from", "2026-01-01"];
    let table = terrace(&invocation, &since)?.succeeded()?;
    assert!(table.contains("\nfans\n") && table.contains("registered"), "{table}");
    let json = terrace(&invocation, &[&since[..], &["--format", "json"]].concat())?.succeeded()?;
    let report: Value = serde_json::from_str(&json)?;
    let figures = report["figures"].as_array().cloned().unwrap_or_default();
    let points = figures.iter().find(|one| one["section"] == "accounts" && one["item"] == "fans");
    let owed = points.map(|figure| figure["closing"].clone()).unwrap_or_default();
    assert_eq!(client.get("/api/user").expect(200).at("/balances/points"), owed);
    let csv = terrace(&invocation, &[&since[..], &["--format", "csv"]].concat())?.succeeded()?;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["section", "item", "unit", "opening", "amount", "closing"]);
    assert!(rows.len() == figures.len() + 1 && rows.iter().all(|row| row.len() == 6), "{csv}");
    let unknown = terrace(&invocation, &[&since[..], &["--team", "nobody"]].concat())?;
    assert!(unknown.code == Some(1) && unknown.words().contains("there is no team"), "{}", unknown.words());
    let backwards = terrace(&invocation, &["report", "--from", "2026-02-01", "--to", "2026-01-01"])?;
    assert!(
        backwards.code == Some(1) && backwards.words().contains("before it begins"),
        "{}",
        backwards.words()
    );
    Ok(())
}
