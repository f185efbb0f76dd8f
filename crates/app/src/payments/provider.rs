//! The port to payment providers.

use crate::payments::PaymentNotice;
use crate::platform::webhooks::SignatureFault;
use crate::store::BoxFuture;
use terrace_kernel::{Money, Timestamp};
use terrace_packs::PurchaseId;

/// What a buyer has to pay, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutOrder {
    /// The purchase. Also the provider's idempotency key: a repeated request returns the same checkout.
    pub purchase: PurchaseId,
    /// Total price of all copies.
    pub price: Money,
    /// Description for the buyer, one line.
    pub description: String,
    /// The origin under which the buyer's browser reaches the service.
    pub site: String,
    /// Where the buyer's browser goes afterwards, paid or not. A visit there proves nothing.
    pub return_url: String,
    /// Expiry of the purchase: the first instant at which a payment is too late.
    pub expires_at: Timestamp,
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
    pub purchase: PurchaseId,
    /// [`Checkout::reference`].
    pub reference: String,
    /// Total price of all copies.
    pub price: Money,
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
    /// It is authentic but cannot be parsed.
    #[error("the message cannot be read: {0}")]
    Malformed(String),
}

/// Looks up a header of a message by its lower-case name.
pub type Header<'h> = &'h dyn Fn(&str) -> Option<&'h str>;

/// A payment provider. Purchases record what is requested, and providers report what was paid. No call to a provider
/// happens within a transaction: each call has a time limit in its adapter, may fail, and is repeated by reconciliation
/// with the same idempotency key until it is answered.
///
/// # How a card provider maps to this trait
///
/// Using the published API of Stripe, with Checkout Sessions in the mode `payment`:
///
/// | Here | There |
/// |---|---|
/// | [`begin`](Self::begin) | `POST /v1/checkout/sessions` with `Idempotency-Key: <purchase>`; `client_reference_id` and `payment_intent_data[metadata][purchase]` are the purchase's id, so that charges contain it too; `line_items` of one `price_data` with `unit_amount` and the currency in lower case; `success_url` and `cancel_url` are [`CheckoutOrder::return_url`]; `expires_at` in seconds, which must lie 30 minutes ahead or more, so it is rounded up: a payment after [`CheckoutOrder::expires_at`] is refunded. `url` and `id` of the session are the [`Checkout`] |
/// | [`look_up`](Self::look_up) | `GET /v1/checkout/sessions/{id}` with `expand[]=payment_intent.latest_charge`: `status` `open`, or `complete` with `payment_status` `unpaid`, is [`PaymentState::Open`]; `complete` and `paid` is [`PaymentState::Paid`] with `amount_total` and `currency`, or [`PaymentState::Refunded`] if the charge is `refunded`; `expired` is [`PaymentState::Ended`] |
/// | [`close`](Self::close) | `POST /v1/checkout/sessions/{id}/expire`, which only open sessions accept; if it is refused, `look_up` returns the state |
/// | [`refund`](Self::refund) | `POST /v1/refunds` with the session's `payment_intent` and `Idempotency-Key: refund-<purchase>`; `charge_already_refunded` is a success |
/// | [`read_notice`](Self::read_notice) | The header `Stripe-Signature: t=…,v1=…` has the same form as ours (`HMAC-SHA256` over `<t>.<body>`, the endpoint's `whsec_…` as the secret, 300 seconds), so [`WebhookSecret::verify`](crate::platform::webhooks::WebhookSecret::verify) can check it; the event's `id` is [`PaymentNotice::event_id`] and `created` [`PaymentNotice::occurred_at`] |
/// | paid | `checkout.session.completed` with `payment_status` `paid`, `checkout.session.async_payment_succeeded`; a completed session that is `unpaid` is not a notice yet |
/// | failed | `checkout.session.async_payment_failed` |
/// | cancelled | `checkout.session.expired` |
/// | refunded | `charge.refunded` with `refunded: true`: `amount_refunded` is the amount, the purchase is in `metadata` |
///
/// All other events are acknowledged and ignored.
pub trait PaymentProvider: Send + Sync + 'static {
    /// Stable name of the provider, 1 to 40 characters. Together with an event's id it is the key by which each
    /// notice counts once.
    fn name(&self) -> &'static str;

    /// Begins a checkout, or returns the one already begun for the purchase.
    fn begin(&self, order: CheckoutOrder) -> BoxFuture<'_, Result<Checkout, ProviderFault>>;

    /// Returns the state of a payment.
    fn look_up(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>>;

    /// Closes a checkout that is not paid, so that it can no longer be paid; returns the resulting state.
    fn close(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>>;

    /// Refunds the whole payment, at most once.
    fn refund(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<(), ProviderFault>>;

    /// Parses a message of the provider after verifying its signature; `None` if the message does not concern a
    /// payment.
    fn read_notice(
        &self,
        header: Header<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<Option<PaymentNotice>, NoticeFault>;
}
