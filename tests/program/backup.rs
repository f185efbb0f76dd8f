//! `terrace backup` and `terrace restore`, as operators run them (docs/operations/backup.md).

use crate::contract::migrations::{record, revert_later};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use terrace_testkit::storage::{EARLIER_VERSIONS, Storage, StorageConfig};
use terrace_testkit::{Client, Ended, Invocation, ManualClock, SeededEntropy, wait_until};

const NEWEST: &str = "20261124000720";

/// A program that has served once, so that there is something to copy, and a post.
fn served() -> Result<Invocation> {
    let terrace = Invocation::new()?;
    let mut program = terrace.serve()?;
    let mia = program.client();
    mia.register("mia");
    mia.create_post("kept");
    program.stop()?;
    Ok(terrace)
}

fn run(terrace: &Invocation, words: &[&str]) -> Result<Ended> {
    terrace.clone().args(words.iter().copied()).run()
}

fn backup(terrace: &Invocation) -> Result<PathBuf> {
    run(terrace, &["backup", "copy.db"])?.succeeded()?;
    Ok(terrace.folder().join("copy.db"))
}

/// The bodies of all posts.
fn posts(client: &Client) -> Result<BTreeSet<String>> {
    let (mut bodies, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let page = client.get(&format!("/api/locker-room?limit=50{cursor}")).expect(200);
        for post in page.list("/posts") {
            bodies.insert(post["body"].as_str().context("a body")?.to_owned());
        }
        let json = page.json();
        let Some(next) = json["nextCursor"].as_str() else { return Ok(bodies) };
        cursor = format!("&cursor={next}");
    }
}

/// The files in the folder of the database, without the auxiliary files of SQLite.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| !name.starts_with("terrace.db-") && name != "secret" && name != "media");
    names.sort();
    Ok(names)
}

#[test]
fn a_backup_under_load_holds_what_was_acknowledged_before_it() -> Result<()> {
    const FANS: usize = 4;
    let terrace = Invocation::new()?;
    let program = terrace.serve()?;
    let (acknowledged, over) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    let fans: Vec<Client> = (0..FANS)
        .map(|number| {
            let client = program.client();
            client.register(&format!("fan{number}"));
            client
        })
        .collect();
    let count = || acknowledged.lock().map_or(0, |acknowledged| acknowledged.len());
    let wait_for = |posts: usize| wait_until("enough posts are acknowledged", || Ok(count() >= posts));
    let before = thread::scope(|scope| {
        for (number, client) in fans.iter().enumerate() {
            let (acknowledged, over) = (&acknowledged, &over);
            scope.spawn(move || {
                for post in 0.. {
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                    let body = format!("post {post} of fan {number}");
                    client.create_post(&body);
                    acknowledged.lock().expect("no panic").insert(body);
                }
            });
        }
        let watched = (|| {
            wait_for(200)?;
            let before = acknowledged.lock().expect("no panic").clone();
            let said = run(&terrace, &["backup", "copy.db"])?.succeeded()?;
            ensure!(said.contains("copy as well") && said.contains("data/media"), "{said}");
            ensure!(said.contains("data/secret"), "{said}");
            wait_for(before.len() + 50)?;
            Ok(before)
        })();
        over.store(true, Ordering::SeqCst);
        watched
    })?;
    let copy = terrace.folder().join("copy.db");
    assert_eq!(fs::metadata(&copy)?.permissions().mode() & 0o777, 0o600);

    let elsewhere = Invocation::new()?;
    let copy = copy.to_str().context("a path")?;
    let said = run(&elsewhere, &["restore", copy])?.succeeded()?;
    assert!(said.starts_with("restored data/terrace.db from "), "{said}");
    run(&elsewhere, &["maintain", "verify"])?.succeeded()?;
    // The file that the backup's output names as well.
    fs::copy(terrace.folder().join("data/secret"), elsewhere.folder().join("data/secret"))?;
    let restored = elsewhere.serve()?;
    let there = posts(&restored.client())?;
    let lost: Vec<_> = before.difference(&there).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let all = acknowledged.into_inner()?;
    assert!(there.is_subset(&all) && there.len() < all.len(), "{} of {}", there.len(), all.len());
    // It serves like any other.
    let new = restored.client();
    new.register("newcomer");
    new.create_post("after");
    Ok(())
}

