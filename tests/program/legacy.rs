//! `terrace import legacy`, as operators run it (spec §1 rule 13).

use super::follow_graph::Watcher;
use crate::contract::legacy::ALL;
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::fs;
use std::time::{Duration, Instant};
use terrace_testkit::app::store::Retention;
use terrace_testkit::{
    DatabaseKind, Ended, Invocation, TestDatabase, on_each_database, question, wait_until,
};

on_each_database! {
    tables_are_imported_once,
    bad_files_are_refused_and_nothing_is_written,
    a_killed_import_resumes_and_becomes_visible_whole,
}

const PATIENCE: Duration = Duration::from_mins(1);

/// A database with the teams, quests and seasons of the program.
fn seeded(kind: DatabaseKind) -> Result<(TestDatabase, Invocation)> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    invocation.clone().args(["seed"]).run()?.succeeded()?;
    Ok((database, invocation))
}

fn put(invocation: &Invocation, name: &str, text: &str) -> Result<()> {
    Ok(fs::write(invocation.folder().join(name), text)?)
}

fn begun(invocation: &Invocation, words: &[&str]) -> Invocation {
    invocation.clone().args(["import", "legacy"]).args(words.iter().copied())
}

fn import(invocation: &Invocation, words: &[&str]) -> Result<Ended> {
    begun(invocation, words).run()
}

