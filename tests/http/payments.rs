//! Spec §1, rules 8 and 10, §3, rule 4, and §4, "complete pack purchase", over HTTP: the whole course of a
//! payment through the sandbox.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::platform::webhooks::{SIGNATURE_HEADER, WebhookSecret};
use terrace_testkit::kernel::Timestamp;
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{
    Answer, CRON_SECRET, Client, DatabaseKind, Request, TestService, on_each_database, sandbox_secret,
};

on_each_database! {
    spec_1_rule_8_a_purchase_approved_in_the_sandbox_becomes_the_fans,
    a_declined_purchase_is_cancelled_and_a_refund_revokes_copies,
    sealed_copies_can_be_returned_by_their_buyer,
    stock_held_by_unpaid_purchases_is_bounded,
    an_address_starts_only_so_many_purchases_for_money,
    spec_4_completing_a_purchase_is_replayed_and_only_the_buyers,
    at_most_three_purchases_wait,
    spec_3_rule_4_unpaid_purchases_expire_and_late_payments_are_refunded,
    the_checkout_is_under_the_buyers_own_loopback_host,
}

pub(super) const WEBHOOK: &str = "/api/webhooks/payments";
pub(super) const RECONCILE: &str = "/api/cron/reconcile-purchases";
const FORM: &str = "application/x-www-form-urlencoded";

pub(super) fn service(kind: DatabaseKind) -> Result<TestService> {
    TestService::builder(kind).with_sandbox().start()
}

/// A browser with the session of a new fan.
pub(super) fn fan(service: &TestService, name: &str) -> Client {
    let client = service.browser();
    client.register(name);
    client
}

fn path(client: &Client, key: &str) -> String {
    let packs = client.get("/api/packs").expect(200).list("/packs");
    let pack = packs.into_iter().find(|pack| pack["key"] == key).expect("the pack");
    format!("/api/packs/{}/purchase", pack["id"].as_str().expect("an id"))
}

pub(super) fn buy(client: &Client, pack: &str, quantity: u32, key: &str) -> Answer {
    let body = json!({"quantity": quantity});
    client.ask("POST", &path(client, pack)).header("idempotency-key", key).json(&body).send()
}

pub(super) fn complete(client: &Client, pack: &str, purchase: &str) -> Answer {
    client.put(&path(client, pack), &json!({"purchaseId": purchase}))
}

pub(super) fn page(service: &TestService, bought: &Answer) -> String {
    let url = bought.str_at("/purchase/checkoutUrl");
    url.strip_prefix(&service.url()).expect("a page of the service").to_owned()
}

pub(super) fn decide(client: &Client, page: &str, decision: &str) -> Answer {
    client.ask("POST", page).body(FORM, format!("decision={decision}")).send()
}

pub(super) fn status(client: &Client, purchase: &str) -> Value {
    client.get(&format!("/api/user/purchases/{purchase}")).expect(200).at("/purchase/status")
}

/// The provider's message about a purchase as it was answered.
pub(super) fn message(bought: &Answer, kind: &str, event: &str) -> Value {
    let purchase = bought.str_at("/purchase/id");
    json!({
        "eventId": event, "purchaseId": purchase, "kind": kind, "amount": bought.at("/purchase/price/amount"),
        "currency": "EUR", "reference": format!("sandbox_{}", purchase.replace('-', "")),
        "occurredAt": "2026-05-01T12:00:00.000Z",
    })
}

pub(super) fn signed<'c>(
    client: &'c Client,
    secret: &WebhookSecret,
    at: Timestamp,
    body: &[u8],
) -> Request<'c> {
    let request = client.ask("POST", WEBHOOK).header(SIGNATURE_HEADER, secret.sign(at, body));
    request.body("application/json", body)
}

pub(super) fn send_notice(service: &TestService, message: &Value) -> Answer {
    let body = message.to_string();
    signed(&service.client(), &sandbox_secret(), service.app().now(), body.as_bytes()).send()
}