#[test]
fn a_backup_replaces_nothing_and_leaves_no_partial_file() -> Result<()> {
    let nothing = Invocation::new()?;
    let none = run(&nothing, &["backup", "copy.db"])?;
    assert!(none.code == Some(1) && none.log.contains("there is no data/terrace.db"), "{}", none.words());
    // Not even an empty database.
    assert!(!nothing.folder().join("data").exists() && !nothing.folder().join("copy.db").exists());

    let terrace = served()?;
    fs::write(terrace.folder().join("copy.db"), "mine")?;
    let there = run(&terrace, &["backup", "copy.db"])?;
    assert!(there.code == Some(1) && there.log.contains("copy.db exists"), "{}", there.words());
    assert_eq!(fs::read(terrace.folder().join("copy.db"))?, b"mine");
    let nowhere = run(&terrace, &["backup", "nowhere/copy.db"])?;
    assert!(nowhere.code == Some(1) && nowhere.log.contains("nowhere/copy.db"), "{}", nowhere.words());
    let left = names(terrace.folder())?;
    assert!(!left.iter().any(|name| name.contains("partial")), "{left:?}");

    // Killed at any moment, it leaves either no file of the name, or a whole one.
    for attempt in 0..5_u32 {
        let name = format!("killed-{attempt}.db");
        let mut chore = terrace.clone().args(["backup", &name]).begin()?;
        // One that has ended by then is complete.
        chore.ends_within(Duration::from_millis(u64::from(attempt) * 8))?;
        chore.kill()?;
        if terrace.folder().join(&name).exists() {
            let fresh = Invocation::new()?;
            let path = terrace.folder().join(&name);
            run(&fresh, &["restore", path.to_str().context("a path")?])?.succeeded()?;
            run(&fresh, &["maintain", "verify"])?.succeeded()?;
        }
    }
    Ok(())
}

#[test]
fn a_restore_does_not_wait_and_replaces_nothing_without_a_flag() -> Result<()> {
    let terrace = served()?;
    let data = terrace.folder().join("data");
    let copy = backup(&terrace)?;
    let saved = fs::read(&copy)?;
    let mut program = terrace.serve()?;
    let mia = program.client();
    mia.login("mia").expect(200);
    mia.create_post("later");
    for flags in [&["restore", "copy.db"][..], &["restore", "copy.db", "--force"]] {
        let refused = run(&terrace, flags)?;
        let why = if flags.len() == 2 { "--force" } else { "stop the service first" };
        assert!(refused.code == Some(1) && refused.log.contains(why), "{}", refused.words());
    }
    // The service was not affected.
    mia.create_post("latest");
    program.stop()?;
    let refused = run(&terrace, &["restore", "copy.db"])?;
    assert!(refused.code == Some(1) && refused.log.contains("nothing was restored"), "{}", refused.words());
    assert_eq!(names(&data)?, ["terrace.db"]);

    let done = run(&terrace, &["restore", "copy.db", "--force"])?.succeeded()?;
    assert!(done.contains("the previous database is now data/terrace.db.replaced-"), "{done}");
    let left = names(&data)?;
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(fs::read(&copy)?, saved);
    run(&terrace, &["maintain", "verify"])?.succeeded()?;
    let mut program = terrace.serve()?;
    assert_eq!(posts(&program.client())?, BTreeSet::from(["kept".to_owned()]));
    program.stop()?;

    // The file that was moved aside is whole, and can be restored.
    let aside = format!("data/{}", left.last().context("two")?);
    run(&terrace, &["restore", &aside, "--force"])?.succeeded()?;
    let all = posts(&terrace.serve()?.client())?;
    assert_eq!(all, ["kept", "later", "latest"].map(str::to_owned).into());
    Ok(())
}

