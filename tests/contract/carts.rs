//! Contract part 2 §3, cart (spec §1, shop): a cart has live prices and reserves nothing; a guest's cart is merged, and
//! merging twice equals merging once.

use super::deletion::{catch_up, delete};
use super::orders::{checkout, now};
use super::packs::give_coins;
use super::products::{load, shop_of, stock, variant};
use super::repairs::damage;
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::app::shop::{
    CartMerged, CartRefusal, GuestLine, MergeCart, PutCartLine, PutShipping, ReadCart, ShownCart,
};
use terrace_testkit::kernel::{PriceKind, UserId, Uuid};
use terrace_testkit::ops;
use terrace_testkit::shop::{Address, Amounts, Problem, Shipping, Stock, VariantId};
use terrace_testkit::{DatabaseKind, PASSWORD, PRODUCTS, TestApp, on_each_database};

on_each_database! {
    a_line_is_set_and_repeating_it_changes_nothing,
    prices_are_live_and_a_price_that_changes_is_named,
    a_cart_reserves_nothing,
    merging_twice_equals_merging_once_and_loses_nothing,
    two_devices_that_merge_at_once_agree,
    a_cart_has_at_most_fifty_lines,
    an_address_is_kept_with_its_method,
    a_country_that_is_withdrawn_is_chosen_again_and_orders_keep_it,
    a_cart_is_read_in_at_most_four_statements,
    carts_are_removed_after_ninety_days_and_with_their_account,
}

pub(super) fn put(service: &TestApp, user: UserId, path: &str, quantity: u32) -> ShownCart {
    let variant = variant(service, path).id;
    let book = service.run(service.app().product_book()).expect("products");
    service.done(PutCartLine { user, variant, quantity, price: None, book })
}

pub(super) fn put_priced(
    service: &TestApp,
    user: UserId,
    path: &str,
    quantity: u32,
    kind: PriceKind,
) -> ShownCart {
    let found = variant(service, path);
    let price = found.prices.iter().find(|one| one.price.amount(kind) > 0).expect("a price").id;
    let book = service.run(service.app().product_book()).expect("products");
    service.done(PutCartLine { user, variant: found.id, quantity, price: Some(price), book })
}

pub(super) fn cart(service: &TestApp, user: UserId) -> ShownCart {
    service.run(service.app().read_cart(user)).expect("a cart")
}

pub(super) fn lines(shown: &ShownCart) -> Vec<(VariantId, u32)> {
    shown.cart.lines.iter().map(|line| (line.item.variant, line.item.quantity)).collect()
}

pub(super) fn to(country: &str) -> Shipping {
    let text = |text: &str| text.to_owned();
    Shipping {
        method: "post".parse().expect("a key"),
        address: Address {
            name: text("Mia Kurz"),
            line1: text("Hafenstr. 7"),
            line2: None,
            postal_code: text("20459"),
            city: text("Hamburg"),
            region: None,
            country: country.parse().expect("a country"),
        },
    }
}

pub(super) fn ship_to(service: &TestApp, user: UserId, country: &str) -> ShownCart {
    let book = service.run(service.app().product_book()).expect("products");
    service.done(PutShipping { user, shipping: Some(to(country)), book })
}

fn merge(service: &TestApp, user: UserId, of: &[(VariantId, u32)]) -> CartMerged {
    let line = |(variant, quantity): &(VariantId, u32)| GuestLine {
        variant: *variant,
        quantity: *quantity,
        price: None,
    };
    let book = service.run(service.app().product_book()).expect("products");
    service.done(MergeCart { user, lines: of.iter().map(line).collect(), book })
}

fn a_line_is_set_and_repeating_it_changes_nothing(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let mia = service.fan("mia").id;
    assert_eq!((lines(&cart(&service, mia)), cart(&service, mia).cart.quote), (vec![], None));
    let [shirt, purse] = ["shirt/m", "purse"].map(|path| variant(&service, path).id);
    put(&service, mia, "shirt/m", 2);
    service.clock().advance(Duration::from_secs(1));
    let once = put(&service, mia, "purse", 1);
    assert_eq!(lines(&once), [(shirt, 2), (purse, 1)]);
    assert_eq!(once.cart.totals, Amounts { points: 0, coins: 0, money: 2 * 2500 + 499 });
    assert_eq!(put(&service, mia, "purse", 1).cart, once.cart);
    assert_eq!(cart(&service, mia).cart, once.cart);
    assert_eq!(put_priced(&service, mia, "shirt/m", 2, PriceKind::Coins).cart.totals.coins, 200);
    // The chosen price stays.
    assert_eq!(put(&service, mia, "shirt/m", 1).cart.totals.coins, 100);
    assert_eq!(lines(&put(&service, mia, "shirt/m", 0)), [(purse, 1)]);
    assert_eq!(lines(&put(&service, mia, "shirt/m", 0)), [(purse, 1)]);
    let book = service.run(service.app().product_book())?;
    let unknown = VariantId::from_uuid(Uuid::from_u128(7));
    let refused = service.refused(PutCartLine {
        user: mia,
        variant: unknown,
        quantity: 1,
        price: None,
        book: book.clone(),
    });
    assert_eq!(refused, CartRefusal::UnknownVariant);
    // A price of another product.
    let price = Some(variant(&service, "badge").prices[0].id);
    let refused = service.refused(PutCartLine { user: mia, variant: shirt, quantity: 1, price, book });
    assert_eq!(refused, CartRefusal::UnknownPrice);
    Ok(())
}

