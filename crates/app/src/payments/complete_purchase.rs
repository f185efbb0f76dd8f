//! Delivers paid purchases to fans, and ends purchases that are not paid.

use crate::once::KeyedRequest;
use crate::packs::{PackBook, PackPurchased};
use crate::payments::{Checkout, settle};
use crate::store::{CheckoutTx, Command, PurchaseTx, StoredAnswer};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Outcome, StoreError, UserId};
use terrace_packs::{PackId, PurchaseId, PurchaseState, SaleRead};

/// Returns a fan's purchase with its copies, once it is paid (spec §4, "complete pack purchase"). Read-only: the
/// notice of the payment has already completed the purchase.
#[derive(Debug, Clone)]
pub struct CompletePurchase {
    /// The fan.
    pub user: UserId,
    pub pack: PackId,
    pub purchase: PurchaseId,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
}

/// Why there is nothing to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletePurchaseRefusal {
    /// The fan has no such purchase of the pack.
    UnknownPurchase,
    /// The payment is not known yet.
    Pending,
    /// The payment did not arrive in time.
    Expired,
    /// The payment was declined or cancelled.
    Cancelled,
    /// The payment was refunded.
    Refunded,
}

impl Command for CompletePurchase {
    const NAME: &'static str = "complete_purchase";
    type Ports = dyn SaleRead;
    type Output = PackPurchased;
    type Refusal = CompletePurchaseRefusal;

    fn run(&self, tx: &mut dyn SaleRead, _ctx: &mut Ctx) -> Outcome<PackPurchased, CompletePurchaseRefusal> {
        let purchase = tx.purchase(self.user, self.purchase)?.filter(|found| found.pack == self.pack);
        let purchase = purchase.ok_or(Failure::Refused(CompletePurchaseRefusal::UnknownPurchase))?;
        let refusal = match purchase.state {
            PurchaseState::Completed => {
                let copies = tx.copies_of(purchase.id)?;
                return Ok(PackPurchased { purchase, copies, book: Arc::clone(&self.book) });
            }
            PurchaseState::Pending => CompletePurchaseRefusal::Pending,
            PurchaseState::Expired => CompletePurchaseRefusal::Expired,
            PurchaseState::Cancelled => CompletePurchaseRefusal::Cancelled,
            PurchaseState::Refunded => CompletePurchaseRefusal::Refunded,
        };
        Err(Failure::Refused(refusal))
    }
}

/// Records the checkout of a purchase, and returns the answer for its current state, which replaces the one stored
/// under the request's key.
pub(crate) struct RecordCheckout {
    pub(crate) purchase: PurchaseId,
    /// The checkout begun at the provider; if one is already recorded, that one stays.
    pub(crate) checkout: Option<Checkout>,
    pub(crate) request: Option<KeyedRequest>,
    pub(crate) render: fn(&PackPurchased) -> StoredAnswer,
    pub(crate) book: Arc<PackBook>,
}

impl Command for RecordCheckout {
    const NAME: &'static str = "record_checkout";
    type Ports = dyn CheckoutTx;
    type Output = StoredAnswer;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn CheckoutTx, _ctx: &mut Ctx) -> Outcome<StoredAnswer, Infallible> {
        let gone = || StoreError::defect("record a checkout", "its purchase is gone");
        let found = tx.lock_purchase(self.purchase)?.ok_or_else(gone)?;
        if let Some(checkout) = &self.checkout
            && found.state == PurchaseState::Pending
            && tx.set_checkout(found.id, &checkout.url)?
            && let Some(mut payment) = tx.payment(found.id)?
        {
            payment.reference.get_or_insert_with(|| checkout.reference.clone());
            tx.put_payment(&payment)?;
        }
        let purchase = tx.purchase(found.user, found.id)?.ok_or_else(gone)?;
        let copies = tx.copies_of(purchase.id)?;
        let answer = (self.render)(&PackPurchased { purchase, copies, book: Arc::clone(&self.book) });
        if let Some(KeyedRequest { scope, key, .. }) = &self.request {
            tx.store_answer(scope, key, scope.account, &answer)?;
        }
        Ok(answer)
    }
}

/// How an unpaid purchase ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CloseReason {
    /// It has expired. Ignored before its expiry.
    Expired,
    /// The provider rejects it.
    Cancelled,
}

/// Ends a pending purchase; returns whether this command ended it.
pub struct EndPending {
    pub purchase: PurchaseId,
    pub how: CloseReason,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
}

impl Command for EndPending {
    const NAME: &'static str = "end_pending_purchase";
    type Ports = dyn PurchaseTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PurchaseTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        let Some(found) = tx.lock_purchase(self.purchase)? else { return Ok(false) };
        let Some(mut payment) = tx.payment(self.purchase)? else { return Ok(false) };
        let (mut purchase, book) = (found, &self.book);
        let is_over = purchase.expires_at.is_none_or(|at| at.is_over(ctx.now()));
        if purchase.state != PurchaseState::Pending || (self.how == CloseReason::Expired && !is_over) {
            return Ok(false);
        }
        match self.how {
            CloseReason::Expired => settle::expire(tx, ctx, &mut purchase, &mut payment, book)?,
            CloseReason::Cancelled => settle::cancel(tx, ctx, &mut purchase, &mut payment, book)?,
        }
        Ok(true)
    }
}
