//! The contract under "Accounts": deleting the own account, and the export of all its data.

use super::shape::shape;
use anyhow::Result;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{Answer, CRON_SECRET, Client, DatabaseKind, PASSWORD, TestService, on_each_database};

on_each_database! {
    a_deletion_requires_the_password,
    after_a_deletion_nothing_signs_in_and_nothing_is_shown,
    a_stored_answer_is_deleted_with_its_account,
    a_suspended_account_gets_the_reason,
    an_export_contains_all_written_data,
    an_export_contains_the_progress_in_quests,
    an_export_of_thousands_of_rows_has_each_once,
}

const USER: &str = "/api/user";
const EXPORT: &str = "/api/user/export";
const FEED: &str = "/api/locker-room";

fn delete(client: &Client, password: &str) -> Answer {
    client.ask("DELETE", USER).json(&json!({"password": password})).send()
}

/// A wrong password is 403, because the session is valid; without a session it is 401, whatever the body
/// contains; and another site's page cannot delete an account.
fn a_deletion_requires_the_password(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.browser();
    mia.register("mia");
    delete(&mia, "not the password").problem(403, "wrong_password");
    delete(&mia, "").problem(403, "wrong_password");
    delete(&service.client(), PASSWORD).problem(401, "authentication_required");
    service
        .client()
        .ask("DELETE", USER)
        .body("text/plain", "x")
        .send()
        .problem(401, "authentication_required");
    delete(&service.client().with_bearer("tsa_junk"), PASSWORD).problem(401, "invalid_token");
    mia.ask("DELETE", USER).json(&json!({})).send().problem(400, "invalid_request");
    mia.ask("DELETE", USER)
        .json(&json!({"password": PASSWORD, "sure": true}))
        .send()
        .problem(400, "invalid_request");
    mia.delete(USER).problem(415, "unsupported_media_type");
    for (name, value) in [("sec-fetch-site", "cross-site"), ("origin", "https://elsewhere.example")] {
        let request = mia.ask("DELETE", USER).header(name, value).json(&json!({"password": PASSWORD}));
        request.send().problem(403, "cross_site_request");
    }
    mia.get(USER).expect(200);

    let answer = delete(&mia, PASSWORD).expect(204);
    assert!(answer.body.is_empty());
    assert_eq!(mia.cookie("session"), None, "the cookie is cleared: {:?}", answer.headers("set-cookie"));
    mia.get(USER).problem(401, "authentication_required");
    Ok(())
}

/// From the answer on every sign-in is 401, and every read is 404 or leaves the account out.
fn after_a_deletion_nothing_signs_in_and_nothing_is_shown(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.client(), service.fan("bo_"));
    let user = mia.register("Mia");
    let login = json!({"username": "mia", "password": PASSWORD});
    let pair = service.client().post("/api/mobile-auth/login", &login).expect(200);
    let phone = service.client().with_bearer(&pair.str_at("/accessToken"));
    let laptop = service.client();
    laptop.login("mia");
    let hers = mia.create_post("What a save!");
    let his = bo.create_post("Kick-off");
    let comments = format!("{FEED}/{his}/comments");
    let said = mia.post(&comments, &json!({"body": "At last"})).expect(201).str_at("/comment/id");
    mia.post(&format!("{FEED}/{his}/react"), &json!({"kind": "fire"})).expect(200);
    bo.post(&format!("{FEED}/{hers}/comments"), &json!({"body": "Indeed"})).expect(201);
    // The service has just used each of their sessions.
    for client in [&mia, &phone, &laptop] {
        client.get(USER).expect(200);
    }
    let kept = mia.fork();

    delete(&phone, PASSWORD).expect(204);
    for client in [&kept, &laptop] {
        client.get(USER).problem(401, "authentication_required");
        client.get(EXPORT).problem(401, "authentication_required");
        delete(client, PASSWORD).problem(401, "authentication_required");
        client.post(FEED, &json!({"body": "Me again"})).problem(401, "authentication_required");
    }
    phone.get(USER).problem(401, "invalid_token");
    delete(&phone, PASSWORD).problem(401, "invalid_token");
    let refresh = json!({"refreshToken": pair.str_at("/refreshToken")});
    service.client().post("/api/mobile-auth/refresh", &refresh).problem(401, "invalid_token");
    service.client().post("/api/login", &login).problem(401, "invalid_credentials");
    service.client().post("/api/mobile-auth/login", &login).problem(401, "invalid_credentials");
    for name in ["mia", "MIA", "Ｍia"] {
        let again = json!({"username": name, "password": PASSWORD});
        service.client().post("/api/register", &again).problem(409, "username_taken");
    }

    for reader in [&service.client(), &bo] {
        reader.get(&format!("/api/users/{user}")).problem(404, "not_found");
        for path in ["", "/comments"] {
            reader.get(&format!("{FEED}/{hers}{path}")).problem(404, "not_found");
        }
        reader.get(&format!("{comments}/{said}")).problem(404, "not_found");
        assert_eq!(reader.get(FEED).expect(200).list("/posts").len(), 1);
        assert_eq!(reader.get(&comments).expect(200).list("/comments").len(), 0);
    }
    bo.post(&format!("{FEED}/{hers}/react"), &json!({"kind": "like"})).problem(404, "not_found");
    bo.post(&format!("{FEED}/{hers}/comments"), &json!({"body": "?"})).problem(404, "not_found");
    bo.post(&format!("{FEED}/{hers}/report"), &json!({"reason": "?"})).problem(404, "not_found");

    if kind == DatabaseKind::Sqlite {
        // On SQLite events are public with their commit, so the consumers have processed them when this
        // returns.
        for _ in 0..2 {
            service.run(service.app().catch_up_consumers())?;
        }
        let left = bo.get(&format!("{FEED}/{his}")).expect(200);
        assert_eq!((left.at("/post/commentCount"), left.at("/post/reactionCount")), (json!(0), json!(0)));
    }
    Ok(())
}

