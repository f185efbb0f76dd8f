//! The security headers of answers of every kind. The testkit checks that some are on every answer of the
//! suite; this file checks their values.

use super::sample::{Sample, UNKNOWN};
use anyhow::Result;
use serde_json::json;
use terrace_testkit::{Answer, DatabaseKind, TestService};

const CLOSED: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Asserts that every security header is set once, and that no header names the software.
pub(super) fn has_security_headers(what: &str, answer: &Answer) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(answer.headers(name), [value], "{what}: {name}");
    }
    let policies = answer.headers("content-security-policy");
    assert_eq!(policies.len(), 1, "{what}");
    if what == "the page" || what == "a script" {
        assert!(policies[0].starts_with("default-src 'none'; script-src 'self'"), "{what}: {policies:?}");
        assert!(policies[0].contains("frame-ancestors 'none'"));
        assert!(!policies[0].contains("unsafe"), "{policies:?}");
    } else if what.contains("/content/pictures/") && answer.status == 200 {
        assert_eq!(policies[0], format!("{CLOSED}; sandbox"), "{what}");
    } else if what.contains("/content/") && answer.header("content-type") == Some("image/svg+xml") {
        assert_eq!(policies[0], "default-src 'none'; style-src 'unsafe-inline'; sandbox", "{what}");
    } else {
        assert_eq!(policies[0], CLOSED, "{what}");
    }
    for leak in ["server", "x-powered-by"] {
        assert_eq!(answer.header(leak), None, "{what}");
    }
}

#[test]
fn every_kind_of_answer_has_security_headers() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let (mia, visitor) = (&sample.mia, sample.service.client());
    let tag = visitor.get("/api/teams").header("etag").unwrap_or_default().to_owned();
    let unchanged = visitor.ask("GET", "/api/teams").header("if-none-match", &tag).send().expect(304);
    let packed = visitor.ask("GET", "/api/teams").header("accept-encoding", "gzip").send().expect(200);
    for (what, answer) in [
        ("200", mia.get("/api/user").expect(200)),
        ("200, public", visitor.get("/api/teams").expect(200)),
        ("200, compressed", packed),
        ("201", mia.post("/api/locker-room", &json!({"body": "x"})).expect(201)),
        ("204", mia.ask("OPTIONS", "/api/user").send().expect(204)),
        ("304", unchanged),
        ("400", mia.get("/api/locker-room?no=such").expect(400)),
        ("401", visitor.get("/api/user").expect(401)),
        ("403", sample.bo.delete(&format!("/api/locker-room/{}", sample.post)).expect(403)),
        ("404", mia.get(&format!("/api/locker-room/{UNKNOWN}")).expect(404)),
        ("404, no route", visitor.get("/no/such/page").expect(404)),
        ("405", mia.put("/api/locker-room", &json!({})).expect(405)),
        ("409", visitor.post("/api/register", &sample_name()).expect(409)),
        ("413", mia.post("/api/locker-room", &json!({"body": "x".repeat(70_000)})).expect(413)),
        ("415", mia.ask("POST", "/api/locker-room").body("text/html", "<b>").send().expect(415)),
        ("422", mia.post("/api/locker-room", &json!({"body": ""})).expect(422)),
        ("the document", visitor.get("/api/openapi.json").expect(200)),
        ("the page", visitor.get("/api/docs").expect(200)),
        ("a script", visitor.get("/api/docs/swagger-ui-bundle.js").expect(200)),
        ("alive", visitor.get("/healthz").expect(200)),
        ("ready", visitor.get("/readyz").expect(200)),
        ("figures", visitor.get("/metrics").expect(200)),
        ("a problem, explained", visitor.get("/problems/not_found").expect(200)),
        ("HEAD", visitor.ask("HEAD", "/api/teams").send().expect(200)),
    ] {
        has_security_headers(what, &answer);
        assert_eq!(answer.header("strict-transport-security"), None, "{what}");
    }
    Ok(())
}

fn sample_name() -> serde_json::Value {
    json!({"username": "mia", "password": terrace_testkit::PASSWORD})
}

#[test]
fn private_answers_are_not_stored_by_caches() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    for operation in sample.operations() {
        // The same for every reader.
        let is_shared = operation.ignores_credentials() || operation.id == "getClub";
        if operation.method != "GET" || is_shared {
            continue;
        }
        let answer = sample.mia.get(&sample.target_with(&operation, "")).expect(200);
        let caching = answer.header("cache-control").unwrap_or_default();
        assert!(["no-store", "private, no-cache"].contains(&caching), "{}: {caching}", operation.id);
    }
    Ok(())
}

#[test]
fn https_is_enforced() -> Result<()> {
    let service = TestService::builder(DatabaseKind::Sqlite).public_url("https://fans.example").start()?;
    for path in ["/api/locker-room", "/api/none", "/healthz", "/api/docs"] {
        let answer = service.client().get(path);
        assert!(
            answer.header("strict-transport-security").is_some_and(|value| value.starts_with("max-age="))
        );
        has_security_headers(if path == "/api/docs" { "the page" } else { path }, &answer);
    }
    Ok(())
}
