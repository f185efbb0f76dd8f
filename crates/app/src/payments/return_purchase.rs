//! Returns of purchases for money.

use crate::App;
use crate::packs::{PackBook, refund_purchase};
use crate::payments::RefundState;
use crate::store::{Command, PaymentTx};
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Outcome, UserId};
use terrace_packs::{PurchaseId, PurchaseState, UserPackState};

/// Returns a purchase for money if none of its copies was opened: the copies are revoked and the provider owes the
/// refund. No effect if it was refunded before.
#[derive(Debug, Clone)]
pub struct ReturnPurchase {
    /// The buyer.
    pub user: UserId,
    pub purchase: PurchaseId,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
}

/// Why a purchase is not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnPurchaseRefusal {
    /// The fan has no such purchase for money.
    UnknownPurchase,
    /// A copy was opened.
    Used,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for ReturnPurchase {
    const NAME: &'static str = "return_purchase";
    type Ports = dyn PaymentTx;
    type Output = ();
    type Refusal = ReturnPurchaseRefusal;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<(), ReturnPurchaseRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        // An opening locks the account as well, so no copy can be opened from here on.
        tx.lock_fan(self.user)?.ok_or(refused(ReturnPurchaseRefusal::NotActive))?;
        let unknown = || refused(ReturnPurchaseRefusal::UnknownPurchase);
        let purchase = tx.lock_purchase(self.purchase)?.filter(|purchase| purchase.user == self.user);
        let (mut purchase, payment) = (purchase.ok_or_else(unknown)?, tx.payment(self.purchase.into())?);
        let mut payment = payment.ok_or_else(unknown)?;
        if purchase.state == PurchaseState::Refunded {
            return Ok(());
        }
        let opened = UserPackState::Opened;
        if tx.copies_of(purchase.id)?.iter().any(|copy| copy.state == opened) {
            return Err(refused(ReturnPurchaseRefusal::Used));
        }
        Ok(refund_purchase(tx, ctx, &mut purchase, &mut payment, &self.book, RefundState::Owed)?)
    }
}

impl App {
    /// Returns a purchase that the fan has paid for.
    ///
    /// # Errors
    ///
    /// If the packs cannot be read.
    pub async fn return_purchase(
        &self,
        user: UserId,
        purchase: PurchaseId,
    ) -> Outcome<(), ReturnPurchaseRefusal> {
        let book = self.pack_book().await?;
        self.execute(ReturnPurchase { user, purchase, book }).await
    }
}
