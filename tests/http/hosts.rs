//! The hosts under which the service answers ("Hosts" of
//! `docs/operations/proxy.md`), the clients that may read `/metrics`, and the answer to a request for another
//! protocol.

use anyhow::{Context, Result};
use serde_json::json;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use terrace_testkit::web::{ForwardingHeader, LimitConfig, MetricsOnMain, Rate, TrustedProxies};
use terrace_testkit::{Answer, DatabaseKind, PASSWORD, TestService, on_each_database, raw};

on_each_database! {
    a_foreign_host_reads_and_writes_nothing,
}

fn with_host(service: &TestService, method: &str, path: &str, host: &str) -> Answer {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    raw(service.address(), head.as_bytes()).expect("a connection").expect("an answer")
}

fn a_foreign_host_reads_and_writes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia");
    for host in ["evil.example", "evil.example:3004", "localhost.evil.example", "192.168.1.5", "0.0.0.0"] {
        for path in ["/metrics", "/api/teams", "/api/openapi.json", "/", "/media/x", "/problems/not_found"] {
            let answer = with_host(&service, "GET", path, host).problem(421, "misdirected_request");
            assert_eq!(answer.header("cache-control"), Some("no-store"), "{host} {path}");
            assert!(answer.text().contains("--public-url"), "{}", answer.text());
        }
        let body = json!({"username": "bo_", "password": PASSWORD});
        let register = service.client();
        let answer = register.ask("POST", "/api/register").header("host", host).json(&body).send();
        assert_eq!((answer.status, answer.code().as_str()), (421, "misdirected_request"), "{host}");
    }
    // The name is still free.
    service.fan("bo_");
    Ok(())
}

#[test]
fn loopback_hosts_are_answered_with_any_port() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    for host in [
        "localhost",
        "localhost:1",
        "LOCALHOST",
        "a.localhost:3004",
        "127.0.0.1",
        "127.1.2.3:80",
        "[::1]:3004",
    ] {
        assert_eq!(with_host(&service, "GET", "/api/teams", host).status, 200, "{host}");
    }
    for host in ["", "a b", "localhost:x", "user@localhost", "[::1", "localhost:99999"] {
        assert_eq!(with_host(&service, "GET", "/api/teams", host).status, 400, "{host}");
    }
    // HTTP/1.0 allows requests without a host, and no browser sends them.
    let mut connection = TcpStream::connect(service.address())?;
    connection.write_all(b"GET /api/teams HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    assert!(answer.starts_with("HTTP/1.0 200 "), "{answer}");
    // The target's own host counts as well (RFC 9112 §3.2.2).
    let answer = with_host(&service, "GET", "http://evil.example/api/teams", "localhost");
    assert_eq!(answer.status, 421);
    Ok(())
}

#[test]
fn health_checks_pass_under_any_host() -> Result<()> {
    let service = TestService::builder(DatabaseKind::Sqlite).public_url("https://fans.example").start()?;
    for host in ["fans.example", "10.0.0.7:3004", "terrace.internal", "localhost"] {
        for path in ["/healthz", "/readyz"] {
            assert_eq!(with_host(&service, "GET", path, host).status, 200, "{host} {path}");
        }
    }
    Ok(())
}

#[test]
fn a_public_url_and_allowed_hosts_are_answered() -> Result<()> {
    let service = TestService::builder(DatabaseKind::Sqlite)
        .public_url("https://fans.example")
        .web(|web| web.allowed_hosts = vec!["terrace.internal".parse().expect("a host")])
        .start()?;
    for (host, status) in [
        ("fans.example", 200),
        ("Fans.Example:443", 200),
        ("terrace.internal:3004", 200),
        ("localhost:3004", 200),
        ("evil.example", 421),
        ("10.0.0.7", 421),
    ] {
        assert_eq!(with_host(&service, "GET", "/api/teams", host).status, status, "{host}");
    }
    Ok(())
}

#[test]
fn refused_hosts_count_against_the_address() -> Result<()> {
    let limits = LimitConfig { anonymous_reads: Rate::new(2, 3600), ..LimitConfig::default() };
    let service = TestService::builder(DatabaseKind::Sqlite).limits(limits).start()?;
    assert_eq!(with_host(&service, "GET", "/", "evil.example").status, 421);
    with_host(&service, "GET", "/", "evil.example").problem(429, "rate_limited");
    Ok(())
}

