//! The contract under "Conventions", for clients behind a proxy, from another origin, or in a thousand at
//! once.

use anyhow::Result;
use serde_json::json;
use terrace_testkit::web::{CorsOrigin, ForwardingHeader, LimitConfig, Rate, TrustedProxies};
use terrace_testkit::{Answer, Client, DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    a_flood_of_logins_is_bounded_and_others_get_in,
}

const APP: &str = "https://app.example";

/// A service that trusts the local machine as a proxy, through which all of these tests come.
fn behind_a_proxy(kind: DatabaseKind, header: ForwardingHeader, limits: LimitConfig) -> Result<TestService> {
    let networks = vec!["127.0.0.0/8".parse()?, "10.0.0.0/8".parse()?];
    TestService::builder(kind)
        .limits(limits)
        .web(|web| web.trusted_proxies = TrustedProxies { networks, header })
        .start()
}

fn attempt(client: &Client, from: &str, name: &str, password: &str) -> Answer {
    let body = json!({"username": name, "password": password});
    client.ask("POST", "/api/login").header("x-forwarded-for", from).json(&body).send()
}

/// During a flood of logins on their name the owner of the password still signs in from home, and so do all
/// other fans from anywhere.
fn a_flood_of_logins_is_bounded_and_others_get_in(kind: DatabaseKind) -> Result<()> {
    let limits = LimitConfig {
        login_address: Rate::new(20, 3600),
        login_name: Rate::new(5, 3600),
        register: Rate::new(100, 3600),
        ..LimitConfig::default()
    };
    let service = behind_a_proxy(kind, ForwardingHeader::XForwardedFor, limits)?;
    for (name, home) in [("mia", "192.0.2.1"), ("leo", "192.0.2.2")] {
        let body = json!({"username": name, "password": PASSWORD});
        let register = service.client();
        register.ask("POST", "/api/register").header("x-forwarded-for", home).json(&body).send().expect(201);
    }
    let refused = |answer: &Answer| {
        let wait: u64 = answer.header("retry-after").unwrap_or_default().parse().expect("seconds");
        assert!((1..=3600).contains(&wait), "{wait}");
        assert_eq!(answer.code(), "rate_limited");
    };
    // This client never signs in, so it counts by its address alone.
    let stranger = service.client();
    // On one name, from everywhere.
    let mut guesses = 0;
    for n in 0..1000 {
        let answer = attempt(&stranger, &format!("198.51.{}.{}", n / 250, n % 250), "mia", "wrong password");
        match answer.status {
            401 => guesses += 1,
            429 => refused(&answer),
            status => panic!("{status}: {}", answer.text()),
        }
    }
    assert_eq!(guesses, 5);
    attempt(&service.client(), "192.0.2.1", "mia", PASSWORD).expect(200);
    attempt(&service.client(), "192.0.2.77", "mia", PASSWORD).problem(429, "rate_limited");
    attempt(&service.client(), "192.0.2.77", "leo", PASSWORD).expect(200);
    // From one address, on every name.
    let mut guesses = 0;
    for n in 0..1000 {
        let answer = attempt(&stranger, "203.0.113.9", &format!("fan{n}"), "wrong password");
        match answer.status {
            401 => guesses += 1,
            429 => refused(&answer),
            status => panic!("{status}: {}", answer.text()),
        }
    }
    assert_eq!(guesses, 20);
    attempt(&service.client(), "192.0.2.2", "leo", PASSWORD).expect(200);
    // Reads are still answered, also from there.
    stranger.ask("GET", "/api/locker-room").header("x-forwarded-for", "203.0.113.9").send().expect(200);
    Ok(())
}

fn one_read_each() -> LimitConfig {
    LimitConfig { anonymous_reads: Rate::new(1, 3600), ..LimitConfig::default() }
}

#[test]
fn clients_count_apart_behind_a_proxy_and_forgeries_do_not_help() -> Result<()> {
    let service = behind_a_proxy(DatabaseKind::Sqlite, ForwardingHeader::XForwardedFor, one_read_each())?;
    let client = service.client();
    let read =
        |forwarded: &str| client.ask("GET", "/api/teams").header("x-forwarded-for", forwarded).send().status;
    assert_eq!(read("198.51.100.1"), 200);
    assert_eq!(read("198.51.100.1"), 429);
    assert_eq!(read("198.51.100.2"), 200);
    // Values before the one that the proxy appended are the client's own.
    assert_eq!(read("1.2.3.4, 198.51.100.1"), 429);
    assert_eq!(read("1.2.3.4, 198.51.100.1, 10.0.0.7"), 429);
    assert_eq!(read("\"1.2.3.4, 198.51.100.1"), 429);
    // A subscriber's whole /64, and an IPv4 address mapped to IPv6.
    assert_eq!(read("2001:db8:1:2::1"), 200);
    assert_eq!(read("[2001:db8:1:2:ffff::9]:4711"), 429);
    assert_eq!(read("::ffff:198.51.100.2"), 429);
    // A header that the proxy does not write is ignored.
    let forged = client.ask("GET", "/api/teams").header("x-forwarded-for", "198.51.100.1");
    assert_eq!(forged.header("forwarded", "for=1.2.3.4").send().status, 429);
    Ok(())
}

