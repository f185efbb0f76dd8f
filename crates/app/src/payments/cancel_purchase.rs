//! The buyer gives up a purchase that waits for its payment.

use crate::App;
use crate::accounts::NotFound;
use crate::packs::{self, GetPurchase, PackBook};
use crate::payments::{BegunCheckout, FindPayment, NoticeKind, Payable, PaymentState};
use crate::store::{Command, PurchaseTx, into_infallible};
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Outcome, UserId};
use terrace_packs::{Purchase, PurchaseId, PurchaseState};

/// Cancels a pending purchase of the buyer, and releases its stock.
#[derive(Debug, Clone)]
pub struct CancelPurchase {
    /// The buyer.
    pub user: UserId,
    pub purchase: PurchaseId,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
}

/// Why a purchase is not cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelPurchaseRefusal {
    /// The fan has no such purchase.
    UnknownPurchase,
    /// The purchase is in this state and not pending.
    NotPending(PurchaseState),
    /// The provider is processing a payment of the purchase.
    BeingPaid,
    /// The provider did not close the checkout, and may do so later.
    NotNow,
}

impl Command for CancelPurchase {
    const NAME: &'static str = "cancel_purchase";
    type Ports = dyn PurchaseTx;
    type Output = Purchase;
    type Refusal = CancelPurchaseRefusal;

    fn run(&self, tx: &mut dyn PurchaseTx, ctx: &mut Ctx) -> Outcome<Purchase, CancelPurchaseRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let found = tx.lock_purchase(self.purchase)?.filter(|purchase| purchase.user == self.user);
        let mut purchase = found.ok_or(refused(CancelPurchaseRefusal::UnknownPurchase))?;
        let not_pending = refused(CancelPurchaseRefusal::NotPending(purchase.state));
        if purchase.state != PurchaseState::Pending {
            return Err(not_pending);
        }
        // Only purchases for money wait.
        let mut payment = tx.payment(self.purchase.into())?.ok_or(not_pending)?;
        packs::cancel_purchase(tx, ctx, &mut purchase, &mut payment, &self.book)?;
        Ok(purchase)
    }
}

impl App {
    /// Cancels a pending purchase after its checkout was closed at the provider, so that it can no longer be paid. If
    /// it turns out to be paid, it is completed instead. A payment that arrives nevertheless is refunded, as every
    /// payment of a purchase that has ended.
    ///
    /// # Errors
    ///
    /// Refuses a purchase that is not pending, and one whose checkout the provider does not close.
    pub async fn cancel_purchase(
        &self,
        user: UserId,
        purchase: PurchaseId,
    ) -> Outcome<Purchase, CancelPurchaseRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let unknown = |failure| match failure {
            Failure::Refused(NotFound) => refused(CancelPurchaseRefusal::UnknownPurchase),
            Failure::Broken(error) => Failure::Broken(error),
        };
        let (found, _) = self.query(GetPurchase { user, purchase }).await.map_err(unknown)?;
        if found.state != PurchaseState::Pending {
            return Err(refused(CancelPurchaseRefusal::NotPending(found.state)));
        }
        self.close_checkout(purchase.into()).await?;
        let book = self.pack_book().await?;
        self.execute(CancelPurchase { user, purchase, book }).await
    }

    /// Closes the checkout of a payable, if one was begun at the provider that this process has. What the provider
    /// reports instead is applied as a notice.
    pub(crate) async fn close_checkout(&self, payable: Payable) -> Outcome<(), CancelPurchaseRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let Some((found, payment)) = into_infallible(self.query(FindPayment { payable }).await)? else {
            return Ok(());
        };
        let (Some(provider), Some(begun)) = (self.provider_of(&payment), BegunCheckout::of(&found, &payment))
        else {
            return Ok(());
        };
        let (kind, money) = match provider.close(begun.clone()).await {
            Ok(PaymentState::Ended) => return Ok(()),
            Ok(PaymentState::Open) => return Err(refused(CancelPurchaseRefusal::BeingPaid)),
            Ok(PaymentState::Paid(money)) => (NoticeKind::Paid, money),
            Ok(PaymentState::Refunded(money)) => (NoticeKind::Refunded, money),
            Err(fault) => {
                log::warn!("the checkout of {payable} was not closed: {fault}");
                return Err(refused(CancelPurchaseRefusal::NotNow));
            }
        };
        let notice = self.found(&begun, kind, money);
        self.take_notice(provider.name(), notice).await?;
        Ok(())
    }
}
