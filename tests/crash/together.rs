//! Several processes on one database.

use super::crowd::read_all;
use super::held::Held;
use anyhow::{Context, Result};
use serde_json::json;
use std::thread;
use std::time::Duration;
use terrace_testkit::{
    Client, DatabaseKind, Invocation, Program, TestDatabase, on, on_each_database, wait_at_most,
};

on_each_database! {
    processes_that_start_at_once_share_an_empty_database,
    writes_of_one_process_are_seen_by_the_other,
}

/// How soon one process sees the writes of another.
const A_SECOND: Duration = Duration::from_secs(1);
/// How soon another process takes over the work of a hung one: after a lease, or after the database has ended
/// the transaction in which the process hangs.
const TAKEOVER: Duration = Duration::from_secs(30);

fn start_at_once(invocation: &Invocation, count: usize) -> Result<Vec<Program>> {
    thread::scope(|scope| {
        let starting: Vec<_> = (0..count).map(|_| scope.spawn(|| invocation.serve())).collect();
        starting.into_iter().map(|program| program.join().expect("a thread")).collect()
    })
}

/// How many posts the program reports as loaded, if it has loaded them.
fn loaded(program: &Program) -> Result<Option<usize>> {
    let log = program.log()?;
    let Some((_, counts)) = log.split_once("loaded demo content: ") else { return Ok(None) };
    let posts = counts.split(" posts").next().and_then(|text| text.rsplit(' ').next());
    Ok(Some(posts.context("no number of posts")?.parse()?))
}

fn processes_that_start_at_once_share_an_empty_database(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?.env("TERRACE_DEMO", "auto");
    let programs = start_at_once(&invocation, 3)?;
    let loaded: Vec<_> = programs.iter().map(loaded).collect::<Result<_>>()?;
    let posts: Vec<usize> = loaded.into_iter().flatten().collect();
    let [posts] = posts[..] else { anyhow::bail!("demo content was loaded {} times", posts.len()) };
    let mut seen = Vec::new();
    for program in &programs {
        seen.push(read_all(&program.client(), "/api/locker-room", "posts")?);
        program.client().get("/readyz").expect(200);
    }
    assert_eq!(seen[0].len(), posts);
    assert!(seen.iter().all(|posts| *posts == seen[0]));
    invocation.args(["maintain", "verify"]).run()?.succeeded().map(drop)
}

/// For instance for another process that loads the demo content on a slow machine. On SQLite a start already waits for
/// such a process before it checks the schema.
#[test]
fn a_start_waits_for_a_process_that_holds_the_database() -> Result<()> {
    on(DatabaseKind::Postgres, |kind| {
        let database = TestDatabase::empty(kind)?;
        let impatient = Invocation::on(database.url())?
            .env("TERRACE_DEMO", "auto")
            .env("TERRACE_CHECKOUT_TIMEOUT", "1")
            .env("TERRACE_STATEMENT_TIMEOUT", "2");
        impatient.clone().args(["migrate"]).run()?.succeeded()?;
        let held = Held::take(database.url())?;
        let mut starting = impatient.begin()?;
        starting.wait_for_words("waiting for another process that starts")?;
        drop(held);
        starting.wait_for_words("loaded demo content: ")
    })
}

fn writes_of_one_process_are_seen_by_the_other(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let [here, there] = &start_at_once(&invocation, 2)?[..] else { anyhow::bail!("not two") };
    let (browser, phone) = (here.client(), there.client());
    browser.register("mia");
    let same_browser =
        there.client().with_cookie("session", &browser.cookie("session").context("no cookie")?);
    let phone = phone.mobile_login("mia");

    for (client, other) in [(&browser, &phone), (&phone, &browser), (&browser, &same_browser)] {
        let newest = || other.get("/api/locker-room").expect(200).at("/posts/0/id");
        // Read before, so that there is something stale to cache.
        let before = newest();
        let post = client.create_post("One room for everybody.");
        wait_at_most(A_SECOND, "the other process serves the new post", || Ok(newest() == post))?;
        other.get(&format!("/api/locker-room/{post}")).expect(200);
        client.delete(&format!("/api/locker-room/{post}")).expect(204);
        other.get(&format!("/api/locker-room/{post}")).problem(404, "not_found");
        wait_at_most(A_SECOND, "the other process no longer serves the deleted post", || {
            Ok(newest() == before)
        })?;
    }

    for client in [&same_browser, &phone] {
        client.get("/api/user").expect(200);
    }
    browser.post("/api/logout", &json!({})).expect(204);
    wait_at_most(A_SECOND, "the ended session is refused", || {
        Ok(same_browser.get("/api/user").status == 401)
    })?;
    let phone_here = here.client().with_bearer(phone.bearer().context("no token")?);
    phone_here.get("/api/user").expect(200);
    phone.post("/api/mobile-auth/logout", &json!({})).expect(204);
    wait_at_most(A_SECOND, "the ended session is refused", || Ok(phone_here.get("/api/user").status == 401))
}

/// The events of a new database: its first seasons.
const FOUNDED: i64 = 2;

#[test]
fn a_hung_process_delays_no_events_of_others() -> Result<()> {
    on(DatabaseKind::Postgres, |kind| {
        let database = TestDatabase::empty(kind)?;
        let invocation = Invocation::on(database.url())?;
        let position = |client: &Client| {
            client.get("/api/locker-room").expect(200).at("/streamPosition").as_i64().unwrap_or_default()
        };
        let first = invocation.serve()?;
        let mia = first.client();
        mia.register("mia");
        mia.create_post("one");
        // The first seasons, her account and her post. No other process could assign positions: from now on
        // the first process does.
        wait_at_most(TAKEOVER, "the account's event is public", || Ok(position(&mia) == FOUNDED + 2))?;
        let second = invocation.serve()?;
        let bo = second.client();
        bo.register("bo_");
        first.pause()?;
        bo.create_post("two");
        wait_at_most(TAKEOVER, "the new process's event is public", || Ok(position(&bo) == FOUNDED + 4))?;
        first.resume()?;
        mia.create_post("three");
        for client in [&mia, &bo] {
            wait_at_most(TAKEOVER, "both processes have read all events", || {
                Ok(position(client) == FOUNDED + 5)
            })?;
        }
        Ok(())
    })
}
