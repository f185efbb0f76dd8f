//! `terrace maintain list`, `plan`, `run` and `history`, as operators use them (spec §1 rule 13).

use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use terrace_testkit::app::{App, AppConfig};
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{
    DatabaseKind, Ended, Gate, Invocation, ManualClock, PASSWORD, SeededEntropy, TestDatabase, body, on,
    on_each_database, pgtemp, wait_until,
};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

on_each_database! {
    tasks_are_listed_planned_run_and_recorded,
    a_dry_run_writes_nothing,
    unknown_tasks_and_missing_prerequisites_are_reported,
    ctrl_c_ends_a_run_between_two_batches_and_the_next_does_the_rest,
    every_task_runs_beside_a_server,
    a_first_cron_secret_is_created_once,
}

fn maintain(invocation: &Invocation, arguments: &[&str]) -> Result<Ended> {
    invocation.clone().args(["maintain"]).args(arguments.iter().copied()).run()
}

fn migrated(database: &TestDatabase) -> Result<Invocation> {
    let terrace = Invocation::on(database.url())?;
    terrace.clone().args(["migrate"]).run()?.succeeded()?;
    Ok(terrace)
}

fn tasks_are_listed_planned_run_and_recorded(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    // Neither needs a database.
    let bare = Invocation::on("sqlite:nowhere/at/all.db")?;
    let listed = maintain(&bare, &["list"])?.succeeded()?;
    for task in
        ["seasons ", "backfill-topics ", "sweep-events ", "sweep-journal ", "repair-points ", "cron-secret "]
    {
        assert!(listed.lines().any(|line| line.starts_with(task)), "{task}: {listed}");
    }
    assert!(listed.lines().any(|line| line.starts_with("demo ") && line.contains("Only by name.")));
    assert!(listed.lines().last().is_some_and(|line| line.contains("terrace maintain coins, season, ")));
    let planned = maintain(&bare, &["plan", "repair-points", "sweep-events"])?.succeeded()?;
    let order: Vec<_> = planned.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(order, ["seasons", "turn-seasons", "repair-points", "sweep-events"]);
    assert!(planned.lines().next().is_some_and(|line| line.ends_with("Others come after it.")), "{planned}");
    assert!(!bare.folder().join("nowhere").exists(), "nothing was begun");

    let terrace = migrated(&database)?;
    let ran = maintain(&terrace, &["run", "turn-seasons", "--by", "Mia of the night shift"])?.succeeded()?;
    let lines: Vec<_> = ran.lines().collect();
    assert!(
        lines[0].starts_with("seasons  ") && lines[0].contains("  seasons: 2 (") && lines.len() == 2,
        "{ran}"
    );
    assert!(lines[1].starts_with("turn-seasons  ") && lines[1].contains("  no rows ("), "{ran}");
    let only = terrace.clone().env("USER", "bo").args(["maintain", "run", "turn-seasons", "--only"]).run()?;
    assert_eq!(only.succeeded()?.lines().count(), 1);
    let history = maintain(&terrace, &["history"])?.succeeded()?;
    let history: Vec<_> = history.lines().collect();
    assert_eq!(history.len(), 3, "{history:?}");
    assert!(
        history[0].contains(" turn-seasons succeeded after ")
            && history[0].ends_with("; no rows; by bo (run turn-seasons --only)"),
        "{history:?}"
    );
    assert!(history[2].contains(" seasons succeeded after "), "{history:?}");
    assert!(
        history[2].ends_with("; seasons: 2; by Mia of the night shift (run turn-seasons)"),
        "{history:?}"
    );
    assert_eq!(
        maintain(&terrace, &["history", "--limit", "1"])?.succeeded()?.lines().collect::<Vec<_>>(),
        history[..1]
    );
    // A task without a run is reported as such.
    maintain(&terrace, &["sweep"])?.succeeded()?;
    let history = maintain(&terrace, &["history", "--limit", "1"])?.succeeded()?;
    assert!(history.ends_with("; by unknown (sweep)\n"), "{history}");
    Ok(())
}

/// The counts of a task, as its line prints them.
fn counted(said: &str, task: &str) -> Result<String> {
    let line = said.lines().find(|line| line.split_whitespace().next() == Some(task)).context("a line")?;
    let (counts, _) = line.split_once(" (").context("a time")?;
    Ok(counts.trim_start_matches(task).trim().to_owned())
}

