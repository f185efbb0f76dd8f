//! Store operations of payments. Each call is one round trip to the database.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Currency, Money, StoreError, Timestamp, UnknownName, UserId, Uuid};
use terrace_packs::{Purchase, PurchaseId, PurchaseState};
pub use terrace_shop::RefundState;
use terrace_shop::{Order, OrderId, OrderState, PaidBy, RefundId};

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

/// Kind of change that a provider reports for a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoticeKind {
    /// The payment succeeded.
    Paid,
    /// A payment attempt failed.
    Failed,
    /// The checkout was cancelled or expired.
    Cancelled,
    /// The full amount was refunded.
    Refunded,
    /// A refund that this service requested was made.
    RefundGiven,
    /// A refund that this service requested was not made, or came back.
    RefundFailed,
    /// The buyer's bank disputes the payment.
    Disputed,
    /// The dispute was decided for the service, or withdrawn.
    DisputeWon,
    /// The dispute was decided for the buyer, who has the money back.
    DisputeLost,
}

impl NoticeKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Paid,
        Self::Failed,
        Self::Cancelled,
        Self::Refunded,
        Self::RefundGiven,
        Self::RefundFailed,
        Self::Disputed,
        Self::DisputeWon,
        Self::DisputeLost,
    ];

    /// The stable name, as stored in tables and sent in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
            Self::RefundGiven => "refund_given",
            Self::RefundFailed => "refund_failed",
            Self::Disputed => "disputed",
            Self::DisputeWon => "dispute_won",
            Self::DisputeLost => "dispute_lost",
        }
    }

    /// The state of a dispute that this kind reports.
    pub const fn dispute(self) -> Option<DisputeState> {
        match self {
            Self::Disputed => Some(DisputeState::Open),
            Self::DisputeWon => Some(DisputeState::Won),
            Self::DisputeLost => Some(DisputeState::Lost),
            Self::Paid
            | Self::Failed
            | Self::Cancelled
            | Self::Refunded
            | Self::RefundGiven
            | Self::RefundFailed => None,
        }
    }
}

impl fmt::Display for NoticeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for NoticeKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// What a notice is about, beside the payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeDetail {
    /// A refund that this service requested.
    Refund {
        /// [`Refund::id`].
        id: RefundId,
        /// [`Refund::attempt`].
        attempt: u32,
    },
    /// A dispute, by the id that the provider assigned to it.
    Dispute(String),
}

/// As stored: `refund:<id>:<attempt>` or `dispute:<id>`.
impl fmt::Display for NoticeDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refund { id, attempt } => write!(f, "refund:{id}:{attempt}"),
            Self::Dispute(id) => write!(f, "dispute:{id}"),
        }
    }
}

impl FromStr for NoticeDetail {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let refund = |rest: &str| {
            let (id, attempt) = rest.split_once(':')?;
            Some(Self::Refund { id: id.parse().ok()?, attempt: attempt.parse().ok()? })
        };
        let read = match text.split_once(':') {
            Some(("refund", rest)) => refund(rest),
            Some(("dispute", id)) => Some(Self::Dispute(id.to_owned())),
            _ => None,
        };
        read.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// How far a dispute is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisputeState {
    /// Not decided yet.
    Open,
    /// Decided for the service, or withdrawn.
    Won,
    /// Decided for the buyer, whom the provider has paid.
    Lost,
}

impl DisputeState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Open, Self::Won, Self::Lost];

    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Won => "won",
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for DisputeState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DisputeState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A dispute of a payment by the buyer's bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispute {
    /// Name of the provider.
    pub provider: String,
    /// Id that the provider assigned to it.
    pub reference: String,
    /// What was paid for.
    pub payable: Payable,
    /// How far it is.
    pub state: DisputeState,
    /// The disputed money.
    pub money: Money,
    /// When this service first knew of it.
    pub opened_at: Timestamp,
    /// When its state last changed here.
    pub changed_at: Timestamp,
}

/// A provider's report about a payment, in a form common to all providers. It may arrive more than once, late, and in
/// any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentNotice {
    /// Id that the provider assigns to the event: 1 to 255 visible ASCII characters; a redelivery carries the same
    /// id.
    pub event_id: String,
    /// What the payment is for.
    pub payable: Payable,
    /// Kind of change.
    pub kind: NoticeKind,
    /// Amount that was, or would have been, moved.
    pub money: Money,
    /// Id that the provider assigns to the checkout: 1 to 255 visible ASCII characters.
    pub reference: String,
    /// Time of the event at the provider.
    pub occurred_at: Timestamp,
    /// The refund or the dispute, if it is about one.
    pub detail: Option<NoticeDetail>,
}

