//! The contract under "Shop" (part 2 §3; spec §1, shop): checkout and orders, from the cart through the sandbox to the
//! goods, and what they refuse.

use super::cart::{address, put, variant};
use super::payments::{RECONCILE, fan, send_notice, service};
use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Answer, CRON_SECRET, Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    an_order_is_paid_in_the_sandbox_and_its_goods_are_there,
    a_cart_that_has_changed_is_shown_and_not_ordered,
    an_order_that_is_given_up_returns_to_the_cart,
    what_is_no_order_is_refused,
}

pub(super) fn quote(client: &Client) -> Value {
    client.get("/api/cart").expect(200).at("/cart/quote")
}

pub(super) fn check_out(client: &Client, key: &str, quote: &Value) -> Answer {
    let request = client.ask("POST", "/api/checkout").header("idempotency-key", key);
    request.json(&json!({"quote": quote})).send()
}

/// Puts purses into the cart and orders them.
fn order_purses(client: &Client, quantity: u32, key: &str) -> Answer {
    let (purse, _) = variant(client, "purse");
    put(client, &purse, &json!({"quantity": quantity})).expect(200);
    check_out(client, key, &quote(client)).expect(201)
}

fn read(client: &Client, order: &str) -> Value {
    client.get(&format!("/api/user/orders/{order}")).expect(200).at("/order")
}

pub(super) fn message(placed: &Answer, kind: &str, event: &str) -> Value {
    let order = placed.str_at("/order/id");
    json!({
        "eventId": event, "orderId": order, "kind": kind, "amount": placed.at("/order/paidBy/card"),
        "currency": "EUR", "reference": format!("sandbox_{}", order.replace('-', "")),
        "occurredAt": "2026-05-01T12:00:00.000Z",
    })
}

fn an_order_is_paid_in_the_sandbox_and_its_goods_are_there(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let placed = order_purses(&mia, 2, "one");
    let order = placed.str_at("/order/id");
    assert_eq!(placed.header("location"), Some(format!("/api/user/orders/{order}").as_str()));
    assert_eq!(placed.at("/order/status"), "pending");
    assert_eq!(placed.at("/order/paidBy"), json!({"points": 0, "coins": 0, "balance": 0, "card": 998}));
    assert_eq!(
        placed.at("/order/totals/parts"),
        json!([{"kind": "money", "amount": 998, "currency": "EUR"}])
    );
    assert_eq!(placed.at("/order/lines/0/fulfilment"), "waiting");
    let url = placed.str_at("/order/checkoutUrl");
    let page = url.strip_prefix(&service.url()).expect("a page of the service").to_owned();
    // The answer that is stored under the key is the one with the checkout's address.
    let again = check_out(&mia, "one", &json!("x")).expect(422);
    assert_eq!(again.code(), "idempotency_key_reused");
    let pending = mia.get("/api/cart").expect(200).at("/pendingOrder");
    assert_eq!((&pending["id"], &pending["checkoutUrl"]), (&json!(order), &json!(url)));
    mia.put("/api/checkout", &json!({"orderId": order})).problem(409, "payment_pending");
    let form = "application/x-www-form-urlencoded";
    let paid = mia.ask("POST", &page).body(form, "decision=approve").send().expect(303);
    assert_eq!(paid.header("location"), Some(format!("/orders/{order}").as_str()));
    let done = mia.put("/api/checkout", &json!({"orderId": order})).expect(200).at("/order");
    assert_eq!((&done["status"], &done["checkoutUrl"]), (&json!("completed"), &json!(null)));
    assert_eq!(done["lines"][0]["goods"], json!([{"kind": "coins", "amount": 100, "id": null}]));
    assert_eq!(mia.get("/api/user").expect(200).at("/balances/coins"), 100);
    assert_eq!(
        mia.get("/api/user/orders?status=completed").expect(200).list("/orders"),
        std::slice::from_ref(&done)
    );
    assert_eq!(mia.get("/api/user/orders?status=pending").expect(200).list("/orders"), Vec::<Value>::new());
    let back = mia.post(&format!("/api/user/orders/{order}/cancel"), &json!({})).expect(200);
    assert_eq!(
        (back.at("/order/status"), back.at("/order/refunds/0/status")),
        (json!("refunded"), json!("owed"))
    );
    service.client().with_bearer(CRON_SECRET).post(RECONCILE, &json!({})).expect(200);
    assert_eq!(read(&mia, &order)["refunds"][0]["status"], "given");
    assert_eq!(mia.get("/api/user").expect(200).at("/balances/coins"), 0);
    let exported = mia.get("/api/user/export").expect(200).list("/orders");
    assert_eq!(exported, [read(&mia, &order)]);
    Ok(())
}

