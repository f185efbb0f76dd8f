//! What payments need from a store. One call is one round trip to the database.

use crate::payments::{NoticeOutcome, PaymentNotice, SandboxCheckout, SandboxState};
use std::str::FromStr;
use terrace_kernel::{StoreError, Timestamp, UnknownName};
use terrace_packs::{Purchase, PurchaseId};

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
