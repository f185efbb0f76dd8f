//! The contract of follows, followers and blocks over HTTP (spec §1 rules 3 and 4, and §4).

use super::sample::UNKNOWN;
use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Answer, Client, DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    following_is_answered_with_its_current_state,
    lists_have_the_shape_of_the_contract,
    a_cursor_is_bound_to_the_owner_of_its_list,
    bodies_that_name_nothing_to_follow,
    fans_with_a_block_do_not_find_each_other,
    a_comment_on_a_hidden_post_stays_its_authors,
    an_export_holds_the_graph,
    without_a_session_every_request_is_401,
}

const FOLLOW: &str = "/api/user/follow";
const BLOCK: &str = "/api/user/block";
const BLOCKS: &str = "/api/user/blocks";
const FOLLOWERS: &str = "/api/user/followers";
const FOLLOWING: &str = "/api/user/following";
const ROOM: &str = "/api/locker-room";

fn remove(client: &Client, path: &str, body: &Value) -> Answer {
    client.ask("DELETE", path).json(body).send()
}

fn joined(service: &TestService, name: &str) -> (Client, String) {
    let client = service.client();
    let id = client.register(name);
    (client, id)
}

fn following_is_answered_with_its_current_state(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, mia_id), (bo, bo_id)) = (joined(&service, "mia"), joined(&service, "bo_"));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    for body in [json!({"userId": bo_id}), json!({"teamId": team})] {
        for _ in 0..2 {
            let answer = mia.post(FOLLOW, &body).expect(200);
            assert_eq!(answer.json(), json!({"following": true, "followerCount": 1}));
        }
    }
    let profile = mia.get(&format!("/api/users/{bo_id}")).expect(200);
    assert_eq!([profile.at("/followerCount"), profile.at("/followingCount")], [json!(1), json!(0)]);
    assert_eq!([profile.at("/following"), profile.at("/followsYou")], [json!(true), json!(false)]);
    let profile = bo.get(&format!("/api/users/{mia_id}")).expect(200);
    assert_eq!([profile.at("/following"), profile.at("/followsYou")], [json!(false), json!(true)]);
    let profile = service.client().get(&format!("/api/users/{bo_id}")).expect(200);
    assert_eq!([profile.at("/following"), profile.at("/followsYou")], [json!(false), json!(false)]);
    assert_eq!(mia.get("/api/user").expect(200).at("/followingCount"), 1);
    assert_eq!(mia.get(&format!("/api/teams/{team}")).expect(200).at("/team/followerCount"), 1);
    for body in [json!({"userId": bo_id}), json!({"teamId": team})] {
        for _ in 0..2 {
            let answer = remove(&mia, FOLLOW, &body).expect(200);
            assert_eq!(answer.json(), json!({"following": false, "followerCount": 0}));
        }
    }
    Ok(())
}

fn lists_have_the_shape_of_the_contract(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, mia_id), (bo, bo_id), (cleo, cleo_id)) =
        (joined(&service, "mia"), joined(&service, "bo_"), joined(&service, "cleo"));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.post(FOLLOW, &json!({"teamId": team})).expect(200);
    for (client, other) in [(&bo, &mia_id), (&cleo, &mia_id), (&mia, &bo_id)] {
        client.post(FOLLOW, &json!({"userId": other})).expect(200);
    }
    let user = |name: &str| json!({"id": "[id]", "username": name, "displayName": name, "pictureUrl": null});
    let entry = |name: &str, back: bool, following: bool| json!({"user": user(name), "followsBack": back, "following": following, "since": "[time]"});
    let own = mia.get(FOLLOWERS).expect(200);
    let list = json!([entry("cleo", false, false), entry("bo_", true, true)]);
    assert_eq!(shape(&own), json!({"followers": list, "total": 2, "nextCursor": null}));
    let hers = cleo.get(&format!("{FOLLOWING}?userId={mia_id}")).expect(200);
    let mut shaped = shape(&hers);
    assert_eq!(hers.at("/teams/0/team"), mia.get(&format!("/api/teams/{team}")).expect(200).at("/team"));
    shaped["teams"][0]["team"] = Value::Null;
    let teams = json!([{"team": null, "since": "[time]"}]);
    let list = json!([entry("bo_", true, false)]);
    assert_eq!(shaped, json!({"following": list, "teams": teams, "total": 1, "nextCursor": null}));
    for (client, path) in [(&mia, FOLLOWERS), (&mia, FOLLOWING)] {
        let named = client.get(&format!("{path}?userId={mia_id}")).expect(200);
        assert_eq!(named.json(), client.get(path).expect(200).json());
    }

    mia.post(BLOCK, &json!({"userId": cleo_id})).expect(200);
    let blocks = mia.get(BLOCKS).expect(200);
    let list = json!([{"user": user("cleo"), "since": "[time]"}]);
    assert_eq!(shape(&blocks), json!({"blocks": list, "nextCursor": null}));
    assert_eq!(mia.get(FOLLOWERS).expect(200).at("/total"), 1);
    Ok(())
}

