//! Stripe as the payment provider: Checkout Sessions in the mode `payment`, for cards.
//!
//! A request that changes something carries an idempotency key, so that it can be repeated until it is answered. Stripe
//! answers a key with its first answer for 24 hours, also if that was an error of its own, and refuses it for a request that
//! differs: a checkout gets another key then, and a refund is looked up once its key may be forgotten.
//! `docs/operations/payments.md` says what maps to what.

mod amount;
mod notices;
mod wire;

use crate::{Answer, CallFault, Caller, Endpoint};
use amount::to_stripe;
use notices::{Event, News};
use serde::de::DeserializeOwned;
use std::fmt;
use std::time::Duration;
use terrace_app::payments::{
    BegunCheckout, Checkout, CheckoutOrder, Header, NoticeFault, PaymentNotice, PaymentProvider,
    PaymentState, ProviderFault, RefundAnswer, RefundOrder, RefundState,
};
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_app::store::BoxFuture;
use terrace_kernel::Timestamp;
use wire::{ErrorBody, Form, List, Ref, RefundObject, Session, client_reference};
use zeroize::Zeroize;

/// The version of Stripe's API that this adapter speaks.
const VERSION: &str = "2025-03-31.basil";
/// The header with the signature of an event.
const SIGNATURE: &str = "stripe-signature";
/// Stripe expires no checkout earlier than 30 minutes ahead. A checkout ends so long after its order, which closes it, so
/// that a repeated request for it is the same whenever it is made.
const AHEAD: Duration = Duration::from_mins(31);
/// Stripe may forget an idempotency key after 24 hours.
const KEY_LIFE: Duration = Duration::from_hours(23);
/// The longest name of a line.
const LONGEST_NAME: usize = 250;

/// Stripe's secret API key. Not shown by `Debug`.
#[derive(Clone)]
pub struct StripeKey(String);

/// The text is no secret key of Stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key of Stripe begins with sk_live_, sk_test_, rk_live_ or rk_test_")]
pub struct MalformedStripeKey;

impl StripeKey {
    /// Validates a key; surrounding whitespace is ignored.
    pub fn new(text: &str) -> Result<Self, MalformedStripeKey> {
        let text = text.trim();
        let is_key =
            ["sk_live_", "sk_test_", "rk_live_", "rk_test_"].iter().any(|kind| text.starts_with(kind));
        let is_key = is_key && text.len() <= 255 && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_key { Ok(Self(text.to_owned())) } else { Err(MalformedStripeKey) }
    }

    /// Whether it moves money.
    pub fn is_live(&self) -> bool {
        self.0.starts_with("sk_live_") || self.0.starts_with("rk_live_")
    }
}

impl Drop for StripeKey {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for StripeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StripeKey(…)")
    }
}

/// The Stripe adapter.
#[derive(Debug, Clone)]
pub struct Stripe {
    caller: Caller,
    api: Endpoint,
    key: StripeKey,
    webhook: WebhookSecret,
}

/// The id of an object, in a path.
fn segment(id: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    id.chars().filter(is_plain).collect()
}

impl Stripe {
    /// Name of the provider.
    pub const NAME: &'static str = "stripe";
    /// Where Stripe's API is.
    pub const API: &'static str = "https://api.stripe.com";

    /// An adapter whose calls to the API at this origin end after `patience`. Events are signed with the secret of the
    /// webhook endpoint, `whsec_…`.
    pub fn new(api: Endpoint, key: StripeKey, webhook: WebhookSecret, patience: Duration) -> Self {
        Self { caller: Caller::new(patience), api, key, webhook }
    }

    /// Whether it moves money.
    pub fn is_live(&self) -> bool {
        self.key.is_live()
    }

