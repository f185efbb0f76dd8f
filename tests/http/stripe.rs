//! Contract part 2 §3: Stripe's events over HTTP. What is signed is acknowledged, whatever it is about (spec §1, shop).

use anyhow::Result;
use serde_json::json;
use terrace_testkit::{
    Answer, Client, DatabaseKind, StripeEvent, StripeStandIn, TestService, on_each_database,
};

on_each_database! {
    signed_events_are_acknowledged_and_others_refused,
    no_secret_of_stripe_is_in_a_response_or_in_the_metrics,
}

fn service(kind: DatabaseKind) -> Result<(TestService, StripeStandIn)> {
    let stand_in = StripeStandIn::start()?;
    let service = TestService::builder(kind).paid_to(stand_in.provider()).start()?;
    stand_in.follow(service.clock().clone());
    Ok((service, stand_in))
}

fn post(service: &TestService, signature: Option<&str>, body: &[u8]) -> Answer {
    let client = service.client();
    let request = client.ask("POST", "/api/webhooks/payments").body("application/json", body).may_break();
    match signature {
        Some(signature) => request.header("stripe-signature", signature).send(),
        None => request.send(),
    }
}

fn send(service: &TestService, stand_in: &StripeStandIn, event: &StripeEvent) -> Answer {
    post(service, Some(&stand_in.sign(&event.body)), &event.body)
}

/// Orders a purse; returns the order and its page at Stripe.
fn order(client: &Client) -> (String, String) {
    let products = client.get("/api/products").expect(200);
    let found = products.list("/products").into_iter().find(|product| product["key"] == "purse");
    let variant = found.expect("a purse")["variants"][0]["id"].as_str().expect("an id").to_owned();
    client.put(&format!("/api/cart/lines/{variant}"), &json!({"quantity": 1})).expect(200);
    let quote = client.get("/api/cart").expect(200).at("/cart/quote");
    let request = client.ask("POST", "/api/checkout").header("idempotency-key", "one");
    let placed = request.json(&json!({"quote": quote})).send().expect(201);
    (placed.str_at("/order/id"), placed.str_at("/order/checkoutUrl"))
}

fn signed_events_are_acknowledged_and_others_refused(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = service(kind)?;
    let mia = service.fan("mia");
    let (order, page) = order(&mia);
    assert!(stand_in.pay(&page));
    let [unknown, paid] = stand_in.take_events().try_into().expect("two events");
    let changed = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&paid.body).replace(from, to);
        StripeEvent {
            body: text.replace("\"id\":\"evt_", &format!("\"id\":\"evt_{}_", from.len())).into_bytes(),
        }
    };
    let status = || mia.get(&format!("/api/user/orders/{order}")).expect(200).str_at("/order/status");
    assert_eq!(post(&service, None, &paid.body).expect(400).code(), "invalid_signature");
    let of_other = stand_in.sign(b"{}");
    assert_eq!(post(&service, Some(&of_other), &paid.body).expect(400).code(), "invalid_signature");
    for event in [
        &unknown,
        &changed("\"livemode\":false", "\"livemode\":true"),
        &changed("\"amount_total\":499", "\"amount_total\":9"),
        &changed(&order, "0198c1f2-7a01-7c3e-9d55-0d6a5b1f2e77"),
    ] {
        for _ in 0..2 {
            send(&service, &stand_in, event).expect(204);
        }
    }
    assert_eq!(status(), "pending");
    for _ in 0..2 {
        send(&service, &stand_in, &paid).expect(204);
    }
    assert_eq!(status(), "completed");
    // An event that is to be looked up comes again later.
    assert!(stand_in.dispute(&page));
    let [opened] = stand_in.take_events().try_into().expect("one event");
    stand_in.fail(100, 3);
    assert_eq!(send(&service, &stand_in, &opened).expect(503).code(), "unavailable");
    stand_in.fail(0, 3);
    send(&service, &stand_in, &opened).expect(204);
    let shown = mia.get(&format!("/api/user/orders/{order}")).expect(200);
    assert_eq!(
        (shown.at("/order/disputed"), shown.str_at("/order/status")),
        (json!(true), "completed".to_owned())
    );
    assert!(stand_in.decide_dispute(&page, true));
    for event in stand_in.take_events() {
        send(&service, &stand_in, &event).expect(204);
    }
    let shown = mia.get(&format!("/api/user/orders/{order}")).expect(200);
    assert_eq!(shown.str_at("/order/status"), "refunded");
    assert_eq!(shown.at("/order/refunds/0/status"), json!("given"));
    assert_eq!(shown.at("/order/refunds/0/parts/parts/0/amount"), json!(499));
    assert_eq!(shown.at("/order/refunds/0/tax/amount"), shown.at("/order/tax/amount"));
    Ok(())
}

fn no_secret_of_stripe_is_in_a_response_or_in_the_metrics(kind: DatabaseKind) -> Result<()> {
    let (service, stand_in) = service(kind)?;
    let mia = service.fan("mia");
    let (_, page) = order(&mia);
    stand_in.fail(100, 5);
    assert!(stand_in.pay(&page));
    let mut seen = Vec::new();
    for event in stand_in.take_events() {
        seen.push(send(&service, &stand_in, &event).text());
    }
    seen.push(post(&service, Some("t=1,v1=00"), b"{}").text());
    let bo = service.fan("bo_");
    let products = bo.get("/api/products").expect(200);
    let found = products.list("/products").into_iter().find(|product| product["key"] == "purse");
    let variant = found.expect("a purse")["variants"][0]["id"].as_str().expect("an id").to_owned();
    bo.put(&format!("/api/cart/lines/{variant}"), &json!({"quantity": 1})).expect(200);
    let quote = bo.get("/api/cart").expect(200).at("/cart/quote");
    let request = bo.ask("POST", "/api/checkout").header("idempotency-key", "two");
    let failed = request.json(&json!({"quote": quote})).may_break().send().expect(503);
    seen.push(failed.text());
    seen.push(service.client().get("/metrics").expect(200).text());
    for text in seen {
        for secret in [StripeStandIn::KEY, StripeStandIn::WEBHOOK_SECRET] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    Ok(())
}
