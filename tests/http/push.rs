//! Push over HTTP (spec §6): the key, the subscription of a session, and messages that reach a push service.

use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::app::push::{PutPushSubscription, enqueue};
use terrace_testkit::kernel::Uuid;
use terrace_testkit::outbound::{PushNetwork, WebPush};
use terrace_testkit::{
    DatabaseKind, Fan, PUSH_ENDPOINT, StandInPush, TestApp, TestService, body, on_each_database, push_body,
    push_sender, push_subscription, render_every_push,
};

on_each_database! {
    spec_6_a_browser_subscribes_with_the_key_of_the_service,
    spec_6_subscriptions_elsewhere_or_with_other_keys_are_refused,
    spec_6_without_keys_there_is_no_push,
    spec_6_messages_reach_the_push_service_encrypted_and_signed,
    spec_6_answers_of_the_push_service_end_subscriptions_or_wait,
    spec_6_names_that_lead_to_private_addresses_are_not_connected_to,
}

const KEY: &str = "/api/push/key";
const SUBSCRIPTION: &str = "/api/push/subscription";

fn with_push(kind: DatabaseKind) -> Result<TestService> {
    let sender = Arc::new(push_sender(PushNetwork::default()));
    TestService::builder(kind).push(sender, render_every_push).start()
}

fn spec_6_a_browser_subscribes_with_the_key_of_the_service(kind: DatabaseKind) -> Result<()> {
    let service = with_push(kind)?;
    let mia = service.fan("mia");
    let key = mia.get(KEY).expect(200);
    assert_eq!((key.str_at("/publicKey").len(), key.str_at("/keyId").len()), (87, 16));
    assert_eq!(mia.get("/api/club").expect(200).at("/push"), true);
    let subscription = push_body(PUSH_ENDPOINT, &key.at("/keyId"));
    for _ in 0..2 {
        mia.ask("PUT", SUBSCRIPTION).json(&subscription).send().expect(204);
    }
    let exported = mia.get("/api/user/export").expect(200);
    assert_eq!(exported.list("/pushSubscriptions").len(), 1);
    assert_eq!(exported.at("/pushSubscriptions/0/host"), "fcm.googleapis.com");
    for _ in 0..2 {
        mia.ask("DELETE", SUBSCRIPTION).send().expect(204);
    }
    assert_eq!(mia.get("/api/user/export").expect(200).list("/pushSubscriptions").len(), 0);
    // A native client with a token has one too.
    let phone = service.mobile_fan("bo_");
    phone.ask("PUT", SUBSCRIPTION).json(&subscription).send().expect(204);
    for method in ["PUT", "DELETE"] {
        let request = service.client();
        request.ask(method, SUBSCRIPTION).json(&subscription).send().problem(401, "authentication_required");
    }
    service.client().get(KEY).problem(401, "authentication_required");
    Ok(())
}

fn spec_6_subscriptions_elsewhere_or_with_other_keys_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = with_push(kind)?;
    let mia = service.fan("mia");
    let id = mia.get(KEY).expect(200).at("/keyId");
    let right = push_body(PUSH_ENDPOINT, &id);
    let put = |body: &Value| mia.ask("PUT", SUBSCRIPTION).json(body).send();
    let long = format!("https://fcm.googleapis.com/{}", "x".repeat(2048));
    for endpoint in [
        "http://fcm.googleapis.com/a",
        "https://fcm.googleapis.com:8443/a",
        "https://push.example.org/a",
        "https://fcm.googleapis.com.example.org/a",
        "https://fcm.googleapis.com@10.0.0.1/a",
        "https://127.0.0.1/a",
        "https://[::1]/a",
        "https://localhost/a",
        &long,
    ] {
        let refused = put(&push_body(endpoint, &id)).problem(422, "validation_failed");
        assert_eq!(refused.at("/errors/0/pointer"), "/endpoint", "{endpoint}");
    }
    let no_point = format!("BA{}", "A".repeat(85));
    for (pointer, value) in [
        ("/keyId", json!("0000000000000000")),
        ("/keys/p256dh", json!("AA")),
        ("/keys/p256dh", json!(no_point)),
        ("/keys/auth", json!("AA")),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(pointer).expect("a field") = value;
        assert_eq!(put(&wrong).problem(422, "validation_failed").at("/errors/0/pointer"), pointer);
    }
    assert_eq!(mia.get("/api/user/export").expect(200).list("/pushSubscriptions").len(), 0);
    put(&right).expect(204);
    Ok(())
}

fn spec_6_without_keys_there_is_no_push(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    mia.ask("GET", KEY).may_break().send().problem(503, "push_unavailable");
    let subscription = push_body(PUSH_ENDPOINT, &json!("0000000000000000"));
    let put = mia.ask("PUT", SUBSCRIPTION).json(&subscription).may_break();
    put.send().problem(503, "push_unavailable");
    mia.ask("DELETE", SUBSCRIPTION).send().expect(204);
    assert_eq!(mia.get("/api/club").expect(200).at("/push"), false);
    Ok(())
}

