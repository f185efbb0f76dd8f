//! What payments need from a store. One call is one round trip to the database.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Money, StoreError, Timestamp, UnknownName};
use terrace_packs::{Purchase, PurchaseId};

/// What happened to a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoticeKind {
    /// It was paid.
    Paid,
    /// It was tried, and came to nothing.
    Failed,
    /// It was given up, or out of time.
    Cancelled,
    /// All of it was given back.
    Refunded,
}

impl NoticeKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Paid, Self::Failed, Self::Cancelled, Self::Refunded];

    /// The stable name, as tables and messages hold it.
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

/// What a provider tells of a payment, in nobody's own words. It may come more than once, late, and in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentNotice {
    /// The provider's name for the event: 1 to 255 visible ASCII characters; the same for one that is told again.
    pub event_id: String,
    /// The purchase that it says it is about.
    pub purchase: PurchaseId,
    /// What happened.
    pub kind: NoticeKind,
    /// How much was, or would have been, moved.
    pub money: Money,
    /// The provider's name for the checkout: 1 to 255 visible ASCII characters.
    pub reference: String,
    /// When it happened there.
    pub occurred_at: Timestamp,
}

impl PaymentNotice {
    /// Whether two tell the same, whenever they were told.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |notice: &Self| (notice.purchase, notice.kind, notice.money);
        said(self) == said(other) && self.reference == other.reference
    }
}

/// What came of a notice, as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeOutcome {
    /// It changed something.
    Applied,
    /// It told nothing new.
    Nothing,
    /// It does not fit what it names; nothing was moved.
    Mismatch,
}

impl NoticeOutcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Applied, Self::Nothing, Self::Mismatch];

    /// The stable name, as tables hold it.
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

/// Where a checkout of the sandbox stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxState {
    /// The buyer has not decided.
    Open,
    /// The buyer has paid.
    Approved,
    /// The buyer does not want to.
    Declined,
    /// It cannot be paid any more.
    Closed,
    /// The buyer has the money back.
    Refunded,
}

impl SandboxState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Open, Self::Approved, Self::Declined, Self::Closed, Self::Refunded];

    /// The stable name, as tables hold it.
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

/// A checkout of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxCheckout {
    /// The purchase.
    pub purchase: PurchaseId,
    /// What is to be paid.
    pub price: Money,
    /// What the buyer reads of it.
    pub description: String,
    /// The first instant at which it cannot be paid any more.
    pub expires_at: Timestamp,
    /// Where it stands.
    pub state: SandboxState,
    /// When it last went from one state to another.
    pub changed_at: Timestamp,
}

/// Where the giving back of money stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundState {
    /// The provider is to be asked, until it has.
    Owed,
    /// The provider has given it back.
    Given,
}

impl RefundState {
    /// The stable name, as tables hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owed => "owed",
            Self::Given => "given",
        }
    }
}

impl FromStr for RefundState {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = [Self::Owed, Self::Given].into_iter().find(|state| state.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// What stands between a purchase for money and whoever takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// The purchase.
    pub purchase: PurchaseId,
    /// Who takes the money, by their name.
    pub provider: String,
    /// The provider's name for the checkout, once it was begun.
    pub reference: Option<String>,
    /// Whether the money is given back.
    pub refund: Option<RefundState>,
    /// When it is looked at again; nothing where nothing is open any more.
    pub due_at: Option<Timestamp>,
    /// How often it was looked at since it last changed.
    pub attempts: u32,
}

/// Reads payments.
pub trait PaymentRead {
    /// What stands between a purchase and whoever takes its money; nothing where it costs none.
    fn payment(&mut self, purchase: PurchaseId) -> Result<Option<Payment>, StoreError>;

    /// A purchase, whoever's.
    fn any_purchase(&mut self, id: PurchaseId) -> Result<Option<Purchase>, StoreError>;

    /// Up to `limit` of what is to be looked at by then, behind the place of another, the longest due first.
    fn due_payments(
        &mut self,
        by: Timestamp,
        limit: u32,
        after: Option<(Timestamp, PurchaseId)>,
    ) -> Result<Vec<(Purchase, Payment)>, StoreError>;

    /// A notice that was told before, and what came of it.
    fn notice(
        &mut self,
        provider: &str,
        event_id: &str,
    ) -> Result<Option<(PaymentNotice, NoticeOutcome)>, StoreError>;
}

/// Writes payments. Whoever writes what stands of one holds its purchase locked.
pub trait PaymentWrite: PaymentRead {
    /// Writes what stands between a new purchase and whoever takes its money.
    fn insert_payment(&mut self, payment: &Payment) -> Result<(), StoreError>;

    /// Writes it over what stood there.
    fn put_payment(&mut self, payment: &Payment) -> Result<(), StoreError>;

    /// Notes where a purchase is paid, unless that is known or it waits for nothing any more; says whether it took.
    fn set_checkout(&mut self, purchase: PurchaseId, url: &str) -> Result<bool, StoreError>;

    /// Notes what a provider told and what comes of it; `false` where the event was told before.
    fn insert_notice(
        &mut self,
        provider: &str,
        notice: &PaymentNotice,
        outcome: NoticeOutcome,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// What the sandbox keeps: no use case looks at it but the sandbox's own.
pub trait SandboxWrite {
    /// Writes a checkout, unless there is one for its purchase; says whether it took.
    fn insert_sandbox(&mut self, checkout: &SandboxCheckout) -> Result<bool, StoreError>;

    /// The checkout of a purchase.
    fn sandbox_checkout(&mut self, purchase: PurchaseId) -> Result<Option<SandboxCheckout>, StoreError>;

    /// Changes the state of a checkout; `false` where another one stands.
    fn move_sandbox(
        &mut self,
        purchase: PurchaseId,
        from: SandboxState,
        to: SandboxState,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}
