//! Whoever takes the money, as use cases see them.

use crate::payments::PaymentNotice;
use crate::platform::webhooks::SignatureFault;
use crate::store::BoxFuture;
use terrace_kernel::{Money, Timestamp};
use terrace_packs::PurchaseId;

/// What a buyer is to pay, and by when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutOrder {
    /// The purchase; the provider's idempotency key: asked again, it gives the checkout that it gave.
    pub purchase: PurchaseId,
    /// What all copies cost together.
    pub price: Money,
    /// What the buyer reads of it, one line.
    pub description: String,
    /// The origin under which the buyer's browser reaches the service.
    pub site: String,
    /// Where the buyer's browser goes afterwards, paid or not. It proves nothing.
    pub return_url: String,
    /// The first instant at which nobody waits for the payment any more.
    pub expires_at: Timestamp,
}

/// A checkout that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// Where the buyer pays: an absolute URL.
    pub url: String,
    /// The provider's own name for it: 1 to 255 visible ASCII characters.
    pub reference: String,
}

/// A checkout that was begun before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BegunCheckout {
    /// The purchase.
    pub purchase: PurchaseId,
    /// [`Checkout::reference`].
    pub reference: String,
    /// What all copies cost together.
    pub price: Money,
}

/// Where a payment stands, in its provider's own books.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentState {
    /// It may still be paid.
    Open,
    /// It was paid.
    Paid(Money),
    /// It was not paid and will not be: declined, given up, or out of time.
    Ended,
    /// It was paid, and all of it was given back.
    Refunded(Money),
}

/// Why a provider did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderFault {
    /// It may do it later: not reached, too slow, overloaded.
    #[error("not for the moment: {0}")]
    Passing(String),
    /// It will not do it, however often it is asked.
    #[error("refused: {0}")]
    Refused(String),
}

/// Why a message is not taken for a provider's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoticeFault {
    /// It carries no signature.
    #[error("the message is not signed")]
    Unsigned,
    /// Its signature is not right.
    #[error(transparent)]
    Signature(#[from] SignatureFault),
    /// It is the provider's, and cannot be read.
    #[error("the message cannot be read: {0}")]
    Malformed(String),
}

/// A value of the headers of a message, by their lower-case names.
pub type Header<'h> = &'h dyn Fn(&str) -> Option<&'h str>;

/// Whoever takes the money. Purchases hold what they want, providers say what was paid, and nothing that is asked of one
/// is asked within a transaction: each call is bounded in time by its adapter, may fail, and is repeated by
/// reconciliation with the same idempotency key until it is answered.
///
/// # How a card provider fits
///
/// By the published interface of Stripe, with Checkout Sessions in the mode `payment`:
///
/// | Here | There |
/// |---|---|
/// | [`begin`](Self::begin) | `POST /v1/checkout/sessions` with `Idempotency-Key: <purchase>`; `client_reference_id` and `payment_intent_data[metadata][purchase]` are the purchase, so that charges name it too; `line_items` of one `price_data` with `unit_amount` and the currency in lower case; `success_url` and `cancel_url` are [`CheckoutOrder::return_url`]; `expires_at` in seconds, which must lie 30 minutes ahead or more, so that it is rounded up: a payment that comes after [`CheckoutOrder::expires_at`] is given back. `url` and `id` of the session are the [`Checkout`] |
/// | [`look_up`](Self::look_up) | `GET /v1/checkout/sessions/{id}` with `expand[]=payment_intent.latest_charge`: `status` `open`, or `complete` with `payment_status` `unpaid`, is [`PaymentState::Open`]; `complete` and `paid` is [`PaymentState::Paid`] with `amount_total` and `currency`, or [`PaymentState::Refunded`] where the charge is `refunded`; `expired` is [`PaymentState::Ended`] |
/// | [`close`](Self::close) | `POST /v1/checkout/sessions/{id}/expire`, which only open sessions take; where it is refused, the state is what `look_up` says |
/// | [`refund`](Self::refund) | `POST /v1/refunds` with the session's `payment_intent` and `Idempotency-Key: refund-<purchase>`; `charge_already_refunded` is a success |
/// | [`read_notice`](Self::read_notice) | The header `Stripe-Signature: t=…,v1=…` is made as ours is (`HMAC-SHA256` over `<t>.<body>`, the endpoint's `whsec_…` as the secret, 300 seconds), so that [`WebhookSecret::verify`](crate::platform::webhooks::WebhookSecret::verify) checks it; the event's `id` is [`PaymentNotice::event_id`] and `created` [`PaymentNotice::occurred_at`] |
/// | paid | `checkout.session.completed` with `payment_status` `paid`, `checkout.session.async_payment_succeeded`; one that is completed and `unpaid` is no notice yet |
/// | failed | `checkout.session.async_payment_failed` |
/// | cancelled | `checkout.session.expired` |
/// | refunded | `charge.refunded` with `refunded: true`: `amount_refunded` is the amount, the purchase stands in `metadata` |
///
/// Any other event is no notice, and is acknowledged all the same.
pub trait PaymentProvider: Send + Sync + 'static {
    /// Its stable name: with the id of an event it is the key by which each notice counts once. 1 to 40 characters.
    fn name(&self) -> &'static str;

    /// Begins a checkout, or says again which one it began for the purchase.
    fn begin(&self, order: CheckoutOrder) -> BoxFuture<'_, Result<Checkout, ProviderFault>>;

    /// Where a payment stands.
    fn look_up(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>>;

    /// Sees to it that it cannot be paid any more, where it was not, and says where it stands then.
    fn close(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>>;

    /// Gives all of it back, once, however often it is asked.
    fn refund(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<(), ProviderFault>>;

    /// Reads a message of the provider's, whose signature is checked before anything else is looked at; nothing for one
    /// that tells nothing of a payment.
    fn read_notice(
        &self,
        header: Header<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<PaymentNotice>, NoticeFault>;
}
