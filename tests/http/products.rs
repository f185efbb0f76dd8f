//! The contract under "Shop" (part 2 §3; spec §1, shop): the catalogue.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    products_are_listed_with_their_variants_and_prices,
    lists_are_filtered,
    a_product_is_shown_until_it_is_unknown,
    methods_reach_countries,
}

fn keys(client: &Client, query: &str) -> Vec<Value> {
    let answer = client.get(&format!("/api/products{query}")).expect(200);
    answer.list("/products").iter().map(|product| product["key"].clone()).collect()
}

fn products_are_listed_with_their_variants_and_prices(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    assert_eq!(keys(&client, ""), ["shirt", "purse", "badge", "bundle"]);
    let answer = client.get("/api/products?limit=1").expect(200);
    let shirt = answer.at("/products/0");
    assert_eq!(
        [&shirt["kind"], &shirt["available"], &shirt["grants"]],
        [&json!("physical"), &json!(true), &json!([])]
    );
    let medium = &shirt["variants"][0];
    assert_eq!(medium["options"], json!([{"name": "size", "value": "M"}]));
    assert_eq!([&medium["remaining"], &shirt["variants"][1]["remaining"]], [&json!(5), &json!(null)]);
    let parts = |nth: usize| medium["prices"][nth]["parts"].clone();
    assert_eq!(parts(0), json!([{"kind": "money", "amount": 2500, "currency": "EUR"}]));
    assert_eq!(parts(1), json!([{"kind": "coins", "amount": 100, "currency": null}]));
    let rest = format!("?limit=1&cursor={}", answer.str_at("/nextCursor"));
    assert_eq!(keys(&client, &rest), ["purse"]);
    assert_eq!(
        client.get("/api/products").expect(200).at("/products/1/grants"),
        json!([{"kind": "coins", "amount": 50, "id": null}])
    );
    let tag = client.get("/api/products").expect(200).header("etag").map(str::to_owned).expect("a tag");
    client.ask("GET", "/api/products").header("if-none-match", tag).send().expect(304);
    let categories = client.get("/api/categories").expect(200).list("/categories");
    let counts: Vec<_> =
        categories.iter().map(|one| (one["key"].clone(), one["productCount"].clone())).collect();
    assert_eq!(counts, [(json!("wear"), json!(0)), (json!("shirts"), json!(1))]);
    assert_eq!(categories[1]["parentId"], categories[0]["id"]);
    Ok(())
}

fn lists_are_filtered(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    let all = client.get("/api/products").expect(200).json();
    let team = all["products"][0]["teamId"].as_str().expect("a team").to_owned();
    for (query, expected) in [
        ("?category=wear", vec!["shirt"]),
        ("?category=shirts", vec!["shirt"]),
        ("?category=none", vec![]),
        ("?kind=physical", vec!["shirt"]),
        ("?kind=digital", vec!["purse", "badge", "bundle"]),
        ("?available=false", vec![]),
        ("?q=COINS", vec!["purse"]),
        ("?q=nothing", vec![]),
        (&format!("?teamId={team}"), vec!["shirt"]),
        (&format!("?teamId={UNKNOWN}"), vec![]),
    ] {
        assert_eq!(keys(&client, query), expected, "{query}");
    }
    let variant = |nth: usize| all["products"][nth]["variants"][0]["id"].as_str().expect("an id");
    assert_eq!(
        keys(&client, &format!("?variantId={},{},{UNKNOWN}", variant(2), variant(0))),
        ["shirt", "badge"]
    );
    let many = vec![UNKNOWN; 51].join(",");
    for wrong in [
        "?kind=paper",
        "?teamId=x",
        "?available=perhaps",
        "?q=",
        "?variantId=x",
        &format!("?variantId={many}"),
    ] {
        client.get(&format!("/api/products{wrong}")).problem(400, "invalid_request");
    }
    Ok(())
}

fn a_product_is_shown_until_it_is_unknown(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    let listed = client.get("/api/products").expect(200).at("/products/0");
    let id = listed["id"].as_str().expect("an id");
    assert_eq!(client.get(&format!("/api/products/{id}")).expect(200).at("/product"), listed);
    client.get(&format!("/api/products/{UNKNOWN}")).problem(404, "not_found");
    let book = service.run(service.app().product_book())?;
    let soon = book.products().iter().find(|product| product.key.as_str() == "soon").expect("a product");
    client.get(&format!("/api/products/{}", soon.id)).problem(404, "not_found");
    Ok(())
}

fn methods_reach_countries(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let client = service.client();
    let keys = |query: &str| -> Vec<Value> {
        let methods = client.get(&format!("/api/shipping-methods{query}")).expect(200).list("/methods");
        methods.iter().map(|method| method["key"].clone()).collect()
    };
    assert_eq!(keys(""), ["post", "ground"]);
    assert_eq!(keys("?country=FR"), ["post"]);
    assert!(keys("?country=US").is_empty());
    let post = client.get("/api/shipping-methods").expect(200).at("/methods/0");
    assert_eq!(post["price"], json!({"kind": "money", "amount": 490, "currency": "EUR"}));
    client.get("/api/shipping-methods?country=de").problem(400, "invalid_request");
    Ok(())
}
