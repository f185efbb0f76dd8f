//! Contract part 2 §5, rewards over HTTP: the list, claims, tills, and what is refused.

use super::sample::UNKNOWN;
use super::streams::{OWN, settled};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::rewards::{AddCodes, AddTill, RevokeTill};
use terrace_testkit::kernel::UserId;
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::rewards::Code;
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{Answer, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    spec_5_rewards_say_what_a_claim_would_get,
    spec_5_a_claim_is_repeated_by_its_key_and_rendered_anew,
    spec_5_claims_are_listed_used_and_exported_with_their_codes,
    spec_5_refused_claims_have_their_codes,
    spec_5_a_till_opens_redemptions_and_nothing_else,
    spec_5_redemptions_of_a_till_are_limited,
    spec_5_claims_are_published_to_their_fan,
}

const DAY: Duration = Duration::from_hours(24);

const REWARDS: &str = "/api/rewards";
const OWN_CLAIMS: &str = "/api/user/rewards";
const REDEMPTIONS: &str = "/api/redemptions";

pub(super) fn coins(service: &TestService, user: &str, amount: i64, key: &'static str) {
    let fan: UserId = user.parse().expect("an id");
    let parties = (Holder::House(House::Issuance), Holder::Fan(fan));
    super::wallets::transfer(service, AccountKind::Coins, parties, amount, key);
}

fn reward(client: &Client, key: &str) -> Value {
    let rewards = client.get(REWARDS).expect(200).list("/rewards");
    rewards.into_iter().find(|reward| reward["key"] == key).expect("a reward")
}

pub(super) fn id(client: &Client, key: &str) -> String {
    reward(client, key)["id"].as_str().expect("an id").to_owned()
}

pub(super) fn claim(client: &Client, reward: &str, key: &str) -> Answer {
    let request = client.ask("POST", &format!("{REWARDS}/{reward}/claim"));
    request.header("idempotency-key", key).send()
}

pub(super) fn fill_pool(service: &TestService, reward: &str, codes: &[&str]) {
    let codes = codes.iter().map(|code| Code::parse(code).expect("a code")).collect();
    let cipher = service.app().code_cipher().expect("a secret");
    let add = AddCodes { reward: reward.to_owned(), codes, cipher };
    service.run(service.app().execute(add)).expect("a pool");
}

pub(super) fn till(service: &TestService, name: &str) -> Client {
    let token = service.run(service.app().execute(AddTill { name: name.to_owned() })).expect("a till");
    service.client().with_bearer(token.expose())
}

pub(super) fn redeem(till: &Client, code: &str) -> Answer {
    till.post(REDEMPTIONS, &json!({"code": code}))
}

fn spec_5_rewards_say_what_a_claim_would_get(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).app(|app| app.new_account_age = DAY).start()?;
    let out = service.client();
    let voucher = reward(&out, "voucher");
    assert_eq!((&voucher["claimable"], &voucher["why"]), (&json!(false), &json!("authentication_required")));
    assert_eq!(voucher["grant"], json!({"kind": "code", "amount": 1, "id": null}));
    assert_eq!(voucher["cost"], json!({"kind": "coins", "amount": 10}));
    assert_eq!((&voucher["validFor"], &voucher["remaining"]), (&json!(86_400), &Value::Null));
    let tour = reward(&out, "tour");
    assert_eq!(tour["requires"], json!([{"kind": "level", "value": 2, "met": null}]));
    assert_eq!(
        (&tour["remaining"], &tour["perUserLimit"], &tour["period"]),
        (&json!(5), &json!(1), &json!("ever"))
    );
    let mia = service.client();
    let user = mia.register("mia");
    for (key, why) in [
        ("voucher", json!("insufficient_balance")),
        ("tour", json!("account_too_new")),
        ("ticket", json!("account_too_new")),
        ("drink", Value::Null),
    ] {
        let shown = reward(&mia, key);
        assert_eq!((&shown["why"], &shown["claimable"]), (&why, &json!(why.is_null())), "{key}");
        let claimed = claim(&mia, shown["id"].as_str().expect("an id"), key);
        match why.as_str() {
            Some(code) => drop(claimed.problem(409, code)),
            None => drop(claimed.expect(201)),
        }
    }
    assert_eq!(reward(&mia, "tour")["requires"][0]["met"], json!(false));
    assert_eq!(reward(&mia, "drink")["why"], json!("limit_reached"));
    // The tag changes with what the reader sees.
    let first = mia.get(REWARDS).expect(200);
    let tag = first.header("etag").expect("a tag").to_owned();
    mia.ask("GET", REWARDS).header("if-none-match", &tag).send().expect(304);
    coins(&service, &user, 10, "rewards/gift");
    let second = mia.ask("GET", REWARDS).header("if-none-match", &tag).send().expect(200);
    assert_eq!(second.list("/rewards")[0]["claimable"], json!(true));
    // Pages.
    let page = mia.get(&format!("{REWARDS}?limit=4")).expect(200);
    let next = page.str_at("/nextCursor");
    let rest = mia.get(&format!("{REWARDS}?limit=4&cursor={next}")).expect(200);
    assert_eq!((page.list("/rewards").len(), rest.list("/rewards").len()), (4, 2));
    assert_eq!(rest.at("/nextCursor"), Value::Null);
    let one = mia.get(&format!("{REWARDS}/{}", id(&mia, "tour"))).expect(200);
    assert_eq!(one.at("/reward"), reward(&mia, "tour"));
    mia.get(&format!("{REWARDS}/{UNKNOWN}")).problem(404, "not_found");
    claim(&mia, UNKNOWN, "k").problem(404, "not_found");
    Ok(())
}

