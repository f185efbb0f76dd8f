//! The contract under "Locker room and social" (spec §1 rules 1 and 2, and §4): the feed, posts, comments,
//! reactions, reports.

use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_post_is_created_read_and_deleted,
    the_feed_is_newest_first_and_pages_without_repeating,
    a_team_has_its_own_room,
    comments_are_oldest_first_and_counted,
    a_fan_has_one_reaction_to_a_post,
    a_report_is_recorded_once_and_reveals_nothing,
    content_of_others_cannot_be_deleted,
    a_post_is_deleted_with_its_comments_and_reactions,
}

fn a_post_is_created_read_and_deleted(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let answer = mia.post("/api/locker-room", &json!({"body": "  What a save! 🧤\r\n "})).expect(201);
    let expected = json!({"post": {
        "id": "[id]",
        "author": {"id": "[id]", "username": "mia", "displayName": "mia", "pictureUrl": null},
        "body": "What a save! 🧤", "mentions": [], "teamId": null, "team": null, "imageUrl": null, "image": null, "commentCount": 0, "reactionCount": 0,
        "reactions": {}, "myReaction": null, "createdAt": "[time]", "editedAt": null,
    }});
    assert_eq!(shape(&answer), expected);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("idempotency-replayed"), None);

    let location = answer.header("location").unwrap_or_default();
    assert_eq!(location, format!("/api/locker-room/{}", answer.str_at("/post/id")));
    assert_eq!(service.client().get(location).expect(200).json(), answer.json());
    assert_eq!(mia.get("/api/user").expect(200).at("/id"), answer.at("/post/author/id"));

    assert!(mia.delete(location).expect(204).body.is_empty());
    mia.get(location).problem(404, "not_found");
    mia.delete(location).problem(404, "not_found");
    assert_eq!(mia.get("/api/locker-room").expect(200).list("/posts"), [] as [Value; 0]);
    Ok(())
}

/// Reads a list to its end, `limit` rows a page, and returns the rows.
fn all_pages(client: &Client, path: &str, list: &str, limit: usize) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut target = format!("{path}{}limit={limit}", if path.contains('?') { '&' } else { '?' });
    let first = target.clone();
    loop {
        let page = client.get(&target).expect(200);
        let read = page.list(list);
        assert!(read.len() <= limit);
        rows.extend(read);
        let Value::String(cursor) = page.at("/nextCursor") else { return rows };
        target = format!("{first}&cursor={cursor}");
    }
}

fn ids(rows: &[Value]) -> Vec<String> {
    rows.iter().map(|row| row["id"].as_str().unwrap_or_default().to_owned()).collect()
}

fn the_feed_is_newest_first_and_pages_without_repeating(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let mut posted: Vec<String> = (0..7).map(|n| mia.create_post(&format!("post {n}"))).collect();
    posted.reverse();
    let visitor = service.client();
    let page = visitor.get("/api/locker-room?limit=3").expect(200);
    assert_eq!(shape(&page)["nextCursor"], "[cursor]");
    assert_eq!(shape(&page)["streamPosition"], "[position]");
    for limit in [1, 2, 3, 7, 100] {
        assert_eq!(ids(&all_pages(&visitor, "/api/locker-room", "/posts", limit)), posted);
    }
    assert_eq!(ids(&all_pages(&visitor, "/api/locker-room?scope=all&sort=recent", "/posts", 5)), posted);

    // Writes and deletions meanwhile move nothing.
    let rest = format!("/api/locker-room?limit=100&cursor={}", page.str_at("/nextCursor"));
    let late = mia.create_post("late");
    mia.delete(&format!("/api/locker-room/{}", posted[4])).expect(204);
    let rest = ids(&visitor.get(&rest).expect(200).list("/posts"));
    assert_eq!(rest, [posted[3].clone(), posted[5].clone(), posted[6].clone()]);
    assert_eq!(visitor.get("/api/locker-room?limit=1").expect(200).str_at("/posts/0/id"), late);
    Ok(())
}

