//! Requests to the payment provider on behalf of one buyer, and the intake of its notices.

use crate::App;
use crate::accounts::NotFound;
use crate::once::KeyedRequest;
use crate::packs::{GetPurchase, PackPurchased};
use crate::payments::{
    BegunCheckout, Charge, ChargeState, Checkout, CheckoutLine, CheckoutOrder, CloseReason, CompletePurchase,
    EndPending, FindPayment, Header, NoticeFault, NoticeKind, NoticeTaken, Payable, Payment, PaymentNotice,
    PaymentProvider, PaymentState, ProviderFault, RecordCheckout, TakeNotice, lock_charge,
};
use crate::store::StoredAnswer;
use crate::store::{BoxFuture, Command, PurchaseTx, into_infallible};
use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use terrace_kernel::Money;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, UserId};
use terrace_packs::{PackId, PurchaseId};

/// The payment provider, and the service's own origin.
#[derive(Clone)]
pub struct Payments {
    pub(crate) provider: Arc<dyn PaymentProvider>,
    /// The origin under which browsers reach the service; used if the request does not name one.
    site: String,
}

impl fmt::Debug for Payments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payments").field("provider", &self.provider.name()).field("site", &self.site).finish()
    }
}

impl Payments {
    pub fn provider_name(&self) -> &'static str {
        self.provider.name()
    }

    /// The path to which the buyer's browser returns.
    pub fn return_path(payable: Payable) -> String {
        match payable {
            Payable::Purchase(id) => format!("/purchases/{id}"),
            Payable::Order(id) => format!("/orders/{id}"),
        }
    }
}

/// Why a checkout is not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutRefusal {
    /// The fan has no such payment.
    UnknownPurchase,
    /// The provider is temporarily unavailable. The payment stays pending, and a retry may succeed.
    NotNow,
    /// The provider rejected the checkout, or there is no provider; what was to be paid is cancelled.
    Unavailable,
}

impl BegunCheckout {
    /// The checkout of a payment, if one was begun.
    pub fn of(charge: &Charge, payment: &Payment) -> Option<Self> {
        Some(Self { payable: charge.payable, reference: payment.reference.clone()?, price: charge.money? })
    }
}

/// Counts an error that the provider repeats for the idempotency key of this attempt, so that the next request has another
/// key. A request without an answer does not count: it may have begun a checkout.
struct AskAnew {
    payable: Payable,
    attempt: u32,
}

impl Command for AskAnew {
    const NAME: &'static str = "ask_for_checkout_anew";
    type Ports = dyn PurchaseTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PurchaseTx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        if lock_charge(tx, self.payable)?.is_none() {
            return Ok(());
        }
        let Some(payment) = tx.payment(self.payable)? else { return Ok(()) };
        if payment.checkout_attempt == self.attempt {
            let checkout_attempt = self.attempt.saturating_add(1);
            tx.put_payment(&Payment { checkout_attempt, ..payment })?;
        }
        Ok(())
    }
}

impl App {
    /// Sets the payment provider; without one nothing is sold for money. `site` is the origin under which browsers
    /// reach the service, such as `https://fans.example`.
    #[must_use]
    pub fn with_payments(self, provider: Arc<dyn PaymentProvider>, site: &str) -> Self {
        Self { payments: Some(Payments { provider, site: site.to_owned() }), ..self }
    }

    /// The payment provider with its settings.
    pub fn payments(&self) -> Option<&Payments> {
        self.payments.as_ref()
    }

    /// The provider, if it is the one of this payment.
    pub fn provider_of(&self, payment: &Payment) -> Option<&Arc<dyn PaymentProvider>> {
        self.payments.as_ref().map(|payments| &payments.provider).filter(|it| it.name() == payment.provider)
    }