/// A service that was killed leaves a log, which belongs to the database that is moved aside and to no other.
#[test]
fn a_leftover_log_is_moved_with_its_database() -> Result<()> {
    let terrace = served()?;
    backup(&terrace)?;
    let mut program = terrace.serve()?;
    let mia = program.client();
    mia.login("mia").expect(200);
    mia.create_post("in the log");
    program.kill()?;
    assert!(terrace.folder().join("data/terrace.db-wal").metadata()?.len() > 0);
    // The bare file of a service that did not end in order is not a backup.
    let bare =
        run(&Invocation::new()?, &["restore", &terrace.folder().join("data/terrace.db").to_string_lossy()])?;
    assert!(bare.code == Some(1) && bare.log.contains("-wal beside it"), "{}", bare.words());
    run(&terrace, &["restore", "copy.db", "--force"])?.succeeded()?;
    assert_eq!(posts(&terrace.serve()?.client())?, BTreeSet::from(["kept".to_owned()]));
    let aside = names(&terrace.folder().join("data"))?;
    let aside = format!("data/{}", aside.iter().find(|name| name.contains("replaced")).context("aside")?);
    run(&terrace, &["restore", &aside, "--force"])?.succeeded()?;
    assert!(posts(&terrace.serve()?.client())?.contains("in the log"));

    // An unreadable database is replaced as well.
    fs::write(terrace.folder().join("data/terrace.db"), "x".repeat(10_000))?;
    run(&terrace, &["restore", "copy.db", "--force"])?.succeeded()?;
    assert_eq!(posts(&terrace.serve()?.client())?, BTreeSet::from(["kept".to_owned()]));
    Ok(())
}

#[test]
fn only_a_whole_backup_of_this_program_is_restored() -> Result<()> {
    let terrace = served()?;
    let copy = fs::read(backup(&terrace)?)?;
    let refused = |bytes: &[u8], why: &str| -> Result<()> {
        let fresh = Invocation::new()?;
        fs::write(fresh.folder().join("bad.db"), bytes)?;
        let refused = run(&fresh, &["restore", "bad.db"])?;
        assert!(refused.code == Some(1) && refused.log.contains(why), "{why}: {}", refused.words());
        assert!(refused.log.contains("nothing was restored"), "{}", refused.words());
        assert_eq!(names(&fresh.folder().join("data"))?, Vec::<String>::new());
        Ok(())
    };
    refused(b"", "no database of this program")?;
    refused(&b"not a database, whatever its name says. ".repeat(100), "file is not a database")?;
    refused(copy.get(..copy.len() / 2).context("a half")?, "malformed")?;
    let mut damaged = copy.clone();
    // Pages in the middle, not the first.
    let middle = damaged.len() / 2;
    damaged.get_mut(middle..middle + 16_384).context("the middle")?.fill(0xA5);
    refused(&damaged, "cannot be restored")?;
    let mut newer = copy.clone();
    let places: Vec<usize> = newer
        .windows(NEWEST.len())
        .enumerate()
        .filter(|(_, found)| *found == NEWEST.as_bytes())
        .map(|(at, _)| at)
        .collect();
    assert!(!places.is_empty(), "the newest migration is another one by now");
    for at in places {
        newer.get_mut(at..at + NEWEST.len()).context("a version")?.copy_from_slice(b"20991231235959");
    }
    refused(&newer, "a newer version of this program made it: it holds 20991231235959")?;
    let missing = run(&Invocation::new()?, &["restore", "nowhere.db"])?;
    assert!(missing.code == Some(1) && missing.log.contains("there is no nowhere.db"), "{}", missing.words());
    Ok(())
}

