//! Spec §1, rules 8 and 10, and §4, "Platform", over HTTP: the messages about payments that the webhook accepts
//! and refuses.

use super::payments::{
    RECONCILE, WEBHOOK, buy, complete, fan, message, send_notice, service, signed, status,
};
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::platform::webhooks::{SIGNATURE_HEADER, WebhookSecret};
use terrace_testkit::web::{LimitConfig, Rate};
use terrace_testkit::{CRON_SECRET, DatabaseKind, Request, TestService, on_each_database, sandbox_secret};

on_each_database! {
    a_message_counts_once_however_often_it_comes,
    a_message_that_does_not_match_is_kept_and_moves_nothing,
    fifty_same_messages_at_once_complete_once,
}

fn a_message_counts_once_however_often_it_comes(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let bought = buy(&mia, "paid", 2, "two").expect(201);
    let purchase = bought.str_at("/purchase/id");
    // Unknown kinds are acknowledged, and unknown fields too.
    send_notice(&service, &json!({"kind": "disputed"})).expect(204);
    send_notice(&service, &json!({"kind": "paid.partially", "amount": "?"})).expect(204);
    assert_eq!(status(&mia, &purchase), "pending");
    let mut paid = message(&bought, "paid", "evt-1");
    paid["more"] = json!(1);
    for event in ["evt-1", "evt-1", "evt-2"] {
        paid["eventId"] = json!(event);
        send_notice(&service, &paid).expect(204);
        assert_eq!(status(&mia, &purchase), "completed");
    }
    assert_eq!(complete(&mia, "paid", &purchase).expect(200).list("/userPacks").len(), 2);
    // The same event with another content.
    let mut other = message(&bought, "refunded", "evt-1");
    send_notice(&service, &other).expect(204);
    assert_eq!(status(&mia, &purchase), "completed");
    // Out of order: cancelled after it was paid, and refunded.
    send_notice(&service, &message(&bought, "cancelled", "evt-3")).expect(204);
    other["eventId"] = json!("evt-4");
    for _ in 0..2 {
        send_notice(&service, &other).expect(204);
        assert_eq!(status(&mia, &purchase), "refunded");
    }
    Ok(())
}

fn a_message_that_does_not_match_is_kept_and_moves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let (mia, bo) = (fan(&service, "mia"), fan(&service, "bo_"));
    let (bought, others) = (buy(&mia, "paid", 1, "one").expect(201), buy(&bo, "gala", 1, "one").expect(201));
    let good = message(&bought, "paid", "good");
    for (nth, (field, value)) in [
        ("amount", json!(498)),
        ("amount", json!(0)),
        ("amount", json!(i64::MAX)),
        ("currency", json!("USD")),
        ("purchaseId", json!(super::sample::UNKNOWN)),
        ("purchaseId", others.at("/purchase/id")),
        ("reference", message(&others, "paid", "x")["reference"].clone()),
    ]
    .into_iter()
    .enumerate()
    {
        let mut wrong = good.clone();
        wrong[field] = value;
        wrong["eventId"] = json!(format!("wrong-{nth}"));
        for _ in 0..2 {
            send_notice(&service, &wrong).expect(204);
        }
    }
    for (field, value) in [
        ("amount", json!(4.99)),
        ("amount", json!("499")),
        ("currency", json!("eur")),
        ("purchaseId", json!("seven")),
        ("eventId", json!("")),
        ("eventId", json!("x".repeat(256))),
        ("reference", json!("a b")),
        ("occurredAt", json!("yesterday")),
        ("kind", json!(7)),
    ] {
        let mut wrong = good.clone();
        wrong[field] = value;
        send_notice(&service, &wrong).problem(400, "invalid_request");
    }
    for (client, bought) in [(&mia, &bought), (&bo, &others)] {
        assert_eq!(status(client, &bought.str_at("/purchase/id")), "pending");
        assert_eq!(client.get("/api/user/packs").expect(200).list("/packs"), Vec::<Value>::new());
    }
    send_notice(&service, &good).expect(204);
    assert_eq!(status(&mia, &bought.str_at("/purchase/id")), "completed");
    Ok(())
}

fn fifty_same_messages_at_once_complete_once(kind: DatabaseKind) -> Result<()> {
    let service = service(kind)?;
    let mia = fan(&service, "mia");
    let bought = buy(&mia, "gala", 2, "two").expect(201);
    let message = message(&bought, "paid", "evt-1");
    std::thread::scope(|scope| {
        let answers: Vec<_> =
            (0..50).map(|_| scope.spawn(|| send_notice(&service, &message).expect(204))).collect();
        for answer in answers {
            answer.join().expect("an answer");
        }
    });
    let done = complete(&mia, "gala", &bought.str_at("/purchase/id")).expect(200);
    assert_eq!(done.list("/userPacks").len(), 2);
    assert_eq!(mia.get("/api/user/packs").expect(200).list("/packs").len(), 2);
    Ok(())
}

