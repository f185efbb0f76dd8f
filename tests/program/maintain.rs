//! `terrace maintain` for points and seasons, beside a server that runs on the same database (spec §1 rule
//! 13, and scoring rule 7).

use anyhow::Result;
use serde_json::json;
use std::time::Duration;
use terrace_testkit::{
    CRON_SECRET, DatabaseKind, Ended, Invocation, TestDatabase, on_each_database, pgtemp, wait_at_most,
};

on_each_database! {
    seasons_turn_beside_a_server,
    impossible_changes_of_seasons_give_a_reason,
    points_are_verified_and_repaired_beside_a_server,
    a_fresh_demo_database_needs_no_repair,
}

/// On one SQLite file a process checks for writes of others every few seconds.
const HEARD_WITHIN: Duration = Duration::from_secs(30);

fn maintain(invocation: &Invocation, arguments: &[&str]) -> Result<Ended> {
    invocation.clone().args(["maintain"]).args(arguments.iter().copied()).run()
}

fn seasons_turn_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?.env("TERRACE_CRON_SECRET", CRON_SECRET);
    let program = invocation.serve()?;
    let mia = program.client();
    let id = mia.register("mia");
    let timer = program.client().with_bearer(CRON_SECRET);
    let give = |amount: i64, fact: &str| {
        let body = json!({"userId": id, "amount": amount, "reason": "A ticket", "source": fact});
        timer.post("/api/cron/award-points", &body).expect(200)
    };
    give(5, "import:one");
    let before = mia.get("/api/leaderboard").expect(200);
    assert_eq!((before.at("/season/name"), before.at("/me/points")), (json!("Season 0.5"), json!(5)));

    let started = maintain(&invocation, &["season", "start", "0.6", "--name", "Spring"])?.succeeded()?;
    let lines: Vec<_> = started.lines().collect();
    assert!(lines.len() == 2, "{started}");
    assert!(lines[0].starts_with("0.5 (Season 0.5) is closed, from "), "{started}");
    assert!(
        lines[1].starts_with("0.6 (Spring) is active, from ") && lines[1].ends_with(" to open"),
        "{started}"
    );
    // The server reads the writes of another process within seconds.
    wait_at_most(HEARD_WITHIN, "the server serves the new season", || {
        Ok(mia.get("/api/leaderboard").expect(200).at("/season/name") == "Spring")
    })?;
    let now = mia.get("/api/leaderboard").expect(200);
    assert_eq!(now.at("/total"), 0);
    assert_eq!(give(7, "import:two").at("/seasonId"), now.at("/season/id"));
    assert_eq!(mia.get("/api/leaderboard").expect(200).at("/me/points"), 7);
    let past = format!("/api/leaderboard?seasonId={}", before.str_at("/season/id"));
    assert_eq!(mia.get(&past).expect(200).at("/me/points"), 5);

    let planned = ["season", "start", "1", "--name", "One", "--starts-at", "2999-01-01T00:00:00Z"];
    let planned = maintain(&invocation, &planned)?.succeeded()?;
    assert!(planned.contains("1 (One) is planned, from 2999-01-01T00:00:00.000Z to open"), "{planned}");
    let closed = maintain(&invocation, &["season", "close"])?.succeeded()?;
    assert!(closed.starts_with("0.6 (Spring) is closed, from "), "{closed}");
    let listed = maintain(&invocation, &["season", "list"])?.succeeded()?;
    let keys: Vec<_> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(keys, ["0", "0.5", "0.6", "1"]);
    assert!(listed.starts_with("0 (Season 0) is legacy, from 1970-01-01T00:00:00.000Z to "), "{listed}");
    maintain(&invocation, &["verify"])?.succeeded().map(drop)
}

