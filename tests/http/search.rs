//! Contract, second part, §1 "Navigation": `GET /api/search` and `GET /api/users/by-name/{username}` over HTTP.

use super::sample::UNKNOWN;
use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::app::store::Store;
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_search_answers_the_kinds_that_are_requested,
    each_kind_has_pages,
    bad_searches_are_refused,
    hidden_fans_and_posts_are_not_found,
    any_text_is_harmless,
    a_profile_is_found_by_username,
}

/// Runs the consumers on everything that was committed before.
fn index(service: &TestService) {
    service.run(async {
        service.storage().settled().await.expect("a working relay");
        service.app().catch_up_consumers().await.expect("working consumers");
    });
}

fn search(client: &Client, query: &str) -> Answer {
    client.get(&format!("/api/search?{query}")).expect(200)
}

fn of<'a>(answer: &'a Value, list: &str, field: &str) -> Vec<&'a str> {
    let rows = answer[list].as_array().expect("a list");
    rows.iter().map(|row| row[field].as_str().expect("a text")).collect()
}

fn a_search_answers_the_kinds_that_are_requested(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let rover = service.fan("rover");
    rover.create_post("Rovers till I die #Rovers");
    rover.create_post("Come on, Rovers!");
    index(&service);
    let card = json!({"id": "[id]", "username": "rover", "displayName": "rover", "pictureUrl": null});
    let all = search(&service.client(), "q=ROVERS").json();
    let mut keys: Vec<_> = all.as_object().expect("an object").keys().collect();
    keys.sort();
    assert_eq!(keys, ["nextCursor", "posts", "teams", "topics", "users"]);
    assert_eq!(of(&all, "posts", "body"), ["Come on, Rovers!", "Rovers till I die #Rovers"]);
    assert_eq!(of(&all, "teams", "key"), ["rovers"]);
    assert_eq!(all["topics"], json!([{"tag": "rovers"}]));
    assert_eq!((&all["users"], &all["nextCursor"]), (&json!([]), &Value::Null));

    let one = shape(&search(&rover, "q=rove&kind=users"));
    assert_eq!(one, json!({"users": [card], "nextCursor": null}));
    let two = search(&rover, "q=rove&kind=teams,users,teams&limit=1").json();
    assert_eq!((of(&two, "users", "username"), of(&two, "teams", "key")), (vec!["rover"], vec!["rovers"]));
    assert!(two.get("posts").is_none() && two.get("topics").is_none() && two["nextCursor"].is_null());

    // The same posts as elsewhere, with the reader's own reaction.
    let id = all["posts"][0]["id"].as_str().expect("an id");
    rover.post(&format!("/api/locker-room/{id}/react"), &json!({"kind": "fire"})).expect(200);
    let post = rover.get(&format!("/api/locker-room/{id}")).expect(200).at("/post");
    assert_eq!(search(&rover, "q=come&kind=posts").at("/posts/0"), post);
    assert_eq!(search(&service.client(), "q=come&kind=posts").at("/posts/0/myReaction"), Value::Null);
    Ok(())
}

fn each_kind_has_pages(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    for name in ["goalie1", "goalie2", "goalie3"] {
        service.fan(name).create_post(&format!("goal by #{name}"));
    }
    index(&service);
    let client = service.client();
    for (query, list, field, expected) in [
        ("q=goal&kind=users", "users", "username", ["goalie1", "goalie2", "goalie3"]),
        ("q=goal&kind=topics", "topics", "tag", ["goalie1", "goalie2", "goalie3"]),
        ("q=goal&kind=posts", "posts", "body", ["goal by #goalie3", "goal by #goalie2", "goal by #goalie1"]),
    ] {
        let first = search(&client, &format!("{query}&limit=2"));
        let cursor = first.str_at("/nextCursor");
        let second = search(&client, &format!("{query}&limit=2&cursor={cursor}"));
        assert_eq!(second.at("/nextCursor"), Value::Null);
        let (first, second) = (first.json(), second.json());
        assert_eq!([of(&first, list, field), of(&second, list, field)].concat(), expected);
        // A cursor belongs to its text and its kind.
        for other in [query.replace("goal", "goali"), query.replace(list, "teams"), "q=goal".to_owned()] {
            let answer = client.get(&format!("/api/search?{other}&cursor={cursor}"));
            assert_eq!(answer.problem(400, "invalid_request").pointers(), ["/cursor"], "{other}");
        }
        // Another spelling of the same text is the same list.
        search(&client, &format!("{}&cursor={cursor}", query.replace("goal", "%20GOAL")));
    }
    Ok(())
}