fn a_cursor_is_bound_to_the_owner_of_its_list(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let fans: Vec<_> = ["mia", "bo_", "cleo", "dan"].map(|name| joined(&service, name)).into();
    for (client, id) in &fans {
        for (_, other) in fans.iter().filter(|(_, other)| other != id) {
            client.post(FOLLOW, &json!({"userId": other})).expect(200);
        }
    }
    let (mia, bo_id) = (&fans[0].0, &fans[1].1);
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.post(FOLLOW, &json!({"teamId": team})).expect(200);
    for (path, list) in [(FOLLOWERS, "followers"), (FOLLOWING, "following")] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = mia.get(&format!("{path}?limit=1{cursor}")).expect(200);
            let entries = page.list(&format!("/{list}"));
            assert_eq!((entries.len(), page.at("/total")), (1, json!(3)));
            if path == FOLLOWING {
                assert_eq!(page.list("/teams").len(), usize::from(cursor.is_empty()), "on the first page");
            }
            seen.push(entries[0]["user"]["username"].clone());
            let Some(next) = page.at("/nextCursor").as_str().map(str::to_owned) else { break };
            let of_bo = format!("{path}?userId={bo_id}&limit=1&cursor={next}");
            assert_eq!(mia.get(&of_bo).problem(400, "invalid_request").pointers(), ["/cursor"]);
            fans[1].0.get(&format!("{path}?cursor={next}")).problem(400, "invalid_request");
            cursor = format!("&cursor={next}");
        }
        seen.sort_by_key(ToString::to_string);
        assert_eq!(seen, ["bo_", "cleo", "dan"]);
    }
    Ok(())
}

fn bodies_that_name_nothing_to_follow(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, mia_id), (_, bo_id)) = (joined(&service, "mia"), joined(&service, "bo_"));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    let send = |method: &str, path: &str, body: &Value| mia.ask(method, path).json(body).send();
    for method in ["POST", "DELETE"] {
        let both = json!({"userId": bo_id, "teamId": team});
        assert_eq!(send(method, FOLLOW, &both).problem(400, "invalid_request").pointers(), ["/teamId"]);
        assert_eq!(send(method, FOLLOW, &json!({})).problem(400, "invalid_request").pointers(), ["/userId"]);
        send(method, FOLLOW, &json!({"userId": null, "teamId": team})).problem(400, "invalid_request");
        send(method, FOLLOW, &json!({"userId": "mia"})).problem(400, "invalid_request");
        send(method, FOLLOW, &json!({"userId": [bo_id]})).problem(400, "invalid_request");
        send(method, FOLLOW, &json!({"userId": mia_id})).problem(422, "cannot_follow_self");
        for body in [
            json!({"userId": UNKNOWN}),
            json!({"teamId": UNKNOWN}),
            // An id of another kind of resource does not exist here.
            json!({"userId": team}),
            json!({"teamId": bo_id}),
        ] {
            send(method, FOLLOW, &body).problem(404, "not_found");
        }
        send(method, BLOCK, &json!({})).problem(400, "invalid_request");
        send(method, BLOCK, &json!({"teamId": team})).problem(400, "invalid_request");
        send(method, BLOCK, &json!({"userId": mia_id})).problem(422, "cannot_block_self");
        send(method, BLOCK, &json!({"userId": UNKNOWN})).problem(404, "not_found");
    }
    for path in [FOLLOWERS, FOLLOWING] {
        mia.get(&format!("{path}?userId={UNKNOWN}")).problem(404, "not_found");
        let answer = mia.get(&format!("{path}?userId=mia")).problem(400, "invalid_request");
        assert_eq!(answer.pointers(), ["/userId"]);
        mia.get(&format!("{path}?teamId={team}")).problem(400, "invalid_request");
        assert_eq!(mia.get(path).expect(200).at("/total"), 0);
    }
    Ok(())
}

