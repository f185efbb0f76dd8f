//! The HTTP contract, part 2, section 1: mentions in posts and comments, over HTTP.

use super::streams::{ROOM, lasting, position, since};
use anyhow::Result;
use serde_json::json;
use terrace_testkit::{DatabaseKind, PASSWORD, on_each_database};

on_each_database! {
    mentions_are_shown_and_sent,
}

fn mentions_are_shown_and_sent(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo, visitor) = (service.fan("mia"), service.fan("Bo.C"), service.client());
    let mut stream = visitor.stream(&since(ROOM, position(&visitor))).begun();
    let expected = json!([{"username": "Bo.C", "start": 3, "end": 8}]);
    let post = mia.post("/api/locker-room", &json!({"body": "⚽: @bo.c!"})).expect(201);
    assert_eq!(post.at("/post/mentions"), expected);
    assert_eq!(stream.one().data["post"]["mentions"], expected);
    let path = format!("/api/locker-room/{}", post.str_at("/post/id"));
    let comments = format!("{path}/comments");
    let comment = mia.post(&comments, &json!({"body": "⚽: @BO.C"})).expect(201);
    assert_eq!(comment.at("/comment/mentions"), expected);
    assert_eq!(stream.one().data["comment"]["mentions"], expected);
    let edited = mia.patch(&path, &json!({"body": "@mia"})).expect(200);
    assert_eq!(edited.at("/post/mentions"), json!([{"username": "mia", "start": 0, "end": 4}]));
    assert_eq!(stream.one().data["post"]["mentions"], edited.at("/post/mentions"));

    // The account of a mentioned fan may be closed: what was written stays readable.
    bo.ask("DELETE", "/api/user").json(&json!({"password": PASSWORD})).send().expect(204);
    assert_eq!(visitor.get(&comments).expect(200).at("/comments/0/mentions"), expected);
    let later = mia.post(&comments, &json!({"body": "⚽: @bo.c"})).expect(201);
    assert_eq!(later.at("/comment/mentions"), json!([]));
    Ok(())
}
