//! A payment provider without real money, for running the complete payment flow on one machine. Buyers approve or
//! decline on a page of this service, and the sandbox reports the decision as a card provider would: by a signed
//! message over the network.

use crate::execute::execute_beside;
use crate::payments::{
    BegunCheckout, Checkout, CheckoutOrder, Header, NoticeFault, NoticeKind, Payable, PaymentNotice,
    PaymentProvider, PaymentState, ProviderFault, RefundAnswer, RefundOrder, RefundState, SandboxCheckout,
    SandboxState, is_name,
};
use crate::platform::webhooks::{SIGNATURE_HEADER, WebhookSecret};
use crate::store::payments::SandboxWrite;
use crate::store::{BoxFuture, Command, Store, into_infallible};
use crate::{App, SecretKey};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use terrace_kernel::Currency;
use terrace_kernel::Money;
use terrace_kernel::{
    Clock, Ctx, CtxSeed, Entropy, Failure, Outcome, StoreError, Timestamp, UnknownName, Uuid,
};

/// Derivation purpose of the sandbox's secret.
const PURPOSE: &str = "terrace/sandbox payments/1";

fn payment_state(checkout: &SandboxCheckout) -> PaymentState {
    match checkout.state {
        SandboxState::Open => PaymentState::Open,
        SandboxState::Approved => PaymentState::Paid(checkout.price),
        SandboxState::Declined | SandboxState::Closed => PaymentState::Ended,
        SandboxState::Refunded => PaymentState::Refunded(checkout.price),
    }
}

/// The notice for the checkout's state; `None` while it is open. Repeated notices have the same event id.
fn notice(checkout: &SandboxCheckout) -> Option<PaymentNotice> {
    let kind = match checkout.state {
        SandboxState::Open => return None,
        SandboxState::Approved => NoticeKind::Paid,
        SandboxState::Declined | SandboxState::Closed => NoticeKind::Cancelled,
        SandboxState::Refunded => NoticeKind::Refunded,
    };
    Some(PaymentNotice {
        event_id: format!("sandbox_{kind}_{}", checkout.payable.id().simple()),
        payable: checkout.payable,
        kind,
        money: checkout.price,
        reference: reference(checkout.payable),
        occurred_at: checkout.changed_at,
        detail: None,
    })
}

fn reference(payable: Payable) -> String {
    format!("sandbox_{}", payable.id().simple())
}

/// A buyer's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxDecision {
    /// Pay.
    Approve,
    /// Do not pay.
    Decline,
    /// Refund the payment.
    Refund,
}

impl FromStr for SandboxDecision {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        match text {
            "approve" => Ok(Self::Approve),
            "decline" => Ok(Self::Decline),
            "refund" => Ok(Self::Refund),
            other => Err(UnknownName(other.to_owned())),
        }
    }
}

/// Why a decision was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxRefusal {
    /// The sandbox has no such checkout.
    UnknownCheckout,
    /// The checkout has expired, or a different decision was made before.
    TooLate,
}

/// Delivers the sandbox's messages to this service over the network, as another provider's servers would.
pub trait NoticePost: Send + Sync + 'static {
    /// Posts a JSON text to this service's notice endpoint, signed with the secret and the timestamp `at`. A 2xx
    /// response is the receipt.
    fn post(&self, secret: &WebhookSecret, at: Timestamp, body: Vec<u8>)
    -> BoxFuture<'_, Result<(), String>>;
}

/// The body of a sandbox message.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    event_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    purchase_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_id: Option<String>,
    kind: String,
    amount: i64,
    currency: String,
    reference: String,
    occurred_at: String,
}

/// The field that decides whether a message concerns a payment.
#[derive(Deserialize)]
struct Head {
    kind: String,
}

/// The sandbox provider.
pub struct Sandbox {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    secret: WebhookSecret,
    post: Arc<dyn NoticePost>,
}

impl App {
    /// Sets the sandbox as the payment provider. `site` is the origin under which browsers reach the service, such as
    /// `http://localhost:3004`. Messages are signed with a secret derived from the service's secret key.
    #[must_use]
    pub fn with_sandbox(self, secret: &SecretKey, site: &str, post: Arc<dyn NoticePost>) -> Self {
        let sandbox = Arc::new(Sandbox {
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            entropy: Arc::clone(&self.entropy),
            secret: Sandbox::secret(secret),
            post,
        });
        let provider: Arc<dyn PaymentProvider> = Arc::<Sandbox>::clone(&sandbox);
        Self { sandbox: Some(sandbox), ..self.with_payments(provider, site) }
    }