fn a_team_has_its_own_room(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let teams = ids(&mia.get("/api/teams").expect(200).list("/teams"));
    let answer =
        mia.post("/api/locker-room", &json!({"body": "in the room", "teamId": teams[0]})).expect(201);
    assert_eq!(answer.at("/post/teamId"), teams[0]);
    let team = mia.get(&format!("/api/teams/{}", teams[0])).expect(200);
    for field in ["id", "name", "shortName", "colors", "crestUrl"] {
        assert_eq!(answer.at(&format!("/post/team/{field}")), team.at(&format!("/team/{field}")), "{field}");
    }
    let feed = service.client().get("/api/locker-room").expect(200);
    assert_eq!(feed.at("/posts/0/team"), answer.at("/post/team"));
    let in_room = [answer.str_at("/post/id")];
    mia.create_post("outside");
    let read = |client: &Client, query: &str| {
        ids(&client.get(&format!("/api/locker-room?scope=team{query}")).expect(200).list("/posts"))
    };
    assert_eq!(read(&service.client(), &format!("&teamId={}", teams[0])), in_room);
    assert_eq!(read(&mia, &format!("&teamId={}", teams[1])), [] as [String; 0]);
    assert_eq!(mia.get("/api/locker-room").expect(200).list("/posts").len(), 2);

    // The reader's own teams, which takes a session.
    service.client().get("/api/locker-room?scope=team").problem(401, "authentication_required");
    assert_eq!(read(&mia, ""), [] as [String; 0]);
    mia.patch("/api/user", &json!({"favoriteTeamId": teams[0]})).expect(200);
    assert_eq!(read(&mia, ""), in_room);

    let unknown = "0190a6f2-7c1e-7abc-8def-0123456789ab";
    mia.get(&format!("/api/locker-room?scope=team&teamId={unknown}")).problem(404, "not_found");
    let answer = mia.post("/api/locker-room", &json!({"body": "x", "teamId": unknown}));
    assert_eq!(answer.problem(422, "validation_failed").pointers(), ["/teamId"]);
    let answer = mia.get(&format!("/api/locker-room?teamId={}", teams[0])).problem(400, "invalid_request");
    assert_eq!(answer.pointers(), ["/teamId"]);
    Ok(())
}

fn comments_are_oldest_first_and_counted(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = format!("/api/locker-room/{}", mia.create_post("What a save!"));
    let comments = format!("{post}/comments");
    let answer = bo.post(&comments, &json!({"body": " And the rebound! "})).expect(201);
    let expected = json!({"comment": {
        "id": "[id]", "postId": "[id]",
        "author": {"id": "[id]", "username": "bo_", "displayName": "bo_", "pictureUrl": null},
        "replyTo": null, "body": "And the rebound!", "mentions": [], "likeCount": 0, "liked": false, "createdAt": "[time]",
        "editedAt": null,
    }});
    assert_eq!(shape(&answer), expected);
    assert!(post.ends_with(&answer.str_at("/comment/postId")));
    let location = answer.header("location").unwrap_or_default().to_owned();
    assert_eq!(location, format!("{comments}/{}", answer.str_at("/comment/id")));
    assert_eq!(service.client().get(&location).expect(200).json(), answer.json());

    let mut created = vec![answer.str_at("/comment/id")];
    for n in 0..4 {
        let body = json!({"body": format!("comment {n}")});
        created.push(mia.post(&comments, &body).expect(201).str_at("/comment/id"));
    }
    for limit in [1, 2, 5, 100] {
        assert_eq!(ids(&all_pages(&service.client(), &comments, "/comments", limit)), created);
    }
    assert_eq!(mia.get(&post).expect(200).at("/post/commentCount"), 5);
    bo.delete(&location).expect(204);
    bo.delete(&location).problem(404, "not_found");
    bo.get(&location).problem(404, "not_found");
    assert_eq!(mia.get(&post).expect(200).at("/post/commentCount"), 4);

    // A comment has one address: that of its own post.
    let other = format!("/api/locker-room/{}", mia.create_post("another"));
    mia.get(&format!("{other}/comments/{}", created[1])).problem(404, "not_found");
    mia.delete(&format!("{other}/comments/{}", created[1])).problem(404, "not_found");
    mia.get(&format!("{comments}/{}", created[1])).expect(200);
    Ok(())
}

