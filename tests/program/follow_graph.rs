//! `terrace seed --follow-graph`, as operators run it (spec §1 rule 13).

use anyhow::{Result, ensure};
use std::fmt::Write;
use std::fs;
use std::sync::Arc;
use terrace_testkit::kernel::UserId;
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{
    DatabaseKind, Ended, FlowingClock, Invocation, SeededEntropy, TestDatabase, on_each_database, question,
    wait_until,
};

on_each_database! {
    a_list_is_imported_once,
    a_killed_import_resumes,
    a_server_beside_it_uses_the_imported_graph,
}

fn seed(invocation: &Invocation, list: impl AsRef<[u8]>, flags: &[&str]) -> Result<Ended> {
    fs::write(invocation.folder().join("follows.csv"), list)?;
    begun(invocation, flags).run()
}

fn begun(invocation: &Invocation, flags: &[&str]) -> Invocation {
    invocation.clone().args(["seed", "--follow-graph", "follows.csv"]).args(flags.iter().copied())
}

/// The output after the line about the catalogue.
fn said(ended: Ended) -> Result<String> {
    let said = ended.succeeded()?;
    Ok(said.split_once("up to date\n").map_or(said.clone(), |(_, rest)| rest.to_owned()))
}

fn verified(invocation: &Invocation) -> Result<()> {
    let said = invocation.clone().args(["maintain", "verify"]).run()?.succeeded()?;
    ensure!(said.contains("users.follower_count") && said.contains("users.following_count"), "{said}");
    Ok(())
}

/// Reads the database as another process does.
pub(super) struct Watcher {
    pub(super) app: terrace_testkit::app::App,
    pub(super) storage: Storage,
    pub(super) runtime: tokio::runtime::Runtime,
}

impl Watcher {
    pub(super) fn on(url: &str) -> Result<Self> {
        let (clock, entropy) = (Arc::new(FlowingClock::default()), Arc::new(SeededEntropy::new(77)));
        let storage = Storage::open(StorageConfig::new(url), clock.clone(), entropy.clone())?;
        let app = terrace_testkit::app::App::new(
            Arc::new(storage.clone()),
            clock,
            entropy,
            terrace_testkit::app::AppConfig::default(),
        );
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { app, storage, runtime })
    }

    fn follows(&self) -> Vec<(UserId, UserId)> {
        let all = question(|tx| tx.follows(None, 1_000_000));
        self.runtime.block_on(self.app.query(all)).unwrap_or_default()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.storage.close();
    }
}

fn a_list_is_imported_once(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let list = "from,to\r\n1,2\r\n2,1\r\n1,3\n4,4\nx,1\n\n5\n1,3";
    let first = said(seed(&invocation, list, &[])?)?;
    assert_eq!(
        first,
        "7 lines: 3 new fans, 4 new follows\nnothing new: 2 lines\nself-follows: 1 line\nbad: 2 lines\nline 6: not a whole number from 0 on\nline 8: not two fields apart by a comma\n"
    );
    verified(&invocation)?;
    let again = said(seed(&invocation, list, &[])?)?;
    assert!(again.starts_with("7 lines: 0 new fans, 0 new follows\nnothing new: 4 lines\n"), "{again}");
    let watcher = Watcher::on(database.url())?;
    assert_eq!(watcher.follows().len(), 4);
    Ok(())
}

/// Killed at any moment, it leaves whole batches; imported again, everything is there once.
fn a_killed_import_resumes(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let mut list = "from,to\n".to_owned();
    for n in 0_u64..60_000 {
        writeln!(list, "{},{}", n % 4_000, 4_000 + (n * n + n / 4_000) % 9_000)?;
    }
    fs::write(invocation.folder().join("follows.csv"), &list)?;
    invocation.clone().args(["migrate"]).run()?.succeeded()?;
    let watcher = Watcher::on(database.url())?;
    let mut import = begun(&invocation, &[]).begin()?;
    wait_until("another process sees a part of the import", || {
        ensure!(!import.has_ended()?, "it was not seen in its middle");
        Ok(!watcher.follows().is_empty())
    })?;
    import.kill()?;
    let left = watcher.follows();
    verified(&invocation)?;
    let directed: std::collections::BTreeSet<_> = left.iter().copied().collect();
    assert!(left.iter().all(|(one, other)| directed.contains(&(*other, *one))), "half an edge was left");
    let rest = said(begun(&invocation, &[]).run()?)?;
    assert!(!rest.contains(", 0 new follows"), "{rest}");
    verified(&invocation)?;
    let whole = watcher.follows();
    assert!(whole.len() > left.len());
    let again = said(begun(&invocation, &[]).run()?)?;
    assert!(again.contains("0 new fans, 0 new follows"), "{again}");
    assert_eq!(watcher.follows(), whole);
    Ok(())
}

