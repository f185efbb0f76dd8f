//! The contract under "Locker room", `GET /api/trends` and `sort=trending`, over HTTP (spec §1 rule 12).

use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::{Answer, CRON_SECRET, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    before_the_first_refresh_there_are_no_trends,
    trends_are_public,
    trending_pages_stay_with_their_ranking,
    a_room_has_its_own_trends,
    deleted_and_hidden_posts_are_not_shown,
    the_age_of_the_trends_is_a_metric,
}

pub(super) fn sync(service: &TestService) -> Answer {
    service.client().with_bearer(CRON_SECRET).ask("POST", "/api/cron/sync-trends").send().expect(200)
}

fn react(fans: &[Client], post: &str) {
    for fan in fans {
        fan.post(&format!("/api/locker-room/{post}/react"), &json!({"kind": "fire"})).expect(200);
    }
}

fn ids(answer: &Answer) -> Vec<String> {
    let posts = answer.list("/posts");
    posts.iter().map(|post| post["id"].as_str().expect("an id").to_owned()).collect()
}

fn read(client: &Client, query: &str) -> Vec<String> {
    ids(&client.get(&format!("/api/locker-room?sort=trending{query}")).expect(200))
}

fn before_the_first_refresh_there_are_no_trends(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia").create_post("Hello #terrace");
    let answer = service.client().get("/api/trends").expect(200);
    assert_eq!(answer.json(), json!({"topics": [], "posts": [], "refreshedAt": null}));
    let feed = service.client().get("/api/locker-room?sort=trending").expect(200);
    assert_eq!((feed.list("/posts").len(), feed.at("/nextCursor")), (0, Value::Null));
    Ok(())
}

fn trends_are_public(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let fans = ["ana", "bea", "zoe"].map(|name| service.fan(name));
    let quiet = fans[0].create_post("Nice weather. #Weather");
    let loud = fans[0].create_post("What a save! #Derby");
    react(&fans[1..], &loud);
    sync(&service);
    let answer = fans[1].get("/api/trends").expect(200);
    let card = json!({"id": "[id]", "username": "ana", "displayName": "ana", "pictureUrl": null});
    let post = |body: &str, reactions: Value, own: Value| {
        let count: i64 =
            reactions.as_object().into_iter().flatten().filter_map(|(_, count)| count.as_i64()).sum();
        json!({
            "id": "[id]", "author": card, "body": body, "mentions": [], "teamId": null, "team": null, "imageUrl": null, "image": null, "commentCount": 0,
            "reactionCount": count, "reactions": reactions, "myReaction": own, "createdAt": "[time]",
            "editedAt": null,
        })
    };
    let mut seen = shape(&answer);
    // They fade as the clock advances.
    for topic in seen["topics"].as_array_mut().expect("topics") {
        let score = topic["score"].take().as_i64().expect("a whole number");
        assert!((900..=3000).contains(&score), "{score}");
    }
    assert_eq!(
        seen,
        json!({
            "topics": [
                {"tag": "derby", "score": null, "postCount": 1},
                {"tag": "weather", "score": null, "postCount": 1},
            ],
            "posts": [
                post("What a save! #Derby", json!({"fire": 2}), json!("fire")),
                post("Nice weather. #Weather", json!({}), Value::Null),
            ],
            "refreshedAt": "[time]",
        })
    );
    assert_eq!(ids(&answer), [loud.clone(), quiet.clone()]);
    let signed_out = service.client().get("/api/trends").expect(200);
    assert!(signed_out.at("/posts/0/myReaction").is_null());
    for client in [&service.client(), &fans[1]] {
        assert_eq!(read(client, ""), [loud.clone(), quiet.clone()]);
        assert_eq!(read(client, "&scope=all&limit=1"), std::slice::from_ref(&loud));
    }
    let feed = fans[2].get("/api/locker-room?sort=trending").expect(200);
    assert_eq!(feed.at("/posts/0/myReaction"), "fire");
    assert!(feed.at("/streamPosition").is_i64());
    // Newest first is another order of the same posts.
    assert_eq!(ids(&service.client().get("/api/locker-room?sort=recent").expect(200)), [loud, quiet]);
    service.client().get("/api/locker-room?sort=hot").problem(400, "invalid_request");
    service.client().get("/api/trends?limit=5").problem(400, "invalid_request");
    Ok(())
}