fn a_fan_has_one_reaction_to_a_post(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = format!("/api/locker-room/{}", mia.create_post("What a save!"));
    let react = |client: &Client, kind: &str| {
        let answer = client.post(&format!("{post}/react"), &json!({"kind": kind})).expect(200);
        (answer.at("/post/reactions"), answer.at("/post/reactionCount"), answer.at("/post/myReaction"))
    };
    assert_eq!(react(&mia, "like"), (json!({"like": 1}), json!(1), json!("like")));
    assert_eq!(react(&mia, "like"), (json!({"like": 1}), json!(1), json!("like")));
    assert_eq!(react(&bo, "like"), (json!({"like": 2}), json!(2), json!("like")));
    assert_eq!(react(&mia, "fire"), (json!({"fire": 1, "like": 1}), json!(2), json!("fire")));
    for kind in ["love", "clap", "laugh", "sad"] {
        assert_eq!(react(&mia, kind).2, kind);
    }
    assert_eq!(service.client().get(&post).expect(200).at("/post/myReaction"), Value::Null);
    assert_eq!(bo.get("/api/locker-room").expect(200).at("/posts/0/myReaction"), "like");

    for _ in 0..2 {
        let answer = mia.delete(&format!("{post}/react")).expect(200);
        assert_eq!(answer.at("/post/reactions"), json!({"like": 1}));
        assert_eq!(
            (answer.at("/post/reactionCount"), answer.at("/post/myReaction")),
            (json!(1), Value::Null)
        );
    }
    let answer = mia.post(&format!("{post}/react"), &json!({"kind": "boo"}));
    assert_eq!(answer.problem(422, "validation_failed").pointers(), ["/kind"]);
    Ok(())
}

fn a_report_is_recorded_once_and_reveals_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = format!("/api/locker-room/{}", mia.create_post("Buy my boots"));
    let before = bo.get(&post).expect(200).json();
    for _ in 0..2 {
        let answer = bo.post(&format!("{post}/report"), &json!({"reason": "It is an advertisement."}));
        assert!(answer.expect(204).body.is_empty());
    }
    assert_eq!(bo.get(&post).expect(200).json(), before);
    for reason in ["", " \n ", &"x".repeat(501)] {
        let answer = bo.post(&format!("{post}/report"), &json!({"reason": reason}));
        assert_eq!(answer.problem(422, "validation_failed").pointers(), ["/reason"]);
    }
    Ok(())
}

fn content_of_others_cannot_be_deleted(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = format!("/api/locker-room/{}", mia.create_post("mine"));
    let comment = mia.post(&format!("{post}/comments"), &json!({"body": "mine too"})).expect(201);
    let comment = comment.header("location").unwrap_or_default().to_owned();
    bo.delete(&post).problem(403, "forbidden");
    bo.delete(&comment).problem(403, "forbidden");
    let session = mia.get("/api/user/sessions").expect(200).str_at("/sessions/0/id");
    bo.delete(&format!("/api/user/sessions/{session}")).problem(404, "not_found");
    mia.get(&comment).expect(200);
    assert_eq!(mia.get(&post).expect(200).at("/post/commentCount"), 1);
    Ok(())
}

fn a_post_is_deleted_with_its_comments_and_reactions(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let post = format!("/api/locker-room/{}", mia.create_post("soon gone"));
    let comment = bo.post(&format!("{post}/comments"), &json!({"body": "why?"})).expect(201);
    let comment = comment.header("location").unwrap_or_default().to_owned();
    mia.delete(&post).expect(204);
    let visitor = service.client();
    for path in [&post, &comment, &format!("{post}/comments")] {
        visitor.get(path).problem(404, "not_found");
    }
    bo.post(&format!("{post}/comments"), &json!({"body": "hello?"})).problem(404, "not_found");
    bo.post(&format!("{post}/react"), &json!({"kind": "sad"})).problem(404, "not_found");
    bo.delete(&format!("{post}/react")).problem(404, "not_found");
    bo.post(&format!("{post}/report"), &json!({"reason": "it is gone"})).problem(404, "not_found");
    Ok(())
}
