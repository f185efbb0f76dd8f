//! The first visit of a person, with a browser and with curl, and the content of a new service.

use super::shape::shape;
use anyhow::Result;
use serde_json::json;
use terrace_testkit::app::{DEMO_FAN, DEMO_PASSWORD, DemoOutcome};
use terrace_testkit::ops::{self, Verify};
use terrace_testkit::{Client, DatabaseKind, PASSWORD, TestService, on_each_database, wait_until};

on_each_database! {
    a_browser_and_curl_do_the_same,
    demo_content_is_lively_and_its_fans_can_sign_in,
}

fn a_browser_and_curl_do_the_same(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    first_visit(&service.browser(), "browsing");
    first_visit(&service.client(), "curling");
    assert_eq!(service.client().get("/api/locker-room").expect(200).list("/posts").len(), 2);
    Ok(())
}

/// From the first page to the last click.
fn first_visit(client: &Client, name: &str) {
    let mut page = client.ask("GET", "/").header("accept", "text/html,*/*;q=0.8").send();
    if let (302 | 303 | 307 | 308, Some(location)) = (page.status, page.header("location").map(str::to_owned))
    {
        page = client.get(&location);
    }
    let page = page.expect(200);
    assert!(page.text().contains("/api/docs"), "the first page leads to the contract: {}", page.text());
    client.get("/api/docs").expect(200);
    client.get("/api/openapi.json").expect(200);
    client.get("/api/locker-room").expect(200);
    client.get("/api/user").problem(401, "authentication_required");

    client.register(name);
    client.get("/api/user").expect(200);
    let team = client.get("/api/teams?limit=1").expect(200).str_at("/teams/0/id");
    client.patch("/api/user", &json!({"favoriteTeamId": team})).expect(200);
    let post =
        client.post("/api/locker-room", &json!({"body": "Hello, terrace!", "teamId": team})).expect(201);
    let location = post.header("location").unwrap_or_default().to_owned();
    let comment = json!({"body": "Is anyone here?"});
    client.post(&format!("{location}/comments"), &comment).expect(201);
    client.post(&format!("{location}/react"), &json!({"kind": "love"})).expect(200);
    let seen = client.get("/api/locker-room?scope=team").expect(200);
    assert_eq!(seen.at("/posts/0/commentCount"), 1);
    assert_eq!(seen.at("/posts/0/myReaction"), "love");
    client.ask("POST", "/api/logout").send().expect(204);
    client.get("/api/user").problem(401, "authentication_required");
    assert_eq!(client.get(&location).expect(200).at("/post/reactions"), json!({"love": 1}));
    client.login(name);
    client.get("/api/user").expect(200);
}

fn demo_content_is_lively_and_its_fans_can_sign_in(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).without_catalogue().start()?;
    let outcome = service.run(service.app().load_demo(true))?;
    assert!(matches!(outcome, DemoOutcome::Loaded { .. }), "{outcome:?}");
    assert_eq!(service.run(service.app().load_demo(true))?, DemoOutcome::NotNew);
    assert_eq!(service.run(service.app().load_demo(false))?, DemoOutcome::AlreadyThere);

    let client = service.browser();
    client.post("/api/login", &json!({"username": DEMO_FAN, "password": DEMO_PASSWORD})).expect(200);
    let own = client.get("/api/user").expect(200);
    assert_eq!(own.at("/username"), DEMO_FAN);
    assert!(own.at("/favoriteTeam").is_object());
    let feed = client.get("/api/locker-room?limit=100").expect(200);
    let posts = feed.list("/posts");
    assert!(posts.len() > 20, "{}", posts.len());
    assert!(posts.iter().any(|post| post["commentCount"].as_i64() > Some(1)));
    assert!(posts.iter().any(|post| post["reactionCount"].as_i64() > Some(3)));
    assert!(posts.windows(2).all(|two| two[0]["createdAt"].as_str() >= two[1]["createdAt"].as_str()));
    assert!(!client.get("/api/locker-room?scope=team").expect(200).list("/posts").is_empty());
    assert!(client.get("/api/teams?limit=100").expect(200).list("/teams").len() > 50);
    let popular = posts.iter().find(|post| post["commentCount"].as_i64() > Some(1));
    let id = popular.and_then(|post| post["id"].as_str()).unwrap_or_default();
    assert!(client.get(&format!("/api/locker-room/{id}/comments")).expect(200).list("/comments").len() > 1);

    // And every fan follows some other.
    for (path, list) in [("/api/user/followers", "/followers"), ("/api/user/following", "/following")] {
        assert!(client.get(path).expect(200).list(list).len() >= 8, "{path}");
    }
    assert!(!client.get("/api/user/following").expect(200).list("/teams").is_empty());
    let checks = service.run(service.app().query(Verify)).unwrap_or_default();
    assert!(!checks.is_empty() && checks.iter().all(|check| check.wrong == 0), "{checks:?}");

    // Every fan has points, on the global board and on their teams'.
    let board = client.get("/api/leaderboard?limit=100").expect(200);
    let ranks: Vec<_> = board.list("/entries").iter().filter_map(|entry| entry["rank"].as_i64()).collect();
    assert!(ranks.len() > 20 && ranks[0] == 1 && ranks.is_sorted(), "{ranks:?}");
    assert!(board.at("/me/points").as_i64() > Some(0), "{}", board.text());
    assert!(client.get("/api/leaderboards").expect(200).list("/leaderboards").len() > 10);
    let own = client.get("/api/user/points").expect(200);
    assert_eq!(own.at("/seasonTotal"), board.at("/me/points"));
    assert!(!own.list("/history").is_empty());
    let points = service.run(ops::verify_points(service.app()))?;
    assert_eq!(points.wrong(), 0, "{points:?}");
    let ledger = service.run(ops::verify_ledger(service.app()))?;
    assert_eq!(ledger.wrong(), 0, "{ledger:?}");

    // They are as far in the onboarding quest as a fan who registered and did the same.
    let list = client.get("/api/quests").expect(200).list("/quests");
    let welcome = list.iter().find(|quest| quest["key"] == "welcome").cloned().unwrap_or_default();
    let states: Vec<_> = welcome["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|step| (step["key"].as_str().unwrap_or_default(), step["status"].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        states,
        [
            ("favorite-team", "completed"),
            ("picture", "available"),
            ("profile", "available"),
            ("first-follow", "completed"),
            ("board", "completed"),
        ]
    );
    assert_eq!(welcome["status"], "active");
    let checked = client.post("/api/quests/check-progress", &json!({})).expect(200);
    assert_eq!(checked.at("/pointsAwarded"), 0, "nothing was left to be noticed");
    let sweep = service.run(ops::sync_quests(service.app()))?.sweep.unwrap_or_default();
    assert_eq!((sweep.steps, sweep.quests, sweep.achievements), (0, 0, 0), "{sweep:?}");

    // And gets recommendations, as soon as the graph in memory has processed all this.
    wait_until("the first five people are recommended for mutual followers", || {
        let people = client.get("/api/user/recommended").expect(200).list("/users");
        Ok(people.len() > 5 && people.iter().take(5).all(|person| person["mutualCount"].as_i64() > Some(1)))
    })?;

    // A demo fan is a fan like any other.
    client.create_post("And me too!");
    client
        .post("/api/register", &json!({"username": DEMO_FAN, "password": PASSWORD}))
        .problem(409, "username_taken");
    let league = client.get("/api/leagues?limit=1").expect(200);
    assert_eq!(shape(&league)["leagues"][0]["id"], "[id]");
    Ok(())
}