fn trending_pages_stay_with_their_ranking(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let fans = ["ana", "bea", "zoe"].map(|name| service.fan(name));
    let posts: Vec<_> = (0..7).map(|n| fans[n % 3].create_post(&format!("Post {n}"))).collect();
    react(&fans, &posts[3]);
    sync(&service);
    let client = service.client();
    let before = read(&client, "");
    assert_eq!((before.len(), &before[0]), (7, &posts[3]));
    let page = |cursor: &str| client.get(&format!("/api/locker-room?sort=trending&limit=3{cursor}"));
    let first = page("").expect(200);
    let cursor = format!("&cursor={}", first.str_at("/nextCursor"));
    react(&fans, &before[6]);
    react(&fans, &before[5]);
    sync(&service);
    let second = page(&cursor).expect(200);
    let third = page(&format!("&cursor={}", second.str_at("/nextCursor"))).expect(200);
    assert!(third.at("/nextCursor").is_null());
    assert_eq!([ids(&first), ids(&second), ids(&third)].concat(), before);
    assert_ne!(read(&client, ""), before);

    // A cursor is valid for its own list and order.
    let recent = client.get("/api/locker-room?limit=3").expect(200).str_at("/nextCursor");
    for wrong in [
        format!("/api/locker-room?limit=3{cursor}"),
        format!("/api/locker-room?sort=trending&cursor={recent}"),
        format!("/api/locker-room?sort=trending&scope=team&teamId={}{cursor}", posts[0]),
    ] {
        assert_eq!(client.get(&wrong).problem(400, "invalid_request").pointers(), ["/cursor"], "{wrong}");
    }
    service.clock().advance(Duration::from_mins(16));
    let expired = page(&cursor).problem(400, "cursor_expired");
    assert_eq!(expired.header("content-type"), Some("application/problem+json"));
    assert_eq!(read(&client, "").len(), 7);
    Ok(())
}

fn a_room_has_its_own_trends(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let fans = ["ana", "bea"].map(|name| service.fan(name));
    let teams = service.client().get("/api/teams").expect(200);
    let (one, other) = (teams.str_at("/teams/0/id"), teams.str_at("/teams/1/id"));
    let write = |team: &str| {
        let body = json!({"body": "In here", "teamId": team});
        fans[0].post("/api/locker-room", &body).expect(201).str_at("/post/id")
    };
    let (first, second, elsewhere) = (write(&one), write(&one), write(&other));
    react(&fans, &first);
    sync(&service);
    let client = service.client();
    assert_eq!(read(&client, &format!("&scope=team&teamId={one}")), [first.clone(), second.clone()]);
    assert_eq!(read(&client, &format!("&scope=team&teamId={other}")), [elsewhere]);
    fans[1].patch("/api/user", &json!({"favoriteTeamId": one})).expect(200);
    assert_eq!(read(&fans[1], "&scope=team"), [first, second]);
    client.get("/api/locker-room?sort=trending&scope=team").problem(401, "authentication_required");
    let unknown_team = super::sample::UNKNOWN;
    client
        .get(&format!("/api/locker-room?sort=trending&scope=team&teamId={unknown_team}"))
        .problem(404, "not_found");
    client.get(&format!("/api/locker-room?sort=trending&teamId={one}")).problem(400, "invalid_request");
    Ok(())
}

fn deleted_and_hidden_posts_are_not_shown(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let fans = ["ana", "bea", "zoe"].map(|name| service.fan(name));
    let posts: Vec<_> = (0..6).map(|n| fans[n % 3].create_post(&format!("Post {n}"))).collect();
    sync(&service);
    fans[0].delete(&format!("/api/locker-room/{}", posts[3])).expect(204);
    let suspend = terrace_testkit::app::accounts::SuspendAccount { username: "bea".to_owned() };
    assert!(service.run(service.app().execute(suspend)).is_ok());
    let client = service.client();
    let expected = [5, 2, 0].map(|n| posts[n].clone());
    assert_eq!(read(&client, ""), expected);
    assert_eq!(read(&client, "&limit=2"), expected[..2]);
    assert_eq!(ids(&client.get("/api/trends").expect(200)), expected);
    Ok(())
}

fn the_age_of_the_trends_is_a_metric(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    sync(&service);
    service.clock().advance(Duration::from_secs(1000));
    service.run(service.app().measure_trends())?;
    let figures = service.client().get("/metrics").expect(200).text();
    // The tests of one process share their metrics.
    for name in ["terrace_trends_age_seconds ", "terrace_trends_rows ", "terrace_job_duration_seconds"] {
        assert!(figures.lines().any(|line| line.starts_with(name)), "{name} is missing: {figures}");
    }
    Ok(())
}
