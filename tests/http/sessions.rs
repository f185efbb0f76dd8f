//! The contract under "Conventions", Sessions (spec §5): which credential counts, and for what.

use anyhow::{Context, Result};
use serde_json::json;
use std::time::Duration;
use terrace_testkit::{Answer, Client, DatabaseKind, PASSWORD, TestService, on_each_database, raw};

on_each_database! {
    the_credential_of_a_request_decides_its_account,
    a_session_that_was_ended_is_worth_nothing,
    sessions_and_tokens_run_out,
    signing_out_ends_the_session_that_asks,
    signing_in_again_replaces_a_bad_cookie,
}

/// The effect of one credential.
#[derive(Debug, PartialEq, Eq)]
enum Worth {
    /// It signs this fan in.
    SignedIn(&'static str),
    /// Public reads are answered as without a session; the cookie is cleared or not.
    Anonymous { cleared: bool },
    /// Every request is refused.
    Refused,
}

/// The effect on a public read and on a private one, which must agree.
fn worth(client: &Client, fans: &[&'static str]) -> Result<Worth> {
    let feed = client.fork().get("/api/locker-room");
    let own = client.fork().get("/api/user");
    let clears = |answer: &Answer| answer.headers("set-cookie").iter().any(|set| set.contains("Max-Age=0"));
    Ok(match (feed.status, own.status) {
        (200, 200) => {
            let name = own.str_at("/username");
            Worth::SignedIn(fans.iter().find(|fan| **fan == name).context("an unknown fan")?)
        }
        (200, 401) => {
            assert_eq!(own.code(), "authentication_required");
            assert_eq!(clears(&feed), clears(&own));
            Worth::Anonymous { cleared: clears(&feed) }
        }
        (401, 401) => {
            for answer in [&feed, &own] {
                assert_eq!(answer.code(), "invalid_token");
                let challenge = answer.header("www-authenticate");
                assert_eq!(challenge, Some("Bearer error=\"invalid_token\""));
            }
            Worth::Refused
        }
        other => anyhow::bail!("{other:?}"),
    })
}

fn the_credential_of_a_request_decides_its_account(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let fans = ["mia", "bo_"];
    let cookie = service.fan("mia").cookie("session").context("no cookie")?;
    service.fan("bo_");
    let login = json!({"username": "bo_", "password": PASSWORD});
    let pair = service.client().post("/api/mobile-auth/login", &login).expect(200);
    let (access, refresh) = (pair.str_at("/accessToken"), pair.str_at("/refreshToken"));
    let made_up = format!("tsc_{}", "A".repeat(43));
    let none = service.client();
    let with_cookie = |value: &str| none.with_cookie("session", value);
    let anonymous = |cleared| Worth::Anonymous { cleared };
    for (what, client, expected) in [
        ("nothing", none.clone(), anonymous(false)),
        ("a cookie", with_cookie(&cookie), Worth::SignedIn("mia")),
        ("a bearer token", none.with_bearer(&access), Worth::SignedIn("bo_")),
        ("both: the token wins", with_cookie(&cookie).with_bearer(&access), Worth::SignedIn("bo_")),
        ("a bad token wins over a good cookie", with_cookie(&cookie).with_bearer("x"), Worth::Refused),
        ("a cookie that is none", with_cookie("x"), anonymous(true)),
        ("an unknown cookie", with_cookie(&made_up), anonymous(true)),
        ("a cookie and a bit", with_cookie(&format!("{cookie}A")), anonymous(true)),
        ("a cut cookie", with_cookie(&cookie[..cookie.len() - 1]), anonymous(true)),
        ("an empty cookie", with_cookie(""), anonymous(true)),
        ("a cookie of another name", none.with_cookie("__Host-session", &cookie), anonymous(false)),
        ("the cookie's token as a bearer", none.with_bearer(&cookie), Worth::Refused),
        ("the access token in the cookie", with_cookie(&access), anonymous(true)),
        ("the refresh token in the cookie", with_cookie(&refresh), anonymous(true)),
        ("the refresh token as a bearer", none.with_bearer(&refresh), Worth::Refused),
        ("an unknown token", none.with_bearer(&made_up.replace("tsc_", "tsa_")), Worth::Refused),
        ("no token behind the word", none.with_bearer(""), Worth::Refused),
        ("two tokens", none.with_bearer(&format!("{access} {access}")), Worth::Refused),
    ] {
        assert_eq!(worth(&client, &fans)?, expected, "{what}");
    }
    // Another scheme is not a bearer token; the case of the scheme does not matter.
    let own = |value: &str| none.ask("GET", "/api/user").header("authorization", value).send();
    own("Basic bWlhOng=").problem(401, "authentication_required");
    for scheme in ["bearer", "BEARER"] {
        own(&format!("{scheme} {access}")).expect(200);
    }
    let bytes = b"GET /api/user HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \xff\xfe\r\n\r\n";
    raw(service.address(), bytes)?.context("no answer")?.problem(401, "invalid_token");
    let access = json!({"refreshToken": access});
    none.post("/api/mobile-auth/refresh", &access).problem(401, "invalid_token");
    Ok(())
}

fn a_session_that_was_ended_is_worth_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let browser = service.fan("mia");
    let phone = service.client().mobile_login("mia");
    let (ended_browser, ended_phone) = (browser.fork(), phone.fork());
    browser.post("/api/logout", &json!({})).expect(204);
    phone.ask("POST", "/api/mobile-auth/logout").send().expect(204);
    assert_eq!(worth(&ended_browser, &["mia"])?, Worth::Anonymous { cleared: true });
    assert_eq!(worth(&ended_phone, &["mia"])?, Worth::Refused);

    let (one, other) = (service.client(), service.client());
    one.login("mia");
    other.login("mia");
    let change = json!({"currentPassword": PASSWORD, "newPassword": "a new password"});
    one.put("/api/user/password", &change).expect(204);
    assert_eq!(worth(&one, &["mia"])?, Worth::SignedIn("mia"));
    assert_eq!(worth(&other, &["mia"])?, Worth::Anonymous { cleared: true });
    Ok(())
}

fn sessions_and_tokens_run_out(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let browser = service.fan("mia");
    let login = json!({"username": "mia", "password": PASSWORD});
    let pair = browser.post("/api/mobile-auth/login", &login).expect(200);
    let phone = service.client().with_bearer(&pair.str_at("/accessToken"));
    service.clock().advance(Duration::from_mins(14));
    assert_eq!(worth(&phone, &["mia"])?, Worth::SignedIn("mia"));
    service.clock().advance(Duration::from_mins(1));
    assert_eq!(worth(&phone, &["mia"])?, Worth::Refused);
    assert_eq!(worth(&browser, &["mia"])?, Worth::SignedIn("mia"));
    let refresh = json!({"refreshToken": pair.str_at("/refreshToken")});
    let pair = browser.post("/api/mobile-auth/refresh", &refresh).expect(200);
    let phone = service.client().with_bearer(&pair.str_at("/accessToken"));
    assert_eq!(worth(&phone, &["mia"])?, Worth::SignedIn("mia"));

    service.clock().advance(Duration::from_hours(61 * 24));
    let refresh = json!({"refreshToken": pair.str_at("/refreshToken")});
    browser.post("/api/mobile-auth/refresh", &refresh).problem(401, "invalid_token");
    assert_eq!(worth(&browser, &["mia"])?, Worth::SignedIn("mia"));
    service.clock().advance(Duration::from_hours(30 * 24));
    assert_eq!(worth(&browser, &["mia"])?, Worth::Anonymous { cleared: true });
    Ok(())
}

fn signing_out_ends_the_session_that_asks(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (browser, other) = (service.fan("mia"), service.client());
    other.login("mia");
    let answer = browser.ask("POST", "/api/logout").send().expect(204);
    assert!(answer.body.is_empty());
    assert_eq!(browser.cookie("session"), None, "{:?}", answer.headers("set-cookie"));
    browser.ask("POST", "/api/logout").send().problem(401, "authentication_required");
    other.get("/api/user").expect(200);
    // A native client may sign out at either route.
    let phone = service.client().mobile_login("mia");
    phone.ask("POST", "/api/logout").send().expect(204);
    phone.get("/api/user").problem(401, "invalid_token");
    Ok(())
}

fn signing_in_again_replaces_a_bad_cookie(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia");
    let client = service.client().with_cookie("session", "stale");
    let answer = client.login("mia");
    assert_eq!(answer.headers("set-cookie").len(), 1, "{:?}", answer.headers("set-cookie"));
    client.get("/api/user").expect(200);
    Ok(())
}

/// The name and the attributes of the cookie that an answer sets, without its value.
fn attributes(answer: &Answer) -> Vec<String> {
    let sets = answer.headers("set-cookie");
    assert_eq!(sets.len(), 1, "{sets:?}");
    let mut parts: Vec<String> = sets[0].split("; ").map(str::to_owned).collect();
    let name = parts[0].split('=').next().unwrap_or_default().to_owned();
    parts[0] = name;
    parts[1..].sort();
    parts
}

#[test]
fn the_cookie_is_as_strict_as_the_address_allows() -> Result<()> {
    let body = json!({"username": "mia", "password": PASSWORD});
    for (url, expected, cleared) in [
        (
            None,
            ["session", "HttpOnly", "Max-Age=7776000", "Path=/", "SameSite=Lax"].as_slice(),
            ["session", "HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax"].as_slice(),
        ),
        (
            Some("http://fans.example"),
            &["session", "HttpOnly", "Max-Age=7776000", "Path=/", "SameSite=Lax"],
            &["session", "HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax"],
        ),
        (
            Some("https://fans.example"),
            &["__Host-session", "HttpOnly", "Max-Age=7776000", "Path=/", "SameSite=Lax", "Secure"],
            &["__Host-session", "HttpOnly", "Max-Age=0", "Path=/", "SameSite=Lax", "Secure"],
        ),
    ] {
        let builder = TestService::builder(DatabaseKind::Sqlite);
        let service = match url {
            Some(url) => builder.public_url(url).start()?,
            None => builder.start()?,
        };
        let client = service.client();
        assert_eq!(attributes(&client.post("/api/register", &body).expect(201)), expected);
        assert_eq!(attributes(&client.post("/api/login", &body).expect(200)), expected);
        let token = client.cookie(expected[0]).context("no cookie")?;
        assert!(token.len() > 40, "a token holds 256 random bits");
        client.get("/api/user").expect(200);
        assert_eq!(attributes(&client.ask("POST", "/api/logout").send().expect(204)), cleared);
        let bad = service.client().with_cookie(expected[0], "junk");
        assert_eq!(attributes(&bad.get("/api/locker-room").expect(200)), cleared);
    }
    Ok(())
}
