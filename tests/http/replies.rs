//! The HTTP contract, part 2, section 1: replies to comments, likes and reports of comments.

use super::sample::UNKNOWN;
use super::streams::{ROOM, lasting, position, since};
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_comment_replies_to_a_comment_of_the_same_post,
    a_comment_is_liked_and_reported,
    likes_and_replies_are_sent_to_streams,
}

fn comment(client: &Client, post: &str, reply_to: Option<&str>) -> String {
    let mut body = json!({"body": "And the rebound!"});
    if let Some(parent) = reply_to {
        body["replyTo"] = json!(parent);
    }
    client.post(&format!("{post}/comments"), &body).expect(201).str_at("/comment/id")
}

fn a_comment_replies_to_a_comment_of_the_same_post(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let [post, other] = ["One", "Two"].map(|body| format!("/api/locker-room/{}", mia.create_post(body)));
    let first = comment(&mia, &post, None);
    let second = comment(&bo, &post, Some(&first));
    let third = comment(&mia, &post, Some(&second));
    let list = |client: &Client| client.get(&format!("{post}/comments")).expect(200).list("/comments");
    let parents = |client: &Client| {
        let parents =
            list(client).into_iter().map(|comment| (comment["id"].clone(), comment["replyTo"].clone()));
        parents.collect::<Vec<_>>()
    };
    let row = |id: &str, parent: Option<&str>| (json!(id), json!(parent));
    assert_eq!(parents(&bo), [row(&first, None), row(&second, Some(&first)), row(&third, Some(&first))]);

    let elsewhere = comment(&mia, &other, None);
    for unknown in [UNKNOWN, elsewhere.as_str()] {
        let body = json!({"body": "Yes", "replyTo": unknown});
        let answer = bo.post(&format!("{post}/comments"), &body).problem(422, "validation_failed");
        assert_eq!(answer.pointers(), ["/replyTo"]);
    }
    for malformed in [json!("first"), json!(null), json!(7)] {
        let body = json!({"body": "Yes", "replyTo": malformed});
        bo.post(&format!("{post}/comments"), &body).problem(400, "invalid_request");
    }
    assert_eq!(bo.get(&post).expect(200).at("/post/commentCount"), 3);

    mia.delete(&format!("{post}/comments/{first}")).expect(204);
    assert_eq!(parents(&service.client()), [row(&second, None), row(&third, None)]);
    // A repeated request creates one reply.
    let keyed = || {
        let request = bo.ask("POST", &format!("{post}/comments")).header("idempotency-key", "reply-1");
        request.json(&json!({"body": "Twice", "replyTo": second})).send().expect(201)
    };
    assert_eq!(keyed().json(), keyed().json());
    assert_eq!(list(&mia).len(), 3);
    Ok(())
}

fn a_comment_is_liked_and_reported(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = format!("/api/locker-room/{}", mia.create_post("What a save!"));
    let path = format!("{post}/comments/{}", comment(&mia, &post, None));
    let like = format!("{path}/like");
    for (answer, count, liked) in [
        (bo.delete(&like), 0, false),
        (bo.post(&like, &json!({})), 1, true),
        (bo.ask("POST", &like).send(), 1, true),
        (mia.post(&like, &json!({})), 2, true),
        (bo.delete(&like), 1, false),
        (bo.delete(&like), 1, false),
    ] {
        let answer = answer.expect(200);
        assert_eq!(
            (answer.at("/comment/likeCount"), answer.at("/comment/liked")),
            (json!(count), json!(liked))
        );
    }
    let visitor = service.client();
    for (client, liked) in [(&mia, true), (&bo, false), (&visitor, false)] {
        assert_eq!(client.get(&path).expect(200).at("/comment/liked"), liked);
        let list = client.get(&format!("{post}/comments")).expect(200);
        assert_eq!(
            (list.at("/comments/0/likeCount"), list.at("/comments/0/liked")),
            (json!(1), json!(liked))
        );
    }
    visitor.post(&like, &json!({})).problem(401, "authentication_required");
    bo.post(&format!("{post}/comments/{UNKNOWN}/like"), &json!({})).problem(404, "not_found");

    let report = format!("{path}/report");
    let before = bo.get(&path).expect(200).json();
    for _ in 0..2 {
        assert!(bo.post(&report, &json!({"reason": "Spam"})).expect(204).body.is_empty());
    }
    assert_eq!(bo.get(&path).expect(200).json(), before);
    for reason in ["", " \n ", &"x".repeat(501)] {
        let answer = bo.post(&report, &json!({"reason": reason})).problem(422, "validation_failed");
        assert_eq!(answer.pointers(), ["/reason"]);
    }
    mia.delete(&path).expect(204);
    bo.post(&report, &json!({"reason": "Spam"})).problem(404, "not_found");
    bo.post(&like, &json!({})).problem(404, "not_found");
    Ok(())
}

/// Frames carry no `liked`, because all readers share them.
fn likes_and_replies_are_sent_to_streams(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let id = mia.create_post("What a save!");
    let post = format!("/api/locker-room/{id}");
    let first = comment(&mia, &post, None);
    let mut stream = bo.stream(&since(ROOM, position(&bo))).begun();
    let second = comment(&bo, &post, Some(&first));
    let event = stream.one();
    assert_eq!(event.name, "comment.created");
    assert_eq!(
        (&event.data["comment"]["id"], &event.data["comment"]["replyTo"]),
        (&json!(second), &json!(first))
    );
    assert_eq!(event.data["comment"].get("liked"), None);
    bo.post(&format!("{post}/comments/{first}/like"), &json!({})).expect(200);
    let event = stream.one();
    let expected: Value = json!({"postId": id, "commentId": first, "likeCount": 1});
    assert_eq!((event.name.as_str(), &event.data), ("comment.liked", &expected));
    bo.delete(&format!("{post}/comments/{first}/like")).expect(200);
    assert_eq!(stream.one().data["likeCount"], 0);
    Ok(())
}
