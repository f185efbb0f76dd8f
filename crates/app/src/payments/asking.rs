//! What the service asks its payment provider on behalf of one buyer, and what it is told.

use crate::App;
use crate::execute::KeyedRequest;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::packs::PackPurchased;
use crate::payments::{
    BegunCheckout, CheckoutOrder, CloseReason, CompletePurchase, EndPending, FindPayment, Header,
    NoticeFault, NoticeKind, NoticeTaken, Payment, PaymentNotice, PaymentProvider, PaymentState,
    ProviderFault, RecordCheckout, TakeNotice,
};
use crate::store::StoredAnswer;
use crate::store::into_infallible;
use std::fmt;
use std::sync::Arc;
use terrace_kernel::Money;
use terrace_kernel::{Failure, Outcome, StoreError, UserId};
use terrace_packs::{PackId, Purchase, PurchaseId, PurchaseState};

/// The payment provider, and where buyers come from.
#[derive(Clone)]
pub struct Payments {
    pub(crate) provider: Arc<dyn PaymentProvider>,
    /// The origin under which browsers reach the service, where the request names none.
    site: String,
}

impl fmt::Debug for Payments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payments").field("provider", &self.provider.name()).field("site", &self.site).finish()
    }
}

impl Payments {
    /// The path to which a buyer comes back.
    pub fn return_path(purchase: PurchaseId) -> String {
        format!("/?purchase={purchase}")
    }
}

/// Why a checkout is not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutRefusal {
    /// The fan has no such purchase for money.
    UnknownPurchase,
    /// The provider cannot do it for the moment. The purchase waits; asked again, it may.
    NotNow,
    /// The provider does not do it, or there is none; the purchase is cancelled.
    Unavailable,
}

impl BegunCheckout {
    /// The checkout of a purchase, where it was begun.
    pub(crate) fn of(purchase: &Purchase, payment: &Payment) -> Option<Self> {
        let price = Money { amount: purchase.total(), currency: purchase.price.currency()? };
        Some(Self { purchase: purchase.id, reference: payment.reference.clone()?, price })
    }
}

impl App {
    /// Gives it whoever takes the money; without one nothing is sold for money. `site` is the origin under which browsers
    /// reach the service, such as `https://fans.example`.
    #[must_use]
    pub fn with_payments(self, provider: Arc<dyn PaymentProvider>, site: &str) -> Self {
        Self { payments: Some(Payments { provider, site: site.to_owned() }), ..self }
    }

    /// Whoever takes the money.
    pub fn payments(&self) -> Option<&Payments> {
        self.payments.as_ref()
    }

    /// The provider, where it is the one of this payment.
    pub(crate) fn provider_of(&self, payment: &Payment) -> Option<&Arc<dyn PaymentProvider>> {
        self.payments.as_ref().map(|payments| &payments.provider).filter(|it| it.name() == payment.provider)
    }

