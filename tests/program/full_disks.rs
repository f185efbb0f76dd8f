//! Commands of maintenance on a read-only disk, and on one without room (docs/operations/maintenance.md):
//! each prints what to do, ends with 1 and changes nothing; where the disk is right again, the same command
//! does its work.

use crate::contract::repairs::{Stored, differences, kept};
use crate::disk::{Disk, needs_mount};
use anyhow::{Context, Result};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{DatabaseKind, Ended, Invocation, ManualClock, SeededEntropy, on, wait_until};

needs_mount! { a_read_only_disk_is_reported, a_full_disk_is_reported, a_disk_that_fills_up_is_reported_and_the_next_run_does_the_rest, an_import_without_room_shows_no_rows_and_resumes }

const READ_ONLY: &str = "is on a file system that can only be read: mount it for writing";
const NO_ROOM: &str = " KiB of room left: make room, and give the command again";

/// The rows of a database, as another process reads them.
pub(super) fn kept_in(url: &str, apart_from: &[&str]) -> Result<Stored> {
    let (clock, entropy) = (ManualClock::default(), SeededEntropy::default());
    let storage = Storage::open(StorageConfig::new(url), Arc::new(clock), Arc::new(entropy))?;
    let kept = kept(&storage, apart_from);
    storage.close();
    Ok(kept)
}

/// A database with teams and quests on a separate disk, with a backup of it and a file to import elsewhere.
struct Fixture {
    // First: it must be unmounted before the folder that it is in is removed.
    disk: Disk,
    terrace: Invocation,
    url: String,
}

impl Fixture {
    fn new(size: u32) -> Result<Self> {
        let bare = Invocation::new()?;
        let disk = Disk::mount(bare.folder(), size)?;
        let data = disk.folder().join("data");
        let url = format!("sqlite:{}", data.join("terrace.db").display());
        let terrace = bare.args([Path::new("--data-dir"), &data]);
        terrace.clone().args(["seed"]).run()?.succeeded()?;
        terrace.clone().args(["maintain", "run", "seasons"]).run()?.succeeded()?;
        terrace.clone().args(["backup", "whole.db"]).run()?.succeeded()?;
        let place = Self { disk, terrace, url };
        place.users(1)?;
        Ok(place)
    }

    /// Writes a file of `count` fans to import.
    fn users(&self, count: usize) -> Result<()> {
        let mut users = "id,username,displayName,createdAt\n".to_owned();
        for n in 0..count {
            writeln!(users, "u{n},old{n},Old {n},2024-01-01T10:00:00Z")?;
        }
        Ok(fs::write(self.terrace.folder().join("User.csv"), users)?)
    }

    /// A file beside the database.
    fn beside(&self, name: &str) -> String {
        self.disk.folder().join(name).display().to_string()
    }

    fn run(&self, words: &[&str]) -> Result<Ended> {
        self.terrace.clone().args(words.iter().copied()).run()
    }

    /// The rows of the database, which no process or thread has open when this returns: what an open database
    /// keeps beside it would change the room that a test leaves.
    fn kept(&self, apart_from: &[&str]) -> Result<Stored> {
        let mut kept = kept_in(&self.url, apart_from)?;
        // The connection that closes last removes these files; two that close at the same time both leave them.
        let shared_memory = self.disk.folder().join("data/terrace.db-shm");
        wait_until("the database is closed", || {
            let is_closed = !shared_memory.exists();
            if !is_closed {
                kept = kept_in(&self.url, apart_from)?;
            }
            Ok(is_closed)
        })?;
        Ok(kept)
    }

    /// The files on the disk, without the auxiliary files of an open SQLite database.
    fn names(&self) -> Result<Vec<PathBuf>> {
        let mut names = Vec::new();
        for folder in [self.disk.folder().to_owned(), self.disk.folder().join("data")] {
            for entry in fs::read_dir(folder)? {
                names.push(entry?.path());
            }
        }
        let is_passing = |name: &PathBuf| {
            let name = name.display().to_string();
            name.ends_with("-wal") || name.ends_with("-shm") || name.ends_with("ballast")
        };
        names.retain(|name| !is_passing(name));
        names.sort();
        Ok(names)
    }

    /// Asserts that each command prints this advice and ends with 1.
    fn all_refused(&self, commands: &[&[&str]], advice: &str) -> Result<()> {
        for words in commands {
            let ended = self.run(words)?;
            let said = ended.words();
            assert!(ended.code == Some(1) && said.contains(advice), "{words:?}: {:?}\n{said}", ended.code);
            assert!(!said.contains("panicked") && said.len() < 10_000, "{words:?}: {said}");
        }
        Ok(())
    }
}

/// Every command that would write, or that needs room for what it reads.
fn commands(copy: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["maintain", "run", "teams"],
        vec!["maintain", "run", "--all"],
        vec!["maintain", "run", "--all", "--dry-run"],
        vec!["maintain", "repair"],
        vec!["maintain", "verify"],
        vec!["import", "legacy", "User.csv"],
        vec!["backup", copy],
        vec!["restore", "whole.db", "--force"],
    ]
}