fn verified(invocation: &Invocation) -> Result<()> {
    invocation.clone().args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

fn tables_are_imported_once(kind: DatabaseKind) -> Result<()> {
    let (_database, terrace) = seeded(kind)?;
    let mut names = Vec::new();
    for (table, text) in ALL {
        let text =
            text.replace("t1,rovers,Rovers", "t1,arsenal,Arsenal").replace("up THE  ladder", "welcome");
        let text = text.replace("q1,One", "q1,show  your FACE").replace("q1,two", "q1,Follow another fan");
        names.push(format!("{table}.csv"));
        put(&terrace, &format!("{table}.csv"), &text)?;
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let said = import(&terrace, &names)?.succeeded()?;
    for words in [
        "PointsHistory.csv: 9 records\n",
        "skipped, QuestStep.csv: no step of the service has this key or title: 1 line\n  QuestStep.csv:4: welcome / Sing\n",
        "skipped, Follow.csv: a fan who follows themselves: 1 line\n  Follow.csv:5: u3\n",
        "users: 3 read, 3 new\n",
        "points_history: 10 read, 1 came twice, 9 new\n",
        "user_step_status: 3 read, 3 new\n",
        "follows: 4 read, 1 came twice, 3 new\n",
        "seasons: 1 new\n",
        "points without a season: 2 records of 107 points in, 2 records of 107 points out\n",
        "points of season 0.3: 1 record of 20 points in, 1 record of 20 points out\n",
        "points of season 0.5: 5 records of 23 points in, 5 records of 23 points out\n",
        "entries of boards: 3 records of 24 points in, 3 records of 25 points by the records of points\n",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    verified(&terrace)?;
    let again = import(&terrace, &names)?.succeeded()?;
    for words in ["users: 3 read, 0 new\n", "points_history: 10 read, 1 came twice, 0 new\n"] {
        assert!(again.contains(words), "{again}");
    }
    verified(&terrace)?;
    // An imported fan can sign in once an operator has set a password.
    put(&terrace, "password", "correct horse battery staple")?;
    let reset = ["account", "reset-password", "mia", "--password-file", "password"];
    terrace.clone().args(reset).run()?.succeeded()?;
    let server = terrace.serve()?;
    let mia = server.client();
    let login = serde_json::json!({"username": "mia", "password": "correct horse battery staple"});
    mia.post("/api/login", &login).expect(200);
    let board = mia.get("/api/leaderboard").expect(200);
    // And more by now: the service pays steps that are complete, such as the choice of a team.
    let points = board.json()["entries"].as_array().into_iter().flatten().find_map(|entry| {
        let is_hers = entry["user"]["username"] == "mia";
        if is_hers { entry["points"].as_i64() } else { None }
    });
    assert!(points.is_some_and(|points| points >= 15), "{}", board.text());
    Ok(())
}

fn bad_files_are_refused_and_nothing_is_written(kind: DatabaseKind) -> Result<()> {
    let (_database, terrace) = seeded(kind)?;
    let head = "id,username,displayName,createdAt\n";
    let good = "u1,mia,Mia,2024-01-01T10:00:00Z\n";
    let bad = "u2,x,X,2024-01-01T10:00:00Z\n".repeat(1_000);
    put(&terrace, "User.csv", &format!("{head}{good}{bad}\"u3,never closed\n"))?;
    put(&terrace, "Users.csv", head)?;
    let refused = import(&terrace, &["User.csv"])?;
    let words = refused.words();
    assert_eq!(refused.code, Some(1), "{words}");
    for line in [
        "User.csv: 1 record, 1001 bad\n",
        "bad, User.csv: username: 1000 lines\n  User.csv:3: must hold 3 to 30 characters\n",
        "  User.csv:22: must hold 3 to 30 characters\n  and 980 more\n",
        "bad, User.csv: has a quote that is not closed: 1 line\n  User.csv:1003\n",
        "1001 lines bad; nothing was written; --skip-bad leaves them out\n",
    ] {
        assert!(words.contains(line), "{line}\n{words}");
    }
    for (files, why) in [
        (&["Users.csv"][..], "Users.csv is the file of no table; known are Season.csv, "),
        (&["User.csv", "User.csv"], "User.csv is named twice"),
        (&["User.csv", "Follow.csv"], "cannot read Follow.csv"),
    ] {
        let refused = import(&terrace, files)?;
        assert!(refused.code == Some(1) && refused.log.contains(why), "{}", refused.words());
    }
    put(&terrace, "Team.csv", "id,title\n")?;
    let refused = import(&terrace, &["User.csv", "Team.csv"])?;
    assert!(
        refused.log.contains("Team.csv has a column \"title\"; known are id, name, "),
        "{}",
        refused.words()
    );
    let unknown = terrace.clone().args(["account", "suspend", "mia"]).run()?;
    assert!(unknown.log.contains("there is no account"), "{}", unknown.words());
    let empty = TestDatabase::empty(kind)?;
    let unready = Invocation::on(empty.url())?;
    put(&unready, "User.csv", head)?;
    assert!(import(&unready, &["User.csv"])?.log.contains("terrace migrate"));
    unready.clone().args(["migrate"]).run()?.succeeded()?;
    assert!(import(&unready, &["User.csv"])?.log.contains("terrace seed"));

    let skipped = import(&terrace, &["User.csv", "--skip-bad"])?.succeeded()?;
    assert!(skipped.contains("users: 1 read, 1 new\n"), "{skipped}");
    verified(&terrace)
}

/// Killed while rows are staged and while they are moved, it shows no part of the import.
fn a_killed_import_resumes_and_becomes_visible_whole(kind: DatabaseKind) -> Result<()> {
    const FANS: usize = 4_000;
    /// Three records of points for each of them.
    const ROWS: u64 = 16_000;
    let (database, terrace) = seeded(kind)?;
    let (mut users, mut points) = (
        "id,username,displayName,createdAt\n".to_owned(),
        "id,userId,amount,reason,seasonId,leaderboardId,createdAt\n".to_owned(),
    );
    let at = "2024-01-01T10:00:00Z";
    for n in 0..FANS {
        writeln!(users, "u{n},old{n},Old {n},{at}")?;
        for m in 0..3 {
            writeln!(points, "p{n}-{m},u{n},{m},A goal,s5,,{at}")?;
        }
    }
    put(&terrace, "User.csv", &users)?;
    put(&terrace, "PointsHistory.csv", &points)?;
    put(&terrace, "Season.csv", "id,key,name,startsAt,endsAt\ns5,0.5,Season 0.5,,\n")?;
    let files = ["PointsHistory.csv", "Season.csv", "User.csv"];
    let watcher = Watcher::on(database.url())?;
    let fans = || {
        let all = question(|tx| Ok(tx.fans_after(None, 10_000)?.len()));
        watcher.runtime.block_on(watcher.app.query(all)).unwrap_or_default()
    };
    let staged = || {
        let ever = "2100-01-01T00:00:00Z".parse().expect("a time");
        let rows = question(move |tx| tx.past_its_time(Retention::Imports, ever));
        watcher.runtime.block_on(watcher.app.query(rows)).unwrap_or_default()
    };
    let mut left = 0;
    for least in [1, 2_000, 5_000, 9_000, 14_000] {
        let mut chore = begun(&terrace, &files).begin()?;
        wait_until("another process sees that more rows are staged", || {
            ensure!(!chore.has_ended()?, "it was not seen in its middle");
            Ok(staged() > least)
        })?;
        chore.kill()?;
        let before = std::mem::replace(&mut left, staged());
        ensure!(left >= before && fans() == 0, "{left} rows are staged after {before}, {} fans seen", fans());
    }
    // While all rows are moved.
    let mut chore = begun(&terrace, &files).begin()?;
    wait_until("all rows are staged", || Ok(chore.has_ended()? || staged() > ROWS))?;
    chore.kill()?;
    let seen = fans();
    ensure!(seen == 0 || seen == FANS, "a part of it is seen: {seen}");
    // The plans of PostgreSQL come from counts of a time when no fan was there, as autovacuum may leave them.
    watcher.storage.execute_by_hand(&["ANALYZE"])?;
    let asked = Instant::now();
    import(&terrace, &files)?.succeeded()?;
    ensure!(asked.elapsed() < PATIENCE, "it does not end");
    assert_eq!(fans(), FANS);
    verified(&terrace)?;
    let again = import(&terrace, &files)?.succeeded()?;
    assert!(again.contains("users: 4000 read, 0 new\npoints_history: 12000 read, 0 new\n"), "{again}");
    assert!(again.contains(
        "points of season 0.5: 12000 records of 12000 points in, 12000 records of 12000 points out"
    ));
    Ok(())
}
