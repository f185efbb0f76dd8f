//! Orders: what was bought at which prices, how it is paid, and how far it is.

use crate::{
    Amounts, OrderId, OrderLineId, PriceId, PricedCart, PricedLine, PricedShipping, ProductId, ProductKind,
    RefundId, Shipping, VariantId,
};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use terrace_kernel::{Currency, Giver, Grant, GrantSource, Money, Price, Timestamp, UnknownName, UserId};

/// How long an order waits for its payment. Card providers refuse a checkout of less than 30 minutes.
pub const ORDER_LIFE: Duration = Duration::from_mins(35);
/// How long after its payment a fan can cancel an order that was not sent.
pub const RETURN_WINDOW: Duration = Duration::from_hours(24 * 14);
/// How many orders and purchases of a fan wait for their payment at most.
pub const MOST_PENDING: u32 = 3;
/// How many orders a fan may leave unpaid within [`ABANDONED_WINDOW`].
pub const MOST_ABANDONED: u32 = 3;
/// How long an unpaid order counts, from its start.
pub const ABANDONED_WINDOW: Duration = Duration::from_hours(24);

/// The state of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderState {
    /// Waiting for its payment. Stock is taken, and points, coins and balance are held.
    Pending,
    /// Paid; something is still to be sent or on its way.
    Paid,
    /// Paid, and everything was delivered.
    Completed,
    /// The payment did not arrive in time.
    Expired,
    /// The payment was declined, or the fan gave the order up.
    Cancelled,
    /// What was paid was returned.
    Refunded,
}

impl OrderState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Pending, Self::Paid, Self::Completed, Self::Expired, Self::Cancelled, Self::Refunded];

    /// The stable name, as used in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Paid => "paid",
            Self::Completed => "completed",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
        }
    }

    /// Whether an order in this state may become one in `to`.
    pub const fn may_become(self, to: Self) -> bool {
        matches!(
            (self, to),
            (Self::Pending, Self::Paid | Self::Completed | Self::Expired | Self::Cancelled)
                | (Self::Paid, Self::Completed | Self::Refunded)
                | (Self::Completed | Self::Expired | Self::Cancelled, Self::Refunded)
        )
    }

    /// Whether the fan has paid, and nothing was returned.
    pub const fn is_paid(self) -> bool {
        matches!(self, Self::Paid | Self::Completed)
    }
}

impl fmt::Display for OrderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for OrderState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// How far a line of an order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineState {
    /// Not given yet: the order is not paid, or the product is still to be sent.
    Waiting,
    /// Sent.
    Shipped,
    /// The fan has it.
    Delivered,
    /// Taken back, or never given.
    Revoked,
}

impl LineState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Shipped, Self::Delivered, Self::Revoked];

    /// The stable name, as used in tables and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Shipped => "shipped",
            Self::Delivered => "delivered",
            Self::Revoked => "revoked",
        }
    }
}

impl fmt::Display for LineState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LineState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// By what an order is paid. All parts are due together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PaidBy {
    /// Points that the fan has.
    pub points: i64,
    /// Coins that the fan has.
    pub coins: i64,
    /// Money that the fan has, in minor units.
    pub balance: i64,
    /// Money that is paid at the provider, in minor units.
    pub card: i64,
}

impl PaidBy {
    /// Divides what is due: of the money, at most `balance` comes from the fan's own. A card pays no amount of three decimal
    /// places whose last one is not zero, if the total is none.
    pub fn of(totals: Amounts, balance: i64, currency: Option<Currency>) -> Self {
        let mut balance = balance.clamp(0, totals.money);
        let is_in_tens =
            currency.and_then(|currency| currency.decimals()) == Some(3) && totals.money % 10 == 0;
        if is_in_tens {
            balance = balance.saturating_sub(balance % 10);
        }
        let card = totals.money.saturating_sub(balance);
        Self { points: totals.points, coins: totals.coins, balance, card }
    }

    /// The sum of all parts, by kind.
    pub fn totals(self) -> Amounts {
        let money = self.balance.saturating_add(self.card);
        Amounts { points: self.points, coins: self.coins, money }
    }

