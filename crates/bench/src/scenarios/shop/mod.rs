//! The shop: the list of products, compared with a bare handler; the statements of a cart; durable checkouts of three
//! lines, compared with the bare database and with the fixed limit; the reconciliation of unpaid orders; and pages of
//! statements of money.

mod checkout;
mod statements;
mod stuck;

use super::contest::Read;
use super::{Plan, for_each_fan, memory, shown};
use crate::client::{always, drive};
use crate::http;
use crate::numbers::float;
use crate::report::{Figure, Quantity, Target};
use crate::rows::{boards, quests, shop as rows};
use crate::server::Terrace;
use crate::world::{Ground, Kind, World};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};
use terrace_kernel::{Price, PriceKind, PricePart, Timestamp, UserId};
use terrace_shop::{
    Amounts, CartItem, Catalogue, PriceId, Pricing, Product, ProductId, ProductKind, StoredCart, Variant,
    VariantId, VariantPrice,
};
use uuid::Uuid;

const PRODUCTS: &str = "/api/products";
const CART: &str = "/api/cart";
/// The minimum share of the rate of the bare handler.
const OF_BARE: Target = Target::AtLeast(0.6);
/// For how long the service is observed without requests.
const IDLE: Duration = Duration::from_secs(2);
/// The maximum number of statements of a cart.
const STATEMENTS: f64 = 4.0;

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let world = ground.world(kind, "shop", 0)?;
    let regulars = u64::try_from(world.fans.len())?;
    let fans = carts(plan);
    world.fill_boards(fans + regulars)?;
    world.fill_packs(fans)?;
    world.fill_shop(fans)?;
    let stuck = ground.copy(&world, "shop_stuck")?;
    let accounts = ground.copy(&world, "shop_statements")?;
    let copy = ground.copy(&world, "shop_bare")?;
    let terrace = world.serve()?;
    let list = Read {
        what: format!("GET {PRODUCTS}, signed out"),
        database: kind.name(),
        path: PRODUCTS,
        requests: &for_each_fan(|_| Ok(vec![http::request("GET", PRODUCTS, &[], None)]))?,
        status: 200,
        target: OF_BARE,
    };
    let mut figures = list.run(ground, plan, &terrace)?;
    figures.push(cart_statements(plan, &world, &terrace)?);
    let shop = Shop::new()?;
    shop.check(fans, &terrace)?;
    figures.extend(checkout::run(ground, plan, (&world, &terrace), copy)?);
    figures.push(memory(&terrace, "these runs", kind.name())?);
    terrace.stop()?;
    figures.extend(stuck::run(plan, &stuck)?);
    figures.extend(statements::run(plan, &accounts)?);
    Ok(figures)
}

/// The number of fans with a cart. Each is ordered once, and the bare statements on SQLite order over 5,000 a second.
const fn carts(plan: &Plan) -> u64 {
    plan.questers * 2
}

/// The statements of a cart of three lines, including the look-ups of the session. What the service executes without any
/// request, such as looking for changes of the catalogue, is subtracted.
fn cart_statements(plan: &Plan, world: &World, terrace: &Terrace) -> Result<Figure> {
    log::info!("carts");
    let cookie = quests::cookie(0);
    let read = http::request("GET", CART, &[("Cookie", &cookie)], None);
    terrace.caller()?.expect(200, &read)?;
    let count = || terrace.metrics().map(|metrics| metrics.total("terrace_store_statement_seconds_count"));
    let start = count()?;
    thread::sleep(IDLE);
    let (before, begun) = (count()?, Instant::now());
    let sample = drive(&plan.load(terrace.served(), &[200]), vec![always(read)])?;
    let idle = (before - start) * begun.elapsed().div_duration_f64(IDLE);
    let statements = ((count()? - before - idle) / float(sample.answered.max(1)) * 100.0).round() / 100.0;
    let what = format!("statements of GET {CART} with three lines");
    Ok(Figure::plain(what, world.kind().name(), Quantity::new(statements, "statements"))
        .against("bound", STATEMENTS, Target::AtMost(1.0))
        .with(json!({"carts": sample.answered, "sample": shown(&[sample])})))
}

/// The products as the service reads them, to compute the quotes of carts.
struct Shop {
    catalogue: Catalogue,
}

impl Shop {
    fn new() -> Result<Self> {
        let product = |number| {
            let part = PricePart::new(PriceKind::Points, 1, None)?;
            let price = Price::new(vec![part])?;
            let variant = Variant {
                id: VariantId::from_uuid(rows::variant(number)),
                key: "one".parse()?,
                name: "One".to_owned(),
                options: Vec::new(),
                prices: vec![VariantPrice { id: PriceId::from_uuid(rows::price(number)), price }],
                stock: None,
                is_retired: false,
            };
            anyhow::Ok(Product {
                id: ProductId::from_uuid(rows::product(number)),
                key: format!("bench-{number}").parse()?,
                name: "Bench product".to_owned(),
                description: String::new(),
                image_urls: Vec::new(),
                kind: ProductKind::Digital,
                team: None,
                category: None,
                per_user_limit: None,
                opens_at: None,
                closes_at: None,
                grants: Vec::new(),
                tax_class: "bench".to_owned(),
                variants: vec![variant],
                is_retired: false,
            })
        };
        let products = (0..rows::LINES).map(product).collect::<Result<_>>()?;
        Ok(Self { catalogue: Catalogue { products, ..Catalogue::default() } })
    }

    /// The quote of a fan's cart.
    fn quote(&self, user: UserId) -> Result<String> {
        let variants = |id: VariantId| {
            let of = |product| Some((product, Product::offered(product).find(|one| one.id == id)?));
            self.catalogue.products.iter().find_map(of)
        };
        let item = |number| CartItem {
            variant: VariantId::from_uuid(rows::variant(number)),
            price: PriceId::from_uuid(rows::price(number)),
            quantity: 1,
        };
        let items = (0..rows::LINES).map(|number| (item(number), None)).collect();
        let pricing = Pricing {
            user,
            catalogue: &self.catalogue,
            variant: &variants,
            bought: &std::collections::HashMap::new(),
            balances: Amounts { points: 3, ..Amounts::default() },
            now: Timestamp::from_micros(0),
        };
        pricing.price(&StoredCart { items, shipping: None }).quote.context("an empty cart")
    }

    /// Fails unless the service quotes the same.
    fn check(&self, fans: u64, terrace: &Terrace) -> Result<()> {
        let cookie = quests::cookie(0);
        let read = http::request("GET", CART, &[("Cookie", &cookie)], None);
        let cart: Value = serde_json::from_slice(&terrace.caller()?.expect(200, &read)?.body)?;
        let own = self.quote(UserId::from_uuid(Uuid::from_u128(boards::fan(0, fans))))?;
        ensure!(cart.pointer("/cart/quote").and_then(Value::as_str) == Some(&own), "another quote: {cart}");
        Ok(())
    }
}
