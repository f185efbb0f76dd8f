//! The contract under "Shop" (part 2 §3; spec §1, shop): the cart, and what it refuses.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_guests_cart_survives_the_sign_in_and_is_the_same_on_a_second_device,
    quantities_and_prices_out_of_range_are_refused_and_write_nothing,
    addresses_are_checked_part_by_part,
    addresses_hold_text_of_any_script_and_nothing_that_misleads,
}

/// The ids of a variant and of its prices, by the key of its product.
pub(crate) fn variant(client: &Client, product: &str) -> (String, Vec<String>) {
    let products = client.get("/api/products").expect(200).list("/products");
    let found = products.iter().find(|one| one["key"] == product).expect("a product");
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    let variant = &found["variants"][0];
    let prices =
        variant["prices"].as_array().expect("prices").iter().map(|price| text(&price["id"])).collect();
    (text(&variant["id"]), prices)
}

pub(crate) fn put(client: &Client, variant: &str, body: &Value) -> terrace_testkit::Answer {
    client.ask("PUT", &format!("/api/cart/lines/{variant}")).json(body).send()
}

pub(crate) fn address() -> Value {
    json!({
        "name": "Mia Kurz", "line1": "Hafenstr. 7", "postalCode": "20459", "city": "Hamburg", "country": "DE",
    })
}

fn a_guests_cart_survives_the_sign_in_and_is_the_same_on_a_second_device(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let (purse, prices) = variant(&mia, "purse");
    let (badge, _) = variant(&mia, "badge");
    put(&mia, &badge, &json!({"quantity": 1})).expect(200);
    let guest = json!({"lines": [
        {"variantId": purse, "quantity": 3, "priceId": prices[0]}, {"variantId": UNKNOWN, "quantity": 1},
    ]});
    let once = mia.post("/api/cart/merge", &guest).expect(200);
    assert_eq!(once.at("/skipped"), json!([UNKNOWN]));
    let quantities = |cart: &Value| -> Vec<(Value, Value)> {
        let lines = cart["lines"].as_array().expect("lines");
        lines.iter().map(|line| (line["product"]["key"].clone(), line["quantity"].clone())).collect()
    };
    assert_eq!(quantities(&once.at("/cart")), [(json!("badge"), json!(1)), (json!("purse"), json!(3))]);
    let second = service.client().mobile_login("mia");
    assert_eq!(second.get("/api/cart").expect(200).at("/cart"), once.at("/cart"));
    assert_eq!(second.post("/api/cart/merge", &guest).expect(200).at("/cart"), once.at("/cart"));
    // The badge costs points, and there are none yet.
    assert_eq!(once.at("/cart/problems"), json!([{"code": "insufficient_balance"}]));
    assert_eq!(once.at("/cart/totals/parts/1"), json!({"kind": "money", "amount": 1497, "currency": "EUR"}));
    assert_eq!(once.at("/cart/tax/rates"), json!([{"basisPoints": 2000, "amount": 250}]));
    Ok(())
}

fn quantities_and_prices_out_of_range_are_refused_and_write_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let (purse, _) = variant(&mia, "purse");
    let (_, others) = variant(&mia, "badge");
    let before = put(&mia, &purse, &json!({"quantity": 2})).expect(200).json();
    for quantity in [json!(-1), json!(21), json!(i64::MAX), json!(i64::MIN)] {
        put(&mia, &purse, &json!({"quantity": quantity})).problem(422, "validation_failed");
        let lines = json!({"lines": [{"variantId": purse, "quantity": quantity}]});
        mia.post("/api/cart/merge", &lines).problem(422, "validation_failed");
    }
    for quantity in [json!(9_223_372_036_854_775_808_u64), json!(1.5), json!("2"), json!(null)] {
        put(&mia, &purse, &json!({"quantity": quantity})).problem(400, "invalid_request");
    }
    put(&mia, &purse, &json!({"quantity": 1, "priceId": others[0]})).problem(422, "validation_failed");
    put(&mia, &purse, &json!({"quantity": 1, "priceId": UNKNOWN})).problem(422, "validation_failed");
    put(&mia, UNKNOWN, &json!({"quantity": 1})).problem(404, "not_found");
    mia.post("/api/cart/merge", &json!({"lines": []})).problem(422, "validation_failed");
    let line = json!({"variantId": purse, "quantity": 1});
    mia.post("/api/cart/merge", &json!({"lines": vec![line; 51]})).problem(422, "validation_failed");
    assert_eq!(mia.get("/api/cart").expect(200).json(), before);
    Ok(())
}

