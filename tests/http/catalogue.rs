//! The contract under "Accounts": leagues and teams.

use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{DatabaseKind, TestService, on_each_database};

on_each_database! {
    leagues_are_listed_by_key,
    teams_are_listed_by_key_and_by_league,
}

fn leagues_are_listed_by_key(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    let answer = client.get("/api/leagues").expect(200);
    let north = json!({"id": "[id]", "key": "north", "name": "Northern League", "country": "GB", "sport": "football"});
    let south = json!({"id": "[id]", "key": "south", "name": "Southern League", "country": "PT", "sport": "football"});
    assert_eq!(shape(&answer), json!({"leagues": [north, south], "nextCursor": null}));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let one = client.get(&format!("/api/leagues/{}", answer.str_at("/leagues/1/id"))).expect(200);
    assert_eq!(one.json(), json!({"league": answer.at("/leagues/1")}));

    let first = client.get("/api/leagues?limit=1").expect(200);
    assert_eq!(shape(&first), json!({"leagues": [north], "nextCursor": "[cursor]"}));
    let rest = client.get(&format!("/api/leagues?cursor={}", first.str_at("/nextCursor"))).expect(200);
    assert_eq!(shape(&rest), json!({"leagues": [south], "nextCursor": null}));
    Ok(())
}

fn teams_are_listed_by_key_and_by_league(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    let keys = |path: &str| -> Vec<Value> {
        client.get(path).expect(200).list("/teams").iter().map(|team| team["key"].clone()).collect()
    };
    assert_eq!(keys("/api/teams"), ["anchors", "foxes", "rovers"]);
    let answer = client.get("/api/teams?limit=2").expect(200);
    let foxes = json!({
        "id": "[id]", "key": "foxes", "name": "Moorland Foxes", "shortName": "Foxes", "leagueId": "[id]",
        "colors": ["#cc3300", "#000000"], "crestUrl": "/content/crests/foxes-cc3300-000000.svg", "followerCount": 0,
    });
    assert_eq!(shape(&answer)["teams"][1], foxes);
    assert_eq!(keys(&format!("/api/teams?limit=2&cursor={}", answer.str_at("/nextCursor"))), ["rovers"]);

    let league = answer.str_at("/teams/1/leagueId");
    assert_eq!(client.get(&format!("/api/leagues/{league}")).expect(200).at("/league/key"), "north");
    assert_eq!(keys(&format!("/api/teams?leagueId={league}")), ["foxes", "rovers"]);
    let page = client.get(&format!("/api/teams?leagueId={league}&limit=1")).expect(200);
    let rest = format!("/api/teams?leagueId={league}&limit=1&cursor={}", page.str_at("/nextCursor"));
    assert_eq!(keys(&rest), ["rovers"]);

    let one = client.get(&format!("/api/teams/{}", answer.str_at("/teams/1/id"))).expect(200);
    assert_eq!(one.json(), json!({"team": answer.at("/teams/1")}));
    Ok(())
}
