//! The contract under "Locker room and social", `GET /api/user/recommended`, over HTTP (spec §1 rule 4, and
//! §4).

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::json;
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database, wait_until};

on_each_database! {
    people_are_recommended_with_a_reason_and_dismissed,
}

/// Repeats the read until it holds: the answer differs until the graph in memory has processed the change.
fn until(client: &Client, path: &str, is_so: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let mut body = serde_json::Value::Null;
    let read = || {
        body = client.get(path).expect(200).json();
        Ok(is_so(&body))
    };
    wait_until("the graph in memory has processed the change", read).expect("a current answer");
    body
}

fn people_are_recommended_with_a_reason_and_dismissed(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.client();
    mia.register("mia");
    let [bo, ana] = ["bo_", "ana"].map(|name| {
        let client = service.client();
        (client.register(name), client)
    });
    let none = mia.get("/api/user/recommended").expect(200);
    assert_eq!(none.list("/users").len(), 2);
    assert_eq!(
        (none.at("/users/0/reasonKind"), none.at("/users/0/mutualCount")),
        (json!("active"), json!(0))
    );

    mia.post("/api/user/follow", &json!({"userId": bo.0})).expect(200);
    bo.1.post("/api/user/follow", &json!({"userId": ana.0})).expect(200);
    let list = until(&mia, "/api/user/recommended", |list| list["users"][0]["mutualCount"] == 1);
    assert_eq!(
        list,
        json!({"users": [{
            "user": {"id": ana.0, "username": "ana", "displayName": "ana", "pictureUrl": null},
            "mutualCount": 1,
            "reason": "followed by someone you follow",
            "reasonKind": "followed_by",
        }]})
    );
    let back =
        until(&bo.1, "/api/user/recommended", |list| !list["users"].as_array().is_none_or(Vec::is_empty));
    assert_eq!(back["users"][0]["user"]["username"], "mia");

    let dismissal = format!("/api/user/recommended/{}", ana.0);
    mia.delete(&dismissal).expect(204);
    mia.delete(&dismissal).expect(204);
    assert_eq!(mia.get("/api/user/recommended").expect(200).list("/users").len(), 0);
    mia.delete(&format!("/api/user/recommended/{UNKNOWN}")).problem(404, "not_found");
    mia.delete("/api/user/recommended/ana").problem(400, "invalid_request");
    ana.1.post("/api/user/block", &json!({"userId": bo.0})).expect(200);
    bo.1.delete(&dismissal).problem(404, "not_found");
    Ok(())
}

#[test]
fn the_requested_number_is_recommended() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let mia = service.fan("mia");
    for n in 0..30 {
        service.fan(&format!("fan{n}"));
    }
    for (limit, count) in [("", 25), ("?limit=1", 1), ("?limit=30", 30), ("?limit=100", 30)] {
        let list = mia.get(&format!("/api/user/recommended{limit}")).expect(200);
        assert_eq!(list.list("/users").len(), count, "{limit}");
    }
    for wrong in ["0", "101", "-1"] {
        mia.get(&format!("/api/user/recommended?limit={wrong}")).problem(422, "validation_failed");
    }
    for wrong in ["limit=x", "limit=1&limit=2", "cursor=abc", "userId=1"] {
        mia.get(&format!("/api/user/recommended?{wrong}")).problem(400, "invalid_request");
    }
    Ok(())
}