fn addresses_are_checked_part_by_part(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let (shirt, _) = variant(&mia, "shirt");
    let empty = put(&mia, &shirt, &json!({"quantity": 1})).expect(200);
    assert_eq!(empty.at("/cart/problems"), json!([{"code": "address_missing"}]));
    let ship = |body: &Value| mia.ask("PUT", "/api/cart/shipping").json(body).send();
    for (field, value) in [
        ("name", json!("")),
        ("line1", json!("x".repeat(121))),
        ("line2", json!("")),
        ("postalCode", json!("x".repeat(21))),
        ("city", json!("a\nb")),
        ("region", json!(" ")),
        ("country", json!("de")),
        ("country", json!("DEU")),
        ("country", json!("ZZ")),
        ("country", json!("XX")),
    ] {
        let mut wrong = address();
        wrong[field] = value;
        let answer = ship(&json!({"method": "post", "address": wrong}));
        assert_eq!(answer.problem(422, "validation_failed").pointers(), [format!("/address/{field}")]);
    }
    let mut nowhere = address();
    nowhere["country"] = json!("ZZ");
    let answer = ship(&json!({"method": "post", "address": nowhere}));
    assert_eq!(answer.at("/errors/0/detail"), json!("ISO 3166-1 lists no country ZZ"));
    mia.get("/api/shipping-methods?country=ZZ").problem(400, "invalid_request");
    assert_eq!(mia.get("/api/cart").expect(200).json(), empty.json(), "nothing was written");
    ship(&json!({"method": "pigeon", "address": address()})).problem(422, "validation_failed");
    let mut far = address();
    far["country"] = json!("US");
    ship(&json!({"method": "post", "address": far})).problem(422, "validation_failed");
    let set = ship(&json!({"method": "post", "address": address()})).expect(200);
    let mut whole = address();
    whole["line2"] = json!(null);
    whole["region"] = json!(null);
    assert_eq!(set.at("/cart/shipping/address"), whole);
    assert_eq!(set.at("/cart/totals/parts"), json!([{"kind": "money", "amount": 2990, "currency": "EUR"}]));
    assert_eq!(mia.delete("/api/cart/shipping").expect(200).at("/cart/shipping"), json!(null));
    Ok(())
}

fn addresses_hold_text_of_any_script_and_nothing_that_misleads(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let (shirt, _) = variant(&mia, "shirt");
    put(&mia, &shirt, &json!({"quantity": 1})).expect(200);
    let ship = |field: &str, value: &str| {
        let mut address = address();
        address[field] = json!(value);
        mia.ask("PUT", "/api/cart/shipping").json(&json!({"method": "post", "address": address})).send()
    };
    for text in [
        "شارع الحبيب بورقيبة ١٢",
        "רחוב הרצל 7",
        "東京都千代田区丸の内一丁目",
        "서울특별시 종로구",
        "ถนนสุขุมวิท",
        "Zoe\u{308} O\u{302}\u{323}",
        "می\u{200c}خواهم",
        "The Den 🏟\u{fe0f} 👩\u{200d}👧",
        "<b>&amp;'; DROP TABLE carts; --",
    ] {
        for field in ["name", "line1", "line2", "city", "region"] {
            let set = ship(field, text).expect(200);
            assert_eq!(set.at(&format!("/cart/shipping/address/{field}")), json!(text));
        }
    }
    let before = ship("postalCode", "１００-０００１").expect(200).json();
    assert_eq!(before["cart"]["shipping"]["address"]["postalCode"], json!("１００-０００１"));
    for text in [
        "x".repeat(10_000),
        "東".repeat(10_000),
        "Hafenstr\u{202e}.7".to_owned(),
        "\u{2066}Hafenstr. 7\u{2069}".to_owned(),
        "Hafen\u{200b}str. 7".to_owned(),
        "Hafen\u{ad}str. 7".to_owned(),
        "\u{feff}Hafenstr. 7".to_owned(),
        "Hafenstr. 7\u{e0041}".to_owned(),
        "Hafenstr.\r\nX-Header: 7".to_owned(),
        "Hafenstr.\u{2028}7".to_owned(),
        "Hafenstr.\0".to_owned(),
        "\u{200d}".to_owned(),
        "\u{3000}".to_owned(),
    ] {
        for field in ["name", "line1", "line2", "postalCode", "city", "region"] {
            let refused = ship(field, &text).problem(422, "validation_failed");
            assert_eq!(refused.pointers(), [format!("/address/{field}")], "{text:?}");
        }
    }
    assert_eq!(mia.get("/api/cart").expect(200).json(), before, "nothing was written");
    Ok(())
}
