//! A pool in which every connection is blocked by a lock of another client (docs/architecture.md, invariant
//! 10): requests that wait for a connection are answered in time with `Retry-After`, requests that need none
//! are served, and service resumes by itself.

use super::crowd::{BOUND, Crowd, Reply, await_replies, ends_well};
use super::dice::Dice;
use super::held::Held;
use super::world::World;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::{
    CRON_SECRET, Client, DatabaseKind, Invocation, PASSWORD, TestDatabase, on_each_database,
};

on_each_database! {
    a_blocked_pool_is_survived,
    requests_behind_blocked_connections_are_answered_in_time,
}

/// How soon the service serves again once the lock is released.
const RECOVERY: Duration = Duration::from_secs(10);
/// How many fans take part: several for each connection.
const FANS: u64 = 12;

/// A program with few connections and short waits.
fn scarce(url: &str) -> Result<Invocation> {
    let few = Invocation::on(url)?.env("TERRACE_CRON_SECRET", CRON_SECRET);
    let few = few.env("TERRACE_READ_CONNECTIONS", "2").env("TERRACE_WRITE_CONNECTIONS", "2");
    Ok(few.env("TERRACE_CHECKOUT_TIMEOUT", "1").env("TERRACE_STATEMENT_TIMEOUT", "2"))
}

fn a_blocked_pool_is_survived(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = scarce(database.url())?;
    World::furnish(&invocation, database.url())?;
    let program = invocation.serve()?;
    let mut dice = Dice::new()?;
    let mut crowd = Crowd::register(&program, FANS, &mut dice)?;
    let client = program.client();
    for round in 1..=2 {
        crowd.weather(&client, &mut dice, |replies, dice| {
            await_replies(replies, Reply::Done, 30 + dice.below(60), &[Reply::Later])?;
            let held = Held::take(database.url())?;
            await_replies(replies, Reply::Later, 2 * FANS, &[Reply::Done])?;
            meanwhile(&client, kind)?;
            drop(held);
            let recovery = program.wait_until_ready(RECOVERY)?;
            println!("round {round}: ready {recovery:?} after the lock was released");
            await_replies(replies, Reply::Done, 50, &[Reply::Later])
        })?;
    }
    ends_well(program, invocation)
}

/// Requests that need no database are served as ever; requests that need the locked data get the documented
/// 503.
fn meanwhile(client: &Client, kind: DatabaseKind) -> Result<()> {
    for path in ["/healthz", "/metrics", "/api/openapi.json", "/api/docs"] {
        client.get(path).expect(200);
    }
    client.get("/api/nothing-of-this-name").expect(404);
    if kind == DatabaseKind::Sqlite {
        // Only writers are blocked.
        client.get("/readyz").expect(200);
        client.get("/api/locker-room?limit=5").expect(200);
    }
    // Needs the accounts.
    let register = json!({"username": "late", "password": PASSWORD});
    let started = Instant::now();
    let answer = client.ask("POST", "/api/register").json(&register).may_break().send();
    let answer = answer.problem(503, "unavailable");
    answer.header("retry-after").context("no Retry-After")?;
    ensure!(started.elapsed() < BOUND, "an answer took {:?}", started.elapsed());
    Ok(())
}

/// Longer than any request may wait for a connection, and much shorter than the connections are blocked.
const IN_TIME: Duration = Duration::from_secs(10);
/// How many requests may have a connection and be blocked, at most: two reads, one write.
const HELD_UP: usize = 3;

/// Requests with a connection are blocked for as long as a statement may wait; requests that wait behind them
/// are not.
fn requests_behind_blocked_connections_are_answered_in_time(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let few = scarce(database.url())?.env("TERRACE_WRITE_CONNECTIONS", "1");
    let program = few.env("TERRACE_STATEMENT_TIMEOUT", "60").env("TERRACE_ANSWER_TIMEOUT", "120").serve()?;
    let client = program.client();
    let held = Held::take(database.url())?;
    let (tell, replies) = mpsc::channel();
    thread::scope(|scope| {
        for nth in 0..HELD_UP + 5 {
            let (tell, client) = (tell.clone(), client.fork());
            scope.spawn(move || {
                let register = json!({"username": format!("fan{nth}"), "password": PASSWORD});
                let answer = client.ask("POST", "/api/register").json(&register).may_break().send();
                // The receiver may have returned already.
                let _ = tell.send(answer.status);
            });
        }
        let until = Instant::now() + IN_TIME;
        for nth in 0..5 {
            let left = until.saturating_duration_since(Instant::now());
            let status =
                replies.recv_timeout(left).with_context(|| format!("only {nth} were answered in time"))?;
            ensure!(status == 503, "{status} in spite of the lock");
        }
        drop(held);
        anyhow::Ok(())
    })?;
    client.register("mia");
    client.create_post("And on it goes.");
    Ok(())
}