fn slices<'a>(commands: &'a [Vec<&'a str>]) -> Vec<&'a [&'a str]> {
    commands.iter().map(Vec::as_slice).collect()
}

fn a_read_only_disk_is_reported() -> Result<()> {
    on(DatabaseKind::Sqlite, |_| {
        let place = Fixture::new(32)?;
        let copy = place.beside("copy.db");
        let commands = commands(&copy);
        let (before, names) = (place.kept(&[])?, place.names()?);
        place.disk.only_read()?;
        place.all_refused(&slices(&commands), READ_ONLY)?;
        place.disk.written()?;
        assert_eq!(differences(&before, &place.kept(&[])?), Vec::<String>::new());
        assert_eq!(place.names()?, names);

        // A server that was killed leaves its log: reading needs to recover it, and nothing can be written.
        place.terrace.serve()?.kill()?;
        assert!(place.disk.folder().join("data/terrace.db-wal").exists());
        let names = place.names()?;
        place.disk.only_read()?;
        let repairs = ["maintain", "run", "repair-counters"];
        place.all_refused(&[&repairs, &["import", "legacy", "User.csv"], &["backup", &copy]], READ_ONLY)?;
        place.disk.written()?;
        assert_eq!(place.names()?, names);
        place.run(&["maintain", "verify"])?.succeeded()?;
        place.run(&repairs)?.succeeded()?;
        place.run(&["import", "legacy", "User.csv"])?.succeeded()?;
        place.run(&["backup", &copy])?.succeeded()?;
        place.run(&["restore", "whole.db", "--force"])?.succeeded()?;
        assert_eq!(differences(&before, &place.kept(&[])?), Vec::<String>::new());
        Ok(())
    })
}

fn a_full_disk_is_reported() -> Result<()> {
    on(DatabaseKind::Sqlite, |_| {
        let place = Fixture::new(32)?;
        let copy = place.beside("copy.db");
        let commands = commands(&copy);
        let (before, names) = (place.kept(&[])?, place.names()?);
        place.disk.leave(0)?;
        place.all_refused(&slices(&commands), NO_ROOM)?;
        place.disk.clear()?;
        assert_eq!(differences(&before, &place.kept(&[])?), Vec::<String>::new());
        assert_eq!(place.names()?, names);

        // A copy of a whole database elsewhere finds no room either, and no partial file is left.
        let elsewhere = Invocation::new()?;
        elsewhere.clone().args(["seed"]).run()?.succeeded()?;
        place.disk.leave(256)?;
        let refused = elsewhere.clone().args(["backup", &copy]).run()?;
        assert!(refused.code == Some(1) && refused.log.contains(NO_ROOM), "{}", refused.words());
        assert!(refused.log.contains(&format!("nothing was backed up to {copy}")), "{}", refused.words());
        place.disk.clear()?;
        assert_eq!(place.names()?, names);
        for words in commands {
            place.run(&words)?.succeeded().with_context(|| words.join(" "))?;
        }
        Ok(())
    })
}

/// There is room to begin, and not to end: the writes of the last batch are rolled back, and the run is
/// recorded as failed.
fn a_disk_that_fills_up_is_reported_and_the_next_run_does_the_rest() -> Result<()> {
    on(DatabaseKind::Sqlite, |_| {
        let bare = Invocation::new()?;
        let disk = Disk::mount(bare.folder(), 32)?;
        let data = disk.folder().join("data");
        let url = format!("sqlite:{}", data.join("terrace.db").display());
        let terrace = bare.args([Path::new("--data-dir"), &data]);
        terrace.clone().args(["migrate"]).run()?.succeeded()?;
        let place = Fixture { disk, terrace, url };
        let before = place.kept(&["maintenance_runs", "leases"])?;
        place.disk.leave(96)?;
        let failed = place.run(&["maintain", "run", "teams"])?;
        assert_eq!(failed.code, Some(1), "{}", failed.words());
        assert!(failed.said.contains("teams ") && failed.said.contains(" failed: "), "{}", failed.words());
        assert!(failed.words().contains("is full") && failed.words().contains(NO_ROOM), "{}", failed.words());
        place.disk.clear()?;
        let after = place.kept(&["maintenance_runs", "leases"])?;
        assert_eq!(differences(&before, &after), Vec::<String>::new());
        place.run(&["maintain", "run", "teams"])?.succeeded()?;
        let history = place.run(&["maintain", "history"])?.succeeded()?;
        assert!(history.contains(" teams succeeded ") && history.contains(" teams failed "), "{history}");
        place.run(&["maintain", "verify"])?.succeeded().map(drop)
    })
}

/// An import that found no room shows no rows, and resumes where it stopped.
fn an_import_without_room_shows_no_rows_and_resumes() -> Result<()> {
    const WAITING: [&str; 2] = ["imports", "legacy_users"];
    on(DatabaseKind::Sqlite, |_| {
        let place = Fixture::new(64)?;
        place.users(10_000)?;
        let before = place.kept(&WAITING)?;
        place.disk.leave(1_024)?;
        let failed = place.run(&["import", "legacy", "User.csv"])?;
        assert!(failed.code == Some(1) && failed.log.contains(NO_ROOM), "{}", failed.words());
        assert!(
            failed.log.contains("no imported data is visible; run the same command to continue"),
            "{}",
            failed.log
        );
        place.disk.clear()?;
        assert_eq!(differences(&before, &place.kept(&WAITING)?), Vec::<String>::new());
        let said = place.run(&["import", "legacy", "User.csv"])?.succeeded()?;
        assert!(said.contains("users: 10000 read, 10000 new\n"), "{said}");
        place.run(&["maintain", "verify"])?.succeeded().map(drop)
    })
}