    /// Begins the checkout of a purchase that waits for its payment, unless it was begun, and gives the answer for it, which
    /// is kept in the place of the one that the request's key has. One that waits for nothing any more is answered as it is.
    /// `site` is the origin that the buyer's browser is on, where the caller knows it.
    ///
    /// # Errors
    ///
    /// Refuses what there is no such purchase for, and what the provider does not do.
    pub async fn begin_checkout(
        &self,
        user: UserId,
        purchase: PurchaseId,
        site: Option<String>,
        request: Option<KeyedRequest>,
        render: fn(&PackPurchased) -> StoredAnswer,
    ) -> Outcome<StoredAnswer, CheckoutRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let found = into_infallible(self.query(FindPayment { purchase }).await)?;
        let found = found.filter(|(purchase, _)| purchase.user == user);
        let (found, payment) = found.ok_or(refused(CheckoutRefusal::UnknownPurchase))?;
        let book = self.pack_book().await?;
        let mut checkout = None;
        if found.state == PurchaseState::Pending && found.checkout_url.is_none() {
            let order = self.order(&found, site).await?;
            let begun = match (self.provider_of(&payment), order) {
                (Some(provider), Some(order)) => provider.begin(order).await,
                _ => Err(ProviderFault::Refused("there is no such provider any more".to_owned())),
            };
            match begun {
                Ok(begun) => checkout = Some(begun),
                Err(ProviderFault::Passing(why)) => {
                    log::warn!("the checkout of purchase {purchase} was not begun: {why}");
                    return Err(refused(CheckoutRefusal::NotNow));
                }
                Err(ProviderFault::Refused(why)) => {
                    log::error!("the checkout of purchase {purchase} was refused: {why}");
                    into_infallible(
                        self.execute(EndPending { purchase, how: CloseReason::Cancelled, book }).await,
                    )?;
                    return Err(refused(CheckoutRefusal::Unavailable));
                }
            }
        }
        let recorded = RecordCheckout { purchase, checkout, request, render, book };
        Ok(into_infallible(self.execute(recorded).await)?)
    }

    async fn order(
        &self,
        purchase: &Purchase,
        site: Option<String>,
    ) -> Result<Option<CheckoutOrder>, StoreError> {
        let (Some(payments), Some(currency)) = (&self.payments, purchase.price.currency()) else {
            return Ok(None);
        };
        let book = self.pack_book().await?;
        let site = site.unwrap_or_else(|| payments.site.clone());
        let name = book.pack(purchase.pack).map_or("Pack", |pack| pack.name.as_str());
        Ok(Some(CheckoutOrder {
            purchase: purchase.id,
            price: Money { amount: purchase.total(), currency },
            description: format!("{} × {name}", purchase.quantity.copies()),
            return_url: format!("{site}{}", Payments::return_path(purchase.id)),
            site,
            expires_at: purchase.expires_at.unwrap_or(purchase.created_at),
        }))
    }

    /// The command by which a fan asks for what they have paid. Where nothing was told of the payment yet, the provider is
    /// asked before.
    ///
    /// # Errors
    ///
    /// When the packs cannot be read, or the database is not to be had.
    pub async fn complete_purchase(
        &self,
        user: UserId,
        pack: PackId,
        purchase: PurchaseId,
    ) -> Result<CompletePurchase, StoreError> {
        let found = into_infallible(self.query(FindPayment { purchase }).await)?;
        if let Some((found, payment)) = found
            && found.user == user
            && found.state == PurchaseState::Pending
        {
            self.look_for_payment(&found, &payment).await?;
        }
        Ok(CompletePurchase { user, pack, purchase, book: self.pack_book().await? })
    }

    /// Asks the provider whether a purchase was paid, and takes its answer for a notice. Where it does not answer, nothing
    /// is known.
    async fn look_for_payment(&self, purchase: &Purchase, payment: &Payment) -> Result<(), StoreError> {
        let (Some(provider), Some(begun)) = (self.provider_of(payment), BegunCheckout::of(purchase, payment))
        else {
            return Ok(());
        };
        let (kind, money) = match provider.look_up(begun.clone()).await {
            Ok(PaymentState::Open) => return Ok(()),
            Ok(PaymentState::Paid(money)) => (NoticeKind::Paid, money),
            Ok(PaymentState::Ended) => (NoticeKind::Cancelled, begun.price),
            Ok(PaymentState::Refunded(money)) => (NoticeKind::Refunded, money),
            Err(fault) => {
                log::warn!("the payment of purchase {} was not looked up: {fault}", purchase.id);
                return Ok(());
            }
        };
        let notice = self.found(&begun, kind, money);
        self.take_notice(provider.name(), notice).await.map(drop)
    }

    /// What the provider said when it was asked, as if it had told it itself.
    pub(crate) fn found(&self, begun: &BegunCheckout, kind: NoticeKind, money: Money) -> PaymentNotice {
        PaymentNotice {
            event_id: format!("asked:{kind}:{}", begun.purchase.as_uuid().simple()),
            purchase: begun.purchase,
            kind,
            money,
            reference: begun.reference.clone(),
            occurred_at: self.now(),
        }
    }

    /// Reads a message that says it is the provider's; nothing for one that tells nothing of a payment, and nothing inside
    /// where there is no provider.
    ///
    /// # Errors
    ///
    /// Says why it is not taken.
    pub fn read_notice(
        &self,
        header: Header<'_>,
        body: &[u8],
    ) -> Option<Result<Option<PaymentNotice>, NoticeFault>> {
        let payments = self.payments.as_ref()?;
        Some(payments.provider.read_notice(header, body, self.now()))
    }

    /// Takes a notice that was found to be the provider's.
    ///
    /// # Errors
    ///
    /// When the packs cannot be read, the database is not to be had, or this process has no secret.
    pub async fn take_notice(
        &self,
        provider: &'static str,
        notice: PaymentNotice,
    ) -> Result<NoticeTaken, StoreError> {
        let pace = TaskContext::unwatched();
        self.take_notice_at(provider, notice, &pace).await.map_err(TaskFailure::into_store)
    }

    /// [`App::take_notice`], at a pace.
    pub(super) async fn take_notice_at(
        &self,
        provider: &'static str,
        notice: PaymentNotice,
        pace: &TaskContext,
    ) -> Result<NoticeTaken, TaskFailure> {
        let (book, safe) = (self.pack_book().await?, self.seed_cipher()?);
        let kind = notice.kind;
        let taken = pace.batch(self, TakeNotice { provider, notice, book, safe }).await?;
        metrics::counter!("terrace_payment_notices_total", "kind" => kind.as_str(), "outcome" => taken.as_str())
            .increment(1);
        Ok(taken)
    }

    /// Takes a notice of the provider's that was read before.
    ///
    /// # Errors
    ///
    /// As [`App::take_notice`], and where there is no provider.
    pub async fn take_own_notice(&self, notice: PaymentNotice) -> Result<NoticeTaken, StoreError> {
        let name = self.payments.as_ref().map(|payments| payments.provider.name());
        let name = name.ok_or_else(|| StoreError::defect("take a notice", "there is no payment provider"))?;
        self.take_notice(name, notice).await
    }
}
