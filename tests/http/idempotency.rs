//! The contract under "Conventions", Idempotency: a repeated request does its work once.

use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;
use terrace_testkit::{Answer, Client, DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    the_same_request_gets_the_same_answer,
    registering_again_signs_the_same_account_in,
    a_key_belongs_to_an_account_and_a_route,
    another_request_under_a_key_is_refused,
    refusals_are_not_stored,
    keys_expire_after_a_day,
    twenty_at_once_do_the_work_once,
}

const ROOM: &str = "/api/locker-room";

fn post_with(client: &Client, path: &str, key: &str, body: &Value) -> Answer {
    client.ask("POST", path).header("idempotency-key", key).json(body).send()
}

fn posts(client: &Client) -> usize {
    client.get(ROOM).expect(200).list("/posts").len()
}

fn the_same_request_gets_the_same_answer(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let body = json!({"body": "once"});
    let first = post_with(&mia, ROOM, "key-1", &body).expect(201);
    assert_eq!(first.header("idempotency-replayed"), None);
    let location = first.header("location").unwrap_or_default().to_owned();
    // Whatever happened meanwhile, also from another device.
    mia.post(&format!("{location}/react"), &json!({"kind": "like"})).expect(200);
    let phone = service.client().mobile_login("mia");
    for client in [&mia, &phone] {
        let again = post_with(client, ROOM, "key-1", &body).expect(201);
        assert_eq!(again.header("idempotency-replayed"), Some("true"));
        assert_eq!((again.json(), again.header("location")), (first.json(), Some(location.as_str())));
        assert_eq!(again.header("content-type"), first.header("content-type"));
    }
    assert_eq!(posts(&mia), 1);

    let comments = format!("{location}/comments");
    let first = post_with(&mia, &comments, "key-1", &body).expect(201);
    let again = post_with(&mia, &comments, "key-1", &body).expect(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.json(), first.json());
    assert_eq!(mia.get(&comments).expect(200).list("/comments").len(), 1);

    // Without a key every request counts.
    assert_ne!(mia.create_post("twice"), mia.create_post("twice"));
    Ok(())
}

fn registering_again_signs_the_same_account_in(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let body = json!({"username": "mia", "password": PASSWORD});
    let first = post_with(&service.client(), "/api/register", "key-1", &body).expect(201);
    let client = service.client();
    let again = post_with(&client, "/api/register", "key-1", &body).expect(201);
    assert_eq!((again.json(), again.header("location")), (first.json(), first.header("location")));
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(client.get("/api/user").expect(200).at("/id"), first.at("/user/id"));
    // A client that found the key out must still send the password.
    let guess = json!({"username": "mia", "password": "a lucky guess"});
    let client = service.client();
    post_with(&client, "/api/register", "key-1", &guess).problem(422, "idempotency_key_reused");
    assert_eq!(client.cookie("session"), None);
    let other = json!({"username": "bo_", "password": PASSWORD});
    post_with(&client, "/api/register", "key-1", &other).problem(422, "idempotency_key_reused");
    post_with(&client, "/api/register", "key-2", &body).problem(409, "username_taken");
    Ok(())
}

fn a_key_belongs_to_an_account_and_a_route(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let body = json!({"body": "once"});
    let by_mia = post_with(&mia, ROOM, "key-1", &body).expect(201);
    let by_bo = post_with(&bo, ROOM, "key-1", &body).expect(201);
    assert_eq!(by_bo.header("idempotency-replayed"), None);
    assert_ne!(by_mia.at("/post/id"), by_bo.at("/post/id"));
    let comments = format!("{ROOM}/{}/comments", by_mia.str_at("/post/id"));
    let comment = post_with(&mia, &comments, "key-1", &body).expect(201);
    assert_eq!(comment.header("idempotency-replayed"), None);
    Ok(())
}