fn a_dry_run_writes_nothing(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = migrated(&database)?;
    let dry = maintain(&terrace, &["run", "--all", "--dry-run"])?.succeeded()?;
    assert_eq!(counted(&dry, "seasons")?, "seasons: 2");
    assert!(counted(&dry, "packs")?.starts_with("collectibles: "), "{dry}");
    assert_eq!(counted(&dry, "cron-secret")?, "files: 1");
    let runs = dry.matches(" s)").count() + dry.matches(" s, longest batch ").count();
    assert_eq!(dry.matches(" (dry run, ").count(), runs, "{dry}");
    assert!(dry.ends_with("nothing was written\n"), "{dry}");
    assert_eq!(maintain(&terrace, &["history"])?.succeeded()?, "");
    assert!(
        !terrace.folder().join("data/cron-secret").exists() && !terrace.folder().join("data/secret").exists()
    );
    let ran = maintain(&terrace, &["run", "--all"])?.succeeded()?;
    for task in ["seasons", "teams", "quests", "packs", "repair-points", "sweep-media", "cron-secret"] {
        assert_eq!(counted(&dry, task)?, counted(&ran, task)?, "{task}");
    }
    for task in ["seasons", "teams", "quests", "packs", "cron-secret"] {
        let again = maintain(&terrace, &["run", task, "--only"])?.succeeded()?;
        assert_eq!(counted(&again, task)?, "no rows", "{task}");
    }
    Ok(())
}

fn unknown_tasks_and_missing_prerequisites_are_reported(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?;
    for command in [&["run", "--all"][..], &["run", "seasons", "--dry-run"], &["history"]] {
        let unready = maintain(&terrace, command)?;
        assert!(unready.words().contains("terrace migrate"), "{}", unready.words());
        assert_eq!(unready.code, Some(1));
    }
    terrace.clone().args(["migrate"]).run()?.succeeded()?;
    for (arguments, words) in [
        (&["run", "repair-pionts"][..], "there is no task \"repair-pionts\"; did you mean repair-points?"),
        (&["plan", "xyzzy"], "there is no task \"xyzzy\"; there are seasons, teams, "),
        (&["run", "seasons", "xyzzy"], "there is no task \"xyzzy\""),
        (&["run", "turn-seasons", "--only"], "turn-seasons comes after seasons, which never ran to its end"),
        (&["run", "mint-earlier"], "no minter is configured"),
    ] {
        let refused = maintain(&terrace, arguments)?;
        assert!(refused.words().contains(words), "{arguments:?}: {}", refused.words());
        assert_eq!(refused.code, Some(1), "{arguments:?}");
    }
    for arguments in [&["run"][..], &["plan"], &["run", "seasons", "--all"], &["history", "--limit", "0"]] {
        assert_eq!(maintain(&terrace, arguments)?.code, Some(2), "{arguments:?}");
    }
    assert_eq!(maintain(&terrace, &["history"])?.succeeded()?, "", "nothing was changed");
    if kind == DatabaseKind::Postgres {
        // A program of next year has migrated the database.
        let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('29991231000000')";
        pgtemp::execute(database.url(), &[newer])?;
        for command in [&["run", "seasons"][..], &["repair"], &["history"]] {
            assert_eq!(maintain(&terrace, command)?.code, Some(1), "{command:?}");
        }
        pgtemp::execute(
            database.url(),
            &["DELETE FROM __diesel_schema_migrations WHERE version = '29991231000000'"],
        )?;
        assert_eq!(maintain(&terrace, &["history"])?.succeeded()?, "", "nothing was changed");
    }
    Ok(())
}

/// Another process in the middle of a transaction, which locks the first rows that `backfill-topics` writes.
struct Holding {
    runtime: Runtime,
    storage: Storage,
    gate: Gate,
    held: JoinHandle<bool>,
}

impl Holding {
    fn begin(url: &str) -> Result<Self> {
        let config = StorageConfig { read_connections: 1, write_connections: 1, ..StorageConfig::new(url) };
        let clock = Arc::new(ManualClock::default());
        let entropy = Arc::new(SeededEntropy::default());
        let (own_clock, own_entropy) = (clock.clone(), entropy.clone());
        let storage = Storage::open(config, own_clock, own_entropy)?;
        let app = App::new(Arc::new(storage.clone()), clock, entropy, AppConfig::default());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
        let (tell, holds) = oneshot::channel();
        let (gate, tell) = (Gate::default(), Mutex::new(Some(tell)));
        let shut = gate.clone();
        let wait = body(move |tx, _| {
            tx.lock_backfill("backfill-topics")?;
            if let Some(tell) = tell.lock().expect("no panic").take() {
                tell.send(()).expect("a waiting thread");
            }
            shut.pass();
            Ok(())
        });
        let held = runtime.spawn(async move { app.execute(wait).await.is_ok() });
        runtime.block_on(holds)?;
        Ok(Self { runtime, storage, gate, held })
    }

    fn end(self) -> Result<()> {
        self.gate.open();
        assert!(self.runtime.block_on(self.held)?);
        self.storage.close();
        Ok(())
    }
}

/// Processes that wait for locks as long as a test takes.
fn patient(database: &TestDatabase) -> Result<Invocation> {
    let terrace = migrated(database)?.env("TERRACE_CHECKOUT_TIMEOUT", "60");
    Ok(terrace.env("TERRACE_STATEMENT_TIMEOUT", "60"))
}