    /// The sum of both, in each kind.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            points: self.points.saturating_add(other.points),
            coins: self.coins.saturating_add(other.coins),
            balance: self.balance.saturating_add(other.balance),
            card: self.card.saturating_add(other.card),
        }
    }
}

/// How a line was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shipment {
    /// Name of the carrier, if the operator gave one.
    pub carrier: Option<String>,
    /// The carrier's number of the parcel, if the operator gave one.
    pub tracking: Option<String>,
    /// When it was sent.
    pub at: Timestamp,
}

/// A line of an order, as it was bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderLine {
    /// Id of the line.
    pub id: OrderLineId,
    /// The product of the variant.
    pub product: ProductId,
    /// What was bought.
    pub variant: VariantId,
    /// The price that was paid; the content may have another one by now.
    pub price: PriceId,
    /// Name of product and variant when the order was placed.
    pub name: String,
    /// How it reaches the fan.
    pub kind: ProductKind,
    /// 1 to 20 units.
    pub quantity: u32,
    /// The price of one unit.
    pub unit: Price,
    /// The tax rate, in hundredths of a percent.
    pub tax_rate: u32,
    /// The tax in the price of all units.
    pub tax: i64,
    /// What all units grant together.
    pub grants: Vec<Grant>,
    /// How far it is.
    pub state: LineState,
    /// How it was sent, if it was.
    pub shipment: Option<Shipment>,
    /// The refund that revoked it.
    pub refund: Option<RefundId>,
}

impl OrderLine {
    /// What its grants are given for.
    pub fn source(&self) -> GrantSource {
        GrantSource { giver: Giver::Order, id: self.id.as_uuid() }
    }

    /// The price of all units.
    pub fn total(&self) -> Amounts {
        Amounts::of(&self.unit, self.quantity)
    }

    /// Whether its units count as taken from the stock while the order is one that takes them.
    pub fn takes_stock(&self) -> bool {
        self.state != LineState::Revoked || self.shipment.is_some()
    }
}

/// Shipping of an order, as it was bought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderShipping {
    /// The method and the address.
    pub shipping: Shipping,
    /// Name of the method when the order was placed.
    pub name: String,
    /// The price; 0 if it is free.
    pub amount: i64,
    /// The tax rate, in hundredths of a percent.
    pub tax_rate: u32,
    /// The tax in the price.
    pub tax: i64,
}

impl From<&PricedShipping> for OrderShipping {
    fn from(priced: &PricedShipping) -> Self {
        let PricedShipping { shipping, name, amount, tax_rate, tax } = priced.clone();
        Self { shipping, name, amount, tax_rate, tax }
    }
}

/// What a fan bought of a cart: the prices, names and addresses of that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Id of the order.
    pub id: OrderId,
    /// The account that buys.
    pub user: UserId,
    /// How far it is.
    pub state: OrderState,
    /// The lines, in the order of the cart.
    pub lines: Vec<OrderLine>,
    /// How and where it is sent; `None` if nothing is.
    pub shipping: Option<OrderShipping>,
    /// By what it is paid.
    pub paid_by: PaidBy,
    /// The currency of the money; `None` if it costs none.
    pub currency: Option<Currency>,
    /// Address of the checkout page, while the order waits for its payment.
    pub checkout_url: Option<String>,
    /// When it was placed.
    pub created_at: Timestamp,
    /// The first instant at which a payment is too late; `None` for what was paid at once.
    pub expires_at: Option<Timestamp>,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// When its state last changed.
    pub changed_at: Timestamp,
}

impl Order {
    /// The money that is due at the provider.
    pub fn card(&self) -> Option<Money> {
        let currency = self.currency.filter(|_| self.paid_by.card > 0)?;
        Some(Money { amount: self.paid_by.card, currency })
    }

    /// The state after a payment: whether something is to be sent.
    pub fn state_when_paid(&self) -> OrderState {
        let is_sent = self.lines.iter().any(|line| line.kind == ProductKind::Physical);
        if is_sent { OrderState::Paid } else { OrderState::Completed }
    }

    /// The digital lines, which grant something.
    pub fn granting(&self) -> impl Iterator<Item = &OrderLine> {
        self.lines.iter().filter(|line| line.kind == ProductKind::Digital && !line.grants.is_empty())
    }

