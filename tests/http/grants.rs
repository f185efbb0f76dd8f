//! The contract under "Shop" (part 2 §2 and §3; spec §1, shop): products and orders show grants of each kind, and what was
//! granted is opened, listed and exported like what was bought.

use super::cart::{put, variant};
use super::orders::{check_out, message, quote};
use super::payments::{fan, send_notice, service};
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::app::shop::ShopContent;
use terrace_testkit::{Client, DatabaseKind, PRODUCTS, SHIPPING, TestService, on_each_database};

on_each_database! {
    products_and_orders_show_what_they_grant,
    goods_that_were_used_are_not_given_back,
}

const CHEST: &str = r#"
    [[product]]
    key = "chest"
    name = "Chest"
    kind = "digital"
    grants = [
        { kind = "coins", amount = 10 },
        { kind = "pack", key = "cups", amount = 2 },
        { kind = "collectible", key = "scarf" },
    ]

    [[product.variant]]
    key = "one"
    name = "One"
    prices = [[{ kind = "money", amount = 900, currency = "EUR" }]]
"#;

fn with_chests(kind: DatabaseKind) -> Result<TestService> {
    let service = service(kind)?;
    let content = ShopContent::parse(&format!("{PRODUCTS}{CHEST}"), SHIPPING).expect("products");
    service.run(service.app().load_products(content)).expect("products that fit");
    Ok(service)
}

/// The id of the first of these that has this key.
fn id_of(client: &Client, path: &str, list: &str, key: &str) -> Value {
    let all = client.get(path).expect(200).list(list);
    all.into_iter().find(|one| one["key"] == key).expect("one with this key")["id"].clone()
}

/// A paid order of so many chests.
fn paid(service: &TestService, client: &Client, quantity: u32) -> Value {
    let (chest, _) = variant(client, "chest");
    put(client, &chest, &json!({"quantity": quantity})).expect(200);
    let placed = check_out(client, &format!("chests-{quantity}"), &quote(client)).expect(201);
    assert_eq!(placed.at("/order/lines/0/goods"), json!([]), "nothing before the payment");
    let event = format!("paid-{quantity}");
    send_notice(service, &message(&placed, "paid", &event)).expect(204);
    client.get(&format!("/api/user/orders/{}", placed.str_at("/order/id"))).expect(200).at("/order")
}

fn products_and_orders_show_what_they_grant(kind: DatabaseKind) -> Result<()> {
    let service = with_chests(kind)?;
    let mia = fan(&service, "mia");
    let cups = id_of(&mia, "/api/packs", "/packs", "cups");
    let products = mia.get("/api/products?kind=digital").expect(200).list("/products");
    let chest = products.iter().find(|one| one["key"] == "chest").expect("the chest");
    let scarf = chest["grants"][2]["id"].clone();
    let grants = |units: u32| {
        json!([
            {"kind": "coins", "amount": 10 * units, "id": null},
            {"kind": "pack", "amount": 2 * units, "id": cups},
            {"kind": "collectible", "amount": units, "id": scarf},
        ])
    };
    assert_eq!(chest["grants"], grants(1));
    let order = paid(&service, &mia, 2);
    assert_eq!((&order["status"], &order["lines"][0]["goods"]), (&json!("completed"), &grants(2)));

    let copies = mia.get("/api/user/packs?status=sealed").expect(200).list("/packs");
    let shown: Vec<_> = copies.iter().map(|copy| (&copy["packId"], &copy["purchaseId"])).collect();
    assert_eq!(shown, vec![(&cups, &Value::Null); 4]);
    let mut nonces: Vec<_> = copies.iter().map(|copy| copy["nonce"].as_u64()).collect();
    nonces.sort_unstable();
    assert_eq!(nonces, [Some(1), Some(2), Some(3), Some(4)]);
    let owned = mia.get("/api/user/collectibles").expect(200).list("/collectibles");
    let from: Vec<_> = owned
        .iter()
        .map(|one| (&one["collectible"]["id"], &one["source"], &one["userPackId"], &one["serial"]))
        .collect();
    assert_eq!(from, vec![(&scarf, &json!("grant"), &Value::Null, &Value::Null); 2]);
    assert_eq!(mia.get("/api/user").expect(200).at("/balances/coins"), 20);
    // A granted copy is opened like a bought one.
    let open = format!("/api/packs/{}/open", cups.as_str().expect("an id"));
    let body = json!({"userPackId": copies[0]["id"]});
    let opened = mia.ask("POST", &open).header("idempotency-key", "open").json(&body).send().expect(200);
    assert_eq!(opened.at("/userPack/purchaseId"), Value::Null);

    let exported = mia.get("/api/user/export").expect(200);
    let given: Vec<_> = exported
        .list("/grants")
        .iter()
        .map(|one| json!([one["giver"], one["sourceId"], one["kind"], one["amount"], one["takenBackAt"]]))
        .collect();
    let line = &order["lines"][0]["id"];
    for (kind, amount) in [("coins", 20), ("pack", 4), ("collectible", 2)] {
        let expected = json!(["order", line, kind, amount, null]);
        assert!(given.contains(&expected), "{expected} is not in {given:?}");
    }
    assert_eq!(given.len(), 3);
    Ok(())
}

fn goods_that_were_used_are_not_given_back(kind: DatabaseKind) -> Result<()> {
    let service = with_chests(kind)?;
    let mia = fan(&service, "mia");
    let cancel = |order: &Value| {
        let path = format!("/api/user/orders/{}/cancel", order["id"].as_str().expect("an id"));
        mia.post(&path, &json!({}))
    };
    let order = paid(&service, &mia, 1);
    let back = cancel(&order).expect(200).at("/order");
    assert_eq!((&back["status"], &back["lines"][0]["goods"]), (&json!("refunded"), &json!([])));
    assert_eq!(mia.get("/api/user/packs?status=sealed").expect(200).list("/packs"), Vec::<Value>::new());
    assert_eq!(mia.get("/api/user/collectibles").expect(200).list("/collectibles"), Vec::<Value>::new());
    assert_eq!(mia.get("/api/user").expect(200).at("/balances/coins"), 0);

    let order = paid(&service, &mia, 2);
    let cups = id_of(&mia, "/api/packs", "/packs", "cups");
    let open = format!("/api/packs/{}/open", cups.as_str().expect("an id"));
    mia.ask("POST", &open).header("idempotency-key", "open").send().expect(200);
    cancel(&order).problem(409, "goods_used");
    Ok(())
}
