//! The contract under "Platform": liveness, readiness and metrics; and the ids of requests.

use super::sample::{Sample, UNKNOWN};
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use terrace_testkit::{DatabaseKind, TestService, on_each_database};

on_each_database! {
    alive_and_ready,
}

/// The paths of the client's pages, which other tests of the process may have opened.
const PAGES: &str = include_str!("../../crates/client/dist/routes.json");
/// The routes of the service that the OpenAPI document does not describe, as metrics name them.
const UNDOCUMENTED_ROUTES: [&str; 11] = [
    "/",
    "/api/docs",
    "/api/docs/{file:.*}",
    "/api/docs/{file}*",
    "/api/openapi.json",
    "/healthz",
    "/metrics",
    "/problems/{code}",
    "/readyz",
    "/sandbox/checkout/{id}",
    "unmatched",
];

fn alive_and_ready(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    for path in ["/healthz", "/readyz"] {
        let answer = service.client().get(path).expect(200);
        assert_eq!(answer.json(), json!({"status": "ok"}));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        // Whatever credentials a client sends.
        service.client().with_bearer("junk").get(path).expect(200);
    }
    Ok(())
}

/// Without its tables the service is alive and not ready, and every route that needs them answers so.
#[test]
fn a_broken_store_is_503_and_the_process_lives() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let mia = service.fan("mia");
    service.storage().revert_all()?;
    let client = service.client();
    client.get("/healthz").expect(200);
    let answer = client.ask("GET", "/readyz").may_break().send().problem(503, "unavailable");
    assert!(answer.header("retry-after").is_some());
    for client in [&client, &mia] {
        let answer = client.ask("GET", "/api/locker-room").may_break().send();
        assert!([500, 503].contains(&answer.status), "{}", answer.text());
        for cause in ["sql", "SQL", "table", "posts", "sessions", "diesel"] {
            assert!(!answer.text().contains(cause), "{}", answer.text());
        }
    }
    service.storage().migrate()?;
    client.get("/readyz").expect(200);
    client.get("/api/locker-room").expect(200);
    Ok(())
}

/// The value of a counter, or 0 where there is none yet.
fn count(text: &str, name: &str, labels: &[&str]) -> f64 {
    let line = text.lines().find(|line| {
        line.starts_with(&format!("{name}{{")) && labels.iter().all(|label| line.contains(label))
    });
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
}

#[test]
fn metrics_count_requests_by_route_and_name_no_user() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let (mia, visitor) = (&sample.mia, sample.service.client());
    let read = || visitor.get("/metrics").expect(200);
    assert_eq!(read().header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let labels = |method: &str, route: &str, status: u16| {
        [format!("method=\"{method}\""), format!("route=\"{route}\""), format!("status=\"{status}\"")]
    };
    let counted = |labels: &[String; 3]| {
        count(&read().text(), "http_requests_total", &labels.each_ref().map(String::as_str))
    };
    let found = labels("GET", "/api/locker-room/{id}/comments/{commentId}", 200);
    let missing = labels("GET", "/api/locker-room/{id}/comments/{commentId}", 404);
    let (found_before, missing_before) = (counted(&found), counted(&missing));
    let comment = format!("/api/locker-room/{}/comments/{}", sample.post, sample.comment);
    for _ in 0..3 {
        mia.get(&comment).expect(200);
    }
    mia.get(&comment.replace(&sample.comment, UNKNOWN)).expect(404);
    // Other tests of the process count too.
    assert!(counted(&found) >= found_before + 3.0);
    assert!(counted(&missing) >= missing_before + 1.0);

    visitor.get("/somewhere/else/entirely").expect(404);
    visitor.ask("BREW", "/api/teams").send().expect(405);
    let text = read().text();
    for secret in [&sample.post, &sample.comment, &sample.user, "mia", "somewhere", "BREW", "127.0.0.1"] {
        assert!(!text.contains(secret), "{secret}");
    }
    for kind in ["counter", "histogram", "gauge"] {
        assert!(text.contains(&format!(" {kind}\n")), "{text}");
    }
    assert!(text.contains("http_request_duration_seconds_bucket{"));
    assert!(count(&text, "http_requests_total", &["route=\"unmatched\""]) >= 1.0);
    // A label has as many values as there are routes, not as there are resources.
    let routes: BTreeSet<_> =
        text.split("route=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let pages: Map<String, Value> = serde_json::from_str(PAGES)?;
    let is_template = |route: &str| route.starts_with("/api/") || pages.contains_key(route);
    assert!(routes.iter().all(|route| !route.contains('-') || is_template(route)), "{routes:?}");
    let documented: BTreeSet<_> =
        sample.operations().into_iter().map(|operation| operation.template).collect();
    let others: Vec<_> = routes
        .into_iter()
        .filter(|route| !documented.contains(*route) && !pages.contains_key(*route))
        .filter(|route| !UNDOCUMENTED_ROUTES.contains(route))
        .collect();
    assert!(others.is_empty(), "{others:?}");
    Ok(())
}

#[test]
fn every_request_has_its_own_id() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let client = service.client();
    let mut seen = BTreeSet::new();
    for n in 0..200 {
        let path = ["/healthz", "/api/teams", "/api/none", "/api/user"][n % 4];
        // An id chosen by the client might not be unique.
        let answer =
            client.ask("GET", path).header("x-request-id", "0190a6f2-7c1e-7abc-8def-0123456789ab").send();
        assert_eq!(answer.headers("x-request-id").len(), 1);
        assert!(seen.insert(answer.header("x-request-id").unwrap_or_default().to_owned()));
    }
    assert!(!seen.contains("0190a6f2-7c1e-7abc-8def-0123456789ab"));
    Ok(())
}