/// The same request under the same key is a new one now: no answer to the account is repeated.
fn a_stored_answer_is_deleted_with_its_account(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let body = json!({"username": "mia", "password": PASSWORD});
    let register = || {
        let client = service.client();
        let answer = client.ask("POST", "/api/register").header("idempotency-key", "k").json(&body).send();
        (client, answer)
    };
    let (mia, first) = register();
    first.expect(201);
    let (_, again) = register();
    assert_eq!(again.expect(201).header("idempotency-replayed"), Some("true"));
    delete(&mia, PASSWORD).expect(204);
    let (_, after) = register();
    after.problem(409, "username_taken");
    Ok(())
}

/// 403 with the right password, and not without it.
fn a_suspended_account_gets_the_reason(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let phone = service.client().mobile_login("mia");
    let post = mia.create_post("What a save!");
    assert!(service.run(service.app().suspend_account("mia")).is_ok());
    mia.get(USER).problem(401, "authentication_required");
    phone.get(USER).problem(401, "invalid_token");
    let login = |password: &str| json!({"username": "mia", "password": password});
    for path in ["/api/login", "/api/mobile-auth/login"] {
        service.client().post(path, &login(PASSWORD)).problem(403, "account_suspended");
        service.client().post(path, &login("a guess")).problem(401, "invalid_credentials");
    }
    service.client().get(&format!("{FEED}/{post}")).problem(404, "not_found");
    assert!(service.run(service.app().restore_account("mia")).is_ok());
    service.client().get(&format!("{FEED}/{post}")).expect(200);
    service.client().login("mia");
    Ok(())
}