/// A session's cookie is valid for one host: the page has to be under the host that the buyer uses.
fn the_checkout_is_under_the_buyers_own_loopback_host(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let port = service.address().port();
    let usual = service.url();
    let buy_at = |name: &str, host: &str| {
        let fan = service.fan(name);
        let request = fan.ask("POST", &path(&fan, "gala")).header("idempotency-key", "one");
        let bought = request.header("host", host).json(&json!({"quantity": 1})).send();
        (fan, bought)
    };
    for (name, host, site) in [
        ("mia", format!("localhost:{port}"), format!("http://localhost:{port}")),
        ("bo_", format!("127.0.0.2:{port}"), format!("http://127.0.0.2:{port}")),
        ("ada", "localhost".to_owned(), usual.clone()),
        ("eve", format!("localhost:{}", port - 1), usual.clone()),
    ] {
        let (fan, bought) = buy_at(name, &host);
        let purchase = bought.expect(201).str_at("/purchase/id");
        let url = format!("{site}/sandbox/checkout/{purchase}");
        let shown = fan.get(&format!("/api/user/purchases/{purchase}")).expect(200);
        // Replays and later reads are unchanged, whatever host they use.
        assert_eq!(buy(&fan, "gala", 1, "one").expect(201).str_at("/purchase/checkoutUrl"), url);
        assert_eq!(shown.str_at("/purchase/checkoutUrl"), url);
    }
    let (fan, refused) = buy_at("gus", &format!("evil.example:{port}"));
    assert_eq!(refused.code(), "misdirected_request");
    assert_eq!(fan.get("/api/user/purchases").expect(200).list("/purchases"), Vec::<Value>::new());
    Ok(())
}

fn spec_1_rule_8_a_purchase_approved_in_the_sandbox_becomes_the_fans(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let bought = buy(&mia, "gala", 2, "two").expect(201);
    assert_eq!(bought.at("/purchase/status"), "pending");
    assert_eq!(bought.at("/purchase/price"), json!({"kind": "money", "amount": 2500, "currency": "EUR"}));
    assert_eq!(bought.list("/userPacks"), Vec::<Value>::new());
    assert!(bought.at("/purchase/expiresAt").is_string());
    let (purchase, page) = (bought.str_at("/purchase/id"), page(&service, &bought));
    assert_eq!(page, format!("/sandbox/checkout/{purchase}"));
    // The answer that is stored under the key is the one with the checkout's address.
    let again = buy(&mia, "gala", 2, "two").expect(201);
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), bought.json()));
    let left = |client: &Client| {
        let packs = client.get("/api/packs").expect(200).list("/packs");
        packs.into_iter().find(|pack| pack["key"] == "gala").expect("the pack")["remaining"].clone()
    };
    assert_eq!(left(&mia), 3);
    complete(&mia, "gala", &purchase).problem(409, "payment_pending");

    let shown = mia.get(&page).expect(200);
    assert_eq!(shown.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(shown.header("referrer-policy"), Some("same-origin"));
    let policy = shown.header("content-security-policy").context("no policy")?;
    assert!(policy.starts_with("default-src 'none'; form-action 'self'"), "{policy}");
    assert!(shown.text().contains("25.00 EUR") && shown.text().contains("2 × The gala"), "{}", shown.text());
    let approved = decide(&mia, &page, "approve").expect(303);
    assert_eq!(approved.header("location"), Some(format!("/purchases/{purchase}").as_str()));
    // A separate message reported it before the buyer came back.
    let done = complete(&mia, "gala", &purchase).expect(200);
    assert_eq!((done.at("/purchase/status"), done.list("/userPacks").len()), (json!("completed"), 2));
    assert_eq!(done.at("/purchase/checkoutUrl"), Value::Null);
    assert_eq!(complete(&mia, "gala", &purchase).expect(200).json(), done.json());
    assert_eq!(left(&mia), 3);
    let copy = done.str_at("/userPacks/0/id");
    let open = path(&mia, "gala").replace("/purchase", "/open");
    let opened = mia.post(&open, &json!({"userPackId": copy})).expect(200);
    assert_eq!(opened.at("/collectibles/0/serial"), 1);
    // A payment through the provider is not a balance of the fan.
    assert_eq!(mia.get("/api/wallets").expect(200).list("/entries"), Vec::<Value>::new());
    // To approve it again changes nothing, to decline it is too late.
    decide(&mia, &page, "approve").expect(303);
    decide(&mia, &page, "decline").problem(409, "conflict");
    assert_eq!(complete(&mia, "gala", &purchase).expect(200).list("/userPacks").len(), 2);
    Ok(())
}