    async fn send<T: DeserializeOwned>(
        &self,
        path: &str,
        form: Option<Form>,
        key: Option<String>,
    ) -> Result<T, Failure> {
        let base = self.api.to_string();
        let to: Endpoint = format!("{}{path}", base.trim_end_matches('/')).parse().map_err(|_| {
            Failure::Fault(ProviderFault::Refused("the address of the API is malformed".to_owned()))
        })?;
        let mut headers =
            vec![("authorization", format!("Bearer {}", self.key.0)), ("stripe-version", VERSION.to_owned())];
        headers.extend(key.map(|key| ("idempotency-key", key)));
        let answer = self.caller.call(to, headers, form.map(Form::encoded)).await;
        read(answer)
    }

    async fn session(&self, reference: &str) -> Result<Session, ProviderFault> {
        let path =
            format!("/v1/checkout/sessions/{}?expand%5B%5D=payment_intent.latest_charge", segment(reference));
        self.send(&path, None, None).await.map_err(Failure::for_now)
    }

    async fn begin_session(&self, order: CheckoutOrder) -> Result<Checkout, ProviderFault> {
        let Some(due) = to_stripe(order.price) else {
            return Err(ProviderFault::Refused(format!("Stripe takes no amount of {:?}", order.price)));
        };
        let key = format!("checkout:{}:{}", order.payable.id().hyphenated(), order.attempt);
        let form = session_form(&order, &due.currency)
            .ok_or_else(|| ProviderFault::Refused("Stripe takes no amount of a line".to_owned()))?;
        let session: Session =
            self.send("/v1/checkout/sessions", Some(form), Some(key)).await.map_err(Failure::into_fault)?;
        let fits = session.amount_total == Some(due.amount)
            && session.currency.as_deref() == Some(&due.currency)
            && session.livemode == self.key.is_live()
            && session.payable() == Some(order.payable);
        if let Some(url) = session.url.filter(|_| fits) {
            return Ok(Checkout { url, reference: session.id });
        }
        let path = format!("/v1/checkout/sessions/{}/expire", segment(&session.id));
        let closed = self.send::<Session>(&path, Some(Form::default()), None).await;
        if let Err(failure) = closed {
            log::warn!("a checkout of another amount was not closed: {}", failure.for_now());
        }
        Err(ProviderFault::Refused("the checkout is not the one that was asked for".to_owned()))
    }

    async fn close_session(&self, reference: &str) -> Result<PaymentState, ProviderFault> {
        let path = format!("/v1/checkout/sessions/{}/expire", segment(reference));
        match self.send::<Session>(&path, Some(Form::default()), None).await {
            Ok(session) => session.state(),
            // Only an open session can be closed.
            Err(Failure::Fault(ProviderFault::Refused(_)) | Failure::Coded(..)) => {
                self.session(reference).await?.state()
            }
            Err(failure) => Err(failure.for_now()),
        }
    }

    async fn refund_payment(&self, order: RefundOrder) -> Result<RefundAnswer, ProviderFault> {
        if let Some(reference) = &order.reference {
            let path = format!("/v1/refunds/{}", segment(reference));
            let found: RefundObject = self.send(&path, None, None).await.map_err(Failure::for_now)?;
            return Ok(answer(found));
        }
        let session = self.session(&order.checkout.reference).await?;
        let intent = session.payment_intent.as_ref().map(Ref::id);
        let intent = intent.ok_or_else(|| ProviderFault::Refused("nothing was paid".to_owned()))?;
        let key_is_old = order.asked_at.plus(KEY_LIFE).is_over(order.now);
        if key_is_old && let Some(found) = self.find_refund(intent, &order).await? {
            return Ok(answer(found));
        }
        let due = to_stripe(order.money);
        let due = due.ok_or_else(|| ProviderFault::Refused("Stripe returns no such amount".to_owned()))?;
        let form = Form::default()
            .with("payment_intent", intent)
            .with("amount", due.amount.to_string())
            .with("metadata[refund]", order.id.to_string())
            .with("metadata[attempt]", order.attempt.to_string());
        let key = match order.attempt {
            0 => format!("refund:{}", order.id),
            attempt => format!("refund:{}:{attempt}", order.id),
        };
        match self.send::<RefundObject>("/v1/refunds", Some(form), Some(key)).await {
            Ok(made) => Ok(answer(made)),
            Err(Failure::Coded(code, _)) if code == "charge_already_refunded" => {
                Ok(RefundAnswer { reference: None, state: RefundState::Given })
            }
            Err(Failure::Coded(code, _)) if code == "charge_disputed" => Err(ProviderFault::Disputed),
            Err(failure) => Err(failure.for_now()),
        }
    }