/// A complete document with all data of the account, and of no other.
fn an_export_contains_all_written_data(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.client(), service.fan("bo_"));
    let keyed = mia.ask("POST", "/api/register").header("idempotency-key", "hello");
    let user =
        keyed.json(&json!({"username": "mia", "password": PASSWORD})).send().expect(201).str_at("/user/id");
    let team = mia.get("/api/teams?limit=1").expect(200).str_at("/teams/0/id");
    mia.patch(USER, &json!({"bio": "Row \"14\".", "favoriteTeamId": team})).expect(200);
    service.client().login("mia");
    let second = mia.get("/api/user/sessions").expect(200).str_at("/sessions/0/id");
    mia.delete(&format!("/api/user/sessions/{second}")).expect(204);
    let his = bo.create_post("Kick-off");
    let hers =
        mia.post(FEED, &json!({"body": "What a save!", "teamId": team})).expect(201).str_at("/post/id");
    let gone = mia.create_post("Never mind");
    mia.delete(&format!("{FEED}/{gone}")).expect(204);
    mia.patch(&format!("{FEED}/{hers}"), &json!({"body": "What a save! ⚽"})).expect(200);
    let first = bo.post(&format!("{FEED}/{his}/comments"), &json!({"body": "First"})).expect(201);
    let first = first.str_at("/comment/id");
    mia.post(&format!("{FEED}/{his}/comments"), &json!({"body": "At last", "replyTo": first})).expect(201);
    mia.post(&format!("{FEED}/{hers}/comments"), &json!({"body": "Mine"})).expect(201);
    mia.post(&format!("{FEED}/{his}/comments/{first}/like"), &json!({})).expect(200);
    let report = json!({"reason": "Not this one."});
    mia.post(&format!("{FEED}/{his}/comments/{first}/report"), &report).expect(204);
    mia.post(&format!("{FEED}/{his}/react"), &json!({"kind": "clap"})).expect(200);
    mia.post(&format!("{FEED}/{his}/report"), &json!({"reason": "An advertisement."})).expect(204);
    let award = json!({"userId": user, "amount": 5, "reason": "A ticket", "source": "import:tickets/1"});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
    mia.ask("DELETE", "/api/leaderboard/join").json(&json!({"teamId": team})).send().expect(200);

    let answer = mia.get(EXPORT).expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"terrace-export.json\""));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let session = |current: bool, ended: Value| {
        json!({
            "id": "[id]", "kind": "browser", "deviceName": null, "createdAt": "[time]", "lastSeenAt": "[time]",
            "expiresAt": "[time]", "endedAt": ended, "current": current,
        })
    };
    let mut shaped = shape(&answer);
    assert_eq!(shaped["profile"]["bio"], "Row \"14\".");
    assert_eq!(shaped["profile"]["favoriteTeam"]["key"], "anchors");
    let profile = mia.get(USER).expect(200).json();
    assert_eq!((answer.at("/profile"), answer.str_at("/profile/id")), (profile, user));
    let fields = shaped.as_object_mut().expect("an object");
    fields.remove("profile");
    let preferences = mia.get("/api/notifications/preferences").expect(200).json();
    assert_eq!(fields.remove("notificationPreferences"), Some(json!([preferences])));
    // The document requires every list; those without rows are empty.
    fields.retain(|_, list| *list != json!([]));
    let mut comments = shaped["comments"].as_array().expect("comments").clone();
    comments.sort_by_key(|comment| comment["body"].to_string());
    shaped["comments"] = json!(comments);
    let mut boards = shaped["leaderboards"].as_array().expect("boards").clone();
    boards.sort_by_key(|board| board["leftAt"].is_string());
    shaped["leaderboards"] = json!(boards);
    let board = |left: Value| json!({"leaderboardId": "[id]", "points": 5, "seasonId": "[id]", "joinedAt": "[time]", "leftAt": left});
    let comment = |body: &str, reply: Value| {
        json!({
            "id": "[id]", "postId": "[id]", "replyTo": reply, "body": body, "createdAt": "[time]", "editedAt": null,
        })
    };
    assert_eq!(
        shaped,
        json!({
            "exportedAt": "[time]",
            "role": "fan",
            "sessions": [session(false, json!("[time]")), session(true, Value::Null)],
            "posts": [{
                "id": "[id]", "body": "What a save! ⚽", "teamId": "[id]", "imageUrl": null, "imageAlt": null,
                "createdAt": "[time]", "editedAt": "[time]",
            }],
            "comments": [comment("At last", json!("[id]")), comment("Mine", Value::Null)],
            "reactions": [{"postId": "[id]", "kind": "clap", "createdAt": "[time]"}],
            "commentLikes": [{"postId": "[id]", "commentId": "[id]", "createdAt": "[time]"}],
            "reports": [{"postId": "[id]", "reason": "An advertisement.", "createdAt": "[time]"}],
            "commentReports": [{
                "postId": "[id]", "commentId": "[id]", "reason": "Not this one.", "createdAt": "[time]",
            }],
            "points": [{
                "id": "[id]", "amount": 5, "reason": "A ticket", "source": "import:tickets/1", "seasonId": "[id]",
                "leaderboardId": "[id]", "at": "[time]",
            }],
            "leaderboards": [board(Value::Null), board(json!("[time]"))],
            "quests": [{
                "questId": "[id]", "date": null, "status": "active", "startedAt": "[time]", "completedAt": null,
            }],
            "accounts": [{"id": "points", "kind": "points", "currency": null, "balance": 5, "held": 0}],
            "entries": [{
                "id": "[id]", "account": "points", "amount": 5, "balanceAfter": 5, "reason": "A ticket",
                "createdAt": "[time]",
            }],
            "idempotencyKeys": [{"route": "POST /api/register", "key": "hello", "createdAt": "[time]"}],
        })
    );
    assert_eq!(answer.str_at("/posts/0/id"), hers);
    assert_eq!(answer.str_at("/reactions/0/postId"), his);

    service.client().get(EXPORT).problem(401, "authentication_required");
    let mobile = service.client().mobile_login("mia").get(EXPORT).expect(200);
    assert_eq!(mobile.list("/sessions").len(), 3);
    Ok(())
}

