//! Orders.

use crate::dto::{IdText, Time, names};
use crate::grants::dto::Grant;
use crate::shop::cart_dto::{Address, Tax, Total};
use crate::shop::dto::Price;
use serde::{Deserialize, Serialize};
use terrace_app::payments::{Refund, RefundState};
use terrace_app::shop::ShownOrder;
use terrace_kernel::Currency;
use terrace_shop::{
    Amounts, LineState, Order as DomainOrder, OrderId, OrderLine as DomainLine,
    OrderShipping as DomainShipping, OrderState, PendingOrder as DomainPending, Shipment as DomainShipment,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// A cart to order.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CheckoutBody {
    /// The `quote` of the cart that the fan has seen.
    #[schema(min_length = 1, max_length = 64)]
    pub(crate) quote: String,
    /// Whether the fan's own money is used before the card; false by default.
    #[serde(default)]
    pub(crate) use_balance: bool,
}

/// An order to complete.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CompleteOrderBody {
    /// The id of the order.
    #[schema(value_type = Uuid)]
    pub(crate) order_id: IdText<OrderId>,
}

names! {
    /// The state of an order. `paid`: something is still to be sent or on its way.
    OrderStatus(OrderState): OrderState::ALL, OrderState::as_str
}

names! {
    /// How far a line of an order is.
    LineStatus(LineState): LineState::ALL, LineState::as_str
}

names! {
    /// The state of a refund. `owed`: the provider has not confirmed it yet; `given`: the fan has it; `failed`: the provider
    /// could not deliver it, and an operator has it requested again.
    RefundStatus(RefundState): RefundState::ALL, RefundState::as_str
}

/// How a line was sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shipment {
    /// The name of the carrier.
    #[schema(required)]
    carrier: Option<String>,
    /// The carrier's number of the parcel.
    #[schema(required)]
    tracking: Option<String>,
    /// When it was sent.
    at: Time,
}

impl From<&DomainShipment> for Shipment {
    fn from(shipment: &DomainShipment) -> Self {
        Self { carrier: shipment.carrier.clone(), tracking: shipment.tracking.clone(), at: Time(shipment.at) }
    }
}

/// A line of an order, as it was bought.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderLine {
    /// The id of the line.
    id: Uuid,
    /// The id of the product.
    product_id: Uuid,
    /// The id of the variant.
    variant_id: Uuid,
    /// The name of product and variant when the order was placed.
    name: String,
    /// The number of units.
    quantity: u32,
    /// The price of one unit.
    unit: Price,
    /// The price of all units.
    total: Total,
    /// How far the line is.
    fulfilment: LineStatus,
    /// How the line was sent; null before that, and for what is digital.
    #[schema(required)]
    shipment: Option<Shipment>,
    /// What the fan was given for all units; empty before the payment and after a refund.
    goods: Vec<Grant>,
}

impl OrderLine {
    fn new(line: &DomainLine, currency: Option<Currency>) -> Self {
        let is_given = line.state == LineState::Delivered;
        let goods = line.grants.iter().filter(|_| is_given).map(Grant::from);
        Self {
            id: line.id.as_uuid(),
            product_id: line.product.as_uuid(),
            variant_id: line.variant.as_uuid(),
            name: line.name.clone(),
            quantity: line.quantity,
            unit: Price::from(&line.unit),
            total: Total::of(line.total(), currency),
            fulfilment: LineStatus(line.state),
            shipment: line.shipment.as_ref().map(Shipment::from),
            goods: goods.collect(),
        }
    }
}

/// How and where an order is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderShipping {
    /// The key of the method.
    #[schema(example = "standard")]
    method: String,
    /// The name of the method when the order was placed.
    name: String,
    /// The price.
    price: Total,
    /// The address.
    address: Address,
}

impl OrderShipping {
    fn new(shipping: &DomainShipping, currency: Option<Currency>) -> Self {
        Self {
            method: shipping.shipping.method.to_string(),
            name: shipping.name.clone(),
            price: Total::of(Amounts { money: shipping.amount, ..Amounts::default() }, currency),
            address: Address::from(&shipping.shipping.address),
        }
    }
}

