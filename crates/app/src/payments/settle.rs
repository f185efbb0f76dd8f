//! Settles what is paid for, whatever its kind, within the caller's transaction.

use crate::grants::Granter;
use crate::packs::{
    PackBook, cancel_purchase, complete_purchase, expire_purchase, publish_purchase, refund_purchase,
};
use crate::payments::{Charge, Payable, Payment, RefundState};
use crate::shop::{complete_order, end_order, publish_order, refund_order};
use crate::store::{PurchaseTx, SettlementTx};
use terrace_kernel::{Ctx, StoreError};
use terrace_packs::Purchase;
use terrace_shop::{Order, OrderState};

/// What a payment is for, locked until the transaction ends. The caller has locked the fan before.
pub(crate) enum Locked {
    Purchase(Purchase),
    Order(Box<Order>),
}

/// Locks what a payment is for until the transaction ends.
pub fn lock_charge(tx: &mut dyn PurchaseTx, payable: Payable) -> Result<Option<Charge>, StoreError> {
    Ok(Locked::lock(tx, payable)?.map(|locked| locked.charge()))
}

impl Locked {
    pub(crate) fn lock(tx: &mut dyn PurchaseTx, payable: Payable) -> Result<Option<Self>, StoreError> {
        Ok(match payable {
            Payable::Purchase(id) => tx.lock_purchase(id)?.map(Self::Purchase),
            Payable::Order(id) => tx.lock_order(id)?.map(Box::new).map(Self::Order),
        })
    }

    pub(crate) fn charge(&self) -> Charge {
        match self {
            Self::Purchase(purchase) => Charge::from(purchase),
            Self::Order(order) => Charge::from(&**order),
        }
    }

    /// The payment arrived: the fan gets what it was for.
    pub(crate) fn complete(
        &mut self,
        tx: &mut dyn SettlementTx,
        ctx: &mut Ctx,
        payment: &mut Payment,
        granter: &Granter,
    ) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => complete_purchase(tx, ctx, purchase, payment, &granter.safe),
            Self::Order(order) => complete_order(tx, ctx, order, Some(payment), granter),
        }
    }

    /// The payment did not arrive in time: what was reserved is released. `can_own` is whether the account exists.
    pub(crate) fn expire(
        &mut self,
        tx: &mut dyn SettlementTx,
        ctx: &mut Ctx,
        payment: &mut Payment,
        book: &PackBook,
        can_own: bool,
    ) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => expire_purchase(tx, ctx, purchase, payment, book),
            Self::Order(order) => end_order(tx, ctx, order, Some(payment), OrderState::Expired, can_own),
        }
    }

    /// It will not be paid: what was reserved is released. `can_own` is whether the account exists.
    pub(crate) fn cancel(
        &mut self,
        tx: &mut dyn SettlementTx,
        ctx: &mut Ctx,
        payment: &mut Payment,
        book: &PackBook,
        can_own: bool,
    ) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => cancel_purchase(tx, ctx, purchase, payment, book),
            Self::Order(order) => end_order(tx, ctx, order, Some(payment), OrderState::Cancelled, can_own),
        }
    }

    /// Appends the event for its state, because something about its payment changed.
    pub(crate) fn publish(&self, tx: &mut dyn PurchaseTx, ctx: &Ctx) -> Result<(), StoreError> {
        match self {
            Self::Purchase(purchase) => {
                publish_purchase(tx, purchase.user, purchase.id, purchase.state, ctx.now())
            }
            Self::Order(order) => publish_order(tx, order, ctx.now()),
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
            Self::Order(order) => refund_order(tx, ctx, order, Some(payment), state),
        }
    }
}
