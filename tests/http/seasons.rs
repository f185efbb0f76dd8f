//! The contract under "Leaderboard" (spec §4): the list of seasons.

use super::leaderboard::{BOARD, give, joined};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::boards::StartSeason;
use terrace_testkit::kernel::Clock;
use terrace_testkit::{Answer, DatabaseKind, TestService, on_each_database};

on_each_database! {
    seasons_are_listed_newest_first_with_their_status,
    each_listed_season_has_a_board,
    a_page_of_seasons_continues_after_a_new_one,
    invalid_requests_for_seasons_are_refused,
}

const SEASONS: &str = "/api/seasons";

/// Starts a season now, or announces it for some days later.
fn begin(service: &TestService, key: &str, days: u64) {
    let starts_at = (days > 0).then(|| service.clock().now().plus(Duration::from_hours(24 * days)));
    let season = StartSeason {
        key: key.parse().expect("a key"),
        name: format!("Season {key}"),
        starts_at,
        ends_at: None,
    };
    service.run(service.app().execute(season)).expect("a season");
}

fn keys(answer: &Answer) -> Vec<[Value; 2]> {
    answer.list("/seasons").iter().map(|season| ["key", "status"].map(|name| season[name].clone())).collect()
}

fn seasons_are_listed_newest_first_with_their_status(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    let only = client.get(SEASONS).expect(200);
    // Season 0, whose records never count, has no board and is not listed.
    assert_eq!(keys(&only), [[json!("0.5"), json!("active")]]);
    assert_eq!(only.at("/seasons/0/name"), "Season 0.5");
    assert_eq!([only.at("/seasons/0/endsAt"), only.at("/nextCursor")], [Value::Null, Value::Null]);
    service.clock().advance(Duration::from_hours(24));
    begin(&service, "1", 0);
    begin(&service, "2", 30);
    let all = client.get(SEASONS).expect(200);
    let expected = [("2", "upcoming"), ("1", "active"), ("0.5", "closed")]
        .map(|(key, status)| [json!(key), json!(status)]);
    assert_eq!(keys(&all), expected);
    assert_eq!(all.at("/seasons/1/endsAt"), all.at("/seasons/0/startsAt"));
    // An unchanged list is not sent again.
    let mia = service.fan("mia");
    for reader in [&client, &mia] {
        let tag = reader.get(SEASONS).expect(200).header("etag").expect("a tag").to_owned();
        reader.ask("GET", SEASONS).header("if-none-match", tag).send().expect(304);
    }
    Ok(())
}

fn each_listed_season_has_a_board(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, id) = joined(&service, "mia");
    give(&service, &id, 5, "a");
    begin(&service, "1", 0);
    give(&service, &id, 7, "b");
    let points: Vec<Value> = mia
        .get(SEASONS)
        .expect(200)
        .list("/seasons")
        .iter()
        .map(|season| {
            let board =
                mia.get(&format!("{BOARD}?seasonId={}", season["id"].as_str().expect("an id"))).expect(200);
            // The season is the same beside a board.
            assert_eq!(&board.at("/season"), season);
            board.at("/entries/0/points")
        })
        .collect();
    assert_eq!(points, [json!(7), json!(5)]);
    Ok(())
}

fn a_page_of_seasons_continues_after_a_new_one(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    for key in ["1", "2"] {
        service.clock().advance(Duration::from_hours(24));
        begin(&service, key, 0);
    }
    let first = client.get(&format!("{SEASONS}?limit=2")).expect(200);
    assert_eq!(keys(&first), [[json!("2"), json!("active")], [json!("1"), json!("closed")]]);
    service.clock().advance(Duration::from_hours(24));
    begin(&service, "3", 0);
    let rest = client.get(&format!("{SEASONS}?limit=2&cursor={}", first.str_at("/nextCursor"))).expect(200);
    assert_eq!(keys(&rest), [[json!("0.5"), json!("closed")]]);
    assert_eq!(rest.at("/nextCursor"), Value::Null);
    Ok(())
}

fn invalid_requests_for_seasons_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    client.get(&format!("{SEASONS}?limit=0")).problem(422, "validation_failed");
    let teams = client.get("/api/teams?limit=1").expect(200).str_at("/nextCursor");
    for query in ["limit=x", "cursor=x", "status=active", &format!("cursor={teams}")] {
        client.get(&format!("{SEASONS}?{query}")).problem(400, "invalid_request");
    }
    client.post(SEASONS, &json!({})).problem(405, "method_not_allowed");
    Ok(())
}
