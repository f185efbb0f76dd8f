//! State changes of purchases for money, within the caller's transaction. The caller has locked the fan and then the
//! purchase.

use crate::packs::{PackBook, SeedCipher, sealed_copies};
use crate::payments::{Charge, Payment, Refund, RefundState, close, record_refund, take_in};
use crate::store::{CopyTx, PurchaseTx, SettlementTx};
use terrace_kernel::{Ctx, EventKind, EventLog, NewEvent, StoreError, Timestamp, Topic, UserId};
use terrace_packs::{
    IllegalTransition, PackId, Purchase, PurchaseId, PurchaseState, SaleWrite, StockChange, Transition,
    UserPackState,
};
use terrace_shop::{PaidBy, RefundId};

fn defect(cause: impl std::fmt::Display) -> StoreError {
    StoreError::defect("settle a purchase", cause.to_string())
}

type Change = Result<Transition<PurchaseState>, IllegalTransition<PurchaseState>>;

/// Appends the event for a purchase's new state.
pub fn publish_purchase(
    tx: &mut dyn EventLog,
    user: UserId,
    purchase: PurchaseId,
    state: PurchaseState,
    at: Timestamp,
) -> Result<(), StoreError> {
    tx.append_with_detail(&purchase_event(user, purchase), state.as_str(), at)
}

/// The event for a new state of a purchase, whose detail is the state.
pub(super) fn purchase_event(user: UserId, purchase: PurchaseId) -> NewEvent {
    NewEvent {
        topic: Topic::Packs,
        kind: EventKind::PurchaseChanged,
        actor: Some(user),
        team: None,
        subject: purchase.as_uuid(),
        object: None,
    }
}

/// Changes the state of a locked purchase, and appends the event.
fn change(
    tx: &mut dyn PurchaseTx,
    ctx: &Ctx,
    purchase: &mut Purchase,
    change: fn(PurchaseState) -> Change,
) -> Result<(), StoreError> {
    let change = change(purchase.state).map_err(defect)?;
    if !tx.move_purchase(purchase.id, change, ctx.now())? {
        return Err(defect("it changed under a lock"));
    }
    purchase.state = change.to();
    purchase.changed_at = ctx.now();
    purchase.checkout_url = None;
    publish_purchase(tx, purchase.user, purchase.id, purchase.state, ctx.now())
}

/// Completes a paid purchase: books the money as revenue, and creates the fan's copies, each with its own seed.
pub(crate) fn complete_purchase(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    safe: &SeedCipher,
) -> Result<(), StoreError> {
    change(tx, ctx, purchase, PurchaseState::complete)?;
    take_in(tx, ctx, &Charge::from(&*purchase))?;
    let copies = sealed_copies(purchase, safe, ctx)?;
    tx.insert_copies(&copies)?;
    close(tx, payment, None)
}

/// Expires a purchase that was not paid in time, and releases its stock.
pub(crate) fn expire_purchase(
    tx: &mut dyn PurchaseTx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    book: &PackBook,
) -> Result<(), StoreError> {
    end(tx, ctx, purchase, payment, book, PurchaseState::expire)
}

/// Cancels a purchase that will not be paid, and releases its stock.
pub(crate) fn cancel_purchase(
    tx: &mut dyn PurchaseTx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    book: &PackBook,
) -> Result<(), StoreError> {
    end(tx, ctx, purchase, payment, book, PurchaseState::cancel)
}

/// Ends a pending purchase by this transition.
fn end(
    tx: &mut dyn PurchaseTx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    book: &PackBook,
    how: fn(PurchaseState) -> Change,
) -> Result<(), StoreError> {
    change(tx, ctx, purchase, how)?;
    close(tx, payment, None)?;
    release(tx, purchase, book)
}

/// Refunds a purchase. The provider has already refunded the payment, or owes the refund until it confirms it. The
/// copies of a completed purchase are revoked, opened or not, with their collectibles. Serials already assigned are
/// not reused; copies that were never opened return to the stock.
pub(crate) fn refund_purchase(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    book: &PackBook,
    state: RefundState,
) -> Result<(), StoreError> {
    let (was_pending, was_completed) =
        (purchase.state == PurchaseState::Pending, purchase.state == PurchaseState::Completed);
    if was_pending {
        change(tx, ctx, purchase, PurchaseState::cancel)?;
    }
    change(tx, ctx, purchase, PurchaseState::refund)?;
    let charge = Charge::from(&*purchase);
    take_in(tx, ctx, &charge)?;
    let parts = PaidBy { card: purchase.total(), ..PaidBy::default() };
    let id = RefundId::from_uuid(purchase.id.as_uuid());
    let refund = Refund::new(id, charge.payable, parts, state, ctx.now());
    record_refund(tx, ctx, Some(payment), &Refund { currency: purchase.price.currency(), ..refund })?;
    if was_pending {
        release(tx, purchase, book)?;
    }
    if was_completed {
        revoke(tx, ctx, purchase, book)?;
    }
    Ok(())
}

/// Revokes all copies of a purchase, with their collectibles.
fn revoke(tx: &mut dyn CopyTx, ctx: &Ctx, purchase: &Purchase, book: &PackBook) -> Result<(), StoreError> {
    let mut unsold = 0_i32;
    for copy in tx.copies_of(purchase.id)? {
        // Read again under its lock: it may be in the process of being opened.
        let Some((copy, _)) = tx.lock_copy(purchase.user, copy.id)? else {
            return Err(defect("a copy is gone"));
        };
        let Ok(change) = copy.state.revoke() else { continue };
        if !tx.move_copy(copy.id, change, ctx.now())? {
            return Err(defect("a copy changed under a lock"));
        }
        if copy.state == UserPackState::Sealed {
            unsold = unsold.saturating_add(1);
        } else {
            tx.revoke_owned(copy.id, ctx.now())?;
        }
    }
    let StockChange { sold, sealed } = StockChange::UNSOLD;
    let change = StockChange { sold: sold.saturating_mul(unsold), sealed: sealed.saturating_mul(unsold) };
    count(tx, purchase.pack, change, book)
}

/// Returns the stock reserved by a pending purchase.
fn release(tx: &mut dyn SaleWrite, purchase: &Purchase, book: &PackBook) -> Result<(), StoreError> {
    count(tx, purchase.pack, StockChange::released(purchase.quantity), book)
}

/// Updates the stock. Called last, because every buyer of the pack waits for this lock.
fn count(
    tx: &mut dyn SaleWrite,
    pack: PackId,
    change: StockChange,
    book: &PackBook,
) -> Result<(), StoreError> {
    let pack = book.pack(pack).ok_or_else(|| defect("its pack is unknown"))?;
    if pack.is_counted() && (change.sold, change.sealed) != (0, 0) {
        tx.count_stock(pack.id, change)?;
    }
    Ok(())
}