/// The runs, the steps of each, visits and achievements.
fn an_export_contains_the_progress_in_quests(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let list = service.client().get("/api/quests").expect(200);
    let (welcome, daily) = (list.str_at("/quests/0/id"), list.str_at("/quests/1/id"));
    mia.post("/api/quests/start", &json!({"questId": daily})).expect(200);
    let steps = ["/quests/1/steps/0/id", "/quests/1/steps/1/id"].map(|step| list.str_at(step));
    for step in &steps {
        mia.post("/api/quests/complete-step", &json!({"stepId": step})).expect(200);
    }
    mia.post("/api/quests/daily-visit", &json!({})).expect(200);
    mia.post("/api/quests/check-progress", &json!({})).expect(200);
    let export = mia.get(EXPORT).expect(200);
    let date = export.str_at("/dailyVisits/0/lastPaid");
    let rows = |list: &str, id: &str| -> Vec<(Value, Value, Value)> {
        let rows = export.list(list);
        let mut rows: Vec<_> = rows
            .iter()
            .map(|row| (row[id].clone(), row["date"].clone(), json!(row["completedAt"].is_string())))
            .collect();
        rows.sort_by_key(|(id, ..)| id.to_string());
        rows
    };
    let mut quests =
        vec![(json!(welcome), Value::Null, json!(false)), (json!(daily), json!(date), json!(true))];
    quests.sort_by_key(|(id, ..)| id.to_string());
    assert_eq!(rows("/quests", "questId"), quests);
    let mut done: Vec<_> = steps.iter().map(|step| (json!(step), json!(date), json!(true))).collect();
    done.sort_by_key(|(id, ..)| id.to_string());
    assert_eq!(rows("/questSteps", "stepId"), done);
    assert_eq!(
        shape(&export)["dailyVisits"],
        json!([{
            "lastPaid": date, "timeZone": "UTC", "nextTimeZone": null, "nextTimeZoneFrom": null, "streak": 1,
            "longestStreak": 1, "freezes": 0,
        }])
    );
    assert_eq!(shape(&export)["achievements"], json!([{"key": "first-quest", "unlockedAt": "[time]"}]));
    Ok(())
}

/// It is written in pages, which neither repeat nor skip rows.
fn an_export_of_thousands_of_rows_has_each_once(kind: DatabaseKind) -> Result<()> {
    use terrace_testkit::app::room::{CreateComment, CreatePost};
    let service = TestService::builder(kind).without_dry_run().start()?;
    let mia = service.client();
    let user = mia.register("mia").parse()?;
    let post = mia.create_post("Count with me").parse()?;
    let mut expected = BTreeSet::new();
    for n in 0..1003 {
        let body = format!("{n}");
        let comment = CreateComment { author: user, post, body: body.clone() };
        assert!(service.run(service.app().execute(comment)).is_ok());
        expected.insert(body);
    }
    for n in 0..499 {
        // With the first, a page that is exactly full.
        let post = CreatePost { author: user, team: None, media: None, body: format!("{n}") };
        assert!(service.run(service.app().execute(post)).is_ok());
    }
    for _ in 0..2 {
        let answer = mia.get(EXPORT).expect(200);
        let comments = answer.list("/comments");
        assert_eq!(comments.len(), 1003);
        let bodies: BTreeSet<_> =
            comments.iter().map(|comment| comment["body"].as_str().unwrap_or_default().to_owned()).collect();
        assert_eq!(bodies, expected);
        let posts: BTreeSet<_> = answer.list("/posts").iter().map(|post| post["id"].to_string()).collect();
        assert_eq!(posts.len(), 500);
    }
    Ok(())
}

/// Each export reads everything, so that few are enough; the allowances of others are separate.
#[test]
fn exports_are_limited() -> Result<()> {
    let limits = LimitConfig { export: Rate::new(2, 3600), ..LimitConfig::default() };
    let service = TestService::builder(DatabaseKind::Sqlite).limits(limits).start()?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    mia.get(EXPORT).expect(200);
    mia.get(EXPORT).expect(200);
    let refused = mia.get(EXPORT).problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    bo.get(EXPORT).expect(200);
    mia.get(USER).expect(200);
    Ok(())
}