    async fn find_refund(
        &self,
        intent: &str,
        order: &RefundOrder,
    ) -> Result<Option<RefundObject>, ProviderFault> {
        let path = format!("/v1/refunds?limit=100&payment_intent={}", segment(intent));
        let found: List<RefundObject> = self.send(&path, None, None).await.map_err(Failure::for_now)?;
        let own = Some((order.id.as_uuid(), order.attempt));
        Ok(found.data.into_iter().find(|refund| refund.own() == own))
    }

    async fn resolve(&self, event: Event) -> Result<Option<PaymentNotice>, NoticeFault> {
        if event.livemode != self.key.is_live() {
            return Ok(None);
        }
        match event.news()? {
            None => Ok(None),
            Some(News::OfSession(kind, session)) => {
                if session.payable().is_none() {
                    return Ok(None);
                }
                let money = session.money();
                let money = money.ok_or_else(|| NoticeFault::Malformed("it has no amount".to_owned()))?;
                Ok(event.notice(&session, kind, money, None))
            }
            Some(News::OfIntent { intent, kind, money, detail }) => {
                let path = format!("/v1/checkout/sessions?limit=1&payment_intent={}", segment(&intent));
                let found = self.send::<List<Session>>(&path, None, None).await;
                let found = found.map_err(|failure| NoticeFault::NotNow(failure.for_now().to_string()))?;
                Ok(found.data.first().and_then(|session| event.notice(session, kind, money, detail)))
            }
        }
    }
}

fn answer(refund: RefundObject) -> RefundAnswer {
    RefundAnswer { state: refund.state(), reference: Some(refund.id) }
}

/// The request for a checkout; `None` if Stripe has no such amount. It depends on the order only, so that a repeated request
/// is the same.
fn session_form(order: &CheckoutOrder, currency: &str) -> Option<Form> {
    let reference = client_reference(order.payable);
    let expires_at = order.expires_at.plus(AHEAD).as_micros().div_euclid(1_000_000);
    let mut form = Form::default()
        .with("mode", "payment")
        .with("client_reference_id", &reference)
        .with("metadata[payable]", &reference)
        .with("payment_intent_data[metadata][payable]", &reference)
        .with("payment_method_types[0]", "card")
        .with("adaptive_pricing[enabled]", "false")
        .with("allow_promotion_codes", "false")
        .with("expires_at", expires_at.to_string())
        .with("success_url", &order.return_url)
        .with("cancel_url", &order.return_url);
    for (nth, line) in order.lines.iter().enumerate() {
        let due = to_stripe(terrace_kernel::Money { amount: line.amount, ..order.price })?;
        let name: String = line.name.chars().take(LONGEST_NAME).collect();
        form = form
            .with(&format!("line_items[{nth}][quantity]"), "1")
            .with(&format!("line_items[{nth}][price_data][currency]"), currency)
            .with(&format!("line_items[{nth}][price_data][unit_amount]"), due.amount.to_string())
            .with(&format!("line_items[{nth}][price_data][product_data][name]"), name);
    }
    Some(form)
}

/// Why a request was not answered as it should be.
enum Failure {
    Fault(ProviderFault),
    /// Refused with one of Stripe's codes.
    Coded(String, String),
}

impl Failure {
    fn into_fault(self) -> ProviderFault {
        match self {
            Self::Fault(fault) => fault,
            Self::Coded(_, summary) => ProviderFault::Refused(summary),
        }
    }

