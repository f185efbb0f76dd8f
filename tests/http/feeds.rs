//! The contract under "Locker room and social" (spec §4): the feed of followed fans and teams, and the feed
//! of fans who block or are blocked, whose pages others share.

use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    the_following_feed_has_followed_fans_and_the_reader,
    without_follows_the_feed_is_marked_as_that_of_all_fans,
    a_cursor_of_one_feed_is_refused_by_another,
    a_shared_page_is_not_served_to_fans_with_a_block,
    own_teams_include_followed_ones,
}

const FEED: &str = "/api/locker-room";

fn bodies(client: &Client, query: &str) -> Vec<Value> {
    let posts = client.get(&format!("{FEED}{query}")).expect(200).list("/posts");
    posts.iter().map(|post| post["body"].clone()).collect()
}

fn id(client: &Client) -> String {
    client.get("/api/user").expect(200).str_at("/id")
}

fn follow(client: &Client, target: &Value) {
    client.post("/api/user/follow", target).expect(200);
}

fn block(client: &Client, other: &Client) {
    let answer = client.post("/api/user/block", &json!({"userId": id(other)}));
    assert!((200..300).contains(&answer.status), "{}", answer.text());
}

fn the_following_feed_has_followed_fans_and_the_reader(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let [mia, bo, cy] = ["mia", "bo_", "cy_"].map(|name| service.fan(name));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    bo.create_post("by bo");
    cy.create_post("by cy");
    cy.post(FEED, &json!({"body": "by cy in the room", "teamId": team})).expect(201);
    follow(&mia, &json!({"userId": id(&bo)}));
    assert_eq!(bodies(&mia, "?scope=following"), ["by bo"]);
    follow(&mia, &json!({"teamId": team}));
    assert_eq!(bodies(&mia, "?scope=following"), ["by cy in the room", "by bo"]);
    mia.create_post("by mia");
    let answer = mia.get(&format!("{FEED}?scope=following&limit=2")).expect(200);
    assert_eq!(answer.list("/posts").len(), 2);
    assert_eq!(answer.at("/posts/0/body"), "by mia", "at once");
    assert_eq!(answer.json().get("fallback"), None);
    let rest = format!("?scope=following&limit=2&cursor={}", answer.str_at("/nextCursor"));
    assert_eq!(bodies(&mia, &rest), ["by bo"]);

    bo.post(&format!("{FEED}/{}/react", answer.str_at("/posts/0/id")), &json!({"kind": "fire"})).expect(200);
    follow(&bo, &json!({"userId": id(&mia)}));
    let seen = bo.get(&format!("{FEED}?scope=following")).expect(200);
    assert_eq!((seen.at("/posts/0/myReaction"), seen.at("/posts/1/body")), (json!("fire"), json!("by bo")));

    service.client().get(&format!("{FEED}?scope=following")).problem(401, "authentication_required");
    let unread = format!("{FEED}?scope=following&cursor=what");
    service.client().get(&unread).problem(401, "authentication_required");
    let answer = mia.get(&format!("{FEED}?scope=following&teamId={team}")).problem(400, "invalid_request");
    assert_eq!(answer.pointers(), ["/teamId"]);
    let answer = mia.get(&format!("{FEED}?scope=following&limit=0")).problem(422, "validation_failed");
    assert_eq!(answer.pointers(), ["/limit"]);
    Ok(())
}

fn without_follows_the_feed_is_marked_as_that_of_all_fans(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    for n in 0..3 {
        bo.create_post(&format!("post {n}"));
    }
    let first = mia.get(&format!("{FEED}?scope=following&limit=2")).expect(200);
    assert_eq!((first.at("/fallback"), first.at("/posts/1/body")), (json!(true), json!("post 1")));
    // A fan followed meanwhile is in the feed when it is read from its start; this one continues.
    follow(&mia, &json!({"userId": id(&bo)}));
    let cursor = first.str_at("/nextCursor");
    let rest = mia.get(&format!("{FEED}?scope=following&limit=2&cursor={cursor}")).expect(200);
    assert_eq!((rest.at("/fallback"), rest.at("/posts/0/body")), (json!(true), json!("post 0")));
    assert_eq!((rest.list("/posts").len(), rest.at("/nextCursor")), (1, Value::Null));
    assert_eq!(mia.get(&format!("{FEED}?scope=following")).expect(200).at("/fallback"), Value::Null);
    Ok(())
}

