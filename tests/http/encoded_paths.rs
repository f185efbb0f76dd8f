//! The contract under "Errors" and "Rate limits": a path that percent-encodes an unreserved character (RFC
//! 3986 §2.3) is refused at the edge, whatever route the router would match.

use super::sample::{Operation, Sample, keyed};
use anyhow::{Context, Result};
use std::num::NonZeroU32;
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database, raw};

on_each_database! {
    an_encoded_letter_is_refused_on_every_route,
}

/// The paths that the document does not contain.
fn others(sample: &Sample) -> Vec<(String, String)> {
    let checkout = format!("/sandbox/checkout/{}", sample.purchase);
    let picture = format!("/media/{}", "0".repeat(64));
    let paths = ["/metrics", "/healthz", "/readyz", "/api/docs", "/api/docs/swagger-ui.css"];
    let more = ["/api/openapi.json", "/problems/not_found", &checkout, &picture];
    let reads = paths.iter().chain(&more).map(|path| ("GET".to_owned(), (*path).to_owned()));
    reads.chain([("POST".to_owned(), checkout.clone())]).collect()
}

/// The path with one of its unreserved characters encoded: the first letter, the last character, and one of
/// each segment between.
fn encoded(path: &str) -> Vec<String> {
    let last = path.len() - 1;
    let starts = path.match_indices('/').map(|(at, _)| at + 1);
    let places = starts.chain([path.len() / 2, last]).filter(|at| path.as_bytes()[*at] != b'/');
    let upper = |at: usize| format!("{}%{:02X}{}", &path[..at], path.as_bytes()[at], &path[at + 1..]);
    let mut forms: Vec<_> = places.map(upper).collect();
    forms.push(format!("{}%{:02x}{}", &path[..last], path.as_bytes()[last], ""));
    forms
}

fn refused(answer: &Answer, path: &str) {
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (400, "invalid_request"),
        "{path}: {}",
        answer.text()
    );
    assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    for name in ["x-request-id", "content-security-policy", "x-content-type-options", "x-frame-options"] {
        assert!(answer.header(name).is_some(), "{path}: {name}");
    }
}

fn ask(client: &Client, sample: &Sample, operation: &Operation, target: &str) -> Answer {
    let request = keyed(client.ask(&operation.method, target), operation);
    if operation.has_body() { request.json(&sample.body(&operation.id)).send() } else { request.send() }
}

fn an_encoded_letter_is_refused_on_every_route(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let before = sample.dump();
    let operations = sample.operations();
    assert!(operations.len() > 50);
    for operation in &operations {
        // With credentials that open the route, so that nothing else can be the reason.
        let client = if operation.is_of_timers() || operation.is_of_tills() {
            sample.client_for(operation)
        } else {
            sample.mia.fork()
        };
        for path in encoded(sample.target(&operation.template).split('?').next().unwrap_or_default()) {
            refused(&ask(&client, &sample, operation, &path), &path);
        }
    }
    for (method, path) in others(&sample) {
        for path in encoded(&path) {
            refused(&sample.mia.ask(&method, &path).send(), &path);
        }
    }
    assert_eq!(sample.dump(), before);
    Ok(())
}

#[test]
fn refused_paths_count_against_the_address() -> Result<()> {
    let allowed = 5;
    let limits = LimitConfig {
        // One for the document, which the tests read when the service starts.
        anonymous_reads: Rate::new(allowed + 1, 3600),
        anonymous_writes: Rate::new(allowed, 3600),
        ..LimitConfig::default()
    };
    let service = TestService::builder(DatabaseKind::Sqlite).limits(limits).start()?;
    let client = service.client();
    for (method, path) in [("GET", "/%61pi/teams"), ("POST", "/%61pi/cron/sync-trends")] {
        let statuses = |count| (0..count).map(|_| client.ask(method, path).send().status).collect::<Vec<_>>();
        assert_eq!(statuses(allowed), vec![400; allowed as usize], "{path}");
        let answer = client.ask(method, path).send().problem(429, "rate_limited");
        let wait: Option<NonZeroU32> = answer.header("retry-after").and_then(|wait| wait.parse().ok());
        assert!(wait.is_some() && answer.header("cache-control") == Some("no-store"), "{path}");
    }
    // The routes themselves share the allowance.
    client.get("/api/teams").problem(429, "rate_limited");
    Ok(())
}

/// Other spellings that the router and the middleware could read differently.
#[test]
fn odd_spellings_of_a_path_reach_no_route() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let client = service.client();
    for (method, path, status) in [
        ("POST", "/api/cron%2Fsync-trends", 404),
        ("POST", "/api%2fcron/sync-trends", 404),
        ("POST", "/api/%2563ron/sync-trends", 404),
        ("POST", "/api/cron/%73ync-trends", 400),
        ("POST", "//api/cron/sync-trends", 404),
        ("POST", "/api//cron/sync-trends", 404),
        ("POST", "/api/cron//sync-trends", 404),
        ("POST", "/api/cron/sync-trends/", 404),
        ("POST", "/api/cron;x/sync-trends", 404),
        ("POST", "/api/CRON/sync-trends", 404),
        ("POST", "/API/cron/sync-trends", 404),
        ("POST", "/api/x/%2e%2e/cron/sync-trends", 400),
        ("POST", "/api/x/../cron/sync-trends", 404),
        ("POST", "/./api/cron/sync-trends", 404),
        ("POST", "/api/cron/sync-trends%00", 404),
        ("POST", "/api/cron/sync-trends%zz", 404),
        ("GET", "/metrics%20", 404),
        ("GET", "/metrics/", 404),
        ("GET", "/METRICS", 404),
        ("GET", "/api/teams;x=1", 404),
        ("GET", "/api/user%2F..%2Fteams", 404),
    ] {
        let answer = client.ask(method, path).send();
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
    }
    Ok(())
}

/// The form that clients of a proxy send (RFC 9112 §3.2.2) names the same routes, under the same rules.
#[test]
fn absolute_targets_are_read_alike() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let status = |method: &str, target: &str| {
        let head = format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        raw(service.address(), head.as_bytes())?.map(|answer| answer.status).context("no answer")
    };
    assert_eq!(status("GET", "http://localhost/api/teams")?, 200);
    assert_eq!(status("GET", "http://localhost/%61pi/teams")?, 400);
    assert_eq!(status("POST", "http://localhost/api/cron/sync-trends")?, 401);
    assert_eq!(status("POST", "http://localhost/api/cro%6e/sync-trends")?, 400);
    Ok(())
}