/// By what an order is paid.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaidBy {
    /// Points of the fan.
    points: i64,
    /// Coins of the fan.
    coins: i64,
    /// Money of the fan, in minor units of the currency.
    balance: i64,
    /// Money that is paid by card, in minor units of the currency.
    card: i64,
}

/// What is returned of an order.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderRefund {
    /// The id of the refund.
    id: Uuid,
    /// Whether the fan has it.
    status: RefundStatus,
    /// What is returned.
    parts: Total,
    /// The tax that the returned money contains.
    tax: Tax,
    /// The ids of the lines that are refunded.
    lines: Vec<Uuid>,
}

impl OrderRefund {
    fn new(order: &DomainOrder, refund: &Refund) -> Self {
        let own = order.lines.iter().filter(|line| line.refund == Some(refund.id));
        Self {
            id: refund.id.as_uuid(),
            status: RefundStatus(refund.state),
            parts: Total::of(refund.parts.totals(), refund.currency),
            tax: Tax::new(&order.refunded_taxes(refund.id, refund.with_shipping), refund.currency),
            lines: own.map(|line| line.id.as_uuid()).collect(),
        }
    }
}

/// An order.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    /// The id of the order.
    id: Uuid,
    /// The state of the order.
    status: OrderStatus,
    /// The lines, in the order of the cart.
    lines: Vec<OrderLine>,
    /// How and where it is sent; null if nothing is to be sent.
    #[schema(required)]
    shipping: Option<OrderShipping>,
    /// What it costs in all.
    totals: Total,
    /// The tax that the totals contain.
    tax: Tax,
    /// By what it is paid.
    paid_by: PaidBy,
    /// What is returned, the oldest first.
    refunds: Vec<OrderRefund>,
    /// Whether the buyer's bank disputes the payment, or has taken it back.
    disputed: bool,
    /// The URL of the page on which it is paid; null unless it waits for its payment.
    #[schema(required)]
    checkout_url: Option<String>,
    /// The first instant at which a payment is too late; null for what was paid at once.
    #[schema(required)]
    expires_at: Option<Time>,
    /// When it was placed.
    created_at: Time,
}

impl From<&ShownOrder> for Order {
    fn from(shown: &ShownOrder) -> Self {
        let ShownOrder { order, refunds, is_disputed } = shown;
        let paid = order.paid_by;
        Self {
            id: order.id.as_uuid(),
            status: OrderStatus(order.state),
            lines: order.lines.iter().map(|line| OrderLine::new(line, order.currency)).collect(),
            shipping: order.shipping.as_ref().map(|shipping| OrderShipping::new(shipping, order.currency)),
            totals: Total::of(paid.totals(), order.currency),
            tax: Tax::new(&order.taxes(), order.currency),
            paid_by: PaidBy {
                points: paid.points,
                coins: paid.coins,
                balance: paid.balance,
                card: paid.card,
            },
            refunds: refunds.iter().map(|refund| OrderRefund::new(order, refund)).collect(),
            disputed: *is_disputed,
            checkout_url: order.checkout_url.clone(),
            expires_at: order.expires_at.map(Time),
            created_at: Time(order.created_at),
        }
    }
}

/// An order.
#[derive(Serialize, ToSchema)]
pub(crate) struct OrderEnvelope {
    /// The order in its current state.
    pub(crate) order: Order,
}

impl From<&ShownOrder> for OrderEnvelope {
    fn from(shown: &ShownOrder) -> Self {
        Self { order: Order::from(shown) }
    }
}

/// Orders.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderList {
    /// The orders, the newest first.
    pub(crate) orders: Vec<Order>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// An order that waits for its payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingOrder {
    /// The id of the order.
    id: Uuid,
    /// The URL of the page on which it is paid; null until the checkout has begun.
    #[schema(required)]
    checkout_url: Option<String>,
    /// The first instant at which a payment is too late.
    #[schema(required)]
    expires_at: Option<Time>,
}

impl From<&DomainPending> for PendingOrder {
    fn from(order: &DomainPending) -> Self {
        Self {
            id: order.id.as_uuid(),
            checkout_url: order.checkout_url.clone(),
            expires_at: order.expires_at.map(Time),
        }
    }
}
