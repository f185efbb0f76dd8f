//! What is paid for, and how far it is.

use std::fmt;
use terrace_kernel::{Money, Timestamp, UnknownName, UserId, Uuid};
use terrace_packs::{Purchase, PurchaseId, PurchaseState};
use terrace_shop::{Order, OrderId, OrderState};

/// What is paid for with money. No two have the same id, whatever their kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Payable {
    /// A purchase of a pack.
    Purchase(PurchaseId),
    /// An order of the shop.
    Order(OrderId),
}

impl Payable {
    /// The id in the table of its kind.
    pub const fn id(self) -> Uuid {
        match self {
            Self::Purchase(id) => id.as_uuid(),
            Self::Order(id) => id.as_uuid(),
        }
    }

    /// The stable name of the kind, as stored in tables.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Purchase(_) => "purchase",
            Self::Order(_) => "order",
        }
    }

    /// The payable of this kind and id.
    pub fn of(kind: &str, id: Uuid) -> Result<Self, UnknownName> {
        match kind {
            "purchase" => Ok(Self::Purchase(PurchaseId::from_uuid(id))),
            "order" => Ok(Self::Order(OrderId::from_uuid(id))),
            other => Err(UnknownName(other.to_owned())),
        }
    }
}

impl From<PurchaseId> for Payable {
    fn from(id: PurchaseId) -> Self {
        Self::Purchase(id)
    }
}

impl From<OrderId> for Payable {
    fn from(id: OrderId) -> Self {
        Self::Order(id)
    }
}

/// For logs: `purchase 0190a6f2-…`.
impl fmt::Display for Payable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.id().hyphenated())
    }
}

/// How far something is that is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargeState {
    /// Waiting for its payment.
    Pending,
    /// Paid, and given to the fan or on its way.
    Paid,
    /// The payment did not arrive in time.
    Expired,
    /// The payment was declined or abandoned.
    Cancelled,
    /// The payment was returned.
    Refunded,
}

impl From<PurchaseState> for ChargeState {
    fn from(state: PurchaseState) -> Self {
        match state {
            PurchaseState::Pending => Self::Pending,
            PurchaseState::Completed => Self::Paid,
            PurchaseState::Expired => Self::Expired,
            PurchaseState::Cancelled => Self::Cancelled,
            PurchaseState::Refunded => Self::Refunded,
        }
    }
}

impl From<OrderState> for ChargeState {
    fn from(state: OrderState) -> Self {
        match state {
            OrderState::Pending => Self::Pending,
            OrderState::Paid | OrderState::Completed => Self::Paid,
            OrderState::Expired => Self::Expired,
            OrderState::Cancelled => Self::Cancelled,
            OrderState::Refunded => Self::Refunded,
        }
    }
}

/// All that payments need to know of something that is paid for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// What is paid for.
    pub payable: Payable,
    /// The account that pays.
    pub user: UserId,
    /// How far it is.
    pub state: ChargeState,
    /// The money that is due at the provider; `None` if it costs none.
    pub money: Option<Money>,
    /// Address of the checkout page, while the payment is pending and its checkout was begun.
    pub checkout_url: Option<String>,
    /// When it was started.
    pub created_at: Timestamp,
    /// The first instant at which a payment is too late; `None` for what was paid at once.
    pub expires_at: Option<Timestamp>,
}

impl From<&Purchase> for Charge {
    fn from(purchase: &Purchase) -> Self {
        let money = |currency| Money { amount: purchase.total(), currency };
        Self {
            payable: Payable::Purchase(purchase.id),
            user: purchase.user,
            state: purchase.state.into(),
            money: purchase.price.currency().map(money),
            checkout_url: purchase.checkout_url.clone(),
            created_at: purchase.created_at,
            expires_at: purchase.expires_at,
        }
    }
}

impl From<&Order> for Charge {
    fn from(order: &Order) -> Self {
        Self {
            payable: Payable::Order(order.id),
            user: order.user,
            state: order.state.into(),
            money: order.card(),
            checkout_url: order.checkout_url.clone(),
            created_at: order.created_at,
            expires_at: order.expires_at,
        }
    }
}