fn prices_are_live_and_a_price_that_changes_is_named(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let mia = service.fan("mia").id;
    let before = put(&service, mia, "purse", 2).cart;
    assert!(before.problems.is_empty() && before.lines[0].problems.is_empty());
    load(&service, &PRODUCTS.replacen("amount = 499", "amount = 599", 1));
    let after = cart(&service, mia).cart;
    assert_eq!((after.totals.money, &after.lines[0].problems), (2 * 599, &vec![Problem::PriceChanged]));
    assert_ne!(after.quote, before.quote);
    // Setting the line again accepts the price.
    assert_eq!(put(&service, mia, "purse", 2).cart.lines[0].problems, []);
    load(&service, &PRODUCTS.replacen("key = \"purse\"", "key = \"bag\"", 1));
    assert_eq!(cart(&service, mia).cart.lines[0].problems, [Problem::Unavailable]);
    Ok(())
}

fn a_cart_reserves_nothing(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    for fan in [mia, bo] {
        give_coins(&service, fan, 1_000);
        ship_to(&service, fan, "DE");
        assert_eq!(put_priced(&service, fan, "shirt/m", 5, PriceKind::Coins).cart.lines[0].problems, []);
    }
    assert_eq!(stock(&service, "shirt/m"), Some(Stock { supply: 5, taken: 0 }));
    let wanted = put_priced(&service, mia, "shirt/m", 6, PriceKind::Coins);
    assert_eq!(wanted.cart.lines[0].problems[0], Problem::SoldOut);
    Ok(())
}

fn merging_twice_equals_merging_once_and_loses_nothing(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let mia = service.fan("mia").id;
    let [shirt, purse, badge] = ["shirt/m", "purse", "badge"].map(|path| variant(&service, path).id);
    put_priced(&service, mia, "shirt/m", 3, PriceKind::Coins);
    service.clock().advance(Duration::from_secs(1));
    put(&service, mia, "purse", 1);
    service.clock().advance(Duration::from_secs(1));
    let gone = VariantId::from_uuid(Uuid::from_u128(7));
    let of_guest = [(shirt, 1), (purse, 4), (badge, 2), (gone, 1)];
    let once = merge(&service, mia, &of_guest);
    assert_eq!(lines(&once.cart), [(shirt, 3), (purse, 4), (badge, 2)]);
    assert_eq!(once.skipped, [gone]);
    let twice = merge(&service, mia, &of_guest);
    assert_eq!((twice.cart.cart, twice.skipped), (once.cart.cart, once.skipped));
    // The price that was chosen in the cart stays.
    assert_eq!(cart(&service, mia).cart.lines[0].total.coins, 300);
    Ok(())
}

fn two_devices_that_merge_at_once_agree(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let other = service.another()?;
    let mia = service.fan("mia").id;
    let [shirt, purse, badge] = ["shirt/m", "purse", "badge"].map(|path| variant(&service, path).id);
    let works: Vec<_> = (0_u32..20)
        .map(|nth| {
            let app = if nth % 2 == 0 { service.app() } else { other.app() };
            let app = std::sync::Arc::clone(app);
            let lines = [(shirt, 1 + nth % 5), (purse, 1 + nth % 3), (badge, 2)];
            let lines = lines.map(|(variant, quantity)| GuestLine { variant, quantity, price: None });
            async move {
                let book = app.product_book().await.expect("products");
                app.execute(MergeCart { user: mia, lines: lines.to_vec(), book }).await.expect("a cart")
            }
        })
        .collect();
    service.together(works);
    let mut found = lines(&cart(&service, mia));
    found.sort_unstable();
    let mut expected = vec![(shirt, 5), (purse, 3), (badge, 2)];
    expected.sort_unstable();
    assert_eq!(found, expected);
    Ok(())
}