fn a_cursor_of_one_feed_is_refused_by_another(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    for _ in 0..2 {
        mia.post(FEED, &json!({"body": "hello", "teamId": team})).expect(201);
    }
    follow(&mia, &json!({"teamId": team}));
    // The last is the page of bo, who follows no one: it belongs to `following`.
    let scopes = ["scope=all", &format!("scope=team&teamId={team}"), "scope=team", "scope=following"];
    for (n, scope) in scopes.iter().enumerate() {
        let cursor = mia.get(&format!("{FEED}?{scope}&limit=1")).expect(200).str_at("/nextCursor");
        for (other, elsewhere) in scopes.iter().enumerate() {
            let answer = mia.get(&format!("{FEED}?{elsewhere}&limit=1&cursor={cursor}"));
            if n == other {
                answer.expect(200);
            } else {
                assert_eq!(answer.problem(400, "invalid_request").pointers(), ["/cursor"]);
            }
        }
    }
    let cursor = bo.get(&format!("{FEED}?scope=following&limit=1")).expect(200).str_at("/nextCursor");
    for scope in scopes {
        let answer = mia.get(&format!("{FEED}?{scope}&limit=1&cursor={cursor}"));
        assert_eq!(answer.status == 200, scope == "scope=following", "{scope}");
    }
    Ok(())
}

/// The same page is read by all fans in turn, so that it is shared; a block counts at once, and so does its
/// end.
fn a_shared_page_is_not_served_to_fans_with_a_block(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let [mia, bo, cy] = ["mia", "bo_", "cy_"].map(|name| service.fan(name));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    let all: Vec<String> = (0..9).rev().map(|n| format!("{} {n}", ["mia", "bo", "cy"][n % 3])).collect();
    for body in all.iter().rev() {
        let author = if body.starts_with("mia") {
            &mia
        } else if body.starts_with("bo") {
            &bo
        } else {
            &cy
        };
        author.post(FEED, &json!({"body": body, "teamId": team})).expect(201);
    }
    let without =
        |name: &str| -> Vec<String> { all.iter().filter(|body| !body.starts_with(name)).cloned().collect() };
    let look = |expected: [&[String]; 4]| {
        for scope in ["?limit=5".to_owned(), format!("?scope=team&teamId={team}&limit=5")] {
            for _ in 0..2 {
                let visitor = service.client();
                for (client, expected) in [&visitor, &mia, &bo, &cy].into_iter().zip(expected) {
                    assert_eq!(bodies(client, &scope), expected[..5], "{scope}");
                }
            }
        }
    };
    look([&all, &all, &all, &all]);
    block(&mia, &bo);
    look([&all, &without("bo"), &without("mia"), &all]);
    // The next page of a fan with a block continues where their page ended, not where the shared one did.
    let first = mia.get(&format!("{FEED}?limit=4")).expect(200);
    let rest = bodies(&mia, &format!("?limit=4&cursor={}", first.str_at("/nextCursor")));
    assert_eq!(rest, without("bo")[4..]);

    let post = first.str_at("/posts/0/id");
    for (n, client) in [&cy, &bo, &mia].into_iter().enumerate() {
        client.post(&format!("{FEED}/{post}/comments"), &json!({"body": format!("comment {n}")})).expect(201);
    }
    let comments = |client: &Client| {
        let comments = client.get(&format!("{FEED}/{post}/comments")).expect(200).list("/comments");
        comments.iter().map(|comment| comment["body"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(comments(&mia), ["comment 0", "comment 2"]);
    assert_eq!(comments(&bo), ["comment 0", "comment 1"]);
    for client in [&cy, &service.client()] {
        assert_eq!(comments(client), ["comment 0", "comment 1", "comment 2"]);
    }
    let body = json!({"userId": id(&bo)});
    let lifted = mia.ask("DELETE", "/api/user/block").json(&body).send();
    assert!((200..300).contains(&lifted.status), "{}", lifted.text());
    look([&all, &all, &all, &all]);
    Ok(())
}

fn own_teams_include_followed_ones(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let teams = mia.get("/api/teams").expect(200).list("/teams");
    let teams: Vec<&str> = teams.iter().filter_map(|team| team["id"].as_str()).collect();
    for (n, team) in teams.iter().enumerate() {
        mia.post(FEED, &json!({"body": format!("room {n}"), "teamId": team})).expect(201);
    }
    mia.patch("/api/user", &json!({"favoriteTeamId": teams[0]})).expect(200);
    follow(&mia, &json!({"teamId": teams[2]}));
    assert_eq!(bodies(&mia, "?scope=team"), ["room 2", "room 0"]);
    Ok(())
}
