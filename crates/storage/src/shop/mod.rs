//! The shop: products as content describes them, their stock, carts and orders.

mod cart;
mod catalogue;
mod order;
mod repair;
pub(crate) mod schema;
mod stock;

pub(crate) use order::OrderRow;

use crate::rows::{corrupt, named};
use serde::Serialize;
use serde::de::DeserializeOwned;
use terrace_kernel::{Price, PriceKind, PricePart, StoreError};
use terrace_shop::Country;

/// Reads a list from a column that contains it as JSON.
fn list<T: DeserializeOwned>(
    table: &'static str,
    column: &'static str,
    text: &str,
) -> Result<Vec<T>, StoreError> {
    serde_json::from_str(text).map_err(|error| corrupt(table, column, &error))
}

/// A list as JSON.
fn json<T: Serialize>(list: &[T]) -> Result<String, StoreError> {
    serde_json::to_string(list).map_err(|error| StoreError::defect("write a list", error))
}

fn country(table: &'static str, column: &'static str, code: &str) -> Result<Country, StoreError> {
    Country::stored(code).map_err(|error| corrupt(table, column, &error))
}

/// The parts of a price as columns: points, coins, money and its currency.
type PriceColumns = (Option<i64>, Option<i64>, Option<i64>, Option<String>);

fn columns(price: &Price) -> PriceColumns {
    let amount = |kind| Some(price.amount(kind)).filter(|amount| *amount > 0);
    let [points, coins, money] = PriceKind::ALL.map(amount);
    (points, coins, money, price.currency().map(|currency| currency.to_string()))
}

fn price(table: &'static str, columns: PriceColumns) -> Result<Price, StoreError> {
    let (points, coins, money, currency) = columns;
    let currency = currency.map(|code| named(table, "currency", &code)).transpose()?;
    let parts = [
        (PriceKind::Points, points, None),
        (PriceKind::Coins, coins, None),
        (PriceKind::Money, money, currency),
    ];
    let parts: Result<Vec<_>, _> = parts
        .into_iter()
        .filter_map(|(kind, amount, currency)| amount.map(|amount| PricePart::new(kind, amount, currency)))
        .collect();
    parts.and_then(Price::new).map_err(|error| corrupt(table, "money", &error))
}