    /// The sandbox, if it is the payment provider.
    pub fn sandbox(&self) -> Option<&Arc<Sandbox>> {
        self.sandbox.as_ref()
    }
}

impl Sandbox {
    /// Name of the provider.
    pub const NAME: &'static str = "sandbox";

    /// The signing secret of the sandbox in a service with this secret key.
    pub fn secret(of: &SecretKey) -> WebhookSecret {
        WebhookSecret::derived(of, PURPOSE)
    }

    /// The path of the page on which a payment is approved or declined.
    pub fn path(payable: Payable) -> String {
        format!("/sandbox/checkout/{}", payable.id().hyphenated())
    }

    async fn execute<C: Command<Refusal = Infallible>>(&self, command: C) -> Result<C::Output, StoreError> {
        into_infallible(self.try_to(command).await)
    }

    async fn try_to<C: Command>(&self, command: C) -> Outcome<C::Output, C::Refusal> {
        let seed = CtxSeed::draw(&*self.clock, &*self.entropy);
        execute_beside(&*self.store, seed, command).await
    }

    /// The checkout of the payable with this id.
    ///
    /// # Errors
    ///
    /// If the database is unavailable.
    pub async fn checkout(&self, payable: Uuid) -> Result<Option<SandboxCheckout>, StoreError> {
        self.execute(FindCheckout { payable }).await
    }

    /// Applies the buyer's decision, and sends the notice to the service. Repeating a decision sends the notice
    /// again; a different decision is refused. If the message is lost, reconciliation asks for the state later.
    ///
    /// # Errors
    ///
    /// Refuses unknown checkouts and decisions that come too late.
    pub async fn decide(
        &self,
        payable: Uuid,
        decision: SandboxDecision,
    ) -> Outcome<SandboxCheckout, SandboxRefusal> {
        let checkout = self.try_to(Decide { payable, decision }).await?;
        if let Some(notice) = notice(&checkout) {
            let at = self.clock.now();
            if let Err(error) = self.post.post(&self.secret, at, Self::message(&notice)).await {
                log::warn!("the sandbox could not send its notice for {}: {error}", checkout.payable);
            }
        }
        Ok(checkout)
    }

    /// Serializes a notice as the sandbox sends it.
    pub fn message(notice: &PaymentNotice) -> Vec<u8> {
        let (purchase_id, order_id) = match notice.payable {
            Payable::Purchase(id) => (Some(id.to_string()), None),
            Payable::Order(id) => (None, Some(id.to_string())),
        };
        let message = Message {
            event_id: notice.event_id.clone(),
            purchase_id,
            order_id,
            kind: notice.kind.to_string(),
            amount: notice.money.amount,
            currency: notice.money.currency.to_string(),
            reference: notice.reference.clone(),
            occurred_at: notice.occurred_at.to_string(),
        };
        // Serializing strings and a number cannot fail.
        serde_json::to_vec(&message).unwrap_or_default()
    }
}

fn read_message(body: &[u8]) -> Result<Option<PaymentNotice>, NoticeFault> {
    let malformed = |why: String| NoticeFault::Malformed(why);
    let head: Head = serde_json::from_slice(body).map_err(|error| malformed(error.to_string()))?;
    // The sandbox knows no disputes, and makes every refund at once.
    let Ok(kind @ (NoticeKind::Paid | NoticeKind::Failed | NoticeKind::Cancelled | NoticeKind::Refunded)) =
        head.kind.parse()
    else {
        return Ok(None);
    };
    let message: Message = serde_json::from_slice(body).map_err(|error| malformed(error.to_string()))?;
    if !is_name(&message.event_id) || !is_name(&message.reference) {
        return Err(malformed("eventId and reference are 1 to 255 visible ASCII characters".to_owned()));
    }
    let payable = match (message.purchase_id, message.order_id) {
        (Some(id), None) => {
            Payable::Purchase(id.parse().map_err(|error| malformed(format!("purchaseId: {error}")))?)
        }
        (None, Some(id)) => {
            Payable::Order(id.parse().map_err(|error| malformed(format!("orderId: {error}")))?)
        }
        (None, None) | (Some(_), Some(_)) => {
            return Err(malformed("one of purchaseId and orderId is needed".to_owned()));
        }
    };
    let currency: Currency =
        message.currency.parse().map_err(|error| malformed(format!("currency: {error}")))?;
    Ok(Some(PaymentNotice {
        event_id: message.event_id,
        payable,
        kind,
        money: Money { amount: message.amount, currency },
        reference: message.reference,
        occurred_at: message
            .occurred_at
            .parse()
            .map_err(|error| malformed(format!("occurredAt: {error}")))?,
        detail: None,
    }))
}

