//! Demo content: what its fan `mia` finds on a first visit, and that it is the same everywhere.

use super::shape::shape_of;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::app::{DEMO_FAN, DEMO_PASSWORD, DemoOutcome};
use terrace_testkit::ops::{self, Verify};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    the_demo_fan_has_something_to_open_buy_and_answer,
    the_demo_room_has_replies_mentions_topics_and_pictures,
    the_demo_is_the_same_in_every_database,
}

const VISIT: &str = "/api/quests/daily-visit";

fn demo(kind: DatabaseKind) -> Result<(TestService, Client)> {
    let service = TestService::builder(kind).without_catalogue().start()?;
    let outcome = service.run(service.app().load_demo(true))?;
    assert!(matches!(outcome, DemoOutcome::Loaded { .. }), "{outcome:?}");
    let mia = service.browser();
    mia.post("/api/login", &json!({"username": DEMO_FAN, "password": DEMO_PASSWORD})).expect(200);
    Ok((service, mia))
}

fn all(client: &Client, path: &str, list: &str) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}?limit=100{cursor}")).expect(200);
        all.extend(page.list(&format!("/{list}")));
        match page.at("/nextCursor").as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

fn keyed(of: &[Value], key: &str) -> Value {
    of.iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("no {key}: {of:?}")).clone()
}

fn balance(mia: &Client, kind: &str) -> i64 {
    mia.get("/api/user").expect(200).at(&format!("/balances/{kind}")).as_i64().expect("a number")
}

fn the_demo_fan_has_something_to_open_buy_and_answer(kind: DatabaseKind) -> Result<()> {
    let (service, mia) = demo(kind)?;
    // To open.
    let sealed = mia.get("/api/user/packs?status=sealed").expect(200).list("/packs");
    let mut packs: Vec<_> = sealed.iter().map(|copy| copy["pack"]["key"].clone()).collect();
    packs.sort_by_key(Value::to_string);
    assert_eq!(packs, ["away-days", "match-day"]);
    let owned = mia.get("/api/user/collectibles").expect(200).list("/collectibles").len();
    assert_eq!(owned, 3, "of the pack that is open");
    for copy in &sealed {
        let path = format!("/api/packs/{}/open", copy["packId"].as_str().expect("an id"));
        mia.post(&path, &json!({"userPackId": copy["id"]})).expect(200);
    }
    assert_eq!(mia.get("/api/user/collectibles").expect(200).list("/collectibles").len(), owned + 7);

    // To buy, with points and with coins.
    let shop = mia.get("/api/packs").expect(200).list("/packs");
    for (pack, kind) in [("match-day", "points"), ("away-days", "coins")] {
        let pack = keyed(&shop, pack);
        let price = pack["price"]["amount"].as_i64().expect("a price");
        let before = balance(&mia, kind);
        let path = format!("/api/packs/{}/purchase", pack["id"].as_str().expect("an id"));
        mia.ask("POST", &path).header("idempotency-key", kind).json(&json!({})).send().expect(201);
        assert_eq!((balance(&mia, kind), pack["price"]["kind"].as_str()), (before - price, Some(kind)));
    }

    // Under way: a streak that reaches a week today, and two quests.
    let visits = mia.get(VISIT).expect(200);
    assert_eq!([visits.at("/streak"), visits.at("/visitedToday")], [json!(6), json!(false)]);
    let visited = mia.post(VISIT, &json!({})).expect(200);
    let paid = ["/streak", "/pointsAwarded", "/coinsAwarded"].map(|at| visited.at(at));
    assert_eq!(paid, [json!(7), json!(60), json!(10)]);
    let quests = mia.get("/api/quests").expect(200).list("/quests");
    assert_eq!(keyed(&quests, "welcome")["status"], "active");
    let matchday = keyed(&quests, "matchday");
    let steps = matchday["steps"].as_array().expect("steps");
    let states: Vec<_> = steps.iter().map(|step| step["status"].clone()).collect();
    assert_eq!(
        (&matchday["status"], states),
        (&json!("active"), vec![json!("completed"), json!("available")])
    );
    let done = mia.post("/api/quests/complete-step", &json!({"stepId": steps[1]["id"]})).expect(200);
    assert_eq!(done.at("/quest/status"), "completed");

    // To read and to answer: others mention her under her newest post, and in posts of their own.
    let feed = mia.get("/api/locker-room?limit=10").expect(200).list("/posts");
    assert_eq!((&feed[0]["author"]["username"], &feed[0]["commentCount"]), (&json!(DEMO_FAN), &json!(2)));
    let mentions_her = |one: &&Value| {
        one["mentions"].as_array().is_some_and(|all| all.iter().any(|one| one["username"] == DEMO_FAN))
    };
    assert_eq!(feed.iter().filter(mentions_her).count(), 2);
    let comments = format!("/api/locker-room/{}/comments", feed[0]["id"].as_str().expect("an id"));
    let asked = mia.get(&comments).expect(200).list("/comments");
    let asked = asked.iter().find(mentions_her).expect("a comment for her");
    let answer = json!({"body": "Left pocket, second clementine.", "replyTo": asked["id"]});
    assert_eq!(mia.post(&comments, &answer).expect(201).at("/comment/replyTo"), asked["id"]);
    assert!(!mia.get("/api/locker-room?scope=following").expect(200).list("/posts").is_empty());

    // To learn: what the others did since her last look, and before it.
    let inbox = all(&mia, "/api/notifications", "notifications");
    for kind in ["follow", "comment", "reply", "reaction", "mention"] {
        assert!(inbox.iter().any(|one| one["kind"] == kind), "{kind}: {inbox:?}");
    }
    let (read, unread): (Vec<_>, Vec<_>) = inbox.iter().partition(|one| one["readAt"].is_string());
    assert!(read.len() > 5 && (3..30).contains(&unread.len()), "{} and {}", read.len(), unread.len());
    assert_eq!(mia.get("/api/notifications").expect(200).at("/unread"), unread.len());

    let checks = service.run(service.app().query(Verify)).unwrap_or_default();
    assert!(!checks.is_empty() && checks.iter().all(|check| check.wrong == 0), "{checks:?}");
    let ledger = service.run(ops::verify_ledger(service.app()))?;
    assert_eq!(ledger.wrong(), 0, "{ledger:?}");
    Ok(())
}