    /// What its lines grant together.
    pub fn grants(&self) -> Vec<Grant> {
        self.granting().flat_map(|line| &line.grants).copied().collect()
    }

    /// Whether something was sent.
    pub fn was_sent(&self) -> bool {
        self.lines.iter().any(|line| line.shipment.is_some())
    }

    /// The tax in the totals, by rate.
    pub fn taxes(&self) -> BTreeMap<u32, i64> {
        taxes(self.lines.iter(), self.shipping.as_ref())
    }

    /// The units of each variant whose stock this order takes, in the order of the ids of the variants, which is that in
    /// which stocks are locked.
    pub fn taken(&self) -> Vec<(VariantId, u32)> {
        units(self.lines.iter().filter(|line| line.takes_stock()).map(|line| (line.variant, line.quantity)))
    }

    /// A short description for statements and checkout pages.
    pub fn description(&self) -> String {
        let count = self.lines.len();
        match self.lines.first() {
            Some(line) if count == 1 => format!("{} × {}", line.quantity, line.name),
            Some(line) => format!("{} and {} more", line.name, count.saturating_sub(1)),
            None => "Order".to_owned(),
        }
    }
}

/// An order that waits for its payment, as a cart names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingOrder {
    /// Id of the order.
    pub id: OrderId,
    /// Address of the checkout page; `None` until the checkout has begun.
    pub checkout_url: Option<String>,
    /// The first instant at which a payment is too late.
    pub expires_at: Option<Timestamp>,
}

/// The tax in the prices of lines and of the shipping, by rate.
pub(crate) fn taxes<'a>(
    lines: impl Iterator<Item = &'a OrderLine>,
    shipping: Option<&OrderShipping>,
) -> BTreeMap<u32, i64> {
    let lines = lines.filter(|line| line.total().money > 0).map(|line| (line.tax_rate, line.tax));
    let shipping = shipping.filter(|shipping| shipping.amount > 0);
    let mut taxes: BTreeMap<u32, i64> = BTreeMap::new();
    for (rate, tax) in lines.chain(shipping.map(|shipping| (shipping.tax_rate, shipping.tax))) {
        let sum = taxes.entry(rate).or_default();
        *sum = sum.saturating_add(tax);
    }
    taxes
}

/// Units by variant, in the order of the ids.
pub(crate) fn units(of: impl Iterator<Item = (VariantId, u32)>) -> Vec<(VariantId, u32)> {
    let mut units: BTreeMap<VariantId, u32> = BTreeMap::new();
    for (variant, quantity) in of {
        let sum = units.entry(variant).or_default();
        *sum = sum.saturating_add(quantity);
    }
    units.into_iter().collect()
}

/// Builds the lines of an order from a cart.
pub fn order_lines(cart: &PricedCart, mut new_id: impl FnMut() -> OrderLineId) -> Vec<OrderLine> {
    let line = |line: &PricedLine| OrderLine {
        id: new_id(),
        product: line.product,
        variant: line.item.variant,
        price: line.item.price,
        name: line.name.clone(),
        kind: line.kind,
        quantity: line.item.quantity,
        unit: line.unit.clone(),
        tax_rate: line.tax_rate,
        tax: line.tax,
        grants: line.grants.clone(),
        state: LineState::Waiting,
        shipment: None,
        refund: None,
    };
    cart.lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_as_they_are_written() {
        for state in OrderState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
            assert!(!state.may_become(state) && !OrderState::Refunded.may_become(state), "{state}");
        }
        for state in LineState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        let paid = OrderState::ALL.into_iter().filter(|state| state.may_become(OrderState::Refunded));
        let all: Vec<_> = paid.collect();
        assert_eq!(
            all,
            [OrderState::Paid, OrderState::Completed, OrderState::Expired, OrderState::Cancelled]
        );
    }

    #[test]
    fn the_parts_of_a_payment_add_up() {
        let totals = Amounts { points: 5, coins: 7, money: 900 };
        for balance in [-1, 0, 1, 899, 900, 901, i64::MAX] {
            let paid = PaidBy::of(totals, balance, None);
            assert_eq!(paid.totals(), totals, "{balance}");
            assert!(paid.balance >= 0 && paid.card >= 0 && paid.balance <= balance.max(0), "{balance}");
        }
    }
}
