//! Contract part 2 §4, wallets over HTTP: requests, the list, balances, and what is refused.

use super::sample::UNKNOWN;
use super::streams::{OWN, settled};
use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use terrace_testkit::{Client, DatabaseKind, PASSWORD, StandInWallets, TestService, on_each_database};

on_each_database! {
    spec_4_a_wallet_is_requested_once_and_becomes_ready,
    spec_4_balances_are_those_of_the_last_report,
    spec_4_without_a_provider_wallets_are_unavailable,
    spec_4_what_is_no_request_for_a_wallet_is_refused,
    spec_4_wallets_are_exported,
}

const WALLETS: &str = "/api/wallets";

fn with_provider(kind: DatabaseKind) -> Result<(TestService, Arc<StandInWallets>)> {
    let provider = StandInWallets::new(&[]);
    let builder = TestService::builder(kind).web(|web| web.streams.life = Duration::from_mins(10));
    Ok((builder.wallets(Arc::<StandInWallets>::clone(&provider)).start()?, provider))
}

fn request(client: &Client, network: &str) -> Value {
    client.post(WALLETS, &json!({"network": network})).expect(201).json()
}

fn provide(service: &TestService) {
    service.run(service.app().provide_wallets()).expect("a working store");
}

fn spec_4_a_wallet_is_requested_once_and_becomes_ready(kind: DatabaseKind) -> Result<()> {
    let (service, provider) = with_provider(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let empty = mia.get(WALLETS).expect(200);
    assert_eq!((empty.at("/wallets"), empty.at("/networks")), (json!([]), json!(["polygon", "base"])));
    settled(&service);
    let mut stream = mia.stream(OWN).begun();
    let made = mia.post(WALLETS, &json!({"network": "polygon"})).expect(201);
    let wallet = made.at("/wallet");
    let id = made.str_at("/wallet/id");
    assert_eq!(
        wallet,
        json!({"id": id, "network": "polygon", "address": null, "custody": null, "status": "requested"})
    );
    let location = made.header("location").expect("a location").to_owned();
    assert_eq!(
        mia.get(&location).expect(200).json(),
        json!({"wallet": wallet, "balances": [], "stale": false})
    );
    assert_eq!(mia.post(WALLETS, &json!({"network": "polygon"})).expect(200).at("/wallet"), wallet);
    // Not hers.
    request(&bo, "polygon");
    provide(&service);
    let ready = mia.post(WALLETS, &json!({"network": "polygon"})).expect(200).at("/wallet");
    assert_eq!(
        (&ready["id"], &ready["status"], &ready["custody"]),
        (&json!(id), &json!("ready"), &json!("provider"))
    );
    assert_eq!(mia.get(WALLETS).expect(200).at("/wallets"), json!([ready]));
    assert_eq!(provider.accounts(), 2);
    for status in ["requested", "ready"] {
        let event = stream.one();
        assert_eq!((event.name.as_str(), &event.data["walletId"]), ("wallet.changed", &json!(id)));
        assert_eq!((&event.data["status"], &event.data["network"]), (&json!(status), &json!("polygon")));
    }
    bo.get(&location).problem(404, "not_found");
    Ok(())
}

fn spec_4_balances_are_those_of_the_last_report(kind: DatabaseKind) -> Result<()> {
    let (service, provider) = with_provider(kind)?;
    let mia = service.fan("mia");
    let id = request(&mia, "base")["wallet"]["id"].as_str().expect("an id").to_owned();
    provide(&service);
    provider.holds(Some(&[("usdc", "1234567890123456789012345678901234567890.000001")]));
    let path = format!("{WALLETS}/{id}");
    let shown = mia.get(&path).expect(200);
    let token = json!({"key": "usdc", "symbol": "USDC", "decimals": 6});
    assert_eq!(shown.at("/balances/0/token"), token);
    assert_eq!(shown.str_at("/balances/0/amount"), "1234567890123456789012345678901234567890.000001");
    assert_eq!(shown.at("/stale"), false);
    provider.holds(None);
    service.clock().advance(Duration::from_mins(1));
    let later = mia.get(&path).expect(200);
    assert_eq!((later.at("/stale"), later.at("/balances")), (json!(true), shown.at("/balances")));
    // One that does not answer at all holds no request up for long.
    service.clock().advance(Duration::from_mins(1));
    provider.hold();
    assert_eq!(mia.get(&path).expect(200).at("/stale"), true);
    provider.release();
    Ok(())
}

fn spec_4_without_a_provider_wallets_are_unavailable(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let request = mia.ask("POST", WALLETS).json(&json!({"network": "polygon"}));
    let refused = request.may_break().send().problem(503, "wallet_unavailable");
    assert!(refused.header("retry-after").is_some());
    let read = mia.get(WALLETS).expect(200);
    assert_eq!((read.at("/wallets"), read.at("/networks")), (json!([]), json!([])));
    Ok(())
}

fn spec_4_what_is_no_request_for_a_wallet_is_refused(kind: DatabaseKind) -> Result<()> {
    let (service, provider) = with_provider(kind)?;
    let mia = service.fan("mia");
    service.client().post(WALLETS, &json!({"network": "polygon"})).problem(401, "authentication_required");
    for network in ["ethereum", "Polygon", "", "poly gon", "poly\u{e9}", &"x".repeat(41)] {
        let refused = mia.post(WALLETS, &json!({"network": network})).problem(422, "validation_failed");
        assert_eq!(refused.at("/errors/0/pointer"), "/network", "{network}");
    }
    for body in
        [json!({}), json!({"network": 7}), json!({"network": null}), json!({"network": "base", "x": 1})]
    {
        mia.post(WALLETS, &body).problem(400, "invalid_request");
    }
    mia.get(&format!("{WALLETS}/{UNKNOWN}")).problem(404, "not_found");
    mia.get(&format!("{WALLETS}/7")).problem(400, "invalid_request");
    assert_eq!((mia.get(WALLETS).expect(200).at("/wallets"), provider.calls()), (json!([]), [0, 0, 0]));
    // A key replays the first answer.
    let keyed = || {
        let request = mia.ask("POST", WALLETS).header("idempotency-key", "one");
        request.json(&json!({"network": "base"})).send().expect(201)
    };
    assert_eq!(keyed().json(), keyed().json());
    Ok(())
}

fn spec_4_wallets_are_exported(kind: DatabaseKind) -> Result<()> {
    let (service, provider) = with_provider(kind)?;
    let mia = service.fan("mia");
    let id = request(&mia, "base")["wallet"]["id"].as_str().expect("an id").to_owned();
    provide(&service);
    provider.holds(Some(&[("fan", "3")]));
    mia.get(&format!("{WALLETS}/{id}")).expect(200);
    let export = mia.get("/api/user/export").expect(200);
    assert_eq!(export.at("/wallets/0/wallet/id"), json!(id));
    assert_eq!(export.at("/wallets/0/balances/0/amount"), "3");
    mia.ask("DELETE", "/api/user").json(&json!({"password": PASSWORD})).send().expect(204);
    Ok(())
}