fn a_cart_has_at_most_fifty_lines(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let product = |nth| {
        format!(
            "[[product]]\nkey = \"p{nth}\"\nname = \"P\"\nkind = \"digital\"\n[[product.variant]]\nkey = \"one\"\n\
             name = \"One\"\nprices = [[{{ kind = \"coins\", amount = 1 }}]]\n"
        )
    };
    let products: Vec<String> = (0..52).map(product).collect();
    load(&service, &products.concat());
    let mia = service.fan("mia").id;
    let all: Vec<_> = (0..52).map(|nth| (variant(&service, &format!("p{nth}")).id, 1)).collect();
    let merged = merge(&service, mia, &all);
    assert_eq!((merged.cart.cart.lines.len(), merged.skipped.len()), (50, 2));
    assert_eq!(merged.skipped, [all[50].0, all[51].0]);
    let book = service.run(service.app().product_book())?;
    let line = |variant| PutCartLine { user: mia, variant, quantity: 2, price: None, book: book.clone() };
    assert_eq!(service.refused(line(all[50].0)), CartRefusal::TooManyLines);
    assert_eq!(service.done(line(all[0].0)).cart.lines.len(), 50);
    Ok(())
}

fn an_address_is_kept_with_its_method(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let mia = service.fan("mia").id;
    put(&service, mia, "shirt/m", 1);
    assert_eq!(cart(&service, mia).cart.problems, [Problem::AddressMissing]);
    let found = ship_to(&service, mia, "DE").cart;
    assert_eq!((found.totals.money, found.problems.len()), (2500 + 490, 0));
    assert_eq!(found.shipping.expect("shipping").shipping, to("DE"));
    assert_eq!(ship_to(&service, mia, "FR").cart.lines[0].tax_rate, 2000);
    let book = service.run(service.app().product_book())?;
    let put = |shipping| PutShipping { user: mia, shipping, book: book.clone() };
    assert_eq!(service.refused(put(Some(to("US")))), CartRefusal::UnknownMethod);
    let other = Shipping { method: "pigeon".parse().expect("a key"), ..to("DE") };
    assert_eq!(service.refused(put(Some(other))), CartRefusal::UnknownMethod);
    assert_eq!(service.done(put(None)).cart.problems, [Problem::AddressMissing]);
    Ok(())
}

/// ISO 3166-1 withdraws codes.
fn a_country_that_is_withdrawn_is_chosen_again_and_orders_keep_it(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let mia = service.fan("mia").id;
    give_coins(&service, mia, 1_000);
    // Free, so that coins pay for all.
    let at_the_ground = Shipping { method: "ground".parse().expect("a key"), ..to("DE") };
    let book = service.run(service.app().product_book())?;
    service.done(PutShipping { user: mia, shipping: Some(at_the_ground), book });
    put_priced(&service, mia, "shirt/m", 1, PriceKind::Coins);
    let order = service.done(checkout(&service, mia)).order.id;
    ship_to(&service, mia, "DE");
    put(&service, mia, "shirt/m", 1);
    damage(&service, &["UPDATE carts SET country = 'AN'", "UPDATE orders SET country = 'AN'"]);
    let shown = cart(&service, mia).cart;
    assert_eq!((shown.problems, shown.shipping), (vec![Problem::AddressMissing], None));
    assert_eq!(ship_to(&service, mia, "DE").cart.problems, []);
    let kept = now(&service, order).shipping.expect("shipping").shipping.address.country;
    assert_eq!(kept.as_str(), "AN");
    Ok(())
}

fn a_cart_is_read_in_at_most_four_statements(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::without_dry_run(kind)?);
    let mia = service.fan("mia").id;
    for path in ["shirt/m", "shirt/l", "purse", "badge", "bundle"] {
        put(&service, mia, path, 1);
    }
    let book = service.run(service.app().product_book())?;
    let before = service.storage().statements();
    assert_eq!(service.found(ReadCart { user: mia, book }).cart.lines.len(), 5);
    let cost = service.storage().statements() - before;
    assert!(cost <= 4, "{cost} statements");
    Ok(())
}

fn carts_are_removed_after_ninety_days_and_with_their_account(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?);
    let mia = service.fan("mia").id;
    put(&service, mia, "purse", 1);
    service.clock().advance(Duration::from_hours(24 * 60));
    let bo = service.fan("bo_");
    put(&service, bo.id, "purse", 1);
    service.clock().advance(Duration::from_hours(24 * 31));
    assert_eq!(service.run(ops::sweep(service.app()))?.carts, 1);
    assert_eq!(service.run(ops::sweep(service.app()))?.carts, 0);
    assert_eq!((cart(&service, mia).cart.lines.len(), cart(&service, bo.id).cart.lines.len()), (0, 1));
    let rows = || service.storage().read_by_hand("SELECT 'left' AS text FROM carts").map(|rows| rows.len());
    assert_eq!(rows()?, 1);
    assert_eq!(delete(&service, bo.cookie, PASSWORD), None);
    catch_up(&service);
    assert_eq!(rows()?, 0);
    Ok(())
}
