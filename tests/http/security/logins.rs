//! A login does not reveal whether a name exists (docs/http-api.md, "Accounts"): a login of an unknown name
//! has the same answer and takes the same work.

use anyhow::{Context, Result};
use serde_json::json;
use terrace_testkit::{
    Answer, Client, DatabaseKind, Invocation, PASSWORD, TestDatabase, TestService, on_each_database,
};

on_each_database! {
    an_unknown_name_has_the_same_answer,
    an_unknown_name_costs_the_same_work,
}

fn login(client: &Client, path: &str, name: &str, password: &str) -> Answer {
    client.post(path, &json!({"username": name, "password": password}))
}

/// The same except for the request's id: status, headers and body.
fn an_unknown_name_has_the_same_answer(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia");
    let shown = |answer: Answer| {
        let (mut body, mut headers) = (answer.json(), Vec::new());
        body.as_object_mut().map(|fields| fields.remove("requestId"));
        for (name, value) in &answer.headers {
            if !["x-request-id", "date", "content-length"].contains(&name.as_str()) {
                headers.push((name.to_string(), value.clone()));
            }
        }
        headers.sort();
        (answer.status, headers, body)
    };
    for path in ["/api/login", "/api/mobile-auth/login"] {
        let client = service.client();
        let known = shown(login(&client, path, "mia", "not it at all"));
        assert_eq!(known.0, 401);
        for unknown in ["nobody", "m", "mia\u{0}", "MIA ", &"x".repeat(4000)] {
            assert_eq!(shown(login(&client, path, unknown, "not it at all")), known, "{path} {unknown:?}");
        }
    }
    Ok(())
}

/// The current value of a counter of the service.
fn counted(client: &Client, name: &str) -> Result<f64> {
    let figures = client.get("/metrics").expect(200).text();
    let line = figures.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map_or(Ok(0.0), |count| count.parse().context("a figure"))
}

/// One hash and the same number of statements for both.
fn an_unknown_name_costs_the_same_work(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    // No other work uses the database meanwhile.
    let program = Invocation::on(database.url())?.env("TERRACE_JOBS", "off").serve()?;
    let client = program.client();
    client.register("mia");
    let cost = |name: &str, password: &str| -> Result<f64> {
        let before = counted(&client, "terrace_password_hashes_total")?;
        for _ in 0..10 {
            login(&client.fork(), "/api/login", name, password);
        }
        Ok(counted(&client, "terrace_password_hashes_total")? - before)
    };
    let [wrong, unknown, right] =
        [cost("mia", "not it at all")?, cost("nobody", "not it at all")?, cost("mia", PASSWORD)?];
    println!(
        "{kind:?}: hashes of 10 logins: {wrong} with a wrong password, {unknown} of an unknown name, {right}"
    );
    assert_eq!((wrong, unknown, right), (10.0, 10.0, 10.0));
    // Also for names and passwords that no account can have.
    for (name, password) in [("x".repeat(4000), "x".to_owned()), (String::new(), "y".repeat(4000))] {
        assert_eq!(cost(&name, &password)?.to_bits(), 10.0_f64.to_bits());
    }
    let service = TestService::start(kind)?;
    service.fan("mia");
    // Other work in a service can only add to it.
    let statements = |name: &str| {
        let once = |_| {
            let before = service.storage().statements();
            login(&service.client(), "/api/login", name, "not it at all").expect(401);
            service.storage().statements() - before
        };
        (0..8).map(once).min()
    };
    assert_eq!(statements("mia"), statements("nobody"));
    Ok(())
}

/// Left out by `cargo xtask test`: beside other tests the times mean nothing. `cargo xtask prove security` runs it.
mod measured {
    use super::login;
    use anyhow::{Result, ensure};
    use std::time::{Duration, Instant};
    use terrace_testkit::{DatabaseKind, Invocation, TestDatabase, on_each_database};

    on_each_database! { an_unknown_name_takes_the_same_time }

    /// Logins of each kind, where time is measured.
    const MEASURED: usize = 60;
    /// How far apart the medians may be, as a ratio. Compared with one hash, which both compute, a statement
    /// takes little time; a missing hash would make the ratio five or more.
    const APART: f64 = 1.5;

    fn an_unknown_name_takes_the_same_time(kind: DatabaseKind) -> Result<()> {
        let database = TestDatabase::empty(kind)?;
        // With the default settings.
        let invocation = Invocation::on(database.url())?
            .without_env("TERRACE_PASSWORD_MEMORY_KIB")
            .without_env("TERRACE_PASSWORD_PASSES");
        let program = invocation.serve()?;
        let client = program.client();
        client.register("mia");
        let mut took = [Vec::new(), Vec::new()];
        // In turns, so that other load affects both.
        for _ in 0..MEASURED {
            for (name, took) in ["mia", "nobody"].into_iter().zip(&mut took) {
                let begun = Instant::now();
                login(&client, "/api/login", name, "not it at all").expect(401);
                took.push(begun.elapsed());
            }
        }
        let [known, unknown] = took.map(median);
        let ratio = unknown.as_secs_f64() / known.as_secs_f64();
        println!(
            "{kind:?}: a login takes {known:?} of a known name, {unknown:?} of an unknown one: ratio {ratio:.3}"
        );
        ensure!((1.0 / APART..APART).contains(&ratio), "{known:?} and {unknown:?}");
        Ok(())
    }

    fn median(mut times: Vec<Duration>) -> Duration {
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }
}