fn a_declined_purchase_is_cancelled_and_a_refund_revokes_copies(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let declined = buy(&mia, "gala", 4, "declined").expect(201);
    decide(&mia, &page(&service, &declined), "decline").expect(303);
    complete(&mia, "gala", &declined.str_at("/purchase/id")).problem(409, "purchase_cancelled");
    let bought = buy(&mia, "gala", 4, "bought").expect(201);
    let (purchase, page) = (bought.str_at("/purchase/id"), page(&service, &bought));
    decide(&mia, &page, "approve").expect(303);
    assert_eq!(complete(&mia, "gala", &purchase).expect(200).list("/userPacks").len(), 4);
    let open = path(&mia, "gala").replace("/purchase", "/open");
    mia.ask("POST", &open).header("idempotency-key", "one").json(&json!({})).send().expect(200);
    assert_eq!(mia.get("/api/user/collectibles").expect(200).list("/collectibles").len(), 1);
    // An opened copy cannot be returned at the buyer's request, and is revoked when the provider refunds it.
    decide(&mia, &page, "refund").problem(409, "goods_used");
    assert_eq!(status(&mia, &purchase), "completed");
    let shown = mia.get(&page).expect(200).text();
    assert!(shown.contains("cannot be returned") && !shown.contains("<button"), "{shown}");
    send_notice(&service, &message(&bought, "refunded", "by-the-provider")).expect(204);
    complete(&mia, "gala", &purchase).problem(409, "purchase_refunded");
    let copies = mia.get("/api/user/packs").expect(200).list("/packs");
    assert!(copies.len() == 4 && copies.iter().all(|copy| copy["status"] == "revoked"), "{copies:?}");
    assert_eq!(mia.get("/api/user/collectibles").expect(200).list("/collectibles"), Vec::<Value>::new());
    mia.post(&open, &json!({"userPackId": copies[0]["id"]})).problem(409, "conflict");
    Ok(())
}

fn sealed_copies_can_be_returned_by_their_buyer(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let open = path(&mia, "gala").replace("/purchase", "/open");
    for round in 0..2 {
        let bought = buy(&mia, "gala", 4, &format!("four-{round}")).expect(201);
        let (purchase, page) = (bought.str_at("/purchase/id"), page(&service, &bought));
        decide(&mia, &page, "refund").problem(409, "conflict");
        decide(&mia, &page, "approve").expect(303);
        assert!(mia.get(&page).expect(200).text().contains("value=\"refund\""));
        for _ in 0..2 {
            decide(&mia, &page, "refund").expect(303);
            assert_eq!(status(&mia, &purchase), "refunded");
        }
        mia.ask("POST", &open)
            .header("idempotency-key", "none")
            .json(&json!({}))
            .send()
            .problem(404, "not_found");
    }
    // The provider has made the refund.
    let timer = service.client().with_bearer(CRON_SECRET);
    assert_eq!(timer.ask("POST", RECONCILE).send().expect(200).at("/lookedAt"), 0);
    Ok(())
}

