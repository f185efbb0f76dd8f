//! Settles what is paid for, whatever its kind, within the caller's transaction.

use crate::packs::{
    PackBook, SeedCipher, cancel_purchase, complete_purchase, expire_purchase, refund_purchase,
};
use crate::payments::{Charge, Payable, Payment, RefundState};
use crate::store::{PurchaseTx, SettlementTx};
use terrace_kernel::{Ctx, StoreError};
use terrace_packs::Purchase;

/// What a payment is for, locked until the transaction ends. The caller has locked the fan before.
pub(crate) enum Locked {
    Purchase(Purchase),
}

/// Locks what a payment is for until the transaction ends.
pub fn lock_charge(tx: &mut dyn PurchaseTx, payable: Payable) -> Result<Option<Charge>, StoreError> {
    Ok(Locked::lock(tx, payable)?.map(|locked| locked.charge()))
}

impl Locked {
    pub(crate) fn lock(tx: &mut dyn PurchaseTx, payable: Payable) -> Result<Option<Self>, StoreError> {
        Ok(match payable {
            Payable::Purchase(id) => tx.lock_purchase(id)?.map(Self::Purchase),
        })
    }

    pub(crate) fn charge(&self) -> Charge {
        match self {
            Self::Purchase(purchase) => Charge::from(purchase),
        }
    }

    /// The payment arrived: the fan gets what it was for.
    pub(crate) fn complete(
        &mut self,
        tx: &mut dyn SettlementTx,
        ctx: &mut Ctx,
        payment: &mut Payment,
        safe: &SeedCipher,
    ) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => complete_purchase(tx, ctx, purchase, payment, safe),
        }
    }

    /// The payment did not arrive in time: what was reserved is released.
    pub(crate) fn expire(
        &mut self,
        tx: &mut dyn SettlementTx,
        ctx: &mut Ctx,
        payment: &mut Payment,
        book: &PackBook,
    ) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => expire_purchase(tx, ctx, purchase, payment, book),
        }
    }

    /// It will not be paid: what was reserved is released.
    pub(crate) fn cancel(
        &mut self,
        tx: &mut dyn SettlementTx,
        ctx: &mut Ctx,
        payment: &mut Payment,
        book: &PackBook,
    ) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => cancel_purchase(tx, ctx, purchase, payment, book),
        }
    }

    /// The payment is returned, and what the fan got for it is taken back.
    pub(crate) fn refund(
        &mut self,
        tx: &mut dyn SettlementTx,
        ctx: &mut Ctx,
        payment: &mut Payment,
        book: &PackBook,
        state: RefundState,
    ) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => refund_purchase(tx, ctx, purchase, payment, book, state),
        }
    }
}