/// A service that sends with this sender, and a fan with a subscription and a message.
fn notified(kind: DatabaseKind, sender: WebPush) -> Result<(TestApp, Fan)> {
    let service = TestApp::start(kind)?.with_push(Arc::new(sender), render_every_push)?;
    let mia = service.fan("mia");
    let viewer = service.viewer(mia.cookie).expect("signed in");
    service.done(PutPushSubscription(push_subscription(&viewer, PUSH_ENDPOINT)));
    notify(&service, &mia);
    Ok((service, mia))
}

fn notify(service: &TestApp, fan: &Fan) {
    let user = fan.id;
    service.done(body(move |tx, ctx| Ok(enqueue(tx, user, Uuid::from_u128(1), ctx.now())?)));
}

fn deliver(service: &TestApp) -> u64 {
    service.run(service.app().deliver_pushes()).expect("a working store")
}

fn subscriptions(service: &TestApp) -> Vec<String> {
    let count = "SELECT CAST(count(*) AS TEXT) AS text FROM push_subscriptions";
    service.storage().read_by_hand(count).expect("a count")
}

fn spec_6_messages_reach_the_push_service_encrypted_and_signed(kind: DatabaseKind) -> Result<()> {
    let push = StandInPush::start(&[]);
    let (service, _) = notified(kind, push.sender())?;
    assert_eq!(deliver(&service), 1);
    let received = push.received();
    let [message] = received.as_slice() else { panic!("{received:?}") };
    assert!(message.head.starts_with("POST /fcm/send/test HTTP/1.1"), "{}", message.head);
    for (header, value) in [
        ("host", "fcm.googleapis.com"),
        ("content-encoding", "aes128gcm"),
        ("ttl", "86400"),
        ("urgency", "normal"),
        ("topic", "00000000000000000000000000000001"),
    ] {
        assert_eq!(message.header(header), Some(value), "{header}");
    }
    let authorization = message.header("authorization").expect("a token");
    assert!(authorization.starts_with("vapid t=") && authorization.contains(", k="), "{authorization}");
    assert!(message.body.len() <= 3000);
    let payload: Value = serde_json::from_slice(&message.decrypt())?;
    assert_eq!(
        (&payload["unread"], &payload["url"], &payload["kind"]),
        (&json!(1), &json!("/"), &json!("comment"))
    );
    Ok(())
}

fn spec_6_answers_of_the_push_service_end_subscriptions_or_wait(kind: DatabaseKind) -> Result<()> {
    for gone in ["404 Not Found", "410 Gone"] {
        let push = StandInPush::start(&[gone]);
        let (service, _) = notified(kind, push.sender())?;
        assert_eq!((deliver(&service), subscriptions(&service)), (0, vec!["0".to_owned()]), "{gone}");
    }
    for (waits, seconds) in [
        ("429 Too Many Requests\r\nretry-after: 300", 300),
        ("503 Unavailable\r\nretry-after: 300", 300),
        ("500 Error", 30),
    ] {
        let push = StandInPush::start(&[waits]);
        let (service, _) = notified(kind, push.sender())?;
        assert_eq!((deliver(&service), deliver(&service), push.received().len()), (0, 0, 1), "{waits}");
        service.clock().advance(Duration::from_secs(seconds));
        assert_eq!((deliver(&service), push.received().len()), (1, 2), "{waits}");
    }
    for dropped in
        ["413 Too Large", "400 Bad", "403 Forbidden", "307 Moved\r\nlocation: https://fcm.googleapis.com/b"]
    {
        let push = StandInPush::start(&[dropped]);
        let (service, mia) = notified(kind, push.sender())?;
        assert_eq!((deliver(&service), push.received().len()), (0, 1), "{dropped}");
        service.clock().advance(Duration::from_hours(7));
        assert_eq!((deliver(&service), push.received().len()), (0, 1), "{dropped}");
        notify(&service, &mia);
        assert_eq!((deliver(&service), subscriptions(&service)), (1, vec!["1".to_owned()]), "{dropped}");
    }
    Ok(())
}

fn spec_6_names_that_lead_to_private_addresses_are_not_connected_to(kind: DatabaseKind) -> Result<()> {
    let push = StandInPush::start(&[]);
    for address in
        ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "fe80::1"]
    {
        // The first answer is of another name: every connection asks, and is checked, anew.
        let (service, mia) = notified(kind, push.public_sender(&[&[address], &["127.0.0.1"]]))?;
        assert_eq!(deliver(&service), 0, "{address}");
        notify(&service, &mia);
        assert_eq!(deliver(&service), 0, "rebinding after {address}");
    }
    assert_eq!(push.connections(), 0);
    Ok(())
}