fn stock_held_by_unpaid_purchases_is_bounded(kind: DatabaseKind) -> Result<()> {
    const DAY: Duration = Duration::from_hours(24);
    let service = TestService::builder(kind).with_sandbox().app(|app| app.new_account_age = DAY).start()?;
    let (mia, bo) = (fan(&service, "mia"), fan(&service, "bo_"));
    // Five copies are left: new accounts hold one of them.
    buy(&mia, "gala", 2, "two").problem(409, "account_too_new");
    let held = buy(&mia, "gala", 1, "one").expect(201);
    buy(&bo, "gala", 1, "one").problem(409, "account_too_new");
    buy(&bo, "paid", 20, "many").expect(201);
    decide(&mia, &page(&service, &held), "decline").expect(303);
    let again = buy(&bo, "gala", 1, "again").expect(201);
    decide(&bo, &page(&service, &again), "decline").expect(303);

    for key in ["second", "third"] {
        let held = buy(&mia, "gala", 1, key).expect(201);
        decide(&mia, &page(&service, &held), "decline").expect(303);
    }
    let refused = buy(&mia, "gala", 1, "fourth").problem(429, "too_many_abandoned");
    let wait: u64 = refused.header("retry-after").context("no Retry-After")?.parse()?;
    assert!((80_000..=86_401).contains(&wait), "{wait}");
    buy(&mia, "paid", 1, "other").expect(201);
    Ok(())
}

fn an_address_starts_only_so_many_purchases_for_money(kind: DatabaseKind) -> Result<()> {
    let limits = LimitConfig { purchases: Rate::new(2, 3600), ..LimitConfig::default() };
    let service = TestService::builder(kind).with_sandbox().limits(limits).start()?;
    let (mia, bo) = (fan(&service, "mia"), fan(&service, "bo_"));
    buy(&mia, "gala", 1, "one").expect(201);
    buy(&bo, "paid", 1, "one").expect(201);
    for client in [&mia, &bo] {
        let refused = buy(client, "paid", 1, "two").problem(429, "rate_limited");
        assert!(refused.header("retry-after").is_some());
        // Purchases for points are not affected.
        buy(client, "day", 1, "points").problem(409, "insufficient_balance");
    }
    Ok(())
}

fn spec_4_completing_a_purchase_is_replayed_and_only_the_buyers(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (mia, bo) = (fan(&service, "mia"), fan(&service, "bo_"));
    let bought = buy(&mia, "paid", 1, "one").expect(201);
    let (purchase, put) = (bought.str_at("/purchase/id"), path(&mia, "paid"));
    let keyed =
        |key: &str, body: &Value| mia.ask("PUT", &put).header("idempotency-key", key).json(body).send();
    let body = json!({"purchaseId": purchase});
    // A refusal is not stored.
    keyed("done", &body).problem(409, "payment_pending");
    complete(&bo, "paid", &purchase).problem(404, "not_found");
    complete(&mia, "gala", &purchase).problem(404, "not_found");
    decide(&mia, &page(&service, &bought), "approve").expect(303);
    complete(&bo, "paid", &purchase).problem(404, "not_found");
    let done = keyed("done", &body).expect(200);
    assert_eq!(done.header("idempotency-replayed"), None);
    let again = keyed("done", &body).expect(200);
    assert_eq!((again.header("idempotency-replayed"), again.json()), (Some("true"), done.json()));
    let other = buy(&mia, "paid", 1, "two").expect(201).str_at("/purchase/id");
    keyed("done", &json!({"purchaseId": other})).problem(422, "idempotency_key_reused");
    // A purchase for points was complete at once, and is answered so.
    let id = mia.get("/api/user").expect(200).str_at("/id");
    let award = json!({"userId": id, "amount": 10, "reason": "A ticket", "source": "import:ticket"});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &award).expect(200);
    let points = buy(&mia, "day", 1, "points").expect(201);
    assert_eq!(complete(&mia, "day", &points.str_at("/purchase/id")).expect(200).json(), points.json());
    Ok(())
}