fn spec_5_a_claim_is_repeated_by_its_key_and_rendered_anew(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.client();
    let user = mia.register("mia");
    coins(&service, &user, 30, "rewards/gift");
    let voucher = id(&mia, "voucher");
    mia.ask("POST", &format!("{REWARDS}/{voucher}/claim")).send().problem(400, "idempotency_key_required");
    let first = claim(&mia, &voucher, "one").expect(201);
    let (claim_id, code) = (first.str_at("/claim/id"), first.str_at("/claim/code"));
    assert_eq!(first.header("location"), Some(format!("{OWN_CLAIMS}/{claim_id}").as_str()));
    assert_eq!((first.at("/claim/status"), first.at("/claim/goods")), (json!("issued"), json!([])));
    let again = claim(&mia, &voucher, "one").expect(201);
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), first.json()));
    // What is stored is the id of the claim alone.
    let stored = service.storage().read_by_hand("SELECT body AS text FROM idempotency_keys")?;
    assert!(stored.contains(&claim_id), "{stored:?}");
    assert!(!stored.iter().any(|body| body.contains(&code)));
    // The answer is that of the claim's present state.
    redeem(&till(&service, "kiosk"), &code).expect(200);
    let spent = claim(&mia, &voucher, "one").expect(201);
    assert_eq!((spent.at("/claim/status"), spent.str_at("/claim/code")), (json!("used"), code));
    claim(&mia, &id(&mia, "drink"), "one").problem(422, "idempotency_key_reused");
    Ok(())
}

fn spec_5_claims_are_listed_used_and_exported_with_their_codes(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let first = claim(&mia, &id(&mia, "drink"), "one").expect(201);
    let second = claim(&mia, &id(&mia, "banner"), "two").expect(201);
    let (first_id, code) = (first.str_at("/claim/id"), first.str_at("/claim/code"));
    let own = mia.get(OWN_CLAIMS).expect(200);
    assert_eq!(own.at("/claims"), json!([second.at("/claim"), first.at("/claim")]));
    let location = format!("{OWN_CLAIMS}/{first_id}");
    assert_eq!(mia.get(&location).expect(200).json(), first.json());
    bo.get(&location).problem(404, "not_found");
    bo.post(&format!("{location}/use"), &json!({})).problem(404, "not_found");
    let used = mia.ask("POST", &format!("{location}/use")).send().expect(200);
    assert_eq!(used.at("/claim/status"), json!("used"));
    mia.ask("POST", &format!("{location}/use")).send().problem(409, "claim_used");
    let of_state =
        |state: &str| mia.get(&format!("{OWN_CLAIMS}?status={state}")).expect(200).list("/claims").len();
    assert_eq!(["issued", "used", "expired", "revoked"].map(of_state), [1, 1, 0, 0]);
    mia.get(&format!("{OWN_CLAIMS}?status=gone")).problem(400, "invalid_request");
    let page = mia.get(&format!("{OWN_CLAIMS}?limit=1")).expect(200);
    let rest = mia.get(&format!("{OWN_CLAIMS}?limit=1&cursor={}", page.str_at("/nextCursor"))).expect(200);
    assert_eq!(rest.at("/claims/0/id"), json!(first_id));
    let exported = mia.get("/api/user/export").expect(200);
    assert_eq!(exported.at("/claims/1/code"), json!(code));
    for other in [&bo, &service.fan("ana")] {
        let exported = other.get("/api/user/export").expect(200);
        assert_eq!(exported.at("/claims"), json!([]));
        assert!(!exported.text().contains(&code));
    }
    Ok(())
}

