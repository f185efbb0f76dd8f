//! Store operations of payments. Each call is one round trip to the database.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Money, StoreError, Timestamp, UnknownName};
use terrace_packs::{Purchase, PurchaseId};

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
}

impl NoticeKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Paid, Self::Failed, Self::Cancelled, Self::Refunded];

    /// The stable name, as stored in tables and sent in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
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

/// A provider's report about a payment, in a form common to all providers. It may arrive more than once, late, and in
/// any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentNotice {
    /// Id that the provider assigns to the event: 1 to 255 visible ASCII characters; a redelivery carries the same
    /// id.
    pub event_id: String,
    /// Purchase that the notice refers to.
    pub purchase: PurchaseId,
    /// Kind of change.
    pub kind: NoticeKind,
    /// Amount that was, or would have been, moved.
    pub money: Money,
    /// Id that the provider assigns to the checkout: 1 to 255 visible ASCII characters.
    pub reference: String,
    /// Time of the event at the provider.
    pub occurred_at: Timestamp,
}

impl PaymentNotice {
    /// Returns whether both notices have the same content, ignoring event id and time.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |notice: &Self| (notice.purchase, notice.kind, notice.money);
        said(self) == said(other) && self.reference == other.reference
    }
}

/// Result of processing a notice, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOutcome {
    /// The notice changed the state of the payment.
    Applied,
    /// The notice carried no new information.
    Nothing,
    /// The notice contradicts the purchase that it names; nothing was changed.
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
    /// Purchase that is to be paid.
    pub purchase: PurchaseId,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundState {
    /// Requested from the provider, with retries, until the provider confirms it.
    Owed,
    /// Confirmed by the provider.
    Refunded,
}

impl RefundState {
    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Refunded => "given",
        }
    }
}

impl FromStr for RefundState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = [Self::Owed, Self::Refunded].into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The payment of a purchase: its state at the provider that takes the money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// Purchase that is paid for.
    pub purchase: PurchaseId,
    /// Name of the provider.
    pub provider: String,
    /// Id that the provider assigned to the checkout; `None` until the checkout was started.
    pub reference: Option<String>,
    /// State of the refund; `None` if the money is not refunded.
    pub refund: Option<RefundState>,
    /// Time of the next processing attempt; `None` once nothing is open.
    pub due_at: Option<Timestamp>,
    /// Number of processing attempts since the last change.
    pub attempts: u32,
}

pub trait PaymentRead {
    /// Returns the payment of a purchase; `None` for a purchase that costs no money.
    fn payment(&mut self, purchase: PurchaseId) -> Result<Option<Payment>, StoreError>;

    /// Returns a purchase, regardless of its owner.
    fn any_purchase(&mut self, id: PurchaseId) -> Result<Option<Purchase>, StoreError>;

    /// Returns up to `limit` payments that are due at or before `by`, after the given key, in order of due time.
    fn due_payments(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, PurchaseId)>,
    ) -> Result<Vec<(Purchase, Payment)>, StoreError>;

    /// Returns a notice that was received before, with the result of its processing.
    fn notice(
        &mut self,
        provider: &str,
        event_id: &str,
    ) -> Result<Option<(PaymentNotice, NoticeOutcome)>, StoreError>;
}

/// Writes payments. The caller holds the lock on the purchase.
pub trait PaymentWrite: PaymentRead {
    /// Inserts the payment of a new purchase.
    fn insert_payment(&mut self, payment: &Payment) -> Result<(), StoreError>;

    /// Overwrites the payment of a purchase.
    fn put_payment(&mut self, payment: &Payment) -> Result<(), StoreError>;

    /// Sets the checkout URL of a purchase if it is pending and has none; returns whether it was set.
    fn set_checkout(&mut self, purchase: PurchaseId, url: &str) -> Result<bool, StoreError>;

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
    /// Inserts a checkout unless its purchase already has one; returns whether it was inserted.
    fn insert_sandbox(&mut self, checkout: &SandboxCheckout) -> Result<bool, StoreError>;

    /// Returns the checkout of a purchase.
    fn sandbox_checkout(&mut self, purchase: PurchaseId) -> Result<Option<SandboxCheckout>, StoreError>;

    /// Changes the state of a checkout from `from` to `to`; returns `false` if its state is not `from`.
    fn move_sandbox(
        &mut self,
        purchase: PurchaseId,
        from: SandboxState,
        to: SandboxState,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