fn at_most_three_purchases_wait(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let first = buy(&mia, "paid", 1, "first").expect(201);
    for key in ["second", "third"] {
        buy(&mia, "paid", 20, key).expect(201);
    }
    buy(&mia, "paid", 1, "fourth").problem(409, "limit_reached");
    decide(&mia, &page(&service, &first), "decline").expect(303);
    buy(&mia, "paid", 1, "fourth").expect(201);
    assert_eq!(mia.get("/api/user/purchases").expect(200).list("/purchases").len(), 4);
    Ok(())
}

fn spec_3_rule_4_unpaid_purchases_expire_and_late_payments_are_refunded(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (mia, timer) = (fan(&service, "mia"), service.client().with_bearer(CRON_SECRET));
    let bought = buy(&mia, "gala", 4, "four").expect(201);
    let (purchase, page) = (bought.str_at("/purchase/id"), page(&service, &bought));
    let reconcile = || timer.ask("POST", RECONCILE).send().expect(200);
    let idle = reconcile();
    assert_eq!([idle.at("/refreshed"), idle.at("/lookedAt")], [json!(true), json!(0)]);
    service.clock().advance(Duration::from_mins(31));
    // It is too late for the buyer, and so for the sandbox.
    assert!(mia.get(&page).expect(200).text().contains("too late"));
    decide(&mia, &page, "approve").problem(409, "conflict");
    let done = reconcile();
    let counts = ["/expired", "/completed", "/cancelled", "/refunded", "/left"].map(|at| done.at(at));
    assert_eq!(counts, [1, 0, 0, 0, 0].map(|count| json!(count)));
    complete(&mia, "gala", &purchase).problem(409, "purchase_expired");
    let bo = fan(&service, "bo_");
    buy(&bo, "gala", 4, "four").expect(201);
    // A payment that comes all the same is refunded.
    send_notice(&service, &message(&bought, "paid", "late")).expect(204);
    complete(&mia, "gala", &purchase).problem(409, "purchase_refunded");
    assert_eq!(reconcile().at("/refunded"), 1);
    assert_eq!(reconcile().at("/lookedAt"), 0);
    service.client().ask("POST", RECONCILE).send().problem(401, "authentication_required");
    Ok(())
}

#[test]
fn the_sandboxs_page_is_the_buyers_and_cross_site_forms_are_refused() -> Result<()> {
    let service = service(DatabaseKind::Sqlite)?;
    let (mia, bo) = (fan(&service, "mia"), fan(&service, "bo_"));
    let bought = buy(&mia, "paid", 1, "one").expect(201);
    let (purchase, page) = (bought.str_at("/purchase/id"), page(&service, &bought));
    service.browser().get(&page).problem(401, "authentication_required");
    decide(&service.browser(), &page, "approve").problem(401, "authentication_required");
    bo.get(&page).problem(404, "not_found");
    decide(&bo, &page, "approve").problem(404, "not_found");
    let elsewhere = |name: &str, value: &str| {
        let request = mia.ask("POST", &page).body(FORM, "decision=approve");
        request.header(name, value).send().problem(403, "cross_site_request")
    };
    elsewhere("origin", "https://evil.example");
    elsewhere("origin", "null");
    elsewhere("sec-fetch-site", "cross-site");
    for body in
        ["", "decision=", "decision=steal", "decision=approve&decision=decline", "decision=approve&x=1"]
    {
        mia.ask("POST", &page).body(FORM, body).send().problem(400, "invalid_request");
    }
    let json = mia.ask("POST", &page).json(&json!({"decision": "approve"})).send();
    json.problem(415, "unsupported_media_type");
    decide(&mia, &page, "refund").problem(409, "conflict");
    mia.get("/sandbox/checkout/seven").problem(400, "invalid_request");
    mia.get(&format!("/sandbox/checkout/{}", super::sample::UNKNOWN)).problem(404, "not_found");
    mia.put(&page, &json!({})).problem(405, "method_not_allowed");
    assert_eq!(status(&mia, &purchase), "pending");
    decide(&mia, &page, "approve").expect(303);
    assert_eq!(status(&mia, &purchase), "completed");
    Ok(())
}