fn ctrl_c_ends_a_run_between_two_batches_and_the_next_does_the_rest(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = patient(&database)?;
    let holding = Holding::begin(database.url())?;
    let mut run = terrace.clone().args(["maintain", "run", "backfill-topics", "sweep-events"]).begin()?;
    run.wait_for_words("Ctrl-C ends it between two batches")?;
    // Where the whole database is locked, the run cannot record either that it has begun its first task.
    while kind == DatabaseKind::Postgres
        && !maintain(&terrace, &["history"])?.succeeded()?.contains(" running")
    {
        assert!(!run.has_ended()?, "{}", run.log()?);
    }
    run.interrupt()?;
    run.wait_for_words("stopping after this batch")?;
    holding.end()?;
    let ended = run.wait()?;
    assert_eq!(ended.code, Some(130), "{}", ended.words());
    let history = maintain(&terrace, &["history"])?.succeeded()?;
    if kind == DatabaseKind::Postgres || ended.said.contains("backfill-topics") {
        assert_eq!(counted(&ended.said, "backfill-topics")?, "stopped; no rows");
        assert!(
            history.contains(" backfill-topics stopped after ") && history.lines().count() == 1,
            "{history}"
        );
    } else {
        assert!(!history.contains("backfill-topics"), "it ended before it began: {history}");
    }
    maintain(&terrace, &["run", "backfill-topics"])?.succeeded()?;
    let history = maintain(&terrace, &["history", "--limit", "1"])?.succeeded()?;
    assert!(history.contains(" backfill-topics succeeded after "), "{history}");
    Ok(())
}

/// Only on PostgreSQL can a task be blocked without its whole database.
#[test]
fn a_second_run_names_the_process_of_the_first() -> Result<()> {
    on(DatabaseKind::Postgres, second_run_names_the_process_of_the_first)
}

fn second_run_names_the_process_of_the_first(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = patient(&database)?;
    let holding = Holding::begin(database.url())?;
    let mut first = terrace.clone().args(["maintain", "run", "backfill-topics", "--by", "Mia"]).begin()?;
    let mut history = String::new();
    wait_until("the first run is recorded", || {
        ensure!(!first.has_ended()?, "{}", first.log()?);
        history = maintain(&terrace, &["history"])?.succeeded()?;
        Ok(history.contains(' '))
    })?;
    let (since, rest) = history.split_once(' ').context("no run")?;
    assert_eq!(rest, "backfill-topics running; no rows; by Mia (run backfill-topics)\n");
    let second = maintain(&terrace, &["run", "seasons"])?;
    let busy = format!("Mia runs maintenance since {since}, now at backfill-topics");
    assert!(second.code == Some(1) && second.log.contains(&busy), "{}", second.words());
    // A dry run blocks no other.
    maintain(&terrace, &["run", "seasons", "--dry-run"])?.succeeded()?;
    holding.end()?;
    assert_eq!(first.wait()?.code, Some(0));
    maintain(&terrace, &["run", "seasons"])?.succeeded().map(drop)
}

fn every_task_runs_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = Invocation::on(database.url())?.env("TERRACE_DEMO", "always");
    let program = terrace.serve()?;
    let mia = program.client();
    mia.register("beside");
    let mut posts = 0;
    for _ in 0..2 {
        let mut run = terrace.clone().args(["maintain", "run", "--all"]).begin()?;
        while !run.has_ended()? {
            posts += 1;
            mia.create_post(&format!("Post {posts} beside it all #beside"));
        }
        let ended = run.wait()?;
        assert_eq!(ended.code, Some(0), "{}", ended.words());
    }
    assert!(posts > 0);
    maintain(&terrace, &["run", "repair-points", "repair-balances"])?.succeeded()?;
    maintain(&terrace, &["verify"])?.succeeded()?;
    // Signed-in fans still are.
    mia.post("/api/login", &json!({"username": "beside", "password": PASSWORD})).expect(200);
    Ok(())
}

fn a_first_cron_secret_is_created_once(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = migrated(&database)?;
    let made = maintain(&terrace, &["run", "cron-secret"])?.succeeded()?;
    assert!(
        made.contains("the cron secret is in ") && counted(&made, "cron-secret")? == "files: 1",
        "{made}"
    );
    let file = terrace.folder().join("data/cron-secret");
    let secret = fs::read_to_string(&file)?;
    assert_eq!((secret.trim_end().len(), fs::metadata(&file)?.permissions().mode() & 0o777), (64, 0o600));
    assert!(!made.contains(secret.trim_end()), "{made}");
    assert_eq!(
        counted(&maintain(&terrace, &["run", "cron-secret"])?.succeeded()?, "cron-secret")?,
        "no rows"
    );
    assert_eq!(fs::read_to_string(&file)?, secret);
    let program = terrace.serve()?;
    program.client().with_bearer(secret.trim_end()).post("/api/cron/sync-trends", &json!({})).expect(200);
    let configured = terrace.clone().env("TERRACE_CRON_SECRET", "c".repeat(40));
    fs::remove_file(&file)?;
    assert!(
        maintain(&configured, &["run", "cron-secret"])?.succeeded()?.contains("a cron secret is configured")
    );
    assert!(!file.exists());
    let patience = Duration::from_secs(5);
    program.wait_until_ready(patience).map(drop)
}
