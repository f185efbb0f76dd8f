//! The contract under "Accounts": what profiles show of points, achievements and balances.

use super::leaderboard::{give, joined};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::accounts::GrantRole;
use terrace_testkit::app::boards::StartSeason;
use terrace_testkit::identity::Role;
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_profile_shows_the_points_and_the_rank_of_the_season,
    a_fan_who_is_not_listed_has_neither_points_nor_rank,
    a_profile_shows_the_level_by_all_points_ever_earned,
    a_profile_shows_the_latest_achievements,
    the_own_profile_shows_role_and_balances,
}

const VISIT: &str = "/api/quests/daily-visit";

fn standing(client: &Client, id: &str) -> [Value; 2] {
    let profile = client.get(&format!("/api/users/{id}")).expect(200);
    ["/points", "/rank"].map(|name| profile.at(name))
}

fn a_profile_shows_the_points_and_the_rank_of_the_season(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, mia_id), (bo, bo_id)) = (joined(&service, "mia"), joined(&service, "bo_"));
    give(&service, &mia_id, 20, "1");
    give(&service, &bo_id, 30, "1");
    for client in [&mia, &bo, &service.client()] {
        assert_eq!(standing(client, &mia_id), [json!(20), json!(2)]);
        assert_eq!(standing(client, &bo_id), [json!(30), json!(1)]);
    }
    // The reader's own points are shown at once.
    give(&service, &mia_id, 15, "2");
    assert_eq!(standing(&mia, &mia_id), [json!(35), json!(1)]);
    let season = StartSeason { key: "1".parse()?, name: "Spring".to_owned(), starts_at: None, ends_at: None };
    service.run(service.app().execute(season)).expect("a season");
    assert_eq!(standing(&mia, &mia_id), [Value::Null, Value::Null]);
    give(&service, &mia_id, 1, "3");
    assert_eq!(standing(&mia, &mia_id), [json!(1), json!(1)]);
    Ok(())
}

fn a_fan_who_is_not_listed_has_neither_points_nor_rank(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, id) = joined(&service, "mia");
    let visitor = service.client();
    let none = [Value::Null, Value::Null];
    assert_eq!(standing(&visitor, &id), none);
    give(&service, &id, 5, "1");
    assert_eq!(standing(&visitor, &id), [json!(5), json!(1)]);
    mia.patch("/api/user", &json!({"leaderboardVisible": false})).expect(200);
    assert_eq!(standing(&visitor, &id), none);
    mia.patch("/api/user", &json!({"leaderboardVisible": true})).expect(200);
    assert_eq!(standing(&visitor, &id), [json!(5), json!(1)]);
    Ok(())
}

/// The HTTP contract, part 2, sections 1 and 5.
fn a_profile_shows_the_level_by_all_points_ever_earned(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, id) = joined(&service, "mia");
    let own = || mia.get("/api/user").expect(200).at("/level");
    let public = || service.client().get(&format!("/api/users/{id}")).expect(200).at("/level");
    let level = |number: u32, name: &str, from: i64, next: i64| json!({"number": number, "name": name, "from": from, "next": next});
    assert_eq!((own(), public()), (level(1, "Newcomer", 0, 100), Value::Null));
    give(&service, &id, 100, "1");
    assert_eq!((own(), public()), (level(2, "Regular", 100, 300), level(2, "Regular", 100, 300)));
    // Points of earlier seasons count.
    let season = StartSeason { key: "1".parse()?, name: "Spring".to_owned(), starts_at: None, ends_at: None };
    service.run(service.app().execute(season)).expect("a season");
    give(&service, &id, 250, "2");
    assert_eq!((own(), public()), (level(3, "Supporter", 300, 700), level(3, "Supporter", 300, 700)));
    mia.patch("/api/user", &json!({"leaderboardVisible": false})).expect(200);
    assert_eq!((own(), public()), (level(3, "Supporter", 300, 700), Value::Null));
    give(&service, &id, 100_000, "3");
    assert_eq!(own(), json!({"number": 10, "name": "Club legend", "from": 50_000, "next": null}));
    Ok(())
}

