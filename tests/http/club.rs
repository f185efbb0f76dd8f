//! The contract under "The club" (spec §4, Platform): what a client needs for its first page.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use terrace_testkit::{DatabaseKind, TestService, on_each_database};

on_each_database! {
    the_club_is_the_same_for_every_reader,
    the_club_shows_how_the_service_takes_money,
    requests_for_the_club_take_no_parameters,
    the_theme_and_the_manifest_show_the_club,
}

const CLUB: &str = "/api/club";

fn the_club_is_the_same_for_every_reader(kind: DatabaseKind) -> Result<()> {
    let service =
        TestService::builder(kind).web(|web| "Moorland Foxes".clone_into(&mut web.club_name)).start()?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    let club = visitor.get(CLUB).expect(200);
    let mut shown = club.json();
    let features: BTreeSet<String> = serde_json::from_value(shown["features"].take())?;
    let expected = json!({
        "name": "Moorland Foxes", "colors": ["#fbb03b", "#11161d"], "logoUrl": null, "texts": {},
        "currency": "EUR", "payments": "off", "push": false, "features": null,
    });
    assert_eq!(shown, expected);
    assert_eq!(features, areas()?);
    let tag = club.header("etag").context("no tag")?.to_owned();
    for client in [&visitor, &mia] {
        let again = client.get(CLUB).expect(200);
        assert_eq!(
            (again.header("etag"), again.header("cache-control")),
            (Some(tag.as_str()), Some("public, no-cache"))
        );
        assert_eq!(again.json(), club.json());
        client.ask("GET", CLUB).header("if-none-match", &tag).send().expect(304);
    }
    Ok(())
}

/// The areas with routes, except for the one of operators.
fn areas() -> Result<BTreeSet<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/web/src");
    let mut areas = BTreeSet::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.join("routes.rs").is_file() {
            areas.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        }
    }
    areas.remove("platform");
    Ok(areas)
}

fn the_club_shows_how_the_service_takes_money(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).with_sandbox().start()?;
    assert_eq!(service.client().get(CLUB).expect(200).at("/payments"), "sandbox");
    Ok(())
}

fn requests_for_the_club_take_no_parameters(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.client().get(&format!("{CLUB}?name=x")).problem(400, "invalid_request");
    service.client().post(CLUB, &Value::Null).problem(405, "method_not_allowed");
    service.client().with_bearer("nonsense").get(CLUB).problem(401, "invalid_token");
    Ok(())
}

/// Contract, part 2, §1: `/theme.css` and `/manifest.webmanifest` are made from the club.
fn the_theme_and_the_manifest_show_the_club(kind: DatabaseKind) -> Result<()> {
    let service =
        TestService::builder(kind).web(|web| "Moorland Foxes".clone_into(&mut web.club_name)).start()?;
    let visitor = service.client();
    let theme = visitor.get("/theme.css").expect(200);
    assert_eq!(theme.header("content-type"), Some("text/css; charset=utf-8"));
    // #fbb03b in OKLCH.
    assert_eq!(theme.text(), "html:root{--club-l:0.8100;--club-c:0.1525;--club-h:73.74}\n");
    let manifest = visitor.get("/manifest.webmanifest").expect(200);
    assert_eq!(manifest.header("content-type"), Some("application/manifest+json"));
    let manifest = manifest.json();
    let shown = ["name", "short_name", "theme_color", "start_url"].map(|field| manifest[field].clone());
    assert_eq!(shown, ["Moorland Foxes", "Moorland Foxes", "#fbb03b", "/"]);
    assert!(manifest["icons"].as_array().is_some_and(|icons| icons.len() >= 3), "{manifest}");
    Ok(())
}
