//! Invalid input of commands of maintenance (docs/operations/maintenance.md): each prints a short reason,
//! ends with 1 and changes nothing.

use super::full_disks::kept_in;
use crate::contract::repairs::differences;
use anyhow::{Result, ensure};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{
    DatabaseKind, Ended, Invocation, ManualClock, SeededEntropy, TestDatabase, on_each_database, wait_at_most,
};

on_each_database! {
    invalid_commands_and_files_change_nothing,
    a_database_of_a_newer_version_is_unchanged,
    a_million_broken_lines_are_reported_briefly_in_little_memory,
}

/// The tables of a server's database that change by themselves while a process has it open: events get their
/// positions.
const RELAYED: [&str; 5] = ["events", "outbox", "event_head", "event_consumers", "leases"];
const USERS: &str = "id,username,displayName,createdAt\nu1,mia,Mia,2024-01-01T10:00:00Z\n";

struct Fixture {
    database: TestDatabase,
    terrace: Invocation,
}

impl Fixture {
    /// A database with the teams, quests and seasons of the program, and a file to import.
    fn new(kind: DatabaseKind) -> Result<Self> {
        let database = TestDatabase::empty(kind)?;
        let terrace = Invocation::on(database.url())?;
        terrace.clone().args(["seed"]).run()?.succeeded()?;
        let place = Self { database, terrace };
        place.put("User.csv", USERS)?;
        Ok(place)
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> Result<()> {
        Ok(fs::write(self.terrace.folder().join(name), text)?)
    }

    fn run(&self, words: &[&str]) -> Result<Ended> {
        self.terrace.clone().args(words.iter().copied()).run()
    }

    /// Runs `doing`, and asserts that everything in the database is unchanged.
    fn unchanged(&self, doing: impl FnOnce() -> Result<()>) -> Result<()> {
        let apart_from = match self.database.kind() {
            DatabaseKind::Sqlite => &[][..],
            DatabaseKind::Postgres => &RELAYED,
        };
        let before = kept_in(self.database.url(), apart_from)?;
        doing()?;
        let after = kept_in(self.database.url(), apart_from)?;
        assert_eq!(differences(&before, &after), Vec::<String>::new());
        Ok(())
    }
}

fn invalid_commands_and_files_change_nothing(kind: DatabaseKind) -> Result<()> {
    let place = Fixture::new(kind)?;
    place.put("Team.csv", "id,title\nt1,Rovers\n")?;
    place.put("Season.csv", "")?;
    place.put("Users.csv", USERS)?;
    place.put("old.jsonl", "user,quest,step\n")?;
    place.unchanged(|| {
        for (words, why) in [
            (&["maintain", "run", "repair-pionts"][..], "did you mean repair-points?"),
            (&["maintain", "run", "seasons", "xyzzy"], "there is no task \"xyzzy\"; there are "),
            (
                &["maintain", "run", "sweep-blocked-follows", "--only"],
                "comes after repair-counters, which never ran to its end here: run it first, or leave --only away",
            ),
            (
                &["maintain", "run", "repair-points", "--only", "--dry-run"],
                "comes after turn-seasons, which never ran to its end here",
            ),
            (&["maintain", "run", "mint-earlier"], "no minter is configured (--minter-url)"),
            (&["import", "legacy", "User.csv", "Team.csv"], "Team.csv has a column \"title\"; known are id, "),
            (&["import", "legacy", "Season.csv"], "Season.csv is empty"),
            (&["import", "legacy", "Users.csv"], "Users.csv is the file of no table; known are "),
            (&["import", "legacy", "nowhere/User.csv"], "cannot read nowhere/User.csv"),
            (&["maintain", "import-completions", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
            (&["maintain", "import-completions", "old.jsonl"], "cannot be read: 1 line"),
            (&["backup", "nowhere/copy.db"], if kind == DatabaseKind::Sqlite { "nowhere/copy.db" } else { "pg_dump" }),
            (&["restore", "nowhere.db"], if kind == DatabaseKind::Sqlite { "nowhere.db" } else { "pg_restore" }),
        ] {
            let refused = place.run(words)?;
            ensure!(refused.code == Some(1), "{words:?}: {:?}\n{}", refused.code, refused.words());
            ensure!(refused.words().contains(why), "{words:?}: {}", refused.words());
        }
        Ok(())
    })
}

fn a_database_of_a_newer_version_is_unchanged(kind: DatabaseKind) -> Result<()> {
    const NEWER: &str = "29991231000000";
    let place = Fixture::new(kind)?;
    let by_hand = |statement: &str| -> Result<()> {
        let (clock, entropy) = (ManualClock::default(), SeededEntropy::default());
        let config = StorageConfig::new(place.database.url());
        let storage = Storage::open(config, Arc::new(clock), Arc::new(entropy))?;
        storage.execute_by_hand(&[statement])?;
        storage.close();
        Ok(())
    };
    place.put("old.jsonl", "{}\n")?;
    by_hand(&format!("INSERT INTO __diesel_schema_migrations (version) VALUES ('{NEWER}')"))?;
    let mut commands = vec![
        vec!["maintain", "run", "seasons"],
        vec!["maintain", "run", "--all", "--dry-run"],
        vec!["maintain", "repair"],
        vec!["maintain", "verify"],
        vec!["maintain", "history"],
        vec!["maintain", "season", "list"],
        vec!["maintain", "import-completions", "old.jsonl"],
        vec!["import", "legacy", "User.csv"],
        vec!["migrate"],
        vec!["seed"],
    ];
    if kind == DatabaseKind::Sqlite {
        commands.push(vec!["backup", "copy.db"]);
    }
    place.unchanged(|| {
        for words in &commands {
            let refused = place.run(words)?;
            let said = refused.words();
            ensure!(refused.code == Some(1), "{words:?}: {:?}\n{said}", refused.code);
            let is_named = said.contains("a newer version of this program") && said.contains(NEWER);
            ensure!(is_named && said.contains("use that version"), "{words:?}: {said}");
            ensure!(!said.contains("`terrace migrate` brings it up to date"), "{words:?}: {said}");
        }
        Ok(())
    })?;
    assert!(!place.terrace.folder().join("copy.db").exists());
    by_hand(&format!("DELETE FROM __diesel_schema_migrations WHERE version = '{NEWER}'"))?;
    place.run(&["maintain", "verify"])?.succeeded().map(drop)
}

/// Runs a command to its end; also returns the most memory that it was seen to hold, in KiB.
fn watched(place: &Fixture, words: &[&str]) -> Result<(Ended, u64)> {
    const PATIENCE: Duration = Duration::from_mins(3);
    let mut chore = place.terrace.clone().args(words.iter().copied()).begin()?;
    let mut peak = 0;
    wait_at_most(PATIENCE, &format!("{words:?} has ended"), || {
        peak = chore.peak_kib().unwrap_or(0).max(peak);
        chore.has_ended()
    })?;
    Ok((chore.wait()?, peak))
}

fn a_million_broken_lines_are_reported_briefly_in_little_memory(kind: DatabaseKind) -> Result<()> {
    const LINES: usize = 1_000_000;
    const MOST_KIB: u64 = 96 * 1024;
    let place = Fixture::new(kind)?;
    // Four kinds of them, one after the other.
    let broken: [&[u8]; 4] =
        [b"x\n", b"u1,x,X,2024-01-01T10:00:00Z\n", b"u2,abc,X,yesterday\n", b"\xff,a,b,c\n"];
    let mut users = USERS.as_bytes().to_vec();
    users.extend(broken.iter().cycle().take(LINES).copied().flatten());
    place.put("User.csv", users)?;
    place.put("old.jsonl", "{\"user\": \"mia\"}\n".repeat(LINES))?;
    // Nothing of the second file reaches a database.
    let files = if kind == DatabaseKind::Sqlite { 2 } else { 1 };
    place.unchanged(|| {
        for (words, expected) in [
            (
                &["import", "legacy", "User.csv"][..],
                &[
                    "User.csv: 1 record, 1000000 bad\n",
                    "has another number of fields than the header: 250000 lines\n",
                    "  and 249980 more\n",
                    "1000000 lines bad; nothing was written; --skip-bad leaves them out\n",
                ][..],
            ),
            (
                &["maintain", "import-completions", "old.jsonl"],
                &["1000000 lines: 0 recorded, 0 already recorded, 1000000 skipped\n", "\nand 999980 more\n"],
            ),
        ]
        .into_iter()
        .take(files)
        {
            let (refused, peak) = watched(&place, words)?;
            let said = refused.words();
            ensure!(refused.code == Some(1), "{words:?}: {:?}\n{said}", refused.code);
            for expected in expected {
                ensure!(said.contains(expected), "{expected}\n{said}");
            }
            println!("{words:?}: {} lines printed, {peak} KiB at most", said.lines().count());
            ensure!(said.lines().count() < 150 && said.len() < 20_000, "{said}");
            ensure!(peak < MOST_KIB, "{words:?} took {peak} KiB");
        }
        Ok(())
    })
}
