//! What a cart costs now, and why it cannot be bought.

use crate::{
    Address, CartItem, Catalogue, Country, Product, ProductId, ProductKind, Shipping, ShippingMethod, Stock,
    StoredCart, Variant, VariantId, rate_of, tax_inside,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use terrace_kernel::{Currency, Grant, Price, PriceKind, Timestamp, UserId, hex};

/// How many units of a variant the pending orders of a fan hold at most, where the product has no limit.
pub const MOST_HELD: u32 = 5;
/// The most that one order costs in one kind.
pub const MOST_DUE: i64 = 1_000_000_000_000;

/// Why a line or a cart cannot be bought as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// The product is not on sale, or the variant is not offered any more.
    Unavailable,
    /// Fewer units are left than wanted.
    SoldOut,
    /// The fan would have more than allowed.
    LimitReached,
    /// The price that was chosen does not exist any more; the first one is shown instead.
    PriceChanged,
    /// Something is to be sent, and no method that reaches an address is chosen.
    AddressMissing,
    /// The fan has too few points or coins.
    InsufficientBalance,
}

/// An amount in each kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    /// Whole points.
    pub points: i64,
    /// Whole coins.
    pub coins: i64,
    /// Money, in minor units of the one currency of the shop.
    pub money: i64,
}

impl Amounts {
    /// The price of some units.
    pub fn of(price: &Price, quantity: u32) -> Self {
        let of = |kind| price.amount(kind).saturating_mul(i64::from(quantity));
        Self { points: of(PriceKind::Points), coins: of(PriceKind::Coins), money: of(PriceKind::Money) }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            points: self.points.saturating_add(other.points),
            coins: self.coins.saturating_add(other.coins),
            money: self.money.saturating_add(other.money),
        }
    }

    /// The greatest of the amounts.
    pub fn greatest(self) -> i64 {
        self.points.max(self.coins).max(self.money)
    }
}

/// A line of a cart at its current price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricedLine {
    /// The line. Its price is the one that is shown.
    pub item: CartItem,
    /// The product of the variant.
    pub product: ProductId,
    /// Name of the product and of the variant.
    pub name: String,
    /// How it reaches the fan.
    pub kind: ProductKind,
    /// The price of one unit.
    pub unit: Price,
    /// The price of all units.
    pub total: Amounts,
    /// The tax rate, in hundredths of a percent.
    pub tax_rate: u32,
    /// The tax in the total.
    pub tax: i64,
    /// What all units grant together.
    pub grants: Vec<Grant>,
    /// The stock of the variant, if it is limited.
    pub stock: Option<Stock>,
    /// What is wrong with the line.
    pub problems: Vec<Problem>,
}

/// Shipping at its current price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricedShipping {
    /// The chosen method and the address.
    pub shipping: Shipping,
    /// Name of the method.
    pub name: String,
    /// The price; 0 if it is free.
    pub amount: i64,
    /// The tax rate, in hundredths of a percent.
    pub tax_rate: u32,
    /// The tax in the price.
    pub tax: i64,
}

/// A cart at its current prices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PricedCart {
    /// The lines, the oldest first.
    pub lines: Vec<PricedLine>,
    /// Shipping, if something is to be sent and a method was chosen.
    pub shipping: Option<PricedShipping>,
    /// What is due in all.
    pub totals: Amounts,
    /// The currency of the money.
    pub currency: Option<Currency>,
    /// What is wrong with the cart as a whole.
    pub problems: Vec<Problem>,
    /// Identifies all of this; `None` for an empty cart.
    pub quote: Option<String>,
}

impl PricedCart {
    /// The tax in the totals, by rate.
    pub fn taxes(&self) -> BTreeMap<u32, i64> {
        let lines =
            self.lines.iter().filter(|line| line.total.money > 0).map(|line| (line.tax_rate, line.tax));
        let shipping = self.shipping.iter().filter(|shipping| shipping.amount > 0);
        let mut taxes: BTreeMap<u32, i64> = BTreeMap::new();
        for (rate, tax) in lines.chain(shipping.map(|shipping| (shipping.tax_rate, shipping.tax))) {
            let sum = taxes.entry(rate).or_default();
            *sum = sum.saturating_add(tax);
        }
        taxes
    }