/// "Metrics" of `docs/operations/monitoring.md`.
#[test]
fn metrics_on_the_main_address_are_for_this_machine() -> Result<()> {
    let behind = |access: Option<MetricsOnMain>| {
        TestService::builder(DatabaseKind::Sqlite)
            .public_url("https://fans.example")
            .web(|web| {
                let networks = vec!["127.0.0.0/8".parse().expect("a network")];
                web.trusted_proxies = TrustedProxies { networks, header: ForwardingHeader::XForwardedFor };
                web.metrics_on_main = access.unwrap_or(web.metrics_on_main);
            })
            .start()
    };
    let read = |service: &TestService, headers: &[(&str, &str)]| {
        let client = service.client();
        let request = client.ask("GET", "/metrics");
        headers.iter().fold(request, |request, (name, value)| request.header(name, value)).send().status
    };
    let service = behind(None)?;
    assert_eq!(read(&service, &[]), 200);
    assert_eq!(read(&service, &[("host", "localhost:9090")]), 200);
    // Behind a proxy on this machine every client comes from it.
    assert_eq!(read(&service, &[("host", "fans.example")]), 404);
    for header in ["x-forwarded-for", "forwarded", "via"] {
        assert_eq!(read(&service, &[(header, "203.0.113.9")]), 404, "{header}");
        assert_eq!(read(&service, &[(header, "127.0.0.1")]), 404, "{header}");
    }
    assert_eq!(with_host(&service, "GET", "/metrics", "fans.example").code(), "not_found");
    let open = behind(Some(MetricsOnMain::Open))?;
    assert_eq!(read(&open, &[("host", "fans.example"), ("x-forwarded-for", "203.0.113.9")]), 200);
    assert_eq!(with_host(&open, "GET", "/metrics", "evil.example").status, 421);
    let off = behind(Some(MetricsOnMain::Off))?;
    assert_eq!(read(&off, &[]), 404);
    Ok(())
}

/// The service offers no other protocol. A request that asks for one is answered at once in HTTP/1.1, or
/// refused.
#[test]
fn requests_for_another_protocol_are_answered_at_once() -> Result<()> {
    // Far beyond the time limit of a raw connection: an answer that waits for a body does not come.
    let service = TestService::builder(DatabaseKind::Sqlite)
        .web(|web| {
            web.body_timeout = Duration::from_hours(1);
            web.answer_timeout = Duration::from_hours(1);
        })
        .start()?;
    service.fan("mia");
    let body = json!({"username": "mia", "password": PASSWORD}).to_string();
    let length = body.len();
    let chunked = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
    let ask = |method: &str, path: &str, upgrade: &str, framing: &str, body: &str| {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{upgrade}{framing}\r\n"
        );
        raw(service.address(), format!("{head}{body}").as_bytes())?.context("no answer")
    };
    let sized = format!("Content-Length: {length}\r\n");
    for websocket in ["Upgrade: websocket\r\n", "Connection: Upgrade\r\nUpgrade: WebSocket\r\n"] {
        for (framing, body) in [
            (sized.as_str(), body.as_str()),
            ("Transfer-Encoding: chunked\r\n", chunked.as_str()),
            ("", ""),
            ("Content-Length: 0\r\n", ""),
        ] {
            let answer = ask("POST", "/api/login", websocket, framing, body)?;
            assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_request"), "{framing}");
        }
        assert_eq!(ask("GET", "/api/teams", websocket, "", "")?.status, 200);
        assert_eq!(ask("OPTIONS", "/api/teams", websocket, "", "")?.status, 204);
    }
    for upgrade in [
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n",
        "Connection: upgrade\r\n",
        "Upgrade: h2c\r\n",
    ] {
        for (framing, body) in [(sized.as_str(), body.as_str()), ("Transfer-Encoding: chunked\r\n", &chunked)]
        {
            let answer = ask("POST", "/api/login", upgrade, framing, body)?;
            assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "{upgrade}");
        }
        assert_eq!(ask("POST", "/api/login", upgrade, "", "")?.status, 400, "{upgrade}");
        assert_eq!(ask("GET", "/api/teams", upgrade, "", "")?.status, 200, "{upgrade}");
    }
    let connect = raw(service.address(), b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    assert_eq!(connect.context("no answer")?.status, 404);
    Ok(())
}
