//! `terrace doctor`, as an operator runs it.

use anyhow::{Result, ensure};
use terrace_testkit::{DatabaseKind, Ended, Invocation, TestDatabase, on_each_database};

on_each_database! {
    a_healthy_database_passes_every_check,
}

/// The findings on a subject, with their level.
fn findings<'e>(ended: &'e Ended, subject: &str) -> Vec<&'e str> {
    ended.said.lines().filter(|line| line.get(5..).is_some_and(|rest| rest.starts_with(subject))).collect()
}

fn a_healthy_database_passes_every_check(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let mut program = invocation.serve()?;
    let beside = invocation.clone().args(["doctor"]).run()?;
    program.stop()?;
    for ended in [beside, invocation.args(["doctor"]).run()?] {
        for subject in ["schema", "writing", "consumer", "job", "database", "pictures"] {
            let found = findings(&ended, subject);
            ensure!(
                !found.is_empty() && found.iter().all(|line| line.starts_with("ok")),
                "{}",
                ended.words()
            );
        }
        // A server for tests may have its durability switched off, which doctor reports.
        let failed: Vec<_> = ended.said.lines().filter(|line| line.starts_with("fail")).collect();
        ensure!(failed.iter().all(|line| line.contains("durability")), "{failed:?}");
        assert_eq!(ended.code, Some(i32::from(!failed.is_empty())));
        ensure!(kind != DatabaseKind::Sqlite || failed.is_empty(), "{failed:?}");
    }
    Ok(())
}

#[test]
fn doctor_creates_nothing() -> Result<()> {
    let invocation = Invocation::new()?.args(["doctor"]);
    let ended = invocation.run()?;
    assert_eq!(findings(&ended, "database").len(), 1, "{}", ended.words());
    ensure!(findings(&ended, "database")[0].starts_with("warn"), "{}", ended.words());
    ended.succeeded()?;
    ensure!(!invocation.folder().join("data").exists(), "it made the data folder");
    Ok(())
}

#[test]
fn a_failed_check_exits_with_1() -> Result<()> {
    let away = Invocation::on("postgres://nobody:s3cret@127.0.0.1:1/nothing")?.args(["doctor"]).run()?;
    ensure!(findings(&away, "database")[0].starts_with("fail"), "{}", away.words());
    assert_eq!(away.code, Some(1));
    ensure!(!away.words().contains("s3cret"), "{}", away.words());
    let misspelt = Invocation::new()?.args(["doctor", "--public-url", "fans.example"]).run()?;
    assert_eq!(misspelt.code, Some(1));
    Ok(())
}