    /// The fault of a request that has no idempotency key, or keeps it.
    fn for_now(self) -> ProviderFault {
        match self.into_fault() {
            ProviderFault::Stored(why) => ProviderFault::Passing(why),
            fault @ (ProviderFault::Passing(_) | ProviderFault::Disputed | ProviderFault::Refused(_)) => {
                fault
            }
        }
    }
}

fn read<T: DeserializeOwned>(answer: Result<Answer, CallFault>) -> Result<T, Failure> {
    let passing = |why: String| Failure::Fault(ProviderFault::Passing(why));
    let Answer { status, body } = answer.map_err(|fault| passing(fault.to_string()))?;
    match status {
        200..300 => serde_json::from_slice(&body).map_err(|error| passing(format!("unreadable: {error}"))),
        500.. => Err(Failure::Fault(ProviderFault::Stored(format!("answered {status}")))),
        // A wrong key is the operator's to correct, and no order ends of it.
        401 | 403 | 408 | 409 | 425 | 429 => Err(passing(format!("answered {status}"))),
        _ => {
            let error: Option<ErrorBody> = serde_json::from_slice(&body).ok();
            let summary = error.as_ref().map(ErrorBody::summary).unwrap_or_default();
            let summary = format!("answered {status}: {summary}");
            // Such as a request that is repeated from another origin, to which the buyer then returns.
            if error.as_ref().is_some_and(ErrorBody::is_of_another_request) {
                return Err(Failure::Fault(ProviderFault::Stored(summary)));
            }
            Err(match error.as_ref().and_then(ErrorBody::code) {
                Some(code) => Failure::Coded(code.to_owned(), summary),
                None => Failure::Fault(ProviderFault::Refused(summary)),
            })
        }
    }
}

impl PaymentProvider for Stripe {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn begin(&self, order: CheckoutOrder) -> BoxFuture<'_, Result<Checkout, ProviderFault>> {
        Box::pin(self.begin_session(order))
    }

    fn look_up(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        Box::pin(async move { self.session(&checkout.reference).await?.state() })
    }

    fn close(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        Box::pin(async move { self.close_session(&checkout.reference).await })
    }

    fn refund(&self, refund: RefundOrder) -> BoxFuture<'_, Result<RefundAnswer, ProviderFault>> {
        Box::pin(self.refund_payment(refund))
    }

    fn read_notice<'n>(
        &'n self,
        header: Header<'_>,
        body: &'n [u8],
        now: Timestamp,
    ) -> BoxFuture<'n, Result<Option<PaymentNotice>, NoticeFault>> {
        let verified = match header(SIGNATURE) {
            Some(signature) => self.webhook.verify(signature, body, now).map_err(NoticeFault::from),
            None => Err(NoticeFault::Unsigned),
        };
        Box::pin(async move {
            verified?;
            self.resolve(Event::read(body)?).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_recognised_and_never_shown() {
        for (text, is_live) in [("sk_test_abc", false), ("rk_test_abc", false), (" sk_live_abc\n", true)] {
            let key = StripeKey::new(text).unwrap();
            assert_eq!(key.is_live(), is_live);
            let webhook = WebhookSecret::new(&format!("whsec_{}", "w".repeat(32))).unwrap();
            let stripe = Stripe::new(Stripe::API.parse().unwrap(), key, webhook, Duration::from_secs(1));
            let shown = format!("{stripe:?}");
            assert!(!shown.contains("abc") && !shown.contains("www"), "{shown}");
        }
        for text in ["", "pk_live_abc", "sk_live", "sk_test_a b", &format!("sk_test_{}", "x".repeat(300))] {
            assert!(StripeKey::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ids_in_paths_are_plain() {
        assert_eq!(segment("cs_test_a1B2/../x?y=%2F"), "cs_test_a1B2xy2F");
    }
}
