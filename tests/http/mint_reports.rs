//! Contract part 2 §4, the minter's webhook: signed reports give collectibles their tokens, and anything else moves nothing.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::platform::webhooks::WebhookSecret;
use terrace_testkit::{
    Answer, CRON_SECRET, Client, DatabaseKind, TestService, on_each_database, sandbox_secret,
};

on_each_database! {
    spec_4_a_report_gives_a_collectible_its_token,
    spec_4_unsigned_forged_and_malformed_reports_are_refused,
    spec_4_reports_that_fit_nothing_are_acknowledged,
    spec_4_without_a_minter_there_are_no_reports,
}

const HOOK: &str = "/api/webhooks/minting";

pub(super) fn post(service: &TestService, secret: &WebhookSecret, body: &str) -> Answer {
    let signature = secret.sign(service.app().now(), body.as_bytes());
    let client = service.client();
    let request = client.ask("POST", HOOK).header("terrace-signature", &signature);
    request.body("application/json", body.as_bytes()).send()
}

pub(super) fn report(event: &str, owned: &str, status: &str) -> Value {
    json!({
        "eventId": event, "ownedId": owned, "status": status, "network": "polygon", "contract": "0xab",
        "tokenId": "7", "transactionId": "0x01", "gas": 3,
    })
}

/// A fan with an opened pack, and the id of one of its collectibles.
fn opened(service: &TestService) -> (Client, String) {
    let mia = service.client();
    let id = mia.register("mia");
    let award = json!({"userId": id, "amount": 500, "reason": "A ticket", "source": "import:rich"});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
    let packs = mia.get("/api/packs").expect(200).list("/packs");
    let cheap = packs.iter().find(|pack| pack["price"]["kind"] == "points").expect("a pack for points");
    let pack = cheap["id"].as_str().expect("an id");
    let keyed = |path: String, body: Value| {
        let request = mia.ask("POST", &path).header("idempotency-key", "one");
        request.json(&body).send()
    };
    keyed(format!("/api/packs/{pack}/purchase"), json!({"quantity": 1})).expect(201);
    let opened = keyed(format!("/api/packs/{pack}/open"), json!({})).expect(200);
    assert_eq!(opened.at("/collectibles/0/token"), Value::Null);
    let owned = opened.str_at("/collectibles/0/id");
    (mia, owned)
}

fn token(client: &Client, owned: &str) -> Value {
    let list = client.get("/api/user/collectibles?limit=100").expect(200).list("/collectibles");
    list.into_iter().find(|one| one["id"] == owned).expect("a collectible")["token"].take()
}

fn spec_4_a_report_gives_a_collectible_its_token(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).with_minter().start()?;
    let (mia, owned) = opened(&service);
    assert_eq!(token(&mia, &owned), Value::Null);
    let minted = report("e1", &owned, "minted").to_string();
    for _ in 0..3 {
        post(&service, &sandbox_secret(), &minted).expect(204);
    }
    let expected = json!({"network": "polygon", "contract": "0xab", "tokenId": "7", "transactionId": "0x01"});
    assert_eq!(token(&mia, &owned), expected);
    assert_eq!(
        mia.get("/api/user/export")
            .expect(200)
            .list("/collectibles")
            .iter()
            .filter(|one| one["token"] == expected)
            .count(),
        1
    );
    post(&service, &sandbox_secret(), &report("e2", &owned, "burned").to_string()).expect(204);
    assert_eq!(token(&mia, &owned), Value::Null);
    Ok(())
}

fn spec_4_unsigned_forged_and_malformed_reports_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).with_minter().start()?;
    let (mia, owned) = opened(&service);
    let minted = report("e1", &owned, "minted").to_string();
    service.client().post(HOOK, &report("e1", &owned, "minted")).problem(400, "invalid_signature");
    let other = WebhookSecret::new(&"x".repeat(32))?;
    post(&service, &other, &minted).problem(400, "invalid_signature");
    let late = sandbox_secret().sign(service.app().now().minus(Duration::from_mins(6)), minted.as_bytes());
    let of_other = sandbox_secret().sign(service.app().now(), b"{}");
    for signature in [late.as_str(), of_other.as_str(), "t=1", "v1=00"] {
        let client = service.client();
        let request = client.ask("POST", HOOK).header("terrace-signature", signature);
        request.body("application/json", minted.as_bytes()).send().problem(400, "invalid_signature");
    }
    for body in
        ["", "[]", "{}", r#"{"status":"minted"}"#, &minted.replace(&owned, "7"), &minted.replace("0xab", "")]
    {
        post(&service, &sandbox_secret(), body).problem(400, "invalid_request");
    }
    assert_eq!(token(&mia, &owned), Value::Null);
    Ok(())
}

fn spec_4_reports_that_fit_nothing_are_acknowledged(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).with_minter().start()?;
    let (mia, owned) = opened(&service);
    for body in
        [report("e1", UNKNOWN, "minted"), report("e2", &owned, "failed"), report("e3", &owned, "queued")]
    {
        post(&service, &sandbox_secret(), &body.to_string()).expect(204);
    }
    assert_eq!(token(&mia, &owned), Value::Null);
    // The event is kept, so that it cannot mean something else later.
    post(&service, &sandbox_secret(), &report("e1", &owned, "minted").to_string()).expect(204);
    assert_eq!(token(&mia, &owned), Value::Null);
    let kept = "SELECT event_id || ' ' || outcome AS text FROM mint_reports ORDER BY event_id";
    assert_eq!(service.storage().read_by_hand(kept)?, ["e1 mismatch", "e2 nothing"]);
    Ok(())
}

fn spec_4_without_a_minter_there_are_no_reports(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    post(&service, &sandbox_secret(), &report("e1", UNKNOWN, "minted").to_string()).problem(404, "not_found");
    Ok(())
}
