//! What other apps show of a link: the tags in the head of the client's page.

use anyhow::{Context, Result};
use serde_json::json;
use std::collections::BTreeMap;
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    pages_with_a_name_say_what_they_show,
    texts_of_fans_are_escaped_and_shortened,
    a_page_that_a_guest_may_not_read_shows_nothing_of_it,
}

const SITE: &str = "https://fans.example";

fn service(kind: DatabaseKind) -> Result<TestService> {
    let service = TestService::builder(kind).without_catalogue().public_url(SITE).start()?;
    service.run(service.app().load_demo(true))?;
    Ok(service)
}

fn open(client: &Client, path: &str) -> Answer {
    client.ask("GET", path).header("accept", "text/html").send().expect(200)
}

/// The tags of a page, with their contents as they are written.
fn tags(client: &Client, path: &str) -> BTreeMap<String, String> {
    let page = open(client, path).text();
    let (head, _) = page.split_once("</head>").expect("a head");
    head.lines()
        .filter_map(|line| line.trim().strip_prefix("<meta property=\"")?.strip_suffix("\" />"))
        .map(|line| line.split_once("\" content=\"").expect("a content"))
        .map(|(name, content)| (name.to_owned(), content.to_owned()))
        .collect()
}

/// A row of a list of the API, by a text that it holds.
fn found(client: &Client, path: &str, list: &str, key: &str) -> Result<serde_json::Value> {
    let rows = client.get(path).expect(200).list(&format!("/{list}"));
    rows.into_iter().find(|row| row["key"] == key).with_context(|| format!("no {key} in {path}"))
}

fn pages_with_a_name_say_what_they_show(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let visitor = service.client();
    for (path, list, key, page, name, description) in [
        ("/api/teams?limit=100", "teams", "arsenal", "teams", "name", None),
        ("/api/quests", "quests", "welcome", "quests", "title", Some("description")),
        ("/api/packs", "packs", "away-days", "packs", "name", Some("description")),
        ("/api/products?limit=100", "products", "home-shirt", "shop/products", "name", Some("description")),
        ("/api/rewards", "rewards", "club-shop-10", "rewards", "name", Some("description")),
        ("/api/wheel", "wheels", "daily", "wheels", "name", None),
    ] {
        let row = found(&visitor, path, list, key)?;
        let page = format!("/{page}/{}", row["id"].as_str().context("an id")?);
        let tags = tags(&visitor, &page);
        let text = |name: &str| row[name].as_str().expect("a text").replace('\'', "&#39;");
        assert_eq!(tags["og:title"], text(name), "{page}");
        assert_eq!(tags.get("og:description"), description.map(text).as_ref(), "{page}");
        assert_eq!(tags["og:url"], format!("{SITE}{page}"));
        assert_eq!(tags["og:image"], format!("{SITE}/icon-512.png"), "the demo has drawings only");
    }
    let rounds = visitor.get("/api/trivia").expect(200).list("/rounds");
    let round = rounds.first().context("no round")?;
    let tags_ = tags(&visitor, &format!("/trivia/{}", round["id"].as_str().context("an id")?));
    assert_eq!(tags_["og:title"], round["title"].as_str().context("a title")?);
    let fan = tags(&visitor, "/fans/mia");
    let profile = visitor.get("/api/users/by-name/mia").expect(200);
    assert_eq!(json!(fan["og:title"]), profile.at("/displayName"));

    // The same page for everyone, which changes with what it shows.
    let answer = open(&visitor, "/fans/mia");
    assert_eq!(answer.header("cache-control"), Some("public, no-cache"));
    assert!(answer.header("vary").is_some_and(|vary| vary.contains("Accept")));
    assert!(answer.header("content-security-policy").is_some());
    let tag = answer.header("etag").context("no tag")?.to_owned();
    assert_ne!(open(&visitor, "/room").header("etag"), Some(tag.as_str()));
    let again =
        visitor.ask("GET", "/fans/mia").header("accept", "text/html").header("if-none-match", &tag).send();
    again.expect(304);
    Ok(())
}

fn texts_of_fans_are_escaped_and_shortened(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let ben = service.mobile_fan("ben");
    let body = format!("</head><script>alert(\"1\")</script>\n& {}", "goal ".repeat(80));
    let post = ben.post("/api/locker-room", &json!({ "body": body })).expect(201);
    let id = post.at("/post/id");
    let tags = tags(&service.client(), &format!("/posts/{}", id.as_str().context("an id")?));
    assert_eq!(tags["og:title"], "ben");
    let description = &tags["og:description"];
    assert!(
        description.starts_with("&lt;/head&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; goal")
    );
    assert!(description.ends_with('…') && !description.contains('\n'), "{description}");
    assert_eq!(tags["og:site_name"], service.client().get("/api/club").expect(200).at("/name"));
    Ok(())
}

fn a_page_that_a_guest_may_not_read_shows_nothing_of_it(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let ben = service.mobile_fan("ben");
    let post = ben.post("/api/locker-room", &json!({"body": "Gone soon"})).expect(201).at("/post/id");
    let path = format!("/posts/{}", post.as_str().context("an id")?);
    let visitor = service.client();
    assert_eq!(tags(&visitor, &path)["og:description"], "Gone soon");
    ben.delete(&format!("/api/locker-room/{}", post.as_str().context("an id")?)).expect(204);
    for path in [
        path.as_str(),
        "/posts/7",
        "/fans/nobody",
        "/fans/%2F",
        "/packs/00000000-0000-4000-8000-000000000000",
        "/room",
        "/fans/mia/followers",
    ] {
        assert!(tags(&visitor, path).is_empty(), "{path}");
    }
    Ok(())
}

/// "Rate limits" of the contract: a page is not refused, and reads nothing beyond the limit.
#[test]
fn beyond_the_limit_of_reads_a_page_comes_without_a_preview() -> Result<()> {
    let limits = LimitConfig { anonymous_reads: Rate::new(2, 3600), ..LimitConfig::default() };
    let service = TestService::builder(DatabaseKind::Sqlite).limits(limits).start()?;
    service.fan("mia");
    let visitor = service.client();
    let seen: Vec<_> = (0..4).map(|_| tags(&visitor, "/fans/mia").contains_key("og:title")).collect();
    assert!(seen.starts_with(&[true]) && seen.ends_with(&[false, false]), "{seen:?}");
    Ok(())
}
