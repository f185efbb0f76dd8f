//! The port to payment providers.

use crate::payments::{Payable, PaymentNotice};
use crate::platform::webhooks::SignatureFault;
use crate::store::BoxFuture;
use terrace_kernel::{Money, Timestamp};
use terrace_shop::{RefundId, RefundState};

/// What a buyer has to pay, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutOrder {
    /// What is paid for. Its id is also the provider's idempotency key: a repeated request returns the same checkout.
    pub payable: Payable,
    /// How often the provider answered with an error that it repeats ([`ProviderFault::Stored`]). Part of the
    /// idempotency key.
    pub attempt: u32,
    /// The money that is due.
    pub price: Money,
    /// What it is due for, in one line each; the amounts add up to the price.
    pub lines: Vec<CheckoutLine>,
    /// The origin under which the buyer's browser reaches the service.
    pub site: String,
    /// Where the buyer's browser goes afterwards, paid or not. A visit there proves nothing.
    pub return_url: String,
    /// The first instant at which a payment is too late.
    pub expires_at: Timestamp,
}

/// A line of a checkout page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutLine {
    /// What is bought, and how often.
    pub name: String,
    /// What is due for it at the provider, in minor units of the currency of the order.
    pub amount: i64,
}

impl CheckoutOrder {
    /// Description for the buyer, one line.
    pub fn description(&self) -> String {
        match self.lines.as_slice() {
            [] => "Order".to_owned(),
            [line] => line.name.clone(),
            [line, rest @ ..] => format!("{} and {} more", line.name, rest.len()),
        }
    }
}

/// A newly begun checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Where the buyer pays: an absolute URL.
    pub url: String,
    /// The provider's id of the checkout: 1 to 255 visible ASCII characters.
    pub reference: String,
}

/// A checkout that was begun before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunCheckout {
    /// What is paid for.
    pub payable: Payable,
    /// [`Checkout::reference`].
    pub reference: String,
    /// The money that is due.
    pub price: Money,
}

/// Money that goes back to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundOrder {
    /// The id of the refund, which is also the provider's idempotency key.
    pub id: RefundId,
    /// How often an operator had it requested again. Part of the idempotency key.
    pub attempt: u32,
    /// The checkout that was paid.
    pub checkout: BegunCheckout,
    /// What goes back: the price, or a part of it.
    pub money: Money,
    /// The provider's id of the refund, if it is known.
    pub reference: Option<String>,
    /// When this attempt was first requested without being refused. Providers forget idempotency keys after some time.
    pub asked_at: Timestamp,
    /// The time of this request.
    pub now: Timestamp,
}

/// A provider's answer to the request for a refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefundAnswer {
    /// The provider's id of the refund, if it has one.
    pub reference: Option<String>,
    /// How far it is at the provider.
    pub state: RefundState,
}

/// The state of a payment according to its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentState {
    /// It may still be paid.
    Open,
    /// It was paid.
    Paid(Money),
    /// It was not paid and can no longer be: declined, cancelled or expired.
    Ended,
    /// It was paid and fully refunded.
    Refunded(Money),
}

/// Why a request to a provider failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderFault {
    /// Temporary: unreachable, too slow or overloaded.
    #[error("not for the moment: {0}")]
    Passing(String),
    /// The provider failed, or knows the idempotency key from a request that differs. It answers the same to every request
    /// of this key: another key is needed.
    #[error("failed: {0}")]
    Stored(String),
    /// The buyer's bank disputes the payment: the provider has not made this refund, and makes none until the dispute is
    /// decided.
    #[error("the payment is disputed")]
    Disputed,
    /// Permanent: retrying does not help.
    #[error("refused: {0}")]
    Refused(String),
}

/// Why a message is not accepted as a provider's notice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoticeFault {
    /// It has no signature.
    #[error("the message is not signed")]
    Unsigned,
    /// Its signature is invalid.
    #[error(transparent)]
    Signature(#[from] SignatureFault),
    /// It is authentic, and the provider did not answer what it is about; the provider sends it again.
    #[error("the message cannot be looked up: {0}")]
    NotNow(String),
    /// It is authentic but cannot be parsed.
    #[error("the message cannot be read: {0}")]
    Malformed(String),
}

/// Looks up a header of a message by its lower-case name.
pub type Header<'h> = &'h dyn Fn(&str) -> Option<&'h str>;

/// A payment provider. Purchases record what is requested, and providers report what was paid. No call to a provider
/// happens within a transaction: each call has a time limit in its adapter, may fail, and is repeated by reconciliation
/// with the same idempotency key until it is answered. `terrace-outbound` has the adapter for Stripe.
pub trait PaymentProvider: Send + Sync + 'static {
    /// Stable name of the provider, 1 to 40 characters. Together with an event's id it is the key by which each
    /// notice counts once.
    fn name(&self) -> &'static str;

    /// Begins a checkout, or returns the one already begun for the same payable.
    fn begin(&self, order: CheckoutOrder) -> BoxFuture<'_, Result<Checkout, ProviderFault>>;

    /// Returns the state of a payment.
    fn look_up(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>>;

    /// Closes a checkout that is not paid, so that it can no longer be paid; returns the resulting state.
    fn close(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>>;

    /// Refunds a payment or a part of it, at most once for each attempt, and returns how far the refund is.
    fn refund(&self, refund: RefundOrder) -> BoxFuture<'_, Result<RefundAnswer, ProviderFault>>;

    /// Parses a message of the provider after verifying its signature; `None` if the message does not concern a
    /// payment. May ask the provider which payment it concerns.
    fn read_notice<'n>(
        &'n self,
        header: Header<'_>,
        body: &'n [u8],
        now: Timestamp,
    ) -> BoxFuture<'n, Result<Option<PaymentNotice>, NoticeFault>>;
}