fn a_profile_shows_the_latest_achievements(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, id) = joined(&service, "mia");
    let shown = |client: &Client| client.get(&format!("/api/users/{id}")).expect(200).list("/achievements");
    assert_eq!(shown(&mia), Vec::<Value>::new());
    let check = || drop(mia.post("/api/quests/check-progress", &json!({})).expect(200));
    // More than three, one after the other; the one for points is secret.
    for name in ["ada", "bea", "cleo", "dan", "eve", "fay", "gus", "hal", "ida", "jon"] {
        let other = service.client();
        let followed = other.register(name);
        mia.post("/api/user/follow", &json!({"userId": followed})).expect(200);
        other.post("/api/user/follow", &json!({"userId": id})).expect(200);
    }
    check();
    service.clock().advance(Duration::from_mins(1));
    give(&service, &id, 5_000, "1");
    check();
    let quests = mia.get("/api/quests").expect(200).list("/quests");
    let daily = quests.iter().find(|quest| quest["key"] == "matchday").expect("the quest");
    for _ in 0..10 {
        service.clock().advance(Duration::from_hours(24));
        mia.post(VISIT, &json!({})).expect(200);
        mia.post("/api/quests/start", &json!({"questId": daily["id"]})).expect(200);
        for step in daily["steps"].as_array().expect("steps") {
            mia.post("/api/quests/complete-step", &json!({"stepId": step["id"]})).expect(200);
        }
    }
    let own = mia.get("/api/user/achievements").expect(200).list("/achievements");
    let mut unlocked: Vec<&Value> = own.iter().filter(|one| one["unlockedAt"].is_string()).collect();
    let book = service.run(service.app().quest_book())?;
    let is_secret =
        |key: &Value| book.achievements().iter().any(|one| key == one.key.as_str() && one.is_secret);
    assert!(unlocked.iter().any(|one| is_secret(&one["key"])));
    unlocked.retain(|one| !is_secret(&one["key"]));
    assert_eq!(unlocked.len(), 4, "{own:?}");
    let latest = |one: &&Value| {
        (
            std::cmp::Reverse(one["unlockedAt"].as_str().map(str::to_owned)),
            one["key"].as_str().map(str::to_owned),
        )
    };
    unlocked.sort_by_key(latest);
    for client in [&mia, &service.client()] {
        let shown = shown(client);
        assert_eq!(shown.len(), 3);
        for (shown, own) in shown.iter().zip(&unlocked) {
            for name in ["key", "title", "description", "unlockedAt"] {
                assert_eq!(shown[name], own[name]);
            }
        }
    }
    Ok(())
}

fn the_own_profile_shows_role_and_balances(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, id) = joined(&service, "mia");
    let seen = || {
        let own = mia.get("/api/user").expect(200);
        [own.at("/role"), own.at("/balances")]
    };
    assert_eq!(seen(), [json!("fan"), json!({"points": 0, "coins": 0})]);
    for _ in 0..2 {
        mia.post(VISIT, &json!({})).expect(200);
        service.clock().advance(Duration::from_hours(24));
    }
    assert_eq!(seen(), [json!("fan"), json!({"points": 20, "coins": 10})]);
    // What can be spent is not what was earned.
    let pack = mia.get("/api/packs").expect(200).str_at("/packs/0/id");
    mia.ask("POST", &format!("/api/packs/{pack}/purchase"))
        .header("idempotency-key", "one")
        .send()
        .expect(201);
    let own = mia.get("/api/user").expect(200);
    assert_eq!([own.at("/balances/points"), own.at("/points")], [json!(10), json!(20)]);
    assert_eq!(mia.patch("/api/user", &json!({})).expect(200).json(), own.json());
    let role = GrantRole { username: "mia".to_owned(), role: Role::TeamManager };
    service.run(service.app().execute(role)).expect("a role");
    assert_eq!(seen()[0], "team_manager");
    // Other fans see neither.
    let public = service.client().get(&format!("/api/users/{id}")).expect(200).json();
    assert!(public.get("role").is_none() && public.get("balances").is_none());
    Ok(())
}