#[test]
fn forged_old_and_oversized_messages_are_refused_before_they_are_read() -> Result<()> {
    let service = service(DatabaseKind::Sqlite)?;
    let mia = fan(&service, "mia");
    let bought = buy(&mia, "paid", 1, "one").expect(201);
    let body = message(&bought, "paid", "evt-1").to_string();
    let (visitor, secret, now) = (service.client(), sandbox_secret(), service.app().now());
    let bytes = body.as_bytes();
    let refused = |request: Request<'_>| request.send().problem(400, "invalid_signature");
    refused(visitor.ask("POST", WEBHOOK).body("application/json", bytes));
    for junk in ["", "junk", "t=1", "v1=00", "t=x,v1=x", &format!("t=1,v1={}", "0".repeat(64))] {
        let request = visitor.ask("POST", WEBHOOK).header(SIGNATURE_HEADER, junk);
        refused(request.body("application/json", bytes));
    }
    let other = WebhookSecret::new(&"o".repeat(32))?;
    refused(signed(&visitor, &other, now, bytes));
    for away in [Duration::from_secs(310), Duration::from_hours(24)] {
        refused(signed(&visitor, &secret, now.minus(away), bytes));
        refused(signed(&visitor, &secret, now.plus(away), bytes));
    }
    // A signature that was intercepted, on another body.
    let intercepted = secret.sign(now, bytes);
    for changed in [body.replace("499", "1"), body.replace("paid", "refunded"), format!("{body} ")] {
        let request = visitor.ask("POST", WEBHOOK).header(SIGNATURE_HEADER, &intercepted);
        refused(request.body("application/json", changed));
    }
    // Neither a session nor a secret signs a message.
    refused(visitor.with_bearer(CRON_SECRET).ask("POST", WEBHOOK).body("application/json", bytes));
    // Up to 64 KiB the body is read, and beyond it is not, whether or not it is signed.
    let filled = |length: usize| vec![b' '; length];
    let sent = |body: &[u8]| signed(&visitor, &secret, now, body).send();
    sent(&filled(64 << 10)).problem(400, "invalid_request");
    sent(&filled((64 << 10) + 1)).problem(413, "payload_too_large");
    sent(&filled(65 << 10)).problem(413, "payload_too_large");
    signed(&visitor, &secret, now, bytes)
        .header("content-encoding", "gzip")
        .send()
        .problem(415, "unsupported_media_type");
    for body in [&b"{"[..], b"[]", b"7", b"\xff\xfe", b""] {
        sent(body).problem(400, "invalid_request");
    }
    visitor.get(WEBHOOK).problem(405, "method_not_allowed");
    assert_eq!(status(&mia, &bought.str_at("/purchase/id")), "pending");
    // A provider need not send an origin or credentials, and those that it sends are ignored.
    let request = signed(&visitor, &secret, now, bytes).header("origin", "https://provider.example");
    request.header("sec-fetch-site", "cross-site").header("cookie", "session=junk").send().expect(204);
    assert_eq!(status(&mia, &bought.str_at("/purchase/id")), "completed");
    Ok(())
}

#[test]
fn forgeries_are_rate_limited_and_the_provider_is_not() -> Result<()> {
    let limits = LimitConfig { anonymous_writes: Rate::new(3, 3600), ..LimitConfig::default() };
    let service = TestService::builder(DatabaseKind::Sqlite).with_sandbox().limits(limits).start()?;
    let forged = || service.client().ask("POST", WEBHOOK).body("application/json", "{}").send();
    for _ in 0..3 {
        forged().problem(400, "invalid_signature");
    }
    assert!(forged().problem(429, "rate_limited").header("retry-after").is_some());
    for _ in 0..5 {
        send_notice(&service, &json!({"kind": "whatever"})).expect(204);
    }
    Ok(())
}

#[test]
fn without_a_provider_nothing_is_sold_for_money_and_messages_are_refused() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let mia = fan(&service, "mia");
    buy(&mia, "paid", 1, "one").problem(409, "payment_unavailable");
    send_notice(&service, &json!({"kind": "paid"})).problem(404, "not_found");
    mia.get(&format!("/sandbox/checkout/{}", super::sample::UNKNOWN)).problem(404, "not_found");
    let timer = service.client().with_bearer(CRON_SECRET);
    assert_eq!(timer.ask("POST", RECONCILE).send().expect(200).at("/lookedAt"), 0);
    Ok(())
}