fn spec_5_refused_claims_have_their_codes(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).app(|app| app.new_account_age = DAY).start()?;
    let mia = service.client();
    let user = mia.register("mia");
    let [tour, ticket, voucher] = ["tour", "ticket", "voucher"].map(|key| id(&mia, key));
    claim(&mia, &tour, "a").problem(409, "account_too_new");
    service.clock().advance(DAY);
    let mia = service.client();
    mia.login("mia");
    claim(&mia, &tour, "b").problem(409, "requirement_not_met");
    claim(&mia, &ticket, "c").problem(409, "sold_out");
    claim(&mia, &voucher, "d").problem(409, "insufficient_balance");
    coins(&service, &user, 10, "rewards/gift");
    let claimed = claim(&mia, &voucher, "d").expect(201);
    let location = format!("{OWN_CLAIMS}/{}", claimed.str_at("/claim/id"));
    service.clock().advance(DAY);
    let mia = service.client();
    mia.login("mia");
    assert_eq!(mia.get(&location).expect(200).at("/claim/status"), json!("expired"));
    mia.post(&format!("{location}/use"), &json!({})).problem(409, "claim_expired");
    let kiosk = till(&service, "kiosk");
    redeem(&kiosk, &claimed.str_at("/claim/code")).problem(409, "claim_expired");
    service
        .client()
        .post(&format!("{REWARDS}/{voucher}/claim"), &json!({}))
        .problem(401, "authentication_required");
    Ok(())
}

fn spec_5_a_till_opens_redemptions_and_nothing_else(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.mobile_fan("mia");
    let claimed = claim(&mia, &id(&mia, "drink"), "one").expect(201);
    let code = claimed.str_at("/claim/code");
    let kiosk = till(&service, "kiosk");
    // A token of a till is no session, and a session is no till.
    kiosk.get("/api/user").problem(401, "invalid_token");
    kiosk.get(OWN_CLAIMS).problem(401, "invalid_token");
    kiosk.get(REWARDS).problem(401, "invalid_token");
    redeem(&mia, &code).problem(401, "invalid_token");
    redeem(&service.client(), &code).problem(401, "authentication_required");
    redeem(&kiosk, "0000-0000-0000-0000").problem(404, "not_found");
    let short = redeem(&kiosk, "A").problem(422, "validation_failed");
    assert_eq!(short.pointers(), ["/code"]);
    let first = redeem(&kiosk, &format!(" {} ", code.to_lowercase())).expect(200);
    assert_eq!(first.at("/redeemed"), json!(true));
    assert_eq!((first.at("/claimId"), first.at("/reward/name")), (claimed.at("/claim/id"), json!("Drink")));
    let again = redeem(&till(&service, "other"), &code).expect(200);
    assert_eq!((again.at("/redeemed"), again.at("/usedAt")), (json!(false), first.at("/usedAt")));
    service.run(service.app().execute(RevokeTill { name: "kiosk".to_owned() })).expect("a till");
    redeem(&kiosk, &code).problem(401, "invalid_token");
    // A code that is free in its pool cannot be redeemed.
    fill_pool(&service, "ticket", &["SEAT-A1"]);
    redeem(&till(&service, "third"), "SEAT-A1").problem(404, "not_found");
    Ok(())
}

fn spec_5_redemptions_of_a_till_are_limited(kind: DatabaseKind) -> Result<()> {
    let limits = LimitConfig { redemptions: Rate::new(2, 3600), ..LimitConfig::default() };
    let service = TestService::builder(kind).limits(limits).start()?;
    let (one, two) = (till(&service, "one"), till(&service, "two"));
    for _ in 0..2 {
        redeem(&one, "0000-0000-0000-0000").problem(404, "not_found");
    }
    let refused = redeem(&one, "0000-0000-0000-0000").problem(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    redeem(&two, "0000-0000-0000-0000").problem(404, "not_found");
    // Guesses at tokens count against the address.
    let limits = LimitConfig { anonymous_writes: Rate::new(2, 3600), ..LimitConfig::default() };
    let service = TestService::builder(kind).limits(limits).start()?;
    let kiosk = till(&service, "kiosk");
    let guess = service.client().with_bearer(&format!("tst_{}", "A".repeat(43)));
    for _ in 0..2 {
        redeem(&guess, "0000-0000-0000-0000").problem(401, "invalid_token");
    }
    redeem(&guess, "0000-0000-0000-0000").problem(429, "rate_limited");
    redeem(&kiosk, "0000-0000-0000-0000").problem(404, "not_found");
    Ok(())
}

fn spec_5_claims_are_published_to_their_fan(kind: DatabaseKind) -> Result<()> {
    let service = TestService::builder(kind).web(|web| web.streams.life = Duration::from_mins(10)).start()?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    settled(&service);
    let mut stream = mia.stream(OWN).begun();
    let mut combined = mia.stream("/api/stream?channels=me").begun();
    claim(&bo, &id(&bo, "drink"), "one").expect(201);
    let claimed = claim(&mia, &id(&mia, "drink"), "one").expect(201);
    mia.post(&format!("{OWN_CLAIMS}/{}/use", claimed.str_at("/claim/id")), &json!({})).expect(200);
    for status in ["issued", "used"] {
        let event = stream.one();
        assert_eq!(
            (event.name.as_str(), &event.data["claimId"]),
            ("claim.changed", &claimed.at("/claim/id"))
        );
        assert_eq!(event.data["status"], json!(status));
        assert!(event.data.get("code").is_none());
        let event = combined.one();
        assert_eq!((event.name.as_str(), &event.data["channels"]), ("claim.changed", &json!(["me"])));
    }
    Ok(())
}
