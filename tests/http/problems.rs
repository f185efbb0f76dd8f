//! The contract under "Conventions", Errors (spec §7 and §8): each failure has one shape. The testkit checks
//! the shape of every failure in the suite; this file has one of each kind, in full.

use super::sample::{Sample, UNKNOWN};
use super::shape::shape_of;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{Answer, DatabaseKind, PASSWORD, TestService, on_each_database, raw};

on_each_database! {
    one_of_each_kind,
}

/// The document without what differs; `detail` and `title` are prose and may change.
fn problem(answer: &Answer) -> Value {
    let mut problem = shape_of(&answer.json());
    for prose in ["title", "detail"] {
        assert!(problem[prose].take().as_str().is_some_and(|text| !text.is_empty()));
    }
    for error in problem.get_mut("errors").and_then(Value::as_array_mut).into_iter().flatten() {
        assert!(error["detail"].take().as_str().is_some_and(|text| !text.is_empty()));
    }
    problem
}

fn expected(status: u16, code: &str, instance: &str, pointers: &[&str]) -> Value {
    let mut problem = json!({
        "type": format!("/problems/{code}"), "title": null, "status": status, "detail": null,
        "instance": instance, "code": code, "requestId": "[id]",
    });
    if !pointers.is_empty() {
        problem["errors"] =
            pointers.iter().map(|pointer| json!({"pointer": pointer, "detail": null})).collect();
    }
    problem
}

fn one_of_each_kind(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let (mia, bo, visitor) = (&sample.mia, &sample.bo, sample.service.client());
    let before = sample.dump();
    let room = "/api/locker-room";
    let post = format!("{room}/{}", sample.post);
    let missing = format!("{room}/{UNKNOWN}");
    let long = json!({"body": "x".repeat(70_000)});
    let taken = json!({"username": "MIA", "password": PASSWORD});
    for (answer, status, code, instance, pointers) in [
        (mia.post(room, &json!({"body": 7})), 400, "invalid_request", room, &["/body"][..]),
        (visitor.get("/api/user"), 401, "authentication_required", "/api/user", &[]),
        (visitor.with_bearer("junk").get(room), 401, "invalid_token", room, &[]),
        (bo.delete(&post), 403, "forbidden", &post, &[]),
        (mia.get(&missing), 404, "not_found", &missing, &[]),
        (mia.get("/no/such/page?at=all"), 404, "not_found", "/no/such/page", &[]),
        (mia.put("/api/user", &json!({})), 405, "method_not_allowed", "/api/user", &[]),
        (visitor.post("/api/register", &taken), 409, "username_taken", "/api/register", &[]),
        (mia.post(room, &long), 413, "payload_too_large", room, &[]),
        (mia.ask("POST", room).body("text/plain", "hi").send(), 415, "unsupported_media_type", room, &[]),
        (mia.post(room, &json!({"body": " "})), 422, "validation_failed", room, &["/body"]),
    ] {
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        assert_eq!(problem(&answer), expected(status, code, instance, pointers));
        assert_eq!(answer.header("x-request-id"), Some(answer.str_at("/requestId").as_str()));
        assert_eq!(answer.header("etag"), None);
        let explained = visitor.get(&answer.str_at("/type")).expect(200);
        assert!(explained.text().contains(&answer.str_at("/title")), "{}", explained.text());
    }
    assert_eq!(sample.dump(), before);
    visitor.get("/problems/no_such_code").problem(404, "not_found");
    Ok(())
}

/// "Rate limits": 429 with `Retry-After`; the requests of one account do not count for another.
#[test]
fn too_many_requests_are_429_with_retry_after() -> Result<()> {
    let limits = LimitConfig {
        account_writes: Rate::new(3, 3600),
        login_name: Rate::new(3, 3600),
        register: Rate::new(3, 3600),
        ..LimitConfig::default()
    };
    let service = TestService::builder(DatabaseKind::Sqlite).limits(limits).start()?;
    let (mia, bo, ana) = (service.fan("mia"), service.fan("bo_"), service.fan("ana"));
    let limited = |answer: Answer| -> Result<()> {
        let answer = answer.problem(429, "rate_limited");
        let wait: u64 = answer.header("retry-after").context("no Retry-After")?.parse()?;
        assert!((1..=3600).contains(&wait), "{wait}");
        Ok(())
    };
    limited(service.client().post("/api/register", &json!({"username": "late", "password": PASSWORD})))?;
    for n in 0..3 {
        mia.create_post(&format!("post {n}"));
    }
    limited(mia.post("/api/locker-room", &json!({"body": "one too many"})))?;
    assert_eq!(mia.get("/api/locker-room").expect(200).list("/posts").len(), 3);
    bo.create_post("I may");

    let wrong = json!({"username": "ANA", "password": "not the password"});
    for _ in 0..3 {
        service.client().post("/api/login", &wrong).problem(401, "invalid_credentials");
    }
    limited(service.client().post("/api/login", &wrong))?;
    limited(service.client().post("/api/mobile-auth/login", &wrong))?;
    // A signed-in fan stays so during the guesses.
    ana.get("/api/user").expect(200);
    Ok(())
}

/// 10 MiB, declared and undeclared: refused without being kept.
#[test]
fn ten_mebibytes_are_413() -> Result<()> {
    let sample = Sample::start(DatabaseKind::Sqlite)?;
    let before = sample.dump();
    let cookie = sample.mia.cookie("session").context("no cookie")?;
    let address = sample.service.address();
    let head = format!(
        "POST /api/locker-room HTTP/1.1\r\nHost: {address}\r\nCookie: session={cookie}\r\n\
         Content-Type: application/json\r\n"
    );
    let body = format!("{{\"body\":\"{}\"}}", "x".repeat(10 << 20));
    let declared = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for request in [declared, chunked] {
        let answer =
            raw(address, request.as_bytes())?.context("no answer")?.problem(413, "payload_too_large");
        assert_eq!(answer.header("x-request-id"), Some(answer.str_at("/requestId").as_str()));
    }
    assert_eq!(sample.dump(), before);
    Ok(())
}

/// Bytes that are not HTTP never become a request: they are refused or the connection is cut off, and no
/// other client is affected.
#[test]
fn bytes_that_are_not_http_are_refused_and_affect_no_other() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(200_000));
    let many = "X-Again: y\r\n".repeat(5000);
    let many = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    for bytes in [
        b"\0\0\0\0\r\n\r\n".as_slice(),
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBroken header\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n",
        b"POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}",
        b"POST /api/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /api/login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\
          Content-Type: application/json\r\n\r\nzz\r\n",
        long.as_bytes(),
        many.as_bytes(),
    ] {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        if let Some(answer) = raw(service.address(), bytes)? {
            assert!((400..500).contains(&answer.status), "{shown:?}: {}", answer.status);
        }
    }
    service.client().get("/healthz").expect(200);
    Ok(())
}
