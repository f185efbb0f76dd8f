//! Requests to the payment provider on behalf of one buyer, and the intake of its notices.

use crate::App;
use crate::once::KeyedRequest;
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
    pub fn return_path(purchase: PurchaseId) -> String {
        format!("/?purchase={purchase}")
    }
}

/// Why a checkout is not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutRefusal {
    /// The fan has no such purchase for money.
    UnknownPurchase,
    /// The provider is temporarily unavailable. The purchase stays pending, and a retry may succeed.
    NotNow,
    /// The provider rejected the checkout, or there is no provider; the purchase is cancelled.
    Unavailable,
}

impl BegunCheckout {
    /// The checkout of a purchase, if one was begun.
    pub fn of(purchase: &Purchase, payment: &Payment) -> Option<Self> {
        let price = Money { amount: purchase.total(), currency: purchase.price.currency()? };
        Some(Self { purchase: purchase.id, reference: payment.reference.clone()?, price })
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
        let found = into_infallible(self.query(FindPayment { purchase }).await)?;
        if let Some((found, payment)) = found
            && found.user == user
            && found.state == PurchaseState::Pending
        {
            self.look_for_payment(&found, &payment).await?;
        }
        Ok(CompletePurchase { user, pack, purchase, book: self.pack_book().await? })
    }

    /// Asks the provider for the state of a payment and handles the answer as a notice. If the provider does not
    /// answer, nothing changes.
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

    /// A provider's answer to a query, in the form of a notice.
    pub fn found(&self, begun: &BegunCheckout, kind: NoticeKind, money: Money) -> PaymentNotice {
        PaymentNotice {
            event_id: format!("asked:{kind}:{}", begun.purchase.as_uuid().simple()),
            purchase: begun.purchase,
            kind,
            money,
            reference: begun.reference.clone(),
            occurred_at: self.now(),
        }
    }

    /// Verifies and parses a message from the provider. The outer `None` means that there is no provider, the inner
    /// one that the message does not concern a payment.
    ///
    /// # Errors
    ///
    /// Why the message is rejected.
    pub fn read_notice(
        &self,
        header: Header<'_>,
        body: &[u8],
    ) -> Option<Result<Option<PaymentNotice>, NoticeFault>> {
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
        let (book, safe) = (self.pack_book().await?, self.seed_cipher()?);
        Ok(TakeNotice { provider, notice, book, safe })
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
