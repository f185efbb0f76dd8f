//! The database goes away and comes back, without an action on the service.

use super::crowd::{BOUND, Crowd, Reply, await_replies, ends_well};
use super::dice::Dice;
use super::held::Held;
use anyhow::{Context, Result, ensure};
use serde_json::json;
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::pgtemp::Options;
use terrace_testkit::{
    Answer, Client, DatabaseKind, Invocation, PASSWORD, Program, TestDatabase, ThrowawayPostgres, on,
};

/// How soon the service serves again once its database does.
const RECOVERY: Duration = Duration::from_secs(10);

#[test]
fn a_server_that_stops_is_survived() -> Result<()> {
    on(DatabaseKind::Postgres, |_| survives(ThrowawayPostgres::start()?, ThrowawayPostgres::stop_server))
}

#[test]
fn a_server_that_is_killed_is_survived() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let server = ThrowawayPostgres::start_with(Options { fsync: true, ..Options::default() })?;
        survives(server, ThrowawayPostgres::kill_server)
    })
}

/// Ends the server under load, twice, and asserts that clients notice nothing else than its absence.
fn survives(mut server: ThrowawayPostgres, end: impl Fn(&mut ThrowawayPostgres) -> Result<()>) -> Result<()> {
    let invocation = Invocation::on(&server.create_database("terrace")?)?;
    let program = invocation.serve()?;
    let mut dice = Dice::new()?;
    let mut crowd = Crowd::register(&program, 8, &mut dice)?;
    for _ in 0..2 {
        crowd.weather(&program.client(), &mut dice, |replies, dice| {
            await_replies(replies, Reply::Done, 50 + dice.below(150), &[])?;
            end(&mut server)?;
            await_replies(replies, Reply::Later, 20, &[Reply::Done])?;
            is_away(&program)?;
            server.start_server()?;
            let recovery = program.wait_until_ready(RECOVERY)?;
            eprintln!("ready again after {recovery:?}");
            // Each lost connection may cost one request.
            await_replies(replies, Reply::Done, 100, &[Reply::Later])
        })?;
    }
    ends_well(program, invocation)
}

/// Requests that need the database are answered with 503, in time; others are not affected.
pub(super) fn is_away(program: &Program) -> Result<()> {
    let ask = |ask: fn(&Client) -> Answer, status| {
        let started = Instant::now();
        let answer = ask(&program.client()).expect(status);
        ensure!(started.elapsed() < BOUND, "an answer took {:?}", started.elapsed());
        if status == 503 {
            assert_eq!(answer.code(), "unavailable");
            answer.header("retry-after").context("no Retry-After")?;
        }
        Ok(())
    };
    ask(|client| client.ask("GET", "/healthz").send(), 200)?;
    ask(|client| client.ask("GET", "/metrics").send(), 200)?;
    ask(|client| client.ask("GET", "/readyz").may_break().send(), 503)?;
    ask(|client| client.ask("GET", "/api/locker-room").may_break().send(), 503)?;
    ask(|client| client.ask("GET", "/api/teams").may_break().send(), 503)?;
    ask(
        |client| {
            let login = json!({"username": "fan0", "password": PASSWORD});
            client.ask("POST", "/api/login").json(&login).may_break().send()
        },
        503,
    )?;
    ask(
        |client| {
            let register = json!({"username": "late", "password": PASSWORD});
            client.ask("POST", "/api/register").json(&register).may_break().send()
        },
        503,
    )?;
    // A session that cannot be looked up is neither valid nor invalid.
    let client = program.client().with_bearer(&"a".repeat(43));
    assert_ne!(client.ask("GET", "/api/user").may_break().send().status, 500);
    Ok(())
}

#[test]
fn a_service_starts_only_where_its_database_is() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let mut server = ThrowawayPostgres::start()?;
        let invocation = Invocation::on(&server.create_database("terrace")?)?;
        server.stop_server()?;
        let started = Instant::now();
        let ended = invocation.run()?;
        ensure!(started.elapsed() < BOUND, "it took {:?}", started.elapsed());
        assert_eq!(ended.code, Some(1));
        assert!(ended.log.contains("cannot open the database"), "{}", ended.log);
        server.start_server()?;
        assert_eq!(invocation.serve()?.stop()?.code, Some(0));
        Ok(())
    })
}

#[test]
fn a_file_that_another_process_writes_to_can_be_read() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let database = TestDatabase::empty(kind)?;
        let program = Invocation::on(database.url())?.env("TERRACE_CHECKOUT_TIMEOUT", "1").serve()?;
        let client = program.client();
        client.register("mia");
        let before = client.create_post("before");

        let held = Held::take(database.url())?;

        thread::scope(|scope| {
            // Concurrent requests wait concurrently: none waits for the time of others in addition to its
            // own.
            let writers: Vec<_> = (0..8)
                .map(|nth| {
                    let client = client.fork();
                    scope.spawn(move || refused(&client, &format!("meanwhile {nth}")))
                })
                .collect();
            for _ in 0..20 {
                let started = Instant::now();
                assert_eq!(client.get("/api/locker-room").expect(200).list("/posts").len(), 1);
                client.get("/api/user").expect(200);
                client.get("/readyz").expect(200);
                ensure!(started.elapsed() < Duration::from_secs(1), "reading took {:?}", started.elapsed());
            }
            writers.into_iter().try_for_each(|writer| writer.join().expect("a writer"))
        })?;

        drop(held);
        let after = client.create_post("after");
        let posts = client.get("/api/locker-room").expect(200).list("/posts");
        let ids: Vec<_> = posts.iter().map(|post| post["id"].as_str().unwrap_or_default()).collect();
        assert_eq!(ids, [after, before]);
        Ok(())
    })
}

fn refused(client: &Client, body: &str) -> Result<()> {
    let started = Instant::now();
    let post = client.ask("POST", "/api/locker-room").json(&json!({"body": body})).may_break();
    let answer = post.send().problem(503, "unavailable");
    answer.header("retry-after").context("no Retry-After")?;
    ensure!(started.elapsed() < Duration::from_secs(4), "refused after {:?}", started.elapsed());
    Ok(())
}