fn another_request_under_a_key_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let first = post_with(&mia, ROOM, "key-1", &json!({"body": "once"})).expect(201).str_at("/post/id");
    post_with(&mia, ROOM, "key-1", &json!({"body": "other"})).problem(422, "idempotency_key_reused");
    let second = mia.create_post("another");
    let comment = json!({"body": "to the first"});
    post_with(&mia, &format!("{ROOM}/{first}/comments"), "key-1", &comment).expect(201);
    let elsewhere = format!("{ROOM}/{second}/comments");
    post_with(&mia, &elsewhere, "key-1", &comment).problem(422, "idempotency_key_reused");
    assert_eq!(posts(&mia), 2);
    assert_eq!(mia.get(&elsewhere).expect(200).list("/comments").len(), 0);

    for (keys, shown) in [
        (vec![""], "empty"),
        (vec!["a b"], "a blank"),
        (vec!["\u{e9}"], "beyond ASCII"),
        (vec!["a\tb"], "a tab"),
        (vec!["a", "a"], "twice"),
        (vec![&"k".repeat(129)[..]], "too long"),
    ] {
        for path in [ROOM, "/api/register"] {
            let request = mia.ask("POST", path).json(&json!({"body": "never"}));
            let request = keys.iter().fold(request, |request, key| request.header("idempotency-key", key));
            let answer = request.send();
            assert_eq!(answer.status, 400, "{shown}: {}", answer.text());
        }
    }
    post_with(&mia, ROOM, &"k".repeat(128), &json!({"body": "as long as can be"})).expect(201);
    assert_eq!(posts(&mia), 3);
    Ok(())
}

fn refusals_are_not_stored(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let unknown = "0190a6f2-7c1e-7abc-8def-0123456789ab";
    let body = json!({"body": "hello?"});
    post_with(&mia, &format!("{ROOM}/{unknown}/comments"), "key-1", &body).problem(404, "not_found");
    let real = format!("{ROOM}/{}/comments", mia.create_post("here"));
    let answer = post_with(&mia, &real, "key-1", &body).expect(201);
    assert_eq!(answer.header("idempotency-replayed"), None);
    post_with(&mia, ROOM, "key-1", &json!({"body": ""})).problem(422, "validation_failed");
    post_with(&mia, ROOM, "key-1", &json!({"body": "now"})).expect(201);
    Ok(())
}

fn keys_expire_after_a_day(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let body = json!({"body": "every day"});
    let first = post_with(&mia, ROOM, "key-1", &body).expect(201);
    service.clock().advance(Duration::from_hours(23));
    assert_eq!(post_with(&mia, ROOM, "key-1", &body).expect(201).json(), first.json());
    service.clock().advance(Duration::from_hours(2));
    let next = post_with(&mia, ROOM, "key-1", &body).expect(201);
    assert_eq!(next.header("idempotency-replayed"), None);
    assert_ne!(next.at("/post/id"), first.at("/post/id"));
    assert_eq!(shape(&next), shape(&first));
    Ok(())
}

fn twenty_at_once_do_the_work_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let at_once = |send: &(dyn Fn() -> Answer + Sync)| -> Vec<Answer> {
        thread::scope(|scope| {
            let threads: Vec<_> = (0..20).map(|_| scope.spawn(send)).collect();
            threads.into_iter().map(|thread| thread.join().expect("an answer")).collect()
        })
    };
    let first_only = |answers: &[Answer]| {
        let fresh = answers.iter().filter(|answer| answer.header("idempotency-replayed").is_none()).count();
        assert_eq!(fresh, 1);
        assert!(answers.iter().all(|answer| answer.status == 201));
        let bodies: BTreeSet<_> = answers.iter().map(Answer::text).collect();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
    };
    first_only(&at_once(&|| post_with(&mia, ROOM, "key-1", &json!({"body": "once"}))));
    assert_eq!(posts(&mia), 1);
    let body = json!({"username": "new", "password": PASSWORD});
    first_only(&at_once(&|| post_with(&service.client(), "/api/register", "key-1", &body)));

    // Twenty different requests for one key: one of them is done.
    let send = &|n| post_with(&mia, ROOM, "key-2", &json!({"body": format!("version {n}")})).status;
    let answers: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..20).map(|n| scope.spawn(move || send(n))).collect();
        threads.into_iter().map(|thread| thread.join().expect("an answer")).collect()
    });
    assert_eq!(answers.iter().filter(|status| **status == 201).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|status| **status == 422).count(), 19, "{answers:?}");
    assert_eq!(posts(&mia), 2);
    Ok(())
}
