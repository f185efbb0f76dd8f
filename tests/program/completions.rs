//! `terrace maintain import-completions`, as operators run it (spec §1 rule 13).

use super::follow_graph::Watcher;
use anyhow::{Result, ensure};
use serde_json::json;
use std::fmt::Write;
use std::fs;
use terrace_testkit::ops::COMPLETIONS_BATCH;
use terrace_testkit::{
    DatabaseKind, Ended, Invocation, TestDatabase, on_each_database, question, wait_until,
};

on_each_database! {
    a_file_is_imported_and_unmatched_lines_are_reported,
    a_killed_import_resumes,
}

/// A database with the quests of the program, and numbered fans.
fn with_fans(kind: DatabaseKind, fans: usize) -> Result<(TestDatabase, Invocation)> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let mut list = "from,to\n".to_owned();
    for n in 1..fans {
        writeln!(list, "{n},{}", n + 1)?;
    }
    fs::write(invocation.folder().join("follows.csv"), list)?;
    invocation.clone().args(["seed", "--follow-graph", "follows.csv"]).run()?.succeeded()?;
    Ok((database, invocation))
}

fn begun(invocation: &Invocation, flags: &[&str]) -> Invocation {
    invocation.clone().args(["maintain", "import-completions", "old.jsonl"]).args(flags.iter().copied())
}

fn import(invocation: &Invocation, file: &str, flags: &[&str]) -> Result<Ended> {
    fs::write(invocation.folder().join("old.jsonl"), file)?;
    begun(invocation, flags).run()
}

fn verified(invocation: &Invocation) -> Result<()> {
    invocation.clone().args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

fn line(user: &str, quest: Option<&str>, step: &str, points: i64) -> String {
    let at = "2025-03-01T10:00:00Z";
    json!({"user": user, "quest": quest, "step": step, "completedAt": at, "points": points}).to_string()
        + "\n"
}

fn a_file_is_imported_and_unmatched_lines_are_reported(kind: DatabaseKind) -> Result<()> {
    let (_database, invocation) = with_fans(kind, 3)?;
    let good = line("fan-1", Some("matchday"), "Read the  LOCKER room", 5)
        + &line("fan-1", Some("Match day"), "shout", 10)
        + &line("FAN-2", None, "Be followed by a fan", 25);
    let whole = format!(
        "{good}\n{}{{\"user\":\"fan-1\"}}\n{}{}nonsense\n",
        line("fan-9", Some("matchday"), "read", 5),
        line("fan-1", Some("matchday"), "Sing", 5),
        line("fan-1", Some("Derby day"), "read", 5),
    );
    let left = "no fan has this name: 1 line\nno quest has this key or title: 1 line\n\
        no step has this key or title: 1 line\n\
        line 5: no fan has this name: \"fan-9\"\n\
        line 6: missing field `step`, at column 16\n\
        line 7: no step has this key or title: \"Sing\"\n\
        line 8: no quest has this key or title: \"Derby day\"\n\
        line 9: not a JSON object\n";
    let counts = "steps: 3, quests completed by them: 1, points: 40 in 3 records\n";
    for (flags, words) in [
        (
            &["--dry-run"][..],
            format!(
                "8 lines: 3 would be recorded, 0 already recorded, 5 skipped\n{counts}nothing was written\n"
            ),
        ),
        (&[], format!("8 lines: 3 recorded, 0 already recorded, 5 skipped\n{counts}")),
        (
            &[],
            "8 lines: 0 recorded, 3 already recorded, 5 skipped\n\
                steps: 0, quests completed by them: 0, points: 0 in 0 records\n"
                .to_owned(),
        ),
    ] {
        let ended = import(&invocation, &whole, flags)?;
        assert_eq!(ended.code, Some(1), "{}", ended.words());
        assert!(
            ended.words().contains(&format!("{words}cannot be read: 2 lines\n{left}")),
            "{}",
            ended.words()
        );
        verified(&invocation)?;
    }
    // With only known names it succeeds.
    let fine = import(&invocation, &good, &[])?.succeeded()?;
    assert!(fine.starts_with("3 lines: 0 recorded, 3 already recorded, 0 skipped\n"), "{fine}");
    // Of many, the first twenty are shown.
    let many = import(&invocation, &"{}\n".repeat(1000), &[])?;
    assert!(many.words().ends_with("and 980 more\n"), "{}", many.words());
    fs::remove_file(invocation.folder().join("old.jsonl"))?;
    let missing = begun(&invocation, &[]).run()?;
    assert!(missing.words().contains("cannot read old.jsonl"), "{}", missing.words());
    let empty = TestDatabase::empty(kind)?;
    let unready = import(&Invocation::on(empty.url())?, &good, &[])?;
    assert!(unready.words().contains("terrace migrate"), "{}", unready.words());
    assert_eq!((missing.code, unready.code), (Some(1), Some(1)));
    Ok(())
}

/// Killed at any moment, it leaves nothing half-written; imported again, everything is there once.
fn a_killed_import_resumes(kind: DatabaseKind) -> Result<()> {
    const FANS: usize = 600;
    let (database, invocation) = with_fans(kind, FANS)?;
    let mut file = String::new();
    for step in ["read", "shout"] {
        for n in 1..=FANS {
            file += &line(&format!("fan-{n}"), Some("matchday"), step, 5);
        }
    }
    fs::write(invocation.folder().join("old.jsonl"), &file)?;
    let watcher = Watcher::on(database.url())?;
    assert_eq!(steps_done(&watcher), 0);
    let mut import = begun(&invocation, &[]).begin()?;
    wait_until("another process sees a part of the import", || {
        ensure!(!import.has_ended()?, "it was not seen in its middle");
        Ok(steps_done(&watcher) > 0)
    })?;
    import.kill()?;
    verified(&invocation)?;
    let left = steps_done(&watcher);
    assert!(left > 0 && left.is_multiple_of(COMPLETIONS_BATCH), "a part of a batch was left: {left}");
    let rest = begun(&invocation, &[]).run()?.succeeded()?;
    assert!(rest.starts_with("1200 lines: ") && !rest.starts_with("1200 lines: 0 recorded"), "{rest}");
    verified(&invocation)?;
    assert_eq!(steps_done(&watcher), 2 * FANS);
    let again = begun(&invocation, &[]).run()?.succeeded()?;
    assert!(again.starts_with("1200 lines: 0 recorded, 1200 already recorded, 0 skipped\n"), "{again}");
    Ok(())
}

/// How many steps fans completed, as another process reads them.
fn steps_done(watcher: &Watcher) -> usize {
    let steps = question(|tx| {
        let fans = tx.fans_after(None, 10_000)?;
        let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(0) };
        let standings = tx.standings_between(*first, *last, &["2025-03-01".parse().expect("a date")])?;
        Ok(standings.iter().flat_map(|fan| &fan.runs).map(|(_, done)| done.len()).sum())
    });
    watcher.runtime.block_on(watcher.app.query(steps)).unwrap_or_default()
}
