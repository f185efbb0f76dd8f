//! Contract part 2 §3, catalogue (spec §1, shop): content that is loaded again keeps ids and stock, and operators change
//! the stock.

use super::repairs::damage;
use anyhow::Result;
use std::collections::BTreeMap;
use terrace_testkit::app::shop::{ChangeStock, ShopContent, ShopSummary, StockChange};
use terrace_testkit::kernel::Failure;
use terrace_testkit::shop::{Catalogue, Product, Stock, StockRefusal, Variant};
use terrace_testkit::{DatabaseKind, PRODUCTS, SHIPPING, TestApp, on_each_database};

on_each_database! {
    the_catalogue_is_stored_as_content_describes_it,
    content_that_is_loaded_again_keeps_ids_and_stock,
    operators_change_the_stock,
    invalid_content_changes_nothing,
}

/// A service with teams and products.
pub(super) fn shop_of(service: TestApp) -> TestApp {
    service.team("foxes");
    load(&service, PRODUCTS);
    service
}

pub(super) fn load(service: &TestApp, products: &str) -> ShopSummary {
    let content = ShopContent::parse(products, SHIPPING).expect("products");
    service.run(service.app().load_products(content)).expect("products that fit")
}

/// Loads products whose prices are in euros, as those of a club with another currency.
pub(super) fn load_in(service: &TestApp, products: &str, code: &str) {
    load(service, products);
    damage(service, &[&format!("UPDATE variant_prices SET currency = '{code}' WHERE currency IS NOT NULL")]);
    service.app().forget_product_book();
}

pub(super) fn catalogue(service: &TestApp) -> Catalogue {
    service.ask(|tx| tx.catalogue())
}

pub(super) fn product(service: &TestApp, key: &str) -> Product {
    let products = catalogue(service).products;
    products.into_iter().find(|product| product.key.as_str() == key).expect("a product")
}

/// A variant by the keys of its product and its own, such as `shirt/m`.
pub(super) fn variant(service: &TestApp, path: &str) -> Variant {
    let (of, key) = path.split_once('/').unwrap_or((path, "one"));
    let product = product(service, of);
    product.variants.into_iter().find(|variant| variant.key.as_str() == key).expect("a variant")
}

pub(super) fn stock(service: &TestApp, path: &str) -> Option<Stock> {
    let id = variant(service, path).id;
    service.ask(move |tx| tx.variant_stocks(&[id])).first().map(|(_, stock)| *stock)
}

pub(super) fn change_stock(
    service: &TestApp,
    path: &str,
    change: StockChange,
) -> Result<Option<Stock>, StockRefusal> {
    let (product, variant) = path.split_once('/').unwrap_or((path, "one"));
    let change = ChangeStock { product: product.to_owned(), variant: variant.to_owned(), change };
    match service.run(service.app().change_stock(change)) {
        Ok(stock) => Ok(stock),
        Err(Failure::Refused(refusal)) => Err(refusal),
        Err(Failure::Broken(error)) => panic!("{error}"),
    }
}

fn the_catalogue_is_stored_as_content_describes_it(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let stored = catalogue(&service);
    let keys: Vec<_> = stored.products.iter().map(|product| product.key.as_str()).collect();
    assert_eq!(keys, ["shirt", "purse", "badge", "bundle", "over", "soon"]);
    let shirt = product(&service, "shirt");
    let options: BTreeMap<_, _> = shirt.variants[0].options.iter().cloned().collect();
    assert_eq!(options, BTreeMap::from([("size".to_owned(), "M".to_owned())]));
    assert_eq!(shirt.variants[0].prices.len(), 2);
    assert_eq!(variant(&service, "bundle").prices[0].price.parts().len(), 3);
    assert_eq!((stored.methods.len(), stored.taxes.len(), stored.categories.len()), (2, 3, 2));
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 5, taken: 0 }));
    assert_eq!(stock(&service, "shirt/l"), None);
    Ok(())
}

fn content_that_is_loaded_again_keeps_ids_and_stock(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let before = catalogue(&service);
    assert_eq!(load(&service, PRODUCTS), ShopSummary { products: 6, retired: 0 });
    assert_eq!(catalogue(&service), before);
    change_stock(&service, "shirt/m", StockChange::Add(2)).expect("a limited variant");
    // Another price, a variant and a product that are gone, and another first stock.
    let (head, tail) = PRODUCTS.split_once("[[product]]\nkey = \"over\"").expect("the last products");
    assert!(tail.contains("soon"));
    let changed = head
        .replacen("amount = 2500", "amount = 2900", 1)
        .replacen("key = \"l\"", "key = \"xl\"", 1)
        .replacen("stock = 5", "stock = 50", 1);
    assert_eq!(load(&service, &changed), ShopSummary { products: 4, retired: 2 });
    let after = product(&service, "shirt");
    assert_eq!((after.id, after.variants[0].id), (before.products[0].id, before.products[0].variants[0].id));
    let prices = |product: &Product| product.variants[0].prices.iter().map(|one| one.id).collect::<Vec<_>>();
    let (old, new) = (prices(&before.products[0]), prices(&after));
    assert!(old[0] != new[0] && old[1] == new[1], "a price that changes is another price");
    let offered: Vec<_> = after.offered().map(|variant| variant.key.as_str()).collect();
    assert_eq!((offered, after.variants.len()), (vec!["m", "xl"], 3));
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 7, taken: 0 }));
    assert!(product(&service, "over").is_retired);
    // What comes back is the same.
    load(&service, PRODUCTS);
    assert_eq!(product(&service, "over"), before.products[4]);
    Ok(())
}

fn operators_change_the_stock(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let set = |path, supply| change_stock(&service, path, StockChange::Set(supply));
    let add = |path, change| change_stock(&service, path, StockChange::Add(change));
    assert_eq!(add("shirt/m", 4), Ok(Some(Stock { supply: 9, taken: 0 })));
    assert_eq!(add("shirt/m", -9), Ok(Some(Stock { supply: 0, taken: 0 })));
    assert_eq!(add("shirt/m", -1), Err(StockRefusal::OutOfRange));
    assert_eq!(add("shirt/m", i32::MAX), Err(StockRefusal::OutOfRange));
    assert_eq!(add("shirt/l", 1), Err(StockRefusal::Unlimited));
    assert_eq!(set("shirt/l", Some(3)), Ok(Some(Stock { supply: 3, taken: 0 })));
    assert_eq!(set("shirt/l", None), Ok(None));
    assert_eq!(set("shirt/l", Some(1_000_000_001)), Err(StockRefusal::OutOfRange));
    assert_eq!(set("shirt/xs", Some(1)), Err(StockRefusal::UnknownVariant));
    assert_eq!(set("scarf", Some(1)), Err(StockRefusal::UnknownVariant));
    Ok(())
}

fn invalid_content_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let before = catalogue(&service);
    let wrong = PRODUCTS.replacen("kind = \"physical\"", "kind = \"digital\"", 1);
    let content = ShopContent::parse(&wrong, SHIPPING)?;
    let Err(Failure::Refused(faults)) = service.run(service.app().load_products(content)) else {
        panic!("the kind of a product changed");
    };
    assert!(faults.to_string().contains("products.toml:10: product \"shirt\""), "{faults}");
    assert_eq!(catalogue(&service), before);
    Ok(())
}