fn passing(error: &StoreError) -> ProviderFault {
    ProviderFault::Passing(error.to_string())
}

fn unknown() -> ProviderFault {
    ProviderFault::Refused("the sandbox has no such checkout".to_owned())
}

impl PaymentProvider for Sandbox {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn begin(&self, order: CheckoutOrder) -> BoxFuture<'_, Result<Checkout, ProviderFault>> {
        Box::pin(async move {
            let url = format!("{}{}", order.site, Self::path(order.payable));
            let payable = order.payable;
            self.execute(Begin { order }).await.map_err(|error| passing(&error))?;
            Ok(Checkout { url, reference: reference(payable) })
        })
    }

    fn look_up(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        Box::pin(async move {
            let found = self.checkout(checkout.payable.id()).await.map_err(|error| passing(&error))?;
            found.as_ref().map(payment_state).ok_or_else(unknown)
        })
    }

    fn close(&self, checkout: BegunCheckout) -> BoxFuture<'_, Result<PaymentState, ProviderFault>> {
        Box::pin(async move {
            let wish =
                Move { payable: checkout.payable.id(), from: SandboxState::Open, to: SandboxState::Closed };
            let found = self.execute(wish).await.map_err(|error| passing(&error))?;
            found.as_ref().map(payment_state).ok_or_else(unknown)
        })
    }

    fn refund(&self, refund: RefundOrder) -> BoxFuture<'_, Result<RefundAnswer, ProviderFault>> {
        Box::pin(async move {
            // No money was moved, so that there is nothing to do for a part of it.
            if refund.money == refund.checkout.price {
                let (from, to) = (SandboxState::Approved, SandboxState::Refunded);
                self.execute(Move { payable: refund.checkout.payable.id(), from, to })
                    .await
                    .map_err(|error| passing(&error))?;
            }
            Ok(RefundAnswer { reference: None, state: RefundState::Given })
        })
    }

    fn read_notice<'n>(
        &'n self,
        header: Header<'_>,
        body: &'n [u8],
        now: Timestamp,
    ) -> BoxFuture<'n, Result<Option<PaymentNotice>, NoticeFault>> {
        let read = match header(SIGNATURE_HEADER) {
            Some(signature) => self.secret.verify(signature, body, now).map_err(NoticeFault::from),
            None => Err(NoticeFault::Unsigned),
        };
        Box::pin(async move { read.and_then(|()| read_message(body)) })
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").finish_non_exhaustive()
    }
}

struct Begin {
    order: CheckoutOrder,
}

impl Command for Begin {
    const NAME: &'static str = "begin_sandbox_checkout";
    type Ports = dyn SandboxWrite;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SandboxWrite, ctx: &mut Ctx) -> Outcome<(), Infallible> {
        tx.insert_sandbox(&SandboxCheckout {
            payable: self.order.payable,
            price: self.order.price,
            description: self.order.description(),
            expires_at: self.order.expires_at,
            state: SandboxState::Open,
            changed_at: ctx.now(),
        })?;
        Ok(())
    }
}

struct FindCheckout {
    payable: Uuid,
}

impl Command for FindCheckout {
    const NAME: &'static str = "find_sandbox_checkout";
    type Ports = dyn SandboxWrite;
    type Output = Option<SandboxCheckout>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SandboxWrite, _ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        Ok(tx.sandbox_checkout(self.payable)?)
    }
}