impl PaymentNotice {
    /// Returns whether both notices have the same content, ignoring event id and time.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |notice: &Self| (notice.payable, notice.kind, notice.money);
        said(self) == said(other) && self.reference == other.reference && self.detail == other.detail
    }
}

/// Result of processing a notice, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOutcome {
    /// The notice changed the state of the payment.
    Applied,
    /// The notice carried no new information.
    Nothing,
    /// The notice contradicts what it names; nothing was changed.
    Mismatch,
}

impl NoticeOutcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Applied, Self::Nothing, Self::Mismatch];

    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Nothing => "nothing",
            Self::Mismatch => "mismatch",
        }
    }
}

impl FromStr for NoticeOutcome {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|outcome| outcome.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// State of a sandbox checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxState {
    /// The buyer has not decided yet.
    Open,
    /// The buyer has paid.
    Approved,
    /// The buyer has declined.
    Declined,
    /// It can no longer be paid.
    Closed,
    /// The buyer has been refunded.
    Refunded,
}

impl SandboxState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Open, Self::Approved, Self::Declined, Self::Closed, Self::Refunded];

    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Closed => "closed",
            Self::Refunded => "refunded",
        }
    }
}

impl fmt::Display for SandboxState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SandboxState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// A checkout of the sandbox provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxCheckout {
    /// What is to be paid.
    pub payable: Payable,
    /// Amount to be paid.
    pub price: Money,
    /// Description shown to the buyer.
    pub description: String,
    /// First instant at which it can no longer be paid.
    pub expires_at: Timestamp,
    /// Current state.
    pub state: SandboxState,
    /// Time of the last state change.
    pub changed_at: Timestamp,
}

/// A refund of something that is paid for: what goes back in each kind. Only the card's part is requested from the provider;
/// the others are returned in the transaction that decides on the refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    /// Id of the refund. That of a purchase, which is refunded once and as a whole, is the id of the purchase.
    pub id: RefundId,
    /// What was paid for.
    pub payable: Payable,
    /// What goes back.
    pub parts: PaidBy,
    /// The currency of the money.
    pub currency: Option<Currency>,
    /// Whether the price of the shipping is part of it.
    pub with_shipping: bool,
    /// How far it is.
    pub state: RefundState,
    /// Id that the provider assigned to it, or to the lost dispute with which the buyer's bank has returned the money.
    pub reference: Option<String>,
    /// How often an operator had it requested again.
    pub attempt: u32,
    /// When this attempt was first requested; `None` before.
    pub asked_at: Option<Timestamp>,
    /// Time of the next request; `None` unless it is owed.
    pub due_at: Option<Timestamp>,
    /// Number of requests since the last change.
    pub tries: u32,
    /// When it was decided on.
    pub created_at: Timestamp,
}

impl Refund {
    /// A new refund. What needs no card is given at once.
    pub fn new(id: RefundId, payable: Payable, parts: PaidBy, state: RefundState, now: Timestamp) -> Self {
        let state = if parts.card == 0 { RefundState::Given } else { state };
        Self {
            id,
            payable,
            parts,
            currency: None,
            with_shipping: false,
            state,
            reference: None,
            attempt: 0,
            asked_at: None,
            due_at: (state == RefundState::Owed).then_some(now),
            tries: 0,
            created_at: now,
        }
    }

    /// The part that goes back to the card.
    pub fn card(&self) -> Option<Money> {
        let currency = self.currency.filter(|_| self.parts.card > 0)?;
        Some(Money { amount: self.parts.card, currency })
    }

    /// In another state; what is owed is requested at `due_at`.
    #[must_use]
    pub fn moved(self, state: RefundState, due_at: Option<Timestamp>) -> Self {
        Self { state, due_at: due_at.filter(|_| state == RefundState::Owed), tries: 0, ..self }
    }
}

/// A payment: its state at the provider that takes the money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// What is paid for.
    pub payable: Payable,
    /// Name of the provider.
    pub provider: String,
    /// Id that the provider assigned to the checkout; `None` until the checkout was started.
    pub reference: Option<String>,
    /// How often the provider answered the request for a checkout with an error that it repeats.
    pub checkout_attempt: u32,
    /// Time of the next processing attempt; `None` once it is settled.
    pub due_at: Option<Timestamp>,
    /// Number of processing attempts since the last change.
    pub attempts: u32,
}

