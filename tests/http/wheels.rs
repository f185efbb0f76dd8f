//! Contract part 2 §9, the wheel, over HTTP: odds, spins and their proofs, free spins, and what is refused.

use super::streams::{OWN, lasting};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::web::verify_spin_response;
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    spec_9_wheels_show_their_odds_to_all_and_the_next_seed_to_their_reader,
    spec_9_a_spin_is_answered_once_and_can_be_recomputed,
    spec_9_spins_are_refused_with_their_reason,
    spec_9_bad_spins_are_invalid_and_move_nothing,
    spec_9_spins_are_exported_and_streamed,
}

const WHEEL: &str = "/api/wheel";
const SPINS: &str = "/api/user/spins";
const DAY: Duration = Duration::from_hours(24);

pub(super) fn wheel(client: &Client, key: &str) -> Value {
    let wheels = client.get(WHEEL).expect(200).list("/wheels");
    wheels.into_iter().find(|wheel| wheel["key"] == key).expect("a wheel")
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).expect("a text")
}

pub(super) fn spin(client: &Client, wheel: &Value, pay: &str, request: &str) -> Answer {
    let body = json!({"pay": pay, "serverSeedHash": wheel["me"]["serverSeedHash"], "clientSeed": "kop"});
    keyed(client, wheel, request, &body)
}

fn keyed(client: &Client, wheel: &Value, request: &str, body: &Value) -> Answer {
    let path = format!("{WHEEL}/{}/spin", text(wheel, "/id"));
    client.ask("POST", &path).header("idempotency-key", request).json(body).send()
}

fn spec_9_wheels_show_their_odds_to_all_and_the_next_seed_to_their_reader(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    let list = visitor.get(WHEEL).expect(200);
    let keys: Vec<_> = list.list("/wheels").iter().map(|wheel| wheel["key"].clone()).collect();
    assert_eq!(keys, ["daily", "lucky", "once"]);
    let daily = wheel(&visitor, "daily");
    assert_eq!([&daily["me"], &daily["price"], &daily["pity"]], [&json!(null); 3]);
    assert_eq!([&daily["freeSpins"], &daily["dailyLimit"]], [&json!("daily"), &json!(null)]);
    let odds: Vec<_> =
        daily["segments"].as_array().expect("segments").iter().map(|one| &one["probability"]).collect();
    assert_eq!(odds, [&json!(0.5), &json!(0.25), &json!(0.25)]);
    let lucky = wheel(&visitor, "lucky");
    assert_eq!(lucky["price"], json!({"kind": "coins", "amount": 10}));
    assert_eq!(lucky["pity"], json!({"after": 2, "segments": ["pack"]}));
    // A pack in at most three spins: its share is a third.
    let share = lucky["segments"][0]["probability"].as_f64().expect("a number");
    assert!((share - 1.0 / 3.0).abs() < 1e-5, "{share}");
    let once = wheel(&visitor, "once");
    assert_eq!(once["segments"][0]["remaining"], 1);
    assert_eq!(once["segments"][0]["insteadOf"]["amount"], 1);

    let me = &wheel(&mia, "daily")["me"];
    assert_eq!(
        [&me["freeSpin"], &me["nextFreeSpinAt"], &me["pityCount"], &me["nonce"]],
        [&json!(true), &json!(null), &json!(0), &json!(1)]
    );
    // Reading writes nothing, and the seed stays the same.
    assert_eq!(text(me, "/serverSeedHash"), text(&wheel(&mia, "daily"), "/me/serverSeedHash"));
    assert_ne!(text(me, "/serverSeedHash"), text(&wheel(&mia, "once"), "/me/serverSeedHash"));
    let path = format!("{WHEEL}/{}", text(&daily, "/id"));
    assert_eq!(mia.get(&path).expect(200).at("/wheel"), wheel(&mia, "daily"));
    // Page by page it is the same list, and what did not change is 304.
    let page = visitor.get(&format!("{WHEEL}?limit=2")).expect(200);
    let next = visitor.get(&format!("{WHEEL}?limit=2&cursor={}", page.str_at("/nextCursor"))).expect(200);
    assert_eq!(next.list("/wheels")[0]["key"], "once");
    let tag = list.header("etag").expect("a tag").to_owned();
    visitor.ask("GET", WHEEL).header("if-none-match", &tag).send().expect(304);
    Ok(())
}

