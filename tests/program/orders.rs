//! `terrace order` and `terrace stock`, beside a server that runs on the same database (contract part 2 §3, operators).

use crate::http::cart::{address, put, variant};
use anyhow::{Context, Result};
use serde_json::{Value, json};
use terrace_testkit::{Client, DatabaseKind, Ended, Invocation, Program, TestDatabase, on_each_database};

on_each_database! {
    orders_are_listed_sent_delivered_and_refunded_beside_a_server,
    the_stock_is_set_and_returns_are_added_beside_a_server,
}

fn terrace(invocation: &Invocation, arguments: &[&str]) -> Result<Ended> {
    invocation.clone().args(arguments.iter().copied()).run()
}

/// A service with the demo's products, and a fan.
fn shop(kind: DatabaseKind) -> Result<(TestDatabase, Invocation, Program, Client)> {
    let database = TestDatabase::empty(kind)?;
    let invocation =
        Invocation::on(database.url())?.env("TERRACE_DEMO", "always").env("TERRACE_NEW_ACCOUNT_HOURS", "0");
    let program = invocation.serve()?;
    let client = program.client();
    client.register("buyer");
    Ok((database, invocation, program, client))
}

/// Orders a mug and pays for it in the sandbox; returns the id of the order.
fn buy_a_mug(program: &Program, client: &Client) -> Result<String> {
    let (mug, _) = variant(client, "mug");
    put(client, &mug, &json!({"quantity": 2})).expect(200);
    let mut to = address();
    to["name"] = json!("Mia Kurz");
    let shipping = json!({"method": "standard", "address": to});
    let cart = client.ask("PUT", "/api/cart/shipping").json(&shipping).send().expect(200);
    let request = client.ask("POST", "/api/checkout").header("idempotency-key", "one");
    let placed = request.json(&json!({"quote": cart.at("/cart/quote")})).send().expect(201);
    let url = placed.str_at("/order/checkoutUrl");
    let page = url.strip_prefix(&format!("http://{}", program.address())).context("another site")?;
    let decision = client.ask("POST", page).body("application/x-www-form-urlencoded", "decision=approve");
    decision.send().expect(303);
    Ok(placed.str_at("/order/id"))
}

fn read(client: &Client, order: &str) -> Value {
    client.get(&format!("/api/user/orders/{order}")).expect(200).at("/order")
}

fn orders_are_listed_sent_delivered_and_refunded_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let (_database, invocation, program, client) = shop(kind)?;
    let order = buy_a_mug(&program, &client)?;
    assert_eq!(read(&client, &order)["status"], "paid");
    let listed = terrace(&invocation, &["order", "list", "--status", "paid"])?.succeeded()?;
    assert!(listed.lines().count() == 1 && listed.starts_with(&order), "{listed}");
    let shown = terrace(&invocation, &["order", "show", &order])?.succeeded()?;
    assert!(shown.contains("Terrace mug") && shown.contains("waiting"), "{shown}");
    assert!(shown.contains("send by Standard, Mia Kurz, Hafenstr. 7, 20459 Hamburg, DE"), "{shown}");
    let unknown = terrace(&invocation, &["order", "ship", &order, "--line", "2"])?;
    assert!(unknown.code == Some(1) && unknown.words().contains("there is no line 2"), "{}", unknown.words());
    let ship = ["order", "ship", &order, "--carrier", "Post", "--tracking", "42"];
    assert!(terrace(&invocation, &ship)?.succeeded()?.contains("shipped, Post, 42"));
    let again = terrace(&invocation, &ship)?;
    assert!(again.code == Some(1) && again.words().contains("nothing was changed"), "{}", again.words());
    let sent = read(&client, &order);
    assert_eq!((&sent["status"], &sent["lines"][0]["shipment"]["tracking"]), (&json!("paid"), &json!("42")));
    terrace(&invocation, &["order", "deliver", &order])?.succeeded()?;
    assert_eq!(read(&client, &order)["status"], "completed");
    terrace(&invocation, &["order", "refund", &order])?.succeeded()?;
    let refunded = read(&client, &order);
    assert_eq!(
        (&refunded["status"], &refunded["refunds"][0]["status"]),
        (&json!("refunded"), &json!("owed"))
    );
    terrace(&invocation, &["maintain", "reconcile"])?.succeeded()?;
    assert_eq!(read(&client, &order)["refunds"][0]["status"], "given");
    terrace(&invocation, &["maintain", "verify"])?.succeeded()?;
    Ok(())
}

fn the_stock_is_set_and_returns_are_added_beside_a_server(kind: DatabaseKind) -> Result<()> {
    let (_database, invocation, _program, client) = shop(kind)?;
    let remaining = || {
        let products = client.get("/api/products").expect(200).list("/products");
        let mug = products.into_iter().find(|product| product["key"] == "mug").expect("a mug");
        mug["variants"][0]["remaining"].clone()
    };
    assert_eq!(remaining(), 12);
    terrace(&invocation, &["stock", "set", "mug", "one", "3"])?.succeeded()?;
    assert_eq!(remaining(), 3);
    terrace(&invocation, &["stock", "add", "mug", "one", "2"])?.succeeded()?;
    assert_eq!(remaining(), 5);
    terrace(&invocation, &["stock", "set", "mug", "one", "unlimited"])?.succeeded()?;
    assert_eq!(remaining(), json!(null));
    let unknown = terrace(&invocation, &["stock", "set", "mug", "two", "3"])?;
    assert_eq!(unknown.code, Some(1), "{}", unknown.words());
    Ok(())
}
