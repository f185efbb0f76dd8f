//! The HTTP contract, part 2, section 1: PATCH of posts and comments.

use super::sample::UNKNOWN;
use super::shape::shape;
use super::streams::{ROOM, lasting, names, position, settled, since};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::{DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_post_and_a_comment_are_edited_by_their_author,
    an_edit_after_the_time_for_edits_is_refused,
    edits_are_sent_to_streams_and_shown_by_the_feed,
}

fn a_post_and_a_comment_are_edited_by_their_author(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = format!("/api/locker-room/{}", mia.create_post("What a sav!"));
    let created = bo.post(&format!("{post}/comments"), &json!({"body": "Yes"})).expect(201);
    let comment = created.header("location").unwrap_or_default().to_owned();
    assert_eq!(created.at("/comment/editedAt"), Value::Null);

    let answer = mia.patch(&post, &json!({"body": " What a save! \r\n"})).expect(200);
    assert_eq!(
        (answer.str_at("/post/body"), answer.at("/post/commentCount")),
        ("What a save!".into(), 1.into())
    );
    assert_eq!(shape(&answer)["post"]["editedAt"], "[time]");
    assert_eq!(service.client().get(&post).expect(200).json(), answer.json());
    let answer = bo.patch(&comment, &json!({"body": "Yes!"})).expect(200);
    assert_eq!(answer.str_at("/comment/body"), "Yes!");
    assert_eq!(shape(&answer)["comment"]["editedAt"], "[time]");
    assert_eq!(service.client().get(&comment).expect(200).json(), answer.json());

    for path in [&post, &comment] {
        service.client().patch(path, &json!({"body": "x"})).problem(401, "authentication_required");
        for body in [json!({}), json!({"body": null}), json!({"body": "x", "teamId": UNKNOWN})] {
            mia.patch(path, &body).problem(400, "invalid_request");
        }
        for body in ["", " \n ", &"x".repeat(2001)] {
            let answer = mia.patch(path, &json!({"body": body})).problem(422, "validation_failed");
            assert_eq!(answer.pointers(), ["/body"]);
        }
    }
    bo.patch(&post, &json!({"body": "Mine"})).problem(403, "forbidden");
    mia.patch(&comment, &json!({"body": "Mine"})).problem(403, "forbidden");
    mia.patch(&format!("/api/locker-room/{UNKNOWN}"), &json!({"body": "x"})).problem(404, "not_found");
    mia.patch(&format!("{post}/comments/{UNKNOWN}"), &json!({"body": "x"})).problem(404, "not_found");
    mia.delete(&post).expect(204);
    mia.patch(&post, &json!({"body": "Back"})).problem(404, "not_found");
    bo.patch(&comment, &json!({"body": "Back"})).problem(404, "not_found");
    Ok(())
}

fn an_edit_after_the_time_for_edits_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let post = format!("/api/locker-room/{}", mia.create_post("What a save!"));
    let comment = mia.post(&format!("{post}/comments"), &json!({"body": "Yes"})).expect(201);
    let comment = comment.header("location").unwrap_or_default().to_owned();
    service.clock().advance(Duration::from_secs(15 * 60 + 1));
    for path in [&post, &comment] {
        let before = mia.get(path).expect(200).json();
        mia.patch(path, &json!({"body": "Too late"})).problem(409, "edit_window_over");
        assert_eq!(mia.get(path).expect(200).json(), before);
    }
    Ok(())
}

/// The frames have no `myReaction`; the cached page of the feed has the new text at once.
fn edits_are_sent_to_streams_and_shown_by_the_feed(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = mia.create_post("What a sav!");
    let path = format!("/api/locker-room/{post}");
    let comment = bo.post(&format!("{path}/comments"), &json!({"body": "Yes"})).expect(201);
    let comment = comment.str_at("/comment/id");
    let visitor = service.client();
    let mut stream = visitor.stream(&since(ROOM, settled(&service))).begun();
    for n in 0..3 {
        visitor.get("/api/locker-room").expect(200);
        let body = format!("Edit {n}");
        mia.patch(&path, &json!({"body": body})).expect(200);
        assert_eq!(visitor.get("/api/locker-room").expect(200).str_at("/posts/0/body"), body);
        assert_eq!(bo.get("/api/locker-room").expect(200).str_at("/posts/0/body"), body);
        let event = stream.one();
        assert_eq!((event.name.as_str(), event.data["post"]["body"].as_str()), ("post.edited", Some(&*body)));
        assert!(event.data["post"]["editedAt"].is_string());
        assert_eq!(event.data["post"].get("myReaction"), None);
    }
    bo.patch(&format!("{path}/comments/{comment}"), &json!({"body": "Yes!"})).expect(200);
    let event = stream.one();
    assert_eq!(event.name, "comment.edited");
    assert_eq!(
        (&event.data["comment"]["id"], &event.data["comment"]["body"]),
        (&json!(comment), &json!("Yes!"))
    );

    // After its deletion, a comment is not sent to clients that reconnect.
    let before = position(&visitor);
    bo.patch(&format!("{path}/comments/{comment}"), &json!({"body": "Yes, yes!"})).expect(200);
    bo.delete(&format!("{path}/comments/{comment}")).expect(204);
    while stream.one().name != "comment.deleted" {}
    let mut later = visitor.stream(&since(ROOM, before)).begun();
    assert_eq!(names(&[later.one()]), ["comment.deleted"]);
    Ok(())
}