    /// Every problem of the lines and of the cart, the first of each line first.
    pub fn all_problems(&self) -> impl Iterator<Item = Problem> {
        self.lines.iter().flat_map(|line| &line.problems).chain(&self.problems).copied()
    }
}

/// Units of a variant in a fan's orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bought {
    /// Units in pending, paid and completed orders, without revoked ones.
    pub units: u32,
    /// Those of them that wait for a payment.
    pub held: u32,
}

/// All that the price of a cart depends on.
pub struct Pricing<'a> {
    /// The fan.
    pub user: UserId,
    /// The shop.
    pub catalogue: &'a Catalogue,
    /// Looks up a variant with its product.
    pub variant: &'a dyn Fn(VariantId) -> Option<(&'a Product, &'a Variant)>,
    /// The fan's units in orders.
    pub bought: &'a HashMap<VariantId, Bought>,
    /// The fan's points and coins.
    pub balances: Amounts,
    /// The time.
    pub now: Timestamp,
}

impl Pricing<'_> {
    /// Prices a cart (contract of the cart: live prices, and nothing is reserved). Lines of variants that never existed
    /// are left out.
    pub fn price(&self, cart: &StoredCart) -> PricedCart {
        let country = cart.shipping.as_ref().map(|shipping| shipping.address.country);
        let mut lines: Vec<PricedLine> =
            cart.items.iter().filter_map(|(item, stock)| self.line(*item, *stock, country)).collect();
        self.limit(&mut lines);
        let is_sent = lines.iter().any(|line| line.kind == ProductKind::Physical);
        let shipping =
            cart.shipping.as_ref().filter(|_| is_sent).and_then(|shipping| self.shipping(shipping));
        let mut totals = lines.iter().fold(Amounts::default(), |sum, line| sum.and(line.total));
        totals.money = totals.money.saturating_add(shipping.as_ref().map_or(0, |shipping| shipping.amount));
        let mut problems = Vec::new();
        if is_sent && shipping.is_none() {
            problems.push(Problem::AddressMissing);
        }
        if totals.points > self.balances.points || totals.coins > self.balances.coins {
            problems.push(Problem::InsufficientBalance);
        }
        if totals.greatest() > MOST_DUE {
            problems.push(Problem::LimitReached);
        }
        let method =
            |shipping: &PricedShipping| self.method(&shipping.shipping).and_then(|method| method.price);
        let of_shipping = shipping.as_ref().and_then(method).and_then(|price| price.currency());
        let currency = lines.iter().find_map(|line| line.unit.currency()).or(of_shipping);
        let priced = PricedCart { lines, shipping, totals, currency, problems, quote: None };
        let quote = (!priced.lines.is_empty()).then(|| self.quote(&priced));
        PricedCart { quote, ..priced }
    }

    fn line(&self, item: CartItem, stock: Option<Stock>, country: Option<Country>) -> Option<PricedLine> {
        let (product, variant) = (self.variant)(item.variant)?;
        let chosen = variant.price(item.price);
        let price = chosen.or_else(|| variant.prices.first())?;
        let mut problems = Vec::new();
        if !product.is_on_sale(self.now) || variant.is_retired {
            problems.push(Problem::Unavailable);
        }
        if stock.is_some_and(|stock| stock.remaining() < item.quantity) {
            problems.push(Problem::SoldOut);
        }
        if chosen.is_none() {
            problems.push(Problem::PriceChanged);
        }
        let total = Amounts::of(&price.price, item.quantity);
        let country = country.filter(|_| product.kind == ProductKind::Physical);
        let tax_rate = rate_of(&self.catalogue.taxes, &product.tax_class, country);
        let is_only = product.offered().count() == 1;
        Some(PricedLine {
            item: CartItem { price: price.id, ..item },
            product: product.id,
            name: if is_only { product.name.clone() } else { format!("{}, {}", product.name, variant.name) },
            kind: product.kind,
            unit: price.price.clone(),
            total,
            tax_rate,
            tax: tax_inside(total.money, tax_rate),
            grants: product.grants.iter().map(|grant| grant.times(item.quantity)).collect(),
            stock,
            problems,
        })
    }

    /// Notes the limits: of a product for all its variants together, and of what unpaid orders hold of a variant.
    fn limit(&self, lines: &mut [PricedLine]) {
        let costs_money = lines.iter().any(|line| line.total.money > 0);
        let bought = |variant| self.bought.get(&variant).copied().unwrap_or_default();
        let mut wanted: HashMap<ProductId, u32> = HashMap::new();
        for line in lines.iter() {
            let units = wanted.entry(line.product).or_default();
            *units = units.saturating_add(line.item.quantity);
        }
        for line in lines {
            let Some((product, _)) = (self.variant)(line.item.variant) else { continue };
            let before = product.variants.iter().map(|variant| bought(variant.id).units);
            let units = before.fold(wanted.get(&line.product).copied().unwrap_or(0), u32::saturating_add);
            let held = bought(line.item.variant).held.saturating_add(line.item.quantity);
            let is_over = product.per_user_limit.is_some_and(|limit| units > limit);
            if is_over || (costs_money && held > product.per_user_limit.unwrap_or(MOST_HELD)) {
                line.problems.push(Problem::LimitReached);
            }
        }
    }

    fn method(&self, shipping: &Shipping) -> Option<&ShippingMethod> {
        let methods = self.catalogue.methods.iter();
        methods.into_iter().find(|one| one.key == shipping.method && one.reaches(shipping.address.country))
    }

    fn shipping(&self, shipping: &Shipping) -> Option<PricedShipping> {
        let method = self.method(shipping)?;
        let amount = method.price.map_or(0, |price| price.amount());
        let tax_rate = rate_of(&self.catalogue.taxes, "shipping", Some(shipping.address.country));
        Some(PricedShipping {
            shipping: shipping.clone(),
            name: method.name.clone(),
            amount,
            tax_rate,
            tax: tax_inside(amount, tax_rate),
        })
    }

    /// SHA-256 over the fan, lines, price ids, shipping, tax and totals.
    fn quote(&self, cart: &PricedCart) -> String {
        let mut digest = Sha256::new();
        let mut add = |text: &str| {
            // Lengths keep neighbouring texts apart.
            digest.update(text.len().to_be_bytes());
            digest.update(text);
        };
        add(&self.user.to_string());
        for line in &cart.lines {
            let PricedLine { item, unit, tax_rate, tax, grants, .. } = line;
            add(&format!("{} {} {}", item.variant, item.price, item.quantity));
            let parts = PriceKind::ALL.map(|kind| unit.amount(kind));
            add(&format!("{parts:?} {:?} {tax_rate} {tax}", unit.currency()));
            for grant in grants {
                add(&format!("{} {} {:?}", grant.kind(), grant.amount(), grant.id()));
            }
        }
        if let Some(PricedShipping { shipping, amount, tax_rate, tax, .. }) = &cart.shipping {
            let Address { name, line1, line2, postal_code, city, region, country } = &shipping.address;
            add(&format!("{} {amount} {tax_rate} {tax} {country}", shipping.method));
            for text in
                [Some(name), Some(line1), line2.as_ref(), Some(postal_code), Some(city), region.as_ref()]
            {
                add(text.map_or("", String::as_str));
            }
        }
        add(&format!("{:?} {:?}", cart.totals, cart.currency));
        hex::encode(&digest.finalize())
    }
}

#[cfg(test)]
mod tests;