/// Records these migrations as those of the program's database.
/// Leaves the tables of the earlier migrations, and records these versions; returns the number of later migrations.
fn record_in(terrace: &Invocation, versions: &[&str]) -> Result<usize> {
    let url = format!("sqlite:{}", terrace.folder().join("data/terrace.db").display());
    let (clock, entropy) = (ManualClock::default(), SeededEntropy::default());
    let storage = Storage::open(StorageConfig::new(&url), Arc::new(clock), Arc::new(entropy))?;
    let later = revert_later(&storage)?.len();
    record(&storage, versions)?;
    storage.close();
    Ok(later)
}

#[test]
fn a_backup_with_the_earlier_migrations_is_restored_and_adopted() -> Result<()> {
    let terrace = served()?;
    let later = record_in(&terrace, &EARLIER_VERSIONS)?;
    let copy = backup(&terrace)?;
    let copy = copy.to_str().context("a path")?;
    let elsewhere = Invocation::new()?;
    let said = run(&elsewhere, &["restore", copy])?.succeeded()?;
    assert!(
        said.contains("it is of an older version: the next start brings its schema up to date"),
        "{said}"
    );
    let doctor = run(&elsewhere, &["doctor"])?;
    let pending = format!("{} migrations are pending: `terrace migrate`", later + 14);
    assert!(doctor.words().contains(&pending), "{}", doctor.words());
    let unready = run(&elsewhere, &["maintain", "verify"])?;
    assert!(unready.log.contains("`terrace migrate` brings it up to date"), "{}", unready.words());
    fs::copy(terrace.folder().join("data/secret"), elsewhere.folder().join("data/secret"))?;
    let mut program = elsewhere.serve()?;
    assert_eq!(posts(&program.client())?, BTreeSet::from(["kept".to_owned()]));
    program.stop()?;
    assert_eq!(run(&elsewhere, &["migrate"])?.succeeded()?, "the database is up to date\n");
    run(&elsewhere, &["maintain", "verify"])?.succeeded()?;
    Ok(())
}

#[test]
fn a_database_with_only_some_of_the_earlier_migrations_is_left_as_it_is() -> Result<()> {
    let terrace = served()?;
    backup(&terrace)?;
    let database = terrace.folder().join("data/terrace.db");
    record_in(&terrace, EARLIER_VERSIONS.split_last().context("versions")?.1)?;
    fs::copy(&database, terrace.folder().join("part.db"))?;
    for words in [
        &["serve"][..],
        &["migrate"],
        &["seed"],
        &["maintain", "verify"],
        &["doctor"],
        &["backup", "another.db"],
        &["restore", "part.db", "--force"],
    ] {
        let refused = run(&terrace, words)?;
        assert_eq!(refused.code, Some(1), "{words:?}: {}", refused.words());
        let said = refused.words();
        assert!(said.contains("start the previous version once"), "{words:?}: {said}");
        assert!(!said.contains("`terrace migrate` brings it up to date"), "{words:?}: {said}");
    }
    assert!(!terrace.folder().join("another.db").exists());
    // The previous state is restored nevertheless.
    run(&terrace, &["restore", "copy.db", "--force"])?.succeeded()?;
    run(&terrace, &["maintain", "verify"])?.succeeded()?;
    Ok(())
}

#[test]
fn a_server_database_is_left_to_its_own_programs() -> Result<()> {
    // Neither connects to it.
    let terrace = Invocation::on("postgres://nobody@127.0.0.1:1/terrace")?;
    for (words, program) in
        [(&["backup", "copy.db"][..], "pg_dump --format"), (&["restore", "copy.db"], "pg_restore ")]
    {
        let refused = run(&terrace, words)?;
        assert!(refused.code == Some(1) && refused.log.contains(program), "{}", refused.words());
    }
    assert!(!terrace.folder().join("copy.db").exists());
    Ok(())
}