fn a_cart_that_has_changed_is_shown_and_not_ordered(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let (purse, _) = variant(&mia, "purse");
    put(&mia, &purse, &json!({"quantity": 1})).expect(200);
    let old = quote(&mia);
    put(&mia, &purse, &json!({"quantity": 2})).expect(200);
    let changed = check_out(&mia, "one", &old);
    changed.clone().problem(409, "quote_changed");
    assert_eq!(changed.at("/cart"), mia.get("/api/cart").expect(200).at("/cart"));
    // A refusal is not stored under the key.
    let placed = check_out(&mia, "one", &changed.at("/cart/quote")).expect(201);
    let empty = check_out(&mia, "two", &old);
    empty.clone().problem(409, "cart_empty");
    assert_eq!(empty.at("/pendingOrder/id"), placed.at("/order/id"));
    let (shirt, _) = variant(&mia, "shirt");
    put(&mia, &shirt, &json!({"quantity": 1})).expect(200);
    check_out(&mia, "three", &quote(&mia)).problem(409, "address_missing");
    let body = json!({"method": "post", "address": address()});
    mia.ask("PUT", "/api/cart/shipping").json(&body).send().expect(200);
    let shirt = check_out(&mia, "four", &quote(&mia)).expect(201);
    assert_eq!(shirt.at("/order/shipping/address/city"), "Hamburg");
    assert_eq!(shirt.at("/order/tax/rates/0/basisPoints"), 1900);
    let paid = message(&shirt, "paid", "evt_1");
    for _ in 0..2 {
        send_notice(&service, &paid).expect(204);
    }
    let order = shirt.str_at("/order/id");
    assert_eq!(read(&mia, &order)["status"], "paid");
    send_notice(&service, &message(&shirt, "refunded", "evt_2")).expect(204);
    assert_eq!(read(&mia, &order)["lines"][0]["fulfilment"], "revoked");
    Ok(())
}

fn an_order_that_is_given_up_returns_to_the_cart(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| fan(&service, name));
    let placed = order_purses(&mia, 3, "one");
    let order = placed.str_at("/order/id");
    for path in [String::new(), "/cancel".to_owned(), "/reorder".to_owned()] {
        let path = format!("/api/user/orders/{order}{path}");
        let answer = if path.ends_with(&order) { bo.get(&path) } else { bo.post(&path, &json!({})) };
        answer.problem(404, "not_found");
    }
    let cancelled = mia.post(&format!("/api/user/orders/{order}/cancel"), &json!({})).expect(200);
    assert_eq!(cancelled.at("/order/status"), "cancelled");
    assert_eq!(mia.get("/api/cart").expect(200).at("/cart/lines/0/quantity"), 3);
    let again = mia.post(&format!("/api/user/orders/{order}/cancel"), &json!({}));
    again.problem(409, "order_not_cancellable");
    mia.put("/api/checkout", &json!({"orderId": order})).problem(409, "purchase_cancelled");
    let (purse, _) = variant(&mia, "purse");
    put(&mia, &purse, &json!({"quantity": 0})).expect(200);
    let merged = mia.post(&format!("/api/user/orders/{order}/reorder"), &json!({})).expect(200);
    assert_eq!((merged.at("/cart/lines/0/quantity"), merged.at("/skipped")), (json!(3), json!([])));
    // Money that comes nevertheless is given back.
    send_notice(&service, &message(&placed, "paid", "evt_late")).expect(204);
    let late = read(&mia, &order);
    assert_eq!((&late["status"], &late["refunds"][0]["status"]), (&json!("refunded"), &json!("owed")));
    Ok(())
}

fn what_is_no_order_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let (purse, _) = variant(&mia, "purse");
    mia.post("/api/checkout", &json!({"quote": "x"})).problem(400, "idempotency_key_required");
    check_out(&mia, "one", &json!("x")).problem(409, "cart_empty");
    put(&mia, &purse, &json!({"quantity": 1})).expect(200);
    for quote in [json!(1), json!(null), json!({})] {
        check_out(&mia, "two", &quote).problem(400, "invalid_request");
    }
    // There is no payment provider here.
    check_out(&mia, "three", &quote(&mia)).problem(409, "payment_unavailable");
    mia.put("/api/checkout", &json!({"orderId": UNKNOWN})).problem(404, "not_found");
    mia.get(&format!("/api/user/orders/{UNKNOWN}")).problem(404, "not_found");
    mia.get("/api/user/orders?status=lost").problem(400, "invalid_request");
    assert_eq!(mia.get("/api/cart").expect(200).at("/pendingOrder"), json!(null));
    service.client().get("/api/user/orders").problem(401, "authentication_required");
    Ok(())
}
