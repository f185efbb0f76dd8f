//! The contract under "Conventions": a POST route whose body may be `{}` takes no body as well.

use super::sample::{Operation, Sample, keyed};
use anyhow::Result;
use serde_json::json;
use std::collections::BTreeSet;
use terrace_testkit::{DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_body_without_fields_can_be_omitted,
    an_absent_and_an_empty_object_are_one_request,
    other_routes_still_need_a_body,
}

fn a_body_without_fields_can_be_omitted(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let mut seen = BTreeSet::new();
    for operation in sample.operations().iter().filter(|operation| operation.may_omit_body()) {
        let (client, path) = (sample.client_for(operation), sample.target(&operation.template));
        let ask = || keyed(client.ask(&operation.method, &path), operation);
        let answer = ask().send();
        assert!((200..300).contains(&answer.status), "{}: {}", operation.id, answer.text());
        let answer = ask().body("application/json", "").send();
        assert!((200..300).contains(&answer.status), "{}: {}", operation.id, answer.text());
        ask().body("text/plain", "").send().problem(415, "unsupported_media_type");
        ask().body("text/plain", "{}").send().problem(415, "unsupported_media_type");
        ask().body("application/json", " ").send().problem(400, "invalid_request");
        ask().body("application/json", "{\"other\":1}").send().problem(400, "invalid_request");
        seen.insert(operation.id.clone());
    }
    let expected = ["checkProgress", "openPack", "purchasePack", "visitDaily"];
    assert_eq!(seen, expected.map(str::to_owned).into());
    Ok(())
}

fn an_absent_and_an_empty_object_are_one_request(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    mia.post("/api/quests/daily-visit", &json!({})).expect(200);

    let pack = mia.get("/api/packs").expect(200).str_at("/packs/0/id");
    let buy = || mia.ask("POST", &format!("/api/packs/{pack}/purchase")).header("idempotency-key", "one");
    let first = buy().send().expect(201);
    let again = buy().json(&json!({})).send().expect(201);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(again.json(), first.json());
    buy().json(&json!({"quantity": 1})).send().problem(422, "idempotency_key_reused");
    Ok(())
}

fn other_routes_still_need_a_body(kind: DatabaseKind) -> Result<()> {
    let sample = Sample::start(kind)?;
    let before = sample.dump();
    let needed = |operation: &&Operation| operation.has_body() && !operation.may_omit_body();
    for operation in sample.operations().iter().filter(needed) {
        let (client, path) = (sample.client_for(operation), sample.target(&operation.template));
        let ask = || keyed(client.ask(&operation.method, &path), operation);
        ask().send().problem(415, "unsupported_media_type");
        ask().body("application/json", "").send().problem(400, "invalid_request");
    }
    assert_eq!(sample.dump(), before);
    Ok(())
}