fn bad_searches_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    for (query, status, pointer) in [
        ("", 400, "/q"),
        ("q=", 400, "/q"),
        ("q=ab&q=ab", 400, "/q"),
        ("q=ab&kind=", 400, "/kind"),
        ("q=ab&kind=fans", 400, "/kind"),
        ("q=ab&kind=Users", 400, "/kind"),
        ("q=ab&kind=users,", 400, "/kind"),
        ("q=ab&kind=users%2Cposts,x", 400, "/kind"),
        ("q=ab&kind=users&cursor=x", 400, "/cursor"),
        ("q=ab&cursor=x", 400, "/cursor"),
        ("q=ab&limit=x", 400, "/limit"),
        ("q=ab&sort=best", 400, "/sort"),
        ("q=ab&limit=0", 422, "/limit"),
        ("q=ab&limit=101", 422, "/limit"),
        ("q=a", 422, "/q"),
        ("q=%20a%20", 422, "/q"),
        ("q=%E2%9A%BD", 422, "/q"),
        ("q=e%CC%81", 422, "/q"),
    ] {
        let code = if status == 400 { "invalid_request" } else { "validation_failed" };
        let answer = client.get(&format!("/api/search?{query}")).problem(status, code);
        assert_eq!(answer.pointers(), [pointer], "{query}");
    }
    let longest = "x".repeat(64);
    search(&client, &format!("q={longest}"));
    client.get(&format!("/api/search?q={longest}x")).problem(422, "validation_failed");
    client.get(&format!("/api/search?q={}", "x".repeat(9_000))).problem(422, "validation_failed");
    client.post("/api/search?q=ab", &json!({})).problem(405, "method_not_allowed");
    Ok(())
}

fn hidden_fans_and_posts_are_not_found(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bob) = (service.client(), service.fan("bob"));
    let mia_id = mia.register("mia");
    mia.create_post("goal #goal");
    index(&service);
    let found = |client: &Client| {
        let users = search(client, "q=mia&kind=users").list("/users").len();
        let answer = search(client, "q=goal&kind=posts,topics");
        [users, answer.list("/posts").len(), answer.list("/topics").len()]
    };
    assert_eq!(found(&bob), [1, 1, 1]);
    bob.post("/api/user/block", &json!({"userId": mia_id})).expect(200);
    assert_eq!((found(&bob), found(&service.client())), ([0, 0, 0], [1, 1, 1]));
    assert_eq!(search(&mia, "q=bob&kind=users").list("/users").len(), 0);
    bob.ask("DELETE", "/api/user/block").json(&json!({"userId": mia_id})).send().expect(200);
    assert_eq!(found(&bob), [1, 1, 1]);
    mia.ask("DELETE", "/api/user").json(&json!({"password": terrace_testkit::PASSWORD})).send().expect(204);
    assert_eq!(found(&bob), [0, 0, 0]);
    Ok(())
}

fn any_text_is_harmless(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    mia.create_post("goal \u{1f525} بطولة гол 足球");
    index(&service);
    for (text, posts) in [
        ("%22goal%22", 1),
        ("goal*", 1),
        ("goal%20NEAR%20x", 0),
        ("goal%20%26%20%21x", 0),
        ("%22", 0),
        ("%27%3B%20DROP%20TABLE%20posts%3B--", 0),
        ("%00%00", 0),
        ("goal%00", 1),
        ("%5C%27%22", 0),
        ("%25%25", 0),
        ("%F0%9F%94%A5%F0%9F%94%A5", 0),
        ("%D8%A8%D8%B7%D9%88%D9%84%D8%A9", 1),
        ("%D0%93%D0%9E%D0%9B", 1),
        ("%E7%90%83", 1),
        ("%E8%B6%B3%E7%90%83", 1),
        ("a%20a", 0),
    ] {
        let answer = mia.get(&format!("/api/search?q={text}"));
        if text == "%22" {
            answer.problem(422, "validation_failed");
            continue;
        }
        assert_eq!(answer.expect(200).list("/posts").len(), posts, "{text}");
    }
    // Bytes that are no text are refused or replaced.
    let answer = mia.get("/api/search?q=%FF%FF");
    assert!([200, 400].contains(&answer.status), "{}", answer.text());
    Ok(())
}

fn a_profile_is_found_by_username(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bob) = (service.client(), service.fan("Zoë"));
    let id = mia.register("Mia");
    let by_id = bob.get(&format!("/api/users/{id}")).expect(200).json();
    for name in ["Mia", "mia", "MIA", "%EF%BC%ADia"] {
        assert_eq!(bob.get(&format!("/api/users/by-name/{name}")).expect(200).json(), by_id, "{name}");
    }
    let zoe = service.client().get("/api/users/by-name/Zo%C3%AB").expect(200);
    assert_eq!(zoe.at("/username"), "Zoë");
    for name in ["nobody", "m", "%00", "%FF", "mia%20", "%22mia%22", UNKNOWN, &"x".repeat(3_000)] {
        let answer = bob.get(&format!("/api/users/by-name/{name}"));
        assert_eq!(answer.status, 404, "{name}: {}", answer.text());
        assert_eq!(answer.code(), "not_found", "{name}");
    }
    mia.post("/api/user/block", &json!({"userId": zoe.str_at("/id")})).expect(200);
    bob.get("/api/users/by-name/mia").problem(404, "not_found");
    service.client().get("/api/users/by-name/mia").expect(200);
    Ok(())
}
