//! Contract part 2 §6, notifications over HTTP: the inbox, marks in two sessions, preferences and events.

use super::streams::{Consumers, OWN, comment, lasting, react, settled, since};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database, wait_until};

on_each_database! {
    spec_6_a_mark_is_seen_in_every_session_within_a_second,
    spec_6_notifications_and_marks_are_sent_to_their_fan,
    spec_6_an_inbox_is_read_page_by_page,
    spec_6_invalid_marks_and_preferences_change_nothing,
    spec_6_preferences_are_replaced_and_exported,
}

const INBOX: &str = "/api/notifications";
const READ: &str = "/api/notifications/read";
const PREFERENCES: &str = "/api/notifications/preferences";

fn unread(client: &Client) -> i64 {
    let listed = client.get(INBOX).expect(200).at("/unread").as_i64().expect("a number");
    assert_eq!(client.get("/api/user").expect(200).at("/unreadNotifications"), listed);
    listed
}

/// Waits until the service has made this many notifications of the fan.
fn notified(client: &Client, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    wait_until("notifications", || {
        found = client.get(INBOX).expect(200).list("/notifications");
        Ok(found.len() >= count)
    })
    .expect("the consumer follows");
    assert_eq!(found.len(), count, "{found:?}");
    found
}

fn spec_6_a_mark_is_seen_in_every_session_within_a_second(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let _consumers = Consumers::of(&service)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let phone = service.client();
    phone.login("mia").expect(200);
    let beside = service.beside(|_| {})?;
    let post = mia.create_post("What a save!");
    react(&bo, &post, "like");
    comment(&bo, &post);
    notified(&mia, 2);
    let mut stream = phone.stream(&since(OWN, settled(&service)));
    assert_eq!((unread(&mia), unread(&phone)), (2, 2));
    let position = mia.get(INBOX).expect(200).at("/streamPosition");
    let at = std::time::Instant::now();
    mia.post(READ, &json!({"upTo": position})).expect(200);
    assert_eq!(unread(&phone), 0);
    let marked = stream.one();
    assert!(at.elapsed() < Duration::from_secs(10), "{:?}", at.elapsed());
    assert_eq!((marked.name.as_str(), &marked.data["unread"]), ("notification.read", &json!(0)));
    assert_eq!((&marked.data["upTo"], &marked.data["ids"]), (&position, &json!([])));
    let other = beside.client();
    other.login("mia").expect(200);
    assert_eq!(unread(&other), 0);
    Ok(())
}

fn spec_6_notifications_and_marks_are_sent_to_their_fan(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let _consumers = Consumers::of(&service)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = mia.create_post("What a save!");
    let start = settled(&service);
    let mut own = mia.stream(&since(OWN, start));
    let mut combined = mia.stream(&since("/api/stream?channels=me", start));
    react(&bo, &post, "fire");
    let made = own.one();
    assert_eq!(made.name, "notification.created");
    let listed = notified(&mia, 1).remove(0);
    assert_eq!((&made.data["notification"], &made.data["unread"]), (&listed, &json!(1)));
    assert_eq!(
        (&listed["kind"], &listed["text"], &listed["url"], &listed["actorCount"]),
        (&json!("reaction"), &json!("bo_ reacted to your post"), &json!(format!("/posts/{post}")), &json!(1))
    );
    assert_eq!(listed["subject"], json!({"kind": "post", "id": post, "title": "What a save!"}));
    let same = combined.one();
    assert_eq!((same.name.as_str(), &same.data["channels"]), ("notification.created", &json!(["me"])));
    // The position of the event marks it as read.
    mia.post(READ, &json!({"upTo": made.data["streamPosition"]})).expect(200);
    assert_eq!(own.one().name, "notification.read");
    let other = mia.create_post("Another.");
    react(&bo, &other, "like");
    let made = own.one();
    let id = made.data["notification"]["id"].clone();
    mia.post(READ, &json!({"ids": [id]})).expect(200);
    let marked = own.one();
    assert_eq!(
        (&marked.data["ids"], &marked.data["upTo"], &marked.data["unread"]),
        (&json!([id]), &Value::Null, &json!(0))
    );
    Ok(())
}

fn spec_6_an_inbox_is_read_page_by_page(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let _consumers = Consumers::of(&service)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    service.client().get(INBOX).expect(401);
    for n in 0..3 {
        let post = mia.create_post(&format!("Post {n}"));
        react(&bo, &post, "like");
    }
    let all = notified(&mia, 3);
    let first = mia.get(&format!("{INBOX}?limit=2")).expect(200);
    let cursor = first.str_at("/nextCursor");
    let rest = mia.get(&format!("{INBOX}?limit=2&cursor={cursor}")).expect(200);
    let mut seen = first.list("/notifications");
    seen.extend(rest.list("/notifications"));
    assert_eq!((seen, rest.at("/nextCursor")), (all, Value::Null));
    bo.get(&format!("{INBOX}?cursor={cursor}")).expect(400);
    Ok(())
}

fn spec_6_invalid_marks_and_preferences_change_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let _consumers = Consumers::of(&service)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = mia.create_post("What a save!");
    react(&bo, &post, "like");
    notified(&mia, 1);
    for body in [json!({}), json!({"upTo": 1, "ids": []}), json!({"upTo": null})] {
        mia.post(READ, &body).expect(400);
    }
    for body in [json!({"upTo": -1}), json!({"ids": []})] {
        mia.post(READ, &body).expect(422);
    }
    assert_eq!(unread(&mia), 1);
    let before = mia.get(PREFERENCES).expect(200).json();
    let off = json!({"inApp": false, "push": false});
    for body in [
        json!({"kinds": {"like": off}}),
        json!({"kinds": {"moderation": off}}),
        json!({"kinds": {}, "quietHours": {"from": "22:00", "to": "22:00"}}),
        json!({"kinds": {}, "quietHours": {"from": "24:00", "to": "07:00"}}),
    ] {
        mia.put(PREFERENCES, &body).problem(422, "validation_failed");
    }
    assert_eq!(mia.get(PREFERENCES).expect(200).json(), before);
    Ok(())
}

fn spec_6_preferences_are_replaced_and_exported(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let _consumers = Consumers::of(&service)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let before = mia.get(PREFERENCES).expect(200).json();
    assert_eq!(before["quietHours"], Value::Null);
    assert_eq!(before["kinds"].as_object().map(serde_json::Map::len), Some(16));
    let wanted = json!({
        "kinds": {"reaction": {"inApp": false, "push": false}, "moderation": {"inApp": true, "push": false}},
        "quietHours": {"from": "22:30", "to": "07:00"},
    });
    let set = mia.put(PREFERENCES, &wanted).expect(200).json();
    assert_eq!(set, mia.get(PREFERENCES).expect(200).json());
    assert_eq!(
        (&set["kinds"]["reaction"], &set["quietHours"]),
        (&wanted["kinds"]["reaction"], &wanted["quietHours"])
    );
    assert_eq!(set["kinds"]["follow"], json!({"inApp": true, "push": true}));
    let post = mia.create_post("What a save!");
    react(&bo, &post, "like");
    comment(&bo, &post);
    assert_eq!(notified(&mia, 1)[0]["kind"], "comment");
    let export = mia.get("/api/user/export").expect(200).json();
    assert_eq!(export["notifications"].as_array().map(Vec::len), Some(1));
    assert_eq!(export["notifications"][0]["subjectId"], json!(post));
    assert_eq!(export["notificationPreferences"], json!([set]));
    let reset = mia.put(PREFERENCES, &json!({"kinds": {}})).expect(200);
    assert_eq!(reset.json(), before);
    Ok(())
}