fn spec_9_a_spin_is_answered_once_and_can_be_recomputed(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let daily = wheel(&mia, "daily");
    let spun = spin(&mia, &daily, "free", "one").expect(201);
    let again = spin(&mia, &daily, "free", "one").expect(201);
    assert_eq!((again.json(), again.header("idempotency-replayed")), (spun.json(), Some("true")));
    let segment = verify_spin_response(&spun.text())?;
    assert_eq!(segment.as_str(), spun.str_at("/spin/segment"));
    assert_eq!(spun.str_at("/proof/serverSeedHash"), text(&daily, "/me/serverSeedHash"));
    assert_eq!(spun.at("/proof/tableHash"), daily["tableHash"]);
    let shown = wheel(&mia, "daily");
    assert_eq!(spun.at("/next"), json!({"serverSeedHash": shown["me"]["serverSeedHash"], "nonce": 2}));
    assert_eq!(
        [&shown["me"]["freeSpin"], &shown["me"]["nextFreeSpinAt"]],
        [&json!(false), &spun.at("/nextFreeSpinAt")]
    );
    let spins = mia.get(SPINS).expect(200).list("/spins");
    assert_eq!(spins, [json!({"spin": spun.at("/spin"), "proof": spun.at("/proof")})]);
    verify_spin_response(&spins[0].to_string())?;
    // A changed answer is found.
    let other =
        ["coins", "points", "blank"].into_iter().find(|key| *key != segment.as_str()).expect("another");
    let forged =
        spun.text().replacen(&format!("\"segment\":\"{segment}\""), &format!("\"segment\":\"{other}\""), 1);
    assert!(verify_spin_response(&forged).is_err());
    Ok(())
}

fn spec_9_spins_are_refused_with_their_reason(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).app(|app| app.new_account_age = DAY).start()?;
    let mia = service.fan("mia");
    let [daily, lucky, once] = ["daily", "lucky", "once"].map(|key| wheel(&mia, key));
    spin(&mia, &once, "free", "new").problem(409, "account_too_new");
    spin(&mia, &lucky, "free", "free").problem(409, "no_free_spin");
    spin(&mia, &lucky, "price", "poor").problem(409, "insufficient_balance");
    spin(&mia, &daily, "price", "none").problem(409, "wheel_closed");
    spin(&mia, &daily, "free", "one").expect(201);
    spin(&mia, &daily, "free", "two").problem(409, "no_free_spin");
    service.clock().advance(DAY);
    mia.login("mia");
    // The hash of the spin before.
    spin(&mia, &daily, "free", "three").problem(409, "seed_changed");
    spin(&mia, &wheel(&mia, "daily"), "free", "four").expect(201);
    let unknown = json!({"id": "0190a6f2-7c1e-7000-8000-000000000000", "me": daily["me"]});
    spin(&mia, &unknown, "free", "five").problem(404, "not_found");
    assert_eq!(mia.get(SPINS).expect(200).list("/spins").len(), 2);
    Ok(())
}

fn spec_9_bad_spins_are_invalid_and_move_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let daily = wheel(&mia, "daily");
    let hash = daily["me"]["serverSeedHash"].clone();
    let with =
        |pay: &str, hash: Value, seed: &str| json!({"pay": pay, "serverSeedHash": hash, "clientSeed": seed});
    for (body, status, code) in [
        (with("credit", hash.clone(), "kop"), 400, "invalid_request"),
        (with("free", json!("abc"), "kop"), 422, "validation_failed"),
        (with("free", hash.clone(), ""), 422, "validation_failed"),
        (with("free", hash.clone(), &"x".repeat(65)), 422, "validation_failed"),
        (with("free", hash.clone(), "a\nb"), 422, "validation_failed"),
        (json!({"pay": "free", "clientSeed": "kop"}), 400, "invalid_request"),
    ] {
        keyed(&mia, &daily, "bad", &body).problem(status, code);
    }
    let path = format!("{WHEEL}/{}/spin", text(&daily, "/id"));
    mia.post(&path, &with("free", hash.clone(), "kop")).problem(400, "idempotency_key_required");
    let body = with("free", hash, "kop");
    keyed(&service.client(), &daily, "out", &body).problem(401, "authentication_required");
    assert_eq!(mia.get(SPINS).expect(200).list("/spins").len(), 0);
    assert_eq!(wheel(&mia, "daily"), daily);
    Ok(())
}

fn spec_9_spins_are_exported_and_streamed(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.fan("mia");
    let mut stream = mia.stream(OWN).begun();
    let spun = spin(&mia, &wheel(&mia, "daily"), "free", "one").expect(201);
    let exported = mia.get("/api/user/export").expect(200).list("/spins");
    assert_eq!(exported.len(), 1);
    assert_eq!([&exported[0]["spin"], &exported[0]["clientSeed"]], [&spun.at("/spin"), &json!("kop")]);
    let event = std::iter::repeat_with(|| stream.one())
        .find(|event| event.name == "spin.completed")
        .expect("an event");
    assert_eq!(event.data["spinId"], spun.at("/spin/id"));
    assert_eq!(event.data["segment"], spun.at("/spin/segment"));
    Ok(())
}