#[test]
fn forwarding_headers_count_only_from_trusted_proxies() -> Result<()> {
    // One for the document, which the tests read when the service starts.
    let limits = LimitConfig { anonymous_reads: Rate::new(2, 3600), ..LimitConfig::default() };
    let service = TestService::builder(DatabaseKind::Sqlite).limits(limits).start()?;
    let client = service.client();
    let read = |name: &str, value: &str| client.ask("GET", "/api/teams").header(name, value).send().status;
    assert_eq!(read("x-forwarded-for", "198.51.100.1"), 200);
    assert_eq!(read("x-forwarded-for", "198.51.100.2"), 429);
    assert_eq!(read("forwarded", "for=198.51.100.3"), 429);
    assert_eq!(read("x-real-ip", "198.51.100.4"), 429);
    Ok(())
}

#[test]
fn forwarded_scheme_and_host_change_nothing() -> Result<()> {
    let service = behind_a_proxy(DatabaseKind::Sqlite, ForwardingHeader::Forwarded, LimitConfig::off())?;
    let answer = service
        .client()
        .ask("POST", "/api/register")
        .header("forwarded", "for=198.51.100.1;proto=https;host=evil.example")
        .header("x-forwarded-proto", "https")
        .header("x-forwarded-host", "evil.example")
        .header("origin", "https://evil.example")
        .json(&json!({"username": "mia", "password": PASSWORD}))
        .send();
    answer.problem(403, "cross_site_request");
    Ok(())
}

fn with_origins(origins: &[&str]) -> Result<TestService> {
    let origins: Vec<CorsOrigin> = origins.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    TestService::builder(DatabaseKind::Sqlite)
        .public_url("https://fans.example")
        .web(|web| web.cors_origins = origins)
        .start()
}

fn preflight(client: &Client, origin: &str, path: &str) -> Answer {
    client
        .ask("OPTIONS", path)
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type, idempotency-key")
        .send()
}

#[test]
fn other_origins_read_nothing_unless_they_are_named() -> Result<()> {
    let service = with_origins(&[])?;
    let client = service.client();
    for answer in [
        preflight(&client, APP, "/api/locker-room"),
        client.ask("GET", "/api/locker-room").header("origin", APP).send(),
    ] {
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert!(!answer.headers("vary").iter().any(|vary| vary.contains("Origin")));
    }
    Ok(())
}

#[test]
fn a_named_origin_reads_and_writes_with_credentials() -> Result<()> {
    let service = with_origins(&[APP])?;
    let client = service.client();
    let leave = preflight(&client, APP, "/api/register").expect(204);
    assert_eq!(leave.header("access-control-allow-origin"), Some(APP));
    assert_eq!(leave.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(leave.header("access-control-allow-methods"), Some("POST, OPTIONS"));
    assert!(leave.header("access-control-allow-headers").unwrap_or_default().contains("idempotency-key"));
    assert!(leave.headers("vary").contains(&"Origin"));
    let written = client
        .ask("POST", "/api/register")
        .header("origin", APP)
        .header("sec-fetch-site", "same-site")
        .json(&json!({"username": "mia", "password": PASSWORD}))
        .send()
        .expect(201);
    assert_eq!(written.header("access-control-allow-origin"), Some(APP));
    assert!(written.header("access-control-expose-headers").unwrap_or_default().contains("location"));
    // Failures can be read too.
    let missing = client.ask("GET", "/api/nowhere").header("origin", APP).send().problem(404, "not_found");
    assert_eq!(missing.header("access-control-allow-origin"), Some(APP));

    let stranger = "https://evil.example";
    let refused = preflight(&client, stranger, "/api/register");
    assert_eq!(refused.header("access-control-allow-origin"), None);
    assert!(refused.headers("vary").contains(&"Origin"));
    let write = client.ask("POST", "/api/login").header("origin", stranger);
    write.json(&json!({"username": "mia", "password": PASSWORD})).send().problem(403, "cross_site_request");
    Ok(())
}

#[test]
fn a_star_allows_public_reads_and_no_credentials() -> Result<()> {
    let service = with_origins(&["*"])?;
    let client = service.client();
    let read = client.ask("GET", "/api/locker-room").header("origin", APP).send().expect(200);
    assert_eq!(read.header("access-control-allow-origin"), Some("*"));
    assert_eq!(read.header("access-control-allow-credentials"), None);
    let write = client.ask("POST", "/api/login").header("origin", APP);
    write.json(&json!({"username": "mia", "password": PASSWORD})).send().problem(403, "cross_site_request");
    Ok(())
}
