//! The contract under "Conventions", Cross-site: requests that another site's page makes a browser send are
//! refused.

use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Client, DatabaseKind, PASSWORD, Request, TestService};

/// Writes of every kind: method, path, body.
fn writes() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("POST", "/api/register", json!({"username": "mia", "password": PASSWORD})),
        ("POST", "/api/login", json!({"username": "mia", "password": PASSWORD})),
        ("POST", "/api/mobile-auth/login", json!({"username": "mia", "password": PASSWORD})),
        ("POST", "/api/locker-room", json!({"body": "x"})),
        ("PATCH", "/api/user", json!({})),
        ("PUT", "/api/user/password", json!({"currentPassword": "x", "newPassword": "long enough"})),
        ("DELETE", "/api/locker-room/0190a6f2-7c1e-7abc-8def-0123456789ab", Value::Null),
        ("POST", "/api/logout", Value::Null),
    ]
}

fn from<'c>(
    client: &'c Client,
    method: &str,
    path: &str,
    site: Option<&str>,
    origin: Option<&str>,
) -> Request<'c> {
    let mut request = client.ask(method, path);
    if let Some(site) = site {
        request = request.header("sec-fetch-site", site);
    }
    if let Some(origin) = origin {
        request = request.header("origin", origin);
    }
    request
}

/// Checks a table of the headers with which a browser names the site of a page; `own` is the service's
/// origin.
fn hold(service: &TestService, own: &str, foreign: &[&str]) {
    let signed_in = service.fan("fan");
    let phone = service.client().mobile_login("fan");
    let strangers = |passes: bool| move |origin: &&str| (None, Some((*origin).to_owned()), passes);
    let mut table: Vec<(Option<&str>, Option<String>, bool)> = vec![
        (None, None, true),
        (Some("same-origin"), None, true),
        (Some("none"), None, true),
        (Some("same-origin"), Some(own.to_owned()), true),
        (None, Some(own.to_owned()), true),
        (Some("same-site"), None, false),
        (Some("cross-site"), None, false),
        (Some("Same-Origin"), None, false),
        (Some(""), None, false),
        (Some("same-site"), Some(own.to_owned()), false),
        (Some("cross-site"), Some(own.to_owned()), false),
        (Some("same-origin"), Some("https://evil.example".to_owned()), false),
        (None, Some("null".to_owned()), false),
        (None, Some(String::new()), false),
    ];
    table.extend(foreign.iter().map(strangers(false)));
    for (site, origin, passes) in table {
        let shown = format!("{site:?} {origin:?}");
        for (method, path, body) in writes() {
            let ask = |client: &Client| {
                let request = from(client, method, path, site, origin.as_deref());
                if body.is_null() { request.send() } else { request.json(&body).send() }
            };
            for client in [service.client(), signed_in.fork()] {
                // The service's own cookie must not end before the later rows.
                if passes && path == "/api/logout" {
                    continue;
                }
                let answer = ask(&client);
                let refused = answer.status == 403 && answer.code() == "cross_site_request";
                assert_eq!(refused, !passes, "{method} {path} {shown}: {} {}", answer.status, answer.text());
                if refused {
                    assert!(answer.headers("set-cookie").is_empty());
                }
            }
            // A page cannot make a browser attach another client's bearer token.
            if path != "/api/logout" {
                let answer = ask(&phone);
                assert!(
                    answer.status != 403 || answer.code() != "cross_site_request",
                    "{method} {path} {shown}"
                );
            }
        }
        // Reads are answered: the browser itself keeps the answer from the page.
        for client in [service.client(), signed_in.fork()] {
            let answer = from(&client, "GET", "/api/locker-room", site, origin.as_deref()).send().expect(200);
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    signed_in.get("/api/user").expect(200);
    assert_eq!(service.client().get("/api/user").status, 401);
}

#[test]
fn without_a_public_url_only_the_machine_itself_writes() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let port = service.address().port();
    let localhost = format!("http://localhost:{port}");
    let https = format!("https://127.0.0.1:{port}");
    let foreign = ["https://evil.example", "http://127.0.0.1:1", &https, "http://127.0.0.1", &localhost];
    hold(&service, &service.url(), &foreign);

    // The page's own name counts, if it cannot have been resolved by a name server.
    let body = json!({"username": "fan", "password": PASSWORD});
    for (host, status) in [(format!("localhost:{port}"), 200), (format!("evil.example:{port}"), 421)] {
        let client = service.client();
        let request = client.ask("POST", "/api/login").header("host", &host);
        let answer = request.header("origin", format!("http://{host}")).json(&body).send();
        assert_eq!(answer.status, status, "{host}: {}", answer.text());
    }
    Ok(())
}

#[test]
fn with_a_public_url_only_its_pages_write() -> Result<()> {
    let service = TestService::builder(DatabaseKind::Sqlite).public_url("https://fans.example").start()?;
    let url = service.url();
    let foreign = [
        "https://evil.example",
        "http://fans.example",
        "https://fans.example:444",
        "https://fans.example.evil.example",
        "https://www.fans.example",
        &url,
    ];
    hold(&service, "https://fans.example", &foreign);
    Ok(())
}

#[test]
fn a_preflight_of_another_site_grants_nothing() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let client = service.client();
    let request = client.ask("OPTIONS", "/api/locker-room").header("origin", "https://evil.example");
    let request = request.header("access-control-request-method", "POST");
    let answer = request.header("access-control-request-headers", "content-type").send();
    assert!(answer.status == 204 || answer.status == 403, "{}", answer.status);
    for name in
        ["access-control-allow-origin", "access-control-allow-methods", "access-control-allow-credentials"]
    {
        assert_eq!(answer.header(name), None);
    }
    Ok(())
}