/// "Someone who blocks you is 404 to you", and you to them, with the same text as an unknown fan; and no
/// other reader sees a difference.
fn fans_with_a_block_do_not_find_each_other(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, mia_id), (bo, bo_id), (cleo, _)) =
        (joined(&service, "mia"), joined(&service, "bo_"), joined(&service, "cleo"));
    let posts = [mia.create_post("What a save!"), bo.create_post("Kick-off")];
    let of_cleo = cleo.create_post("Half-time");
    let comments = format!("{ROOM}/{of_cleo}/comments");
    let said = bo.post(&comments, &json!({"body": "Already?"})).expect(201).str_at("/comment/id");
    bo.post(FOLLOW, &json!({"userId": mia_id})).expect(200);
    for _ in 0..2 {
        assert_eq!(mia.post(BLOCK, &json!({"userId": bo_id})).expect(200).json(), json!({"blocked": true}));
    }

    for (client, other, post) in [(&mia, &bo_id, &posts[1]), (&bo, &mia_id, &posts[0])] {
        let unknown = client.get(&format!("/api/users/{UNKNOWN}")).problem(404, "not_found");
        let answer = client.get(&format!("/api/users/{other}")).problem(404, "not_found");
        assert_eq!(answer.at("/detail"), unknown.at("/detail"));
        let unknown = client.post(FOLLOW, &json!({"userId": UNKNOWN})).problem(404, "not_found");
        let answer = client.post(FOLLOW, &json!({"userId": other})).problem(404, "not_found");
        assert_eq!(answer.at("/detail"), unknown.at("/detail"));
        for path in [FOLLOWERS, FOLLOWING] {
            client.get(&format!("{path}?userId={other}")).problem(404, "not_found");
        }
        let post = format!("{ROOM}/{post}");
        client.get(&post).problem(404, "not_found");
        client.delete(&post).problem(404, "not_found");
        client.get(&format!("{post}/comments")).problem(404, "not_found");
        client.post(&format!("{post}/comments"), &json!({"body": "?"})).problem(404, "not_found");
        client.post(&format!("{post}/react"), &json!({"kind": "like"})).problem(404, "not_found");
        client.delete(&format!("{post}/react")).problem(404, "not_found");
        client.post(&format!("{post}/report"), &json!({"reason": "?"})).problem(404, "not_found");
    }
    // A post by a third fan is visible to all; the comment of the other fan there is not.
    mia.get(&format!("{ROOM}/{of_cleo}")).expect(200);
    mia.get(&format!("{comments}/{said}")).problem(404, "not_found");
    mia.delete(&format!("{comments}/{said}")).problem(404, "not_found");
    for reader in [&cleo, &service.client()] {
        reader.get(&format!("{comments}/{said}")).expect(200);
        for (id, post) in [(&mia_id, &posts[0]), (&bo_id, &posts[1])] {
            assert_eq!(reader.get(&format!("/api/users/{id}")).expect(200).at("/followerCount"), 0);
            reader.get(&format!("{ROOM}/{post}")).expect(200);
        }
    }

    for _ in 0..2 {
        let answer = remove(&mia, BLOCK, &json!({"userId": bo_id})).expect(200);
        assert_eq!(answer.json(), json!({"blocked": false}));
    }
    assert_eq!(bo.get(&format!("/api/users/{mia_id}")).expect(200).at("/following"), false);
    mia.get(&format!("{comments}/{said}")).expect(200);
    bo.post(&format!("{ROOM}/{}/react", posts[0]), &json!({"kind": "like"})).expect(200);
    Ok(())
}

fn a_comment_on_a_hidden_post_stays_its_authors(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, _), (bo, bo_id)) = (joined(&service, "mia"), joined(&service, "bo_"));
    let post = mia.create_post("What a save!");
    let comments = format!("{ROOM}/{post}/comments");
    let said = bo.post(&comments, &json!({"body": "It was not"})).expect(201).str_at("/comment/id");
    mia.post(BLOCK, &json!({"userId": bo_id})).expect(200);
    bo.get(&comments).problem(404, "not_found");
    bo.delete(&format!("{comments}/{said}")).expect(204);
    assert_eq!(mia.get(&format!("{ROOM}/{post}")).expect(200).at("/post/commentCount"), 0);
    Ok(())
}

fn an_export_holds_the_graph(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let ((mia, _), (_, bo_id), (_, cleo_id)) =
        (joined(&service, "mia"), joined(&service, "bo_"), joined(&service, "cleo"));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.post(FOLLOW, &json!({"userId": bo_id})).expect(200);
    mia.post(FOLLOW, &json!({"teamId": team})).expect(200);
    mia.post(BLOCK, &json!({"userId": cleo_id})).expect(200);
    let export = mia.get("/api/user/export").expect(200);
    let shaped = shape(&export);
    let tie = json!([{"userId": "[id]", "since": "[time]"}]);
    assert_eq!((&shaped["follows"], &shaped["blocks"]), (&tie, &tie));
    assert_eq!(shaped["teamFollows"], json!([{"teamId": "[id]", "since": "[time]"}]));
    assert_eq!(shaped["dismissals"], json!([]));
    assert_eq!(export.str_at("/follows/0/userId"), bo_id);
    assert_eq!(export.str_at("/teamFollows/0/teamId"), team);
    assert_eq!(export.str_at("/blocks/0/userId"), cleo_id);
    Ok(())
}

/// Not even whether the body is valid.
fn without_a_session_every_request_is_401(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (_, mia_id) = joined(&service, "mia");
    let visitor = service.client();
    for path in [FOLLOW, BLOCK] {
        for method in ["POST", "DELETE"] {
            for body in [json!({"userId": mia_id}), json!({"password": PASSWORD}), json!(7)] {
                let answer = visitor.ask(method, path).json(&body).send();
                answer.problem(401, "authentication_required");
            }
        }
    }
    for path in [FOLLOWERS, FOLLOWING, BLOCKS] {
        visitor.get(path).problem(401, "authentication_required");
        visitor.get(&format!("{path}?userId={mia_id}")).problem(401, "authentication_required");
    }
    Ok(())
}
