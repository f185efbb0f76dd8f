//! The minter's messages, as a receiver on the network gets them (spec §1, rule 10).

use super::receiver::{Listener, ReceivedRequest};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use terrace_testkit::app::platform::webhooks::WebhookSecret;
use terrace_testkit::kernel::Timestamp;
use terrace_testkit::{Answer, Client, DatabaseKind, Invocation, TestDatabase, on_each_database, pgtemp};

on_each_database! {
    a_receiver_gets_signed_messages_of_new_and_earlier_openings,
    a_server_that_is_killed_in_mid_call_sends_the_message_again,
}

const SECRET: &str = "the-registers-half-of-the-handshake";

/// The program on a database with packs, of which none was opened: the demo's fans own collectibles.
fn seeded(database: &TestDatabase) -> Result<Invocation> {
    let terrace = Invocation::on(database.url())?;
    terrace.clone().args(["seed"]).run()?.succeeded()?;
    Ok(terrace)
}

/// Buys a pack that costs coins and opens it.
fn open(client: &Client, key: &str) -> Result<Answer> {
    let packs = client.get("/api/packs").expect(200).list("/packs");
    let pack = packs.iter().find(|pack| pack["key"] == "away-days").context("the pack")?;
    let path = format!("/api/packs/{}", pack["id"].as_str().context("an id")?);
    let post = |what: &str| client.ask("POST", &format!("{path}/{what}")).header("idempotency-key", key);
    post("purchase").json(&json!({})).send().expect(201);
    Ok(post("open").json(&json!({})).send().expect(200))
}

/// Gives the fan coins.
fn give_coins(terrace: &Invocation) -> Result<()> {
    let gift = "maintain coins give --user fan --amount 100 --reason Gift --key gift";
    terrace.clone().args(gift.split(' ')).run()?.succeeded().map(drop)
}

/// The program with a minter at this address.
fn with_minter(terrace: &Invocation, minter: &Listener) -> Invocation {
    terrace.clone().env("TERRACE_MINTER_URL", minter.url("/hook")).env("TERRACE_MINTER_SECRET", SECRET)
}

/// The message, after a check of its signature.
fn message(request: &ReceivedRequest) -> Result<Value> {
    let secret = WebhookSecret::new(SECRET)?;
    let signature = request.headers.get("terrace-signature").context("no signature")?;
    let (_, seconds) = signature.split(',').find_map(|part| part.split_once("t=")).context("no time")?;
    let sent = Timestamp::from_micros(seconds.parse::<i64>()? * 1_000_000);
    assert_eq!(secret.verify(signature, &request.body, sent), Ok(()));
    assert_eq!(request.line, "POST /hook HTTP/1.1");
    let body: Value = serde_json::from_slice(&request.body)?;
    assert_eq!(request.headers.get("idempotency-key").map(String::as_str), body["id"].as_str());
    assert_eq!(request.headers.get("content-type").map(String::as_str), Some("application/json"));
    Ok(body)
}

fn a_receiver_gets_signed_messages_of_new_and_earlier_openings(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let bare = seeded(&database)?;
    let receiver = Listener::answering(204, "")?;
    let with_minter = with_minter(&bare, &receiver);

    let mut program = bare.serve()?;
    let mia = program.client();
    mia.register("fan");
    give_coins(&bare)?;
    let before = open(&mia, "one")?.list("/collectibles");
    program.stop()?;
    let refused = bare.clone().args(["maintain", "mint-earlier"]).run()?;
    assert!(
        refused.code == Some(1) && refused.log.contains("no minter is configured"),
        "{}",
        refused.words()
    );
    let handed = with_minter.clone().args(["maintain", "mint-earlier"]).run()?.succeeded()?;
    assert!(handed.starts_with(&format!("{} collectibles ", before.len())), "{handed}");
    let waiting = bare.clone().args(["doctor"]).run()?;
    assert!(waiting.said.contains("messages wait, the oldest for "), "{}", waiting.words());

    let mut program = with_minter.serve()?;
    let mia = program.client();
    mia.post("/api/login", &json!({"username": "fan", "password": terrace_testkit::PASSWORD})).expect(200);
    let after = open(&mia, "two")?.list("/collectibles");
    let expected: BTreeSet<_> = before.iter().chain(&after).map(|owned| owned["id"].to_string()).collect();
    let mut messages = Vec::new();
    for _ in 0..expected.len() {
        messages.push(message(&receiver.next()?)?);
    }
    assert_eq!(messages.iter().map(|body| body["ownedId"].to_string()).collect::<BTreeSet<_>>(), expected);
    assert!(messages.is_sorted_by_key(|body| body["sequence"].as_i64()), "{messages:?}");
    let minted = messages.iter().find(|body| body["ownedId"] == after[0]["id"]).context("the message")?;
    assert_eq!(minted["type"], "collectible.minted");
    assert_eq!(minted["collectible"]["key"], after[0]["collectible"]["key"]);
    assert_eq!(minted["serial"], after[0]["serial"]);
    program.stop()?;
    let retried = bare.clone().args(["maintain", "retry-minting"]).run()?.succeeded()?;
    assert!(retried.starts_with("0 messages that were set aside wait again"), "{retried}");
    let well = with_minter.clone().args(["doctor"]).run()?;
    assert!(well.said.contains("nothing waits for the minter"), "{}", well.words());
    Ok(())
}

fn a_server_that_is_killed_in_mid_call_sends_the_message_again(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let terrace = seeded(&database)?;
    let silent = Listener::silent()?;
    let mut program = with_minter(&terrace, &silent).serve()?;
    let mia = program.client();
    mia.register("fan");
    give_coins(&terrace)?;
    let owned = open(&mia, "one")?.list("/collectibles");
    let first = message(&silent.next()?)?;
    assert_eq!(first["ownedId"], owned[0]["id"]);
    program.kill()?;
    let waiting = terrace.clone().args(["doctor"]).run()?;
    assert!(waiting.said.contains(&format!("{} messages wait", owned.len())), "{}", waiting.words());
    // The killed server holds the fan's lane for a minute; only on PostgreSQL can a test shorten that.
    if kind == DatabaseKind::Postgres {
        pgtemp::execute(database.url(), &["UPDATE mint_lanes SET ready_at = now() - interval '1 minute'"])?;
        let receiver = Listener::answering(200, "{}")?;
        let mut program = with_minter(&terrace, &receiver).serve()?;
        assert_eq!(message(&receiver.next()?)?, first, "the same message by the same name");
        for owned in &owned[1..] {
            assert_eq!(message(&receiver.next()?)?["ownedId"], owned["id"]);
        }
        program.stop()?;
    }
    Ok(())
}