    /// Begins the checkout of a pending purchase, unless it was begun before, and returns the answer for it, which
    /// replaces the one stored under the request's key. For a purchase that is no longer pending, the answer shows
    /// its current state. `site` is the origin of the buyer's browser, if the caller knows it.
    ///
    /// # Errors
    ///
    /// Refuses an unknown purchase, and a checkout that the provider rejects or cannot begin at the moment.
    pub async fn begin_checkout(
        &self,
        user: UserId,
        purchase: PurchaseId,
        site: Option<String>,
        request: Option<KeyedRequest>,
        render: fn(&PackPurchased) -> StoredAnswer,
    ) -> Outcome<StoredAnswer, CheckoutRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let found = into_infallible(self.query(FindPayment { payable: purchase.into() }).await)?;
        let found = found.filter(|(charge, _)| charge.user == user);
        let (charge, payment) = found.ok_or(refused(CheckoutRefusal::UnknownPurchase))?;
        let book = self.pack_book().await?;
        let amount = charge.money.map_or(0, |money| money.amount);
        let lines = vec![CheckoutLine { name: self.describe(user, purchase).await?, amount }];
        let checkout = self.begin_at_provider(&charge, &payment, lines, site).await?;
        let recorded = RecordCheckout { purchase, checkout, request, render, book };
        Ok(into_infallible(self.execute(recorded).await)?)
    }

    /// What the buyer sees of a purchase at the provider.
    async fn describe(&self, user: UserId, purchase: PurchaseId) -> Outcome<String, CheckoutRefusal> {
        let (purchase, _) =
            self.query(GetPurchase { user, purchase }).await.map_err(|failure| match failure {
                Failure::Refused(NotFound) => Failure::Refused(CheckoutRefusal::UnknownPurchase),
                Failure::Broken(error) => Failure::Broken(error),
            })?;
        let book = self.pack_book().await?;
        let name = book.pack(purchase.pack).map_or("Pack", |pack| pack.name.as_str());
        Ok(format!("{} × {name}", purchase.quantity.copies()))
    }

    /// Begins the checkout of a payment at its provider, if it is pending and has none yet. What the provider rejects
    /// is cancelled.
    pub(crate) async fn begin_at_provider(
        &self,
        charge: &Charge,
        payment: &Payment,
        lines: Vec<CheckoutLine>,
        site: Option<String>,
    ) -> Outcome<Option<Checkout>, CheckoutRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let payable = charge.payable;
        if charge.state != ChargeState::Pending || charge.checkout_url.is_some() {
            return Ok(None);
        }
        let begun = match (self.provider_of(payment), self.order(charge, payment, lines, site)) {
            (Some(provider), Some(order)) => provider.begin(order).await,
            _ => Err(ProviderFault::Refused("there is no such provider any more".to_owned())),
        };
        match begun {
            Ok(begun) => Ok(Some(begun)),
            Err(fault @ (ProviderFault::Passing(_) | ProviderFault::Disputed)) => {
                log::warn!("the checkout of {payable} was not begun: {fault}");
                Err(refused(CheckoutRefusal::NotNow))
            }
            Err(ProviderFault::Stored(why)) => {
                log::warn!("the checkout of {payable} was not begun: {why}");
                let again = AskAnew { payable, attempt: payment.checkout_attempt };
                into_infallible(self.execute(again).await)?;
                Err(refused(CheckoutRefusal::NotNow))
            }
            Err(ProviderFault::Refused(why)) => {
                log::error!("the checkout of {payable} was refused: {why}");
                let book = self.pack_book().await?;
                let end = EndPending { payable, how: CloseReason::Cancelled, book };
                into_infallible(self.execute(end).await)?;
                Err(refused(CheckoutRefusal::Unavailable))
            }
        }
    }

    fn order(
        &self,
        charge: &Charge,
        payment: &Payment,
        lines: Vec<CheckoutLine>,
        site: Option<String>,
    ) -> Option<CheckoutOrder> {
        let site =
            site.unwrap_or_else(|| self.payments.as_ref().map_or_else(String::new, |it| it.site.clone()));
        Some(CheckoutOrder {
            payable: charge.payable,
            price: charge.money?,
            attempt: payment.checkout_attempt,
            lines,
            return_url: format!("{site}{}", Payments::return_path(charge.payable)),
            site,
            expires_at: charge.expires_at.unwrap_or(charge.created_at),
        })
    }

    /// Builds the command by which a fan requests what they have paid for. If no notice of the payment has arrived,
    /// asks the provider first.
    ///
    /// # Errors
    ///
    /// If the packs cannot be read, or the database is unavailable.
    pub async fn complete_purchase(
        &self,
        user: UserId,
        pack: PackId,
        purchase: PurchaseId,
    ) -> Result<CompletePurchase, StoreError> {
        self.look_for_payment(user, purchase.into()).await?;
        Ok(CompletePurchase { user, pack, purchase, book: self.pack_book().await? })
    }

    /// Asks the provider for the state of a fan's pending payment and handles the answer as a notice. If the provider
    /// does not answer, nothing changes.
    pub(crate) async fn look_for_payment(&self, user: UserId, payable: Payable) -> Result<(), StoreError> {
        let found = into_infallible(self.query(FindPayment { payable }).await)?;
        let found = found.filter(|(charge, _)| charge.user == user && charge.state == ChargeState::Pending);
        let Some((charge, payment)) = found else { return Ok(()) };
        let (Some(provider), Some(begun)) =
            (self.provider_of(&payment), BegunCheckout::of(&charge, &payment))
        else {
            return Ok(());
        };
        let (kind, money) = match provider.look_up(begun.clone()).await {
            Ok(PaymentState::Open) => return Ok(()),
            Ok(PaymentState::Paid(money)) => (NoticeKind::Paid, money),
            Ok(PaymentState::Ended) => (NoticeKind::Cancelled, begun.price),
            Ok(PaymentState::Refunded(money)) => (NoticeKind::Refunded, money),
            Err(fault) => {
                log::warn!("the payment of {payable} was not looked up: {fault}");
                return Ok(());
            }
        };
        let notice = self.found(&begun, kind, money);
        self.take_notice(provider.name(), notice).await.map(drop)
    }

    /// A provider's answer to a query, in the form of a notice.
    pub fn found(&self, begun: &BegunCheckout, kind: NoticeKind, money: Money) -> PaymentNotice {
        PaymentNotice {
            event_id: format!("asked:{kind}:{}", begun.payable.id().simple()),
            payable: begun.payable,
            kind,
            money,
            reference: begun.reference.clone(),
            occurred_at: self.now(),
            detail: None,
        }
    }

    /// Verifies and parses a message from the provider. The outer `None` means that there is no provider, the inner
    /// one that the message does not concern a payment.
    ///
    /// # Errors
    ///
    /// Why the message is rejected.
    pub fn read_notice<'n>(
        &'n self,
        header: Header<'_>,
        body: &'n [u8],
    ) -> Option<BoxFuture<'n, Result<Option<PaymentNotice>, NoticeFault>>> {
        let payments = self.payments.as_ref()?;
        Some(payments.provider.read_notice(header, body, self.now()))
    }

    /// Applies a verified notice.
    ///
    /// # Errors
    ///
    /// If the packs cannot be read, the database is unavailable, or this process has no secret key.
    pub async fn take_notice(
        &self,
        provider: &'static str,
        notice: PaymentNotice,
    ) -> Result<NoticeTaken, StoreError> {
        let (kind, command) = (notice.kind, self.notice_command(provider, notice).await?);
        let taken = into_infallible(self.execute(command).await)?;
        taken.record(kind);
        Ok(taken)
    }

    /// Builds the command that applies a verified notice.
    ///
    /// # Errors
    ///
    /// As [`App::take_notice`].
    pub async fn notice_command(
        &self,
        provider: &'static str,
        notice: PaymentNotice,
    ) -> Result<TakeNotice, StoreError> {
        Ok(TakeNotice { provider, notice, granter: self.granter().await? })
    }

    /// Applies a notice that the configured provider has read.
    ///
    /// # Errors
    ///
    /// As [`App::take_notice`], and if there is no provider.
    pub async fn take_own_notice(&self, notice: PaymentNotice) -> Result<NoticeTaken, StoreError> {
        let name = self.payments.as_ref().map(|payments| payments.provider.name());
        let name = name.ok_or_else(|| StoreError::defect("take a notice", "there is no payment provider"))?;
        self.take_notice(name, notice).await
    }
}
