//! Store operations of payments. Each call is one round trip to the database.

mod charge;
mod notice;
mod sandbox;

pub use charge::{Charge, ChargeState, Payable};
pub use notice::{Dispute, DisputeState, NoticeDetail, NoticeKind, NoticeOutcome, PaymentNotice};
pub use sandbox::{SandboxCheckout, SandboxState, SandboxWrite};
pub use terrace_shop::RefundState;

use terrace_kernel::{Currency, Money, StoreError, Timestamp, Uuid};
use terrace_shop::{OrderState, PaidBy, RefundId};

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
    /// When this attempt was first requested; `None` before, and when the provider answered that it was not made because
    /// of a dispute.
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
