//! Contract part 2 §9: spins fit the published odds, of each wheel in memory and over HTTP.

use super::sizes::size;
use crate::http::wallets::transfer;
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use terrace_testkit::app::wheels::WheelContent;
use terrace_testkit::draws::{ChiSquareTest, ServerSeed};
use terrace_testkit::games::Wheel;
use terrace_testkit::kernel::num;
use terrace_testkit::ledger::{AccountKind, Holder, House};
use terrace_testkit::{Client, DatabaseKind, TestService, WHEELS, on, on_each_database};

on_each_database! { spec_9_spins_over_http_fit_the_odds_that_the_wheel_publishes }

/// The number of spins over HTTP on each database, and of each wheel in memory, where they differ from the suite's.
const OVER_HTTP: &str = "TERRACE_PROVE_SPINS";
const IN_MEMORY: &str = "TERRACE_PROVE_DRAWS";
const OVER_HTTP_IN_THE_SUITE: usize = 400;
const IN_MEMORY_IN_THE_SUITE: usize = 20_000;
/// A fit this bad comes once in a thousand runs by chance.
const LEVEL: f64 = 0.001;
const FANS: usize = 4;
/// A wheel with a guarantee that gives back less than it costs.
const PAID: &str = r#"
[[wheel]]
key = "paid"
name = "Paid"
free = "none"
price = { kind = "coins", amount = 10 }
pity = { after = 10, segments = ["most"] }
segments = [
    { key = "most", label = "20 coins", weight = 5, grant = { kind = "coins", amount = 20 } },
    { key = "some", label = "5 coins", weight = 50, grant = { kind = "coins", amount = 5 } },
    { key = "few", label = "1 coin", weight = 30, grant = { kind = "coins", amount = 1 } },
    { key = "blank", label = "Nothing", weight = 15, grant = { kind = "nothing" } },
]
"#;

fn fit(counts: &[u32], odds: &[f64], of: &str) -> Result<()> {
    let test = ChiSquareTest::of(counts.iter().copied().zip(odds.iter().copied()));
    println!("{of}: {} spins: {counts:?} of {odds:?}, p = {:.4}", counts.iter().sum::<u32>(), test.p);
    ensure!(test.p > LEVEL, "{of}: {counts:?} do not fit {odds:?}: {test:?}");
    Ok(())
}

/// Spins of one fan in a row.
fn draw(wheel: &Wheel, spins: usize) -> Result<()> {
    let (table, client_seed) = (wheel.table(), "kop".parse()?);
    let (mut counts, mut pity) = (vec![0_u32; wheel.segments.len()], 0);
    for nonce in 1..=num::to_u32(spins) {
        let seed = ServerSeed::derived(&[9; 32], format!("{}/{nonce}", wheel.key).as_bytes());
        let spun = table.draw(&seed, &client_seed, nonce, pity);
        counts[spun.segment] += 1;
        pity = spun.pity_count;
    }
    fit(&counts, &wheel.probabilities(), &format!("{} in memory", wheel.key))
}

#[test]
fn spec_9_spins_of_every_wheel_in_memory_fit_its_odds() -> Result<()> {
    on(DatabaseKind::Sqlite, |kind| {
        let spins = size(IN_MEMORY, IN_MEMORY_IN_THE_SUITE)?;
        let service = TestService::start(kind)?;
        let load = |text: &str| -> Result<Vec<Wheel>> {
            let content = WheelContent::parse(text)?;
            service.run(service.app().load_wheels(content)).expect("wheels that fit");
            Ok(service.run(service.app().wheel_book())?.wheels().to_vec())
        };
        let mut wheels = load(WHEELS)?;
        wheels.extend(load(PAID)?.into_iter().filter(|wheel| wheel.key.as_str() == "paid"));
        thread::scope(|scope| {
            let drawn: Vec<_> = wheels.iter().map(|wheel| scope.spawn(|| draw(wheel, spins))).collect();
            drawn.into_iter().try_for_each(|drawn| drawn.join().expect("spins"))
        })
    })
}

fn wheel(client: &Client) -> Value {
    client.get("/api/wheel").expect(200).at("/wheels/0")
}

/// Spins as long as there are any left; returns the keys of the segments.
fn spin(client: &Client, path: &str, left: &AtomicUsize) -> Vec<String> {
    let mut hash = wheel(client)["me"]["serverSeedHash"].clone();
    let mut keys = Vec::new();
    while left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
        let body = json!({"pay": "price", "serverSeedHash": hash, "clientSeed": "kop"});
        let key = format!("spin-{}", keys.len());
        let spun = client.ask("POST", path).header("idempotency-key", &key).json(&body).send().expect(201);
        hash = spun.at("/next/serverSeedHash");
        keys.push(spun.str_at("/spin/segment"));
    }
    keys
}

fn spec_9_spins_over_http_fit_the_odds_that_the_wheel_publishes(kind: DatabaseKind) -> Result<()> {
    let spins = size(OVER_HTTP, OVER_HTTP_IN_THE_SUITE)?;
    let service = TestService::builder(kind).without_dry_run().start()?;
    service.run(service.app().load_wheels(WheelContent::parse(PAID)?)).expect("wheels that fit");
    let fans: Vec<Client> = ["mia", "bo_", "kim", "ada"].map(|name| service.fan(name)).into();
    assert_eq!(fans.len(), FANS);
    for (fan, key) in fans.iter().zip(["gift/1", "gift/2", "gift/3", "gift/4"]) {
        let id = fan.get("/api/user").expect(200).str_at("/id").parse()?;
        let parties = (Holder::House(House::Issuance), Holder::Fan(id));
        transfer(&service, AccountKind::Coins, parties, 10 * num::to_i64(spins), key);
    }
    let shown = wheel(&service.client());
    let path = format!("/api/wheel/{}/spin", shown["id"].as_str().expect("an id"));
    let left = AtomicUsize::new(spins);
    let (path, left) = (&path, &left);
    let keys: Vec<String> = thread::scope(|scope| {
        let spun: Vec<_> = fans.iter().map(|fan| scope.spawn(move || spin(fan, path, left))).collect();
        spun.into_iter().flat_map(|spun| spun.join().expect("spins")).collect()
    });
    assert_eq!(keys.len(), spins);
    let segments = shown["segments"].as_array().expect("segments");
    let odds: Vec<f64> = segments.iter().filter_map(|segment| segment["probability"].as_f64()).collect();
    let count = |segment: &Value| num::to_u32(keys.iter().filter(|key| segment["key"] == **key).count());
    let counts: Vec<u32> = segments.iter().map(count).collect();
    fit(&counts, &odds, &format!("{kind:?} over HTTP"))
}