/// Changes the state if it is `from`, and returns the resulting checkout.
struct Move {
    payable: Uuid,
    from: SandboxState,
    to: SandboxState,
}

impl Command for Move {
    const NAME: &'static str = "move_sandbox_checkout";
    type Ports = dyn SandboxWrite;
    type Output = Option<SandboxCheckout>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SandboxWrite, ctx: &mut Ctx) -> Outcome<Self::Output, Infallible> {
        tx.move_sandbox(self.payable, self.from, self.to, ctx.now())?;
        Ok(tx.sandbox_checkout(self.payable)?)
    }
}

struct Decide {
    payable: Uuid,
    decision: SandboxDecision,
}

impl Command for Decide {
    const NAME: &'static str = "decide_sandbox_checkout";
    type Ports = dyn SandboxWrite;
    type Output = SandboxCheckout;
    type Refusal = SandboxRefusal;

    fn run(&self, tx: &mut dyn SandboxWrite, ctx: &mut Ctx) -> Outcome<SandboxCheckout, SandboxRefusal> {
        let unknown = || Failure::Refused(SandboxRefusal::UnknownCheckout);
        let found = tx.sandbox_checkout(self.payable)?.ok_or_else(unknown)?;
        let (from, to) = match self.decision {
            SandboxDecision::Approve => (SandboxState::Open, SandboxState::Approved),
            SandboxDecision::Decline => (SandboxState::Open, SandboxState::Declined),
            SandboxDecision::Refund => (SandboxState::Approved, SandboxState::Refunded),
        };
        // The expiry never changes, so it can be checked before the write.
        let is_over = from == SandboxState::Open && found.expires_at.is_over(ctx.now());
        if !is_over {
            tx.move_sandbox(self.payable, from, to, ctx.now())?;
        }
        let stands = tx.sandbox_checkout(self.payable)?.ok_or_else(unknown)?;
        if stands.state == to { Ok(stands) } else { Err(Failure::Refused(SandboxRefusal::TooLate)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_packs::PurchaseId;

    fn checkout(state: SandboxState) -> SandboxCheckout {
        SandboxCheckout {
            payable: PurchaseId::from_uuid(Uuid::from_u128(0x0190_a6f2_7c1e_7abc_8def_0123_4567_89ab)).into(),
            price: Money { amount: 499, currency: "EUR".parse().unwrap() },
            description: "1 × Pack".to_owned(),
            expires_at: Timestamp::from_micros(2_000_000),
            state,
            changed_at: Timestamp::from_micros(1_000_000),
        }
    }

    #[test]
    fn a_message_is_read_as_it_is_written() {
        for state in SandboxState::ALL {
            assert_eq!(state.to_string().parse(), Ok(state));
            let Some(notice) = notice(&checkout(state)) else { continue };
            assert_eq!(read_message(&Sandbox::message(&notice)), Ok(Some(notice)));
        }
        assert_eq!(notice(&checkout(SandboxState::Open)), None);
    }

    #[test]
    fn malformed_messages_are_distinguished_from_foreign_ones() {
        let good = notice(&checkout(SandboxState::Approved)).unwrap();
        let good = String::from_utf8(Sandbox::message(&good)).unwrap();
        for (from, to) in [
            ("\"EUR\"", "\"eur\""),
            ("499", "4.99"),
            ("499", "\"499\""),
            ("\"sandbox_paid", "\"a b"),
            ("0190a6f2-7c1e", "0190a6f2"),
            ("1970-", "1970/"),
            ("\"amount\"", "\"Amount\""),
            ("\"purchaseId\"", "\"PurchaseId\""),
            ("}", ""),
        ] {
            let wrong = good.replacen(from, to, 1);
            assert_ne!(wrong, good);
            assert!(matches!(read_message(wrong.as_bytes()), Err(NoticeFault::Malformed(_))), "{wrong}");
        }
        assert!(matches!(read_message(b"[]"), Err(NoticeFault::Malformed(_))));
        // Unknown kinds and additional fields are accepted.
        assert_eq!(read_message(br#"{"kind":"disputed","whatever":1}"#), Ok(None));
        let more = good.replacen('{', "{\"more\":1,", 1);
        assert!(matches!(read_message(more.as_bytes()), Ok(Some(_))));
    }
}