fn the_demo_room_has_replies_mentions_topics_and_pictures(kind: DatabaseKind) -> Result<()> {
    let (_service, mia) = demo(kind)?;
    let posts = all(&mia, "/api/locker-room", "posts");
    let pictured: Vec<_> = posts.iter().filter(|post| !post["image"].is_null()).collect();
    assert_eq!(pictured.len(), 7);
    for post in pictured {
        let image = &post["image"];
        assert!(image["alt"].as_str().is_some_and(|alt| alt.len() > 20), "{image}");
        assert_eq!([&image["width"], &image["height"]], [&json!(960), &json!(640)]);
        for url in ["url", "thumbnailUrl"] {
            let picture = mia.get(image[url].as_str().expect("a path")).expect(200);
            assert_eq!(picture.header("content-type"), Some("image/png"), "{url}");
        }
    }
    let (mut replies, mut liked, mut by_reader, mut mentions) = (0, 0, 0, 0);
    for post in &posts {
        let path = format!("/api/locker-room/{}/comments", post["id"].as_str().expect("an id"));
        let comments = all(&mia, &path, "comments");
        assert_eq!(post["commentCount"], comments.len());
        for comment in &comments {
            let parent = comments.iter().find(|other| other["id"] == comment["replyTo"]);
            assert!(comment["replyTo"].is_null() || parent.is_some_and(|parent| parent["replyTo"].is_null()));
            replies += usize::from(parent.is_some());
            liked += usize::from(comment["likeCount"].as_i64() > Some(0));
            by_reader += usize::from(comment["liked"] == true);
            mentions += comment["mentions"].as_array().map_or(0, Vec::len);
        }
    }
    assert!(replies > 40 && liked > 100 && by_reader > 5, "{replies}, {liked}, {by_reader}");
    assert!(mentions >= 4, "{mentions}");
    for (tag, least) in [("matchday", 10), ("tailgate", 3), ("grassroots", 4), ("tifo", 3)] {
        let tagged = mia.get(&format!("/api/locker-room?tag={tag}")).expect(200).list("/posts");
        assert!(tagged.len() >= least, "{tag}: {}", tagged.len());
    }
    let fans = mia.get("/api/user/followers?limit=100").expect(200).list("/followers");
    let with_picture = fans.iter().filter(|fan| fan["user"]["pictureUrl"].is_string()).count();
    assert!(with_picture > 3 && with_picture < fans.len(), "{with_picture} of {}", fans.len());
    Ok(())
}

fn the_demo_is_the_same_in_every_database(kind: DatabaseKind) -> Result<()> {
    let one = everything(kind)?;
    let other = everything(DatabaseKind::Sqlite)?;
    for (name, value) in &one {
        let (_, same) = other.iter().find(|(other, _)| other == name).expect("the same lists");
        assert_eq!(value, same, "{name}");
    }
    assert!(one.len() == other.len() && one.len() > 200, "{}", one.len());
    Ok(())
}

/// What readers see of the demo content, by the paths that they ask, without ids and times.
fn everything(kind: DatabaseKind) -> Result<Vec<(String, Value)>> {
    let (_service, mia) = demo(kind)?;
    let posts = all(&mia, "/api/locker-room", "posts");
    let mut seen = vec![("posts".to_owned(), shape_of(&json!(posts)))];
    for (nth, post) in posts.iter().enumerate() {
        let path = format!("/api/locker-room/{}/comments", post["id"].as_str().expect("an id"));
        let comments = all(&mia, &path, "comments");
        let parent = |comment: &Value| comments.iter().position(|other| other["id"] == comment["replyTo"]);
        let parents: Vec<_> = comments.iter().map(parent).collect();
        seen.push((format!("comments {nth}"), shape_of(&json!([comments, parents]))));
    }
    // In its order, also of fans with as many points since the same instant.
    let board = all(&mia, "/api/leaderboard", "entries");
    let names: Vec<_> = board.iter().map(|entry| entry["user"]["username"].clone()).collect();
    seen.push(("board".to_owned(), json!([shape_of(&json!(board)), names])));
    for entry in &board {
        let (name, id) = (&entry["user"]["username"], entry["user"]["id"].as_str().expect("an id"));
        let profile = mia.get(&format!("/api/users/{id}")).expect(200).json();
        // Achievements that were unlocked at once have no order.
        let mut achievements = profile["achievements"].as_array().cloned().unwrap_or_default();
        achievements.sort_by_key(|one| one["key"].to_string());
        let profile = json!({"profile": {"achievements": achievements, "points": profile["points"],
            "followers": profile["followerCount"], "picture": profile["pictureUrl"]}});
        seen.push((format!("profile of {name}"), shape_of(&profile)));
        let owned = all(&mia, &format!("/api/users/{id}/collectibles"), "collectibles");
        let mut owned: Vec<_> =
            owned.iter().map(|one| json!([one["collectible"]["key"], one["serial"]])).collect();
        owned.sort_by_key(Value::to_string);
        seen.push((format!("collectibles of {name}"), json!(owned)));
    }
    for path in ["/api/quests", "/api/user", VISIT] {
        seen.push((path.to_owned(), shape_of(&mia.get(path).expect(200).json())));
    }
    Ok(seen)
}