/// A server that runs on the same database recommends by the imported graph.
fn a_server_beside_it_uses_the_imported_graph(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let server = invocation.serve()?;
    let mia = server.client();
    mia.register("mia");
    let list = "a,b\n1,2\n2,3\n2,4\n";
    seed(&invocation, list, &[])?.succeeded()?;
    let watcher = Watcher::on(database.url())?;
    let two = watcher.follows().iter().map(|(one, _)| *one).find(|one| {
        let follows = watcher.follows();
        follows.iter().filter(|(from, _)| from == one).count() == 3
    });
    let two = two.expect("the second of them follows three");
    mia.post("/api/user/follow", &serde_json::json!({"userId": two.to_string()})).expect(200);
    wait_until("three fans are recommended for a mutual follower", || {
        let people = mia.get("/api/user/recommended").expect(200).list("/users");
        Ok(people.iter().filter(|person| person["mutualCount"] == 1).count() == 3)
    })
}

fn fresh() -> Result<(TestDatabase, Invocation)> {
    let database = TestDatabase::empty(DatabaseKind::Sqlite)?;
    let invocation = Invocation::on(database.url())?;
    Ok((database, invocation))
}

#[test]
fn a_strict_import_refuses_the_list_whole() -> Result<()> {
    let (database, invocation) = fresh()?;
    let mut list = b"from,to\n1,2\nx,y\n\xff\xfe,3\n".to_vec();
    list.extend(format!("1,{}\n", "2".repeat(100_000)).into_bytes());
    list.extend_from_slice(b"3,4\n");
    let refused = seed(&invocation, &list, &["--strict"])?;
    let words = refused.words();
    assert_eq!(refused.code, Some(1), "{words}");
    for line in [
        "follows.csv has 3 lines that cannot be read; nothing was imported",
        "line 3: not a whole number from 0 on",
        "line 4: not UTF-8",
        "line 5: longer than 256 bytes",
    ] {
        assert!(words.contains(line), "{words}");
    }
    // Not even the schema: nothing was written.
    assert!(!std::path::Path::new(database.url().trim_start_matches("sqlite:")).exists());
    let loose = said(seed(&invocation, &list, &[])?)?;
    assert!(loose.starts_with("5 lines: 4 new fans, 4 new follows\nbad: 3 lines\n"), "{loose}");
    let strict = said(seed(&invocation, "from,to\n1,2\n5,6", &["--strict"])?)?;
    assert_eq!(strict, "2 lines: 2 new fans, 2 new follows\nnothing new: 1 line\n");
    Ok(())
}

#[test]
fn the_first_twenty_of_many_bad_lines_are_shown() -> Result<()> {
    let (_database, invocation) = fresh()?;
    let list = format!("from,to\n{}", "one,two\n".repeat(1000));
    let summary = said(seed(&invocation, list, &[])?)?;
    assert!(summary.starts_with("1000 lines: 0 new fans, 0 new follows\nbad: 1000 lines\n"));
    assert!(summary.contains("line 21: ") && !summary.contains("line 22: "), "{summary}");
    assert!(summary.ends_with("and 980 more\n"), "{summary}");
    Ok(())
}

#[test]
fn a_file_that_is_no_list_is_refused_before_anything_is_written() -> Result<()> {
    let (database, invocation) = fresh()?;
    for (list, why) in [
        (&b""[..], "the file is empty"),
        (b"1,2\n3,4\n", "a header line with two names is expected"),
        (b"\xff\xff\n", "a header line with two names is expected"),
        (&vec![b'x'; 1_000_000], "a header line with two names is expected"),
    ] {
        let refused = seed(&invocation, list, &[])?;
        assert!(refused.words().contains(why), "{}", refused.words());
        assert_eq!(refused.code, Some(1));
    }
    let missing = invocation.clone().args(["seed", "--follow-graph", "nowhere.csv"]).run()?;
    assert!(missing.words().contains("nowhere.csv"), "{}", missing.words());
    assert!(!std::path::Path::new(database.url().trim_start_matches("sqlite:")).exists());
    let nothing = said(seed(&invocation, "from,to", &[])?)?;
    assert_eq!(nothing, "0 lines: 0 new fans, 0 new follows\n");
    Ok(())
}
