//! The rows of orders, of their lines and of what these grant.

use crate::grants::grant_columns;
use crate::packs::count;
use crate::rows::named;
use crate::schema::{order_line_grants, order_lines, orders};
use crate::shop::{columns, price};
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{Grant, StoreError, num};
use terrace_shop::{Address, Order, OrderLine, OrderShipping, PaidBy, Shipment, Shipping};

pub(super) const ORDERS: &str = "orders";
pub(super) const LINES: &str = "order_lines";

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = orders, treat_none_as_default_value = false)]
pub(crate) struct OrderRow {
    pub(super) id: Key,
    user_id: Key,
    state: String,
    points: i64,
    coins: i64,
    balance: i64,
    card: i64,
    currency: Option<String>,
    method: Option<String>,
    method_name: Option<String>,
    shipping_amount: i64,
    shipping_tax_rate: i32,
    shipping_tax: i64,
    name: Option<String>,
    line1: Option<String>,
    line2: Option<String>,
    postal_code: Option<String>,
    city: Option<String>,
    region: Option<String>,
    country: Option<String>,
    checkout_url: Option<String>,
    created_at: At,
    expires_at: Option<At>,
    paid_at: Option<At>,
    changed_at: At,
}

impl OrderRow {
    pub(super) fn of(order: &Order) -> Self {
        let shipping = order.shipping.as_ref();
        let address = shipping.map(|shipping| shipping.shipping.address.clone());
        let text = |of: fn(Address) -> String| address.clone().map(of);
        Self {
            id: Key::of(order.id),
            user_id: Key::of(order.user),
            state: order.state.to_string(),
            points: order.paid_by.points,
            coins: order.paid_by.coins,
            balance: order.paid_by.balance,
            card: order.paid_by.card,
            currency: order.currency.map(|currency| currency.to_string()),
            method: shipping.map(|shipping| shipping.shipping.method.to_string()),
            method_name: shipping.map(|shipping| shipping.name.clone()),
            shipping_amount: shipping.map_or(0, |shipping| shipping.amount),
            shipping_tax_rate: shipping.map_or(0, |shipping| num::to_i32(shipping.tax_rate)),
            shipping_tax: shipping.map_or(0, |shipping| shipping.tax),
            name: text(|address| address.name),
            line1: text(|address| address.line1),
            line2: address.clone().and_then(|address| address.line2),
            postal_code: text(|address| address.postal_code),
            city: text(|address| address.city),
            region: address.clone().and_then(|address| address.region),
            country: text(|address| address.country.to_string()),
            checkout_url: order.checkout_url.clone(),
            created_at: At(order.created_at),
            expires_at: order.expires_at.map(At),
            paid_at: order.paid_at.map(At),
            changed_at: At(order.changed_at),
        }
    }

    pub(crate) fn into_order(self, lines: Vec<OrderLine>) -> Result<Order, StoreError> {
        let shipping = match (self.method, self.country) {
            (Some(method), Some(country)) => Some(OrderShipping {
                shipping: Shipping {
                    method: named(ORDERS, "method", &method)?,
                    address: Address {
                        name: self.name.unwrap_or_default(),
                        line1: self.line1.unwrap_or_default(),
                        line2: self.line2,
                        postal_code: self.postal_code.unwrap_or_default(),
                        city: self.city.unwrap_or_default(),
                        region: self.region,
                        country: crate::shop::country(ORDERS, "country", &country)?,
                    },
                },
                name: self.method_name.unwrap_or_default(),
                amount: self.shipping_amount,
                tax_rate: count(ORDERS, "shipping_tax_rate", self.shipping_tax_rate)?,
                tax: self.shipping_tax,
            }),
            _ => None,
        };
        Ok(Order {
            id: self.id.id(),
            user: self.user_id.id(),
            state: named(ORDERS, "state", &self.state)?,
            lines,
            shipping,
            paid_by: PaidBy {
                points: self.points,
                coins: self.coins,
                balance: self.balance,
                card: self.card,
            },
            currency: self.currency.map(|code| named(ORDERS, "currency", &code)).transpose()?,
            checkout_url: self.checkout_url,
            created_at: self.created_at.0,
            expires_at: self.expires_at.map(|at| at.0),
            paid_at: self.paid_at.map(|at| at.0),
            changed_at: self.changed_at.0,
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = order_lines, treat_none_as_default_value = false)]
pub(super) struct LineRow {
    pub(super) id: Key,
    pub(super) order_id: Key,
    place: i32,
    product_id: Key,
    variant_id: Key,
    price_id: Key,
    name: String,
    kind: String,
    quantity: i32,
    points: Option<i64>,
    coins: Option<i64>,
    money: Option<i64>,
    currency: Option<String>,
    tax_rate: i32,
    tax: i64,
    state: String,
    carrier: Option<String>,
    tracking: Option<String>,
    shipped_at: Option<At>,
    refund_id: Option<Key>,
}

impl LineRow {
    pub(super) fn of(order: &Order, place: usize, line: &OrderLine) -> Self {
        let (points, coins, money, currency) = columns(&line.unit);
        let shipment = line.shipment.as_ref();
        Self {
            id: Key::of(line.id),
            order_id: Key::of(order.id),
            place: num::to_i32(place),
            product_id: Key::of(line.product),
            variant_id: Key::of(line.variant),
            price_id: Key::of(line.price),
            name: line.name.clone(),
            kind: line.kind.to_string(),
            quantity: num::to_i32(line.quantity),
            points,
            coins,
            money,
            currency,
            tax_rate: num::to_i32(line.tax_rate),
            tax: line.tax,
            state: line.state.to_string(),
            carrier: shipment.and_then(|shipment| shipment.carrier.clone()),
            tracking: shipment.and_then(|shipment| shipment.tracking.clone()),
            shipped_at: shipment.map(|shipment| At(shipment.at)),
            refund_id: line.refund.map(Key::of),
        }
    }

    pub(super) fn into_line(self, grants: Vec<Grant>) -> Result<OrderLine, StoreError> {
        let (carrier, tracking) = (self.carrier, self.tracking);
        Ok(OrderLine {
            id: self.id.id(),
            product: self.product_id.id(),
            variant: self.variant_id.id(),
            price: self.price_id.id(),
            name: self.name,
            kind: named(LINES, "kind", &self.kind)?,
            quantity: count(LINES, "quantity", self.quantity)?,
            unit: price(LINES, (self.points, self.coins, self.money, self.currency))?,
            tax_rate: count(LINES, "tax_rate", self.tax_rate)?,
            tax: self.tax,
            grants,
            state: named(LINES, "state", &self.state)?,
            shipment: self.shipped_at.map(|at| Shipment { carrier, tracking, at: at.0 }),
            refund: self.refund_id.map(Key::id),
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = order_line_grants, treat_none_as_default_value = false)]
pub(super) struct LineGrantRow {
    pub(super) line_id: Key,
    pub(super) place: i32,
    pub(super) kind: String,
    pub(super) amount: i64,
    pub(super) item_id: Option<Key>,
}

impl LineGrantRow {
    pub(super) fn of(line: &OrderLine, place: i32, grant: Grant) -> Self {
        let (kind, amount, item_id) = grant_columns(grant);
        Self { line_id: Key::of(line.id), place, kind: kind.to_owned(), amount, item_id }
    }
}