/// How many orders, refunds and disputes there are, for the metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaymentFigures {
    /// Orders by state; states without an order are left out.
    pub orders: Vec<(OrderState, u64)>,
    /// What pending orders hold of balances. The card's part is 0.
    pub held: PaidBy,
    /// Refunds that the provider has not confirmed.
    pub owed: u64,
    /// When the oldest of them was decided on.
    pub oldest_owed: Option<Timestamp>,
    /// Refunds that failed.
    pub failed: u64,
    /// Disputes that are not decided.
    pub disputes: u64,
}

/// Counts payments.
pub trait PaymentCount {
    /// Counts all of them. Four round trips; reads every order.
    fn payment_figures(&mut self) -> Result<PaymentFigures, StoreError>;
}

pub trait PaymentRead {
    /// Returns a payment; `None` for what costs no money.
    fn payment(&mut self, payable: Payable) -> Result<Option<Payment>, StoreError>;

    /// Returns what payments know of something that is paid for, regardless of its owner and without a lock.
    fn charge(&mut self, payable: Payable) -> Result<Option<Charge>, StoreError>;

    /// Returns up to `limit` payments that are due at or before `by`, after the given key, in order of due time and id.
    fn due_payments(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, Uuid)>,
    ) -> Result<Vec<(Charge, Payment)>, StoreError>;

    /// The refunds of what these pay for, those of one in the order in which they were decided on.
    fn refunds(&mut self, of: &[Payable]) -> Result<Vec<Refund>, StoreError>;

    /// A refund by its id, without a lock.
    fn refund(&mut self, id: RefundId) -> Result<Option<Refund>, StoreError>;

    /// Returns up to `limit` refunds that are due at or before `by`, after the given key, in order of due time and id.
    fn due_refunds(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, Uuid)>,
    ) -> Result<Vec<Refund>, StoreError>;

    /// The disputes of what these pay for, the oldest first.
    fn disputes(&mut self, of: &[Payable]) -> Result<Vec<Dispute>, StoreError>;

    /// The disputes that are not decided, the oldest first.
    fn open_disputes(&mut self, limit: u32) -> Result<Vec<Dispute>, StoreError>;

    /// Returns a notice that was received before, with the result of its processing.
    fn notice(
        &mut self,
        provider: &str,
        event_id: &str,
    ) -> Result<Option<(PaymentNotice, NoticeOutcome)>, StoreError>;
}

/// Writes payments. The caller holds the lock on what is paid for.
pub trait PaymentWrite: PaymentRead {
    /// Inserts the payment of something new.
    fn insert_payment(&mut self, payment: &Payment) -> Result<(), StoreError>;

    /// Overwrites a payment.
    fn put_payment(&mut self, payment: &Payment) -> Result<(), StoreError>;

    /// Inserts a refund.
    fn insert_refund(&mut self, refund: &Refund) -> Result<(), StoreError>;

    /// Overwrites the state of a refund.
    fn put_refund(&mut self, refund: &Refund) -> Result<(), StoreError>;

    /// Inserts a dispute, or overwrites its state.
    fn put_dispute(&mut self, dispute: &Dispute) -> Result<(), StoreError>;

    /// Sets the checkout URL of something that is pending and has none; returns whether it was set.
    fn set_checkout(&mut self, payable: Payable, url: &str) -> Result<bool, StoreError>;

    /// Stores a notice and its outcome; returns `false` if the event was stored before.
    fn insert_notice(
        &mut self,
        provider: &str,
        notice: &PaymentNotice,
        outcome: NoticeOutcome,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Storage of the sandbox provider. Only the use cases of the sandbox access it.
pub trait SandboxWrite {
    /// Inserts a checkout unless there is one for the same payable; returns whether it was inserted.
    fn insert_sandbox(&mut self, checkout: &SandboxCheckout) -> Result<bool, StoreError>;

    /// Returns the checkout of the payable with this id.
    fn sandbox_checkout(&mut self, payable: Uuid) -> Result<Option<SandboxCheckout>, StoreError>;

    /// Changes the state of a checkout from `from` to `to`; returns `false` if its state is not `from`.
    fn move_sandbox(
        &mut self,
        payable: Uuid,
        from: SandboxState,
        to: SandboxState,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