fn impossible_changes_of_seasons_give_a_reason(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    for command in [&["season", "list"][..], &["repair"]] {
        let unready = maintain(&invocation, command)?;
        assert!(unready.words().contains("terrace migrate"), "{}", unready.words());
        assert_eq!(unready.code, Some(1));
    }
    invocation.clone().args(["migrate"]).run()?.succeeded()?;
    let listed = maintain(&invocation, &["season", "list"])?.succeeded()?;
    for (arguments, why) in [
        (&["start", "0.5", "--name", "Again"][..], "two seasons 0.5"),
        (&["start", "1", "--name", "One", "--starts-at", "2001-01-01T00:00:00Z"], "cannot start in the past"),
        (&["start", "1", "--name", "One", "--ends-at", "2001-01-01T00:00:00Z"], "ends before it starts"),
    ] {
        let refused = maintain(&invocation, &[&["season"], arguments].concat())?;
        assert!(refused.words().contains(why), "{arguments:?}: {}", refused.words());
        assert!(refused.words().contains("nothing was changed"), "{arguments:?}: {}", refused.words());
        assert_eq!(refused.code, Some(1), "{arguments:?}");
    }
    assert_eq!(maintain(&invocation, &["season", "list"])?.succeeded()?, listed);
    maintain(&invocation, &["season", "close"])?.succeeded()?;
    let again = maintain(&invocation, &["season", "close"])?;
    assert!(again.words().contains("no season is active"), "{}", again.words());
    for arguments in [
        &["season"][..],
        &["season", "start"],
        &["season", "start", "1"],
        &["season", "start", "Season 1", "--name", "One"],
        &["season", "start", "1", "--name", ""],
        &["season", "start", "1", "--name", "One", "--starts-at", "tomorrow"],
    ] {
        assert_eq!(maintain(&invocation, arguments)?.code, Some(2), "{arguments:?}");
    }
    Ok(())
}

fn points_are_verified_and_repaired_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?.env("TERRACE_DEMO", "always");
    let program = invocation.serve()?;
    let board = || program.client().get("/api/leaderboard?limit=100").expect(200);
    let right = board();
    assert!(right.list("/entries").len() > 10, "{}", right.text());
    let verified = maintain(&invocation, &["verify"])?.succeeded()?;
    for check in [
        "board_totals.points",
        "board_totals.listed",
        "leaderboard_entries.points",
        "ranks",
        "board_counts.listed",
    ] {
        let line = verified.lines().find(|line| line.starts_with(check)).unwrap_or_default();
        assert!(line.ends_with(" checked, 0 wrong") && !line.contains(": 0 checked"), "{verified}");
    }
    assert!(maintain(&invocation, &["repair"])?.succeeded()?.ends_with("nothing needs repair\n"));
    if kind == DatabaseKind::Postgres {
        let damage = [
            "DELETE FROM board_totals",
            "UPDATE board_counts SET listed = listed + 1",
            "UPDATE leaderboard_entries SET points = points + 1",
        ];
        pgtemp::execute(database.url(), &damage)?;
        let found = maintain(&invocation, &["verify"])?;
        assert!(found.words().contains("`terrace maintain repair` makes them right"), "{}", found.words());
        assert_eq!(found.code, Some(1));
        let dry = maintain(&invocation, &["repair", "--dry-run"])?.succeeded()?;
        assert!(dry.contains(" would be repaired; nothing was written"), "{dry}");
        assert_eq!(maintain(&invocation, &["verify"])?.code, Some(1));
        let repaired = maintain(&invocation, &["repair"])?.succeeded()?;
        assert!(repaired.contains("repaired the boards of "), "{repaired}");
        assert!(maintain(&invocation, &["repair"])?.succeeded()?.ends_with("nothing needs repair\n"));
        maintain(&invocation, &["verify"])?.succeeded()?;
        assert_eq!(board().at("/entries"), right.at("/entries"));
    }
    Ok(())
}

fn a_fresh_demo_database_needs_no_repair(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?.env("TERRACE_DEMO", "always");
    invocation.clone().args(["seed"]).run()?.succeeded()?;
    let verified = maintain(&invocation, &["verify"])?.succeeded()?;
    assert!(!verified.is_empty());
    Ok(())
}
