//! What becomes of a purchase for money, within the transaction of whoever decides it. The caller holds the fan and the
//! purchase locked, in this order.

use crate::packs::{PackBook, SeedCipher, sealed_copies};
use crate::payments::{Payment, RefundState};
use crate::store::Tx;
use std::time::Duration;
use terrace_kernel::{Ctx, EventKind, NewEvent, StoreError, Timestamp, Topic, UserId};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_packs::{
    IllegalTransition, PackId, Purchase, PurchaseId, PurchaseState, StockChange, Transition, UserPackState,
};

/// How long after its start a purchase is first looked at, in case that the notice of its payment is lost.
pub(crate) const CLAIM: Duration = Duration::from_mins(2);

fn defect(cause: impl std::fmt::Display) -> StoreError {
    StoreError::defect("settle a purchase", cause.to_string())
}

type Change = Result<Transition<PurchaseState>, IllegalTransition<PurchaseState>>;

/// Tells of the state that a purchase has since.
pub(crate) fn tell(
    tx: &mut dyn Tx,
    user: UserId,
    purchase: PurchaseId,
    state: PurchaseState,
    at: Timestamp,
) -> Result<(), StoreError> {
    let event = NewEvent {
        topic: Topic::Packs,
        kind: EventKind::PurchaseChanged,
        actor: Some(user),
        team: None,
        subject: purchase.as_uuid(),
        object: None,
    };
    tx.append_told(&event, state.as_str(), at)
}

/// Takes a purchase that is locked from one state to another, and tells of it.
fn change(
    tx: &mut dyn Tx,
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
    tell(tx, purchase.user, purchase.id, purchase.state, ctx.now())
}

/// It is paid: the money is the house's, and the copies are the fan's, each with a seed of its own.
pub(crate) fn complete(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    safe: &SeedCipher,
) -> Result<(), StoreError> {
    change(tx, ctx, purchase, PurchaseState::complete)?;
    take_in(tx, ctx, purchase)?;
    let copies = sealed_copies(purchase, safe, ctx)?;
    tx.insert_copies(&copies)?;
    close(tx, payment, None)
}

/// Nobody pays it in time: what it held can be bought by others.
pub(crate) fn expire(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    book: &PackBook,
) -> Result<(), StoreError> {
    end(tx, ctx, purchase, payment, book, PurchaseState::expire)
}

/// Nobody will pay it: what it held can be bought by others.
pub(crate) fn cancel(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    book: &PackBook,
) -> Result<(), StoreError> {
    end(tx, ctx, purchase, payment, book, PurchaseState::cancel)
}

/// Ends a purchase that waits for its payment in this way.
fn end(
    tx: &mut dyn Tx,
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

/// What was paid is given back: by the provider, who has done so already or is to be asked until it has. What came of a
/// completed purchase is taken back, opened or not; serials that were given out are not used again, and what was never
/// opened can be bought by others.
pub(crate) fn refund(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    purchase: &mut Purchase,
    payment: &mut Payment,
    book: &PackBook,
    given: RefundState,
) -> Result<(), StoreError> {
    let (was_pending, was_completed) =
        (purchase.state == PurchaseState::Pending, purchase.state == PurchaseState::Completed);
    if was_pending {
        change(tx, ctx, purchase, PurchaseState::cancel)?;
    }
    change(tx, ctx, purchase, PurchaseState::refund)?;
    take_in(tx, ctx, purchase)?;
    give_back(tx, ctx, purchase)?;
    payment.refund = Some(given);
    close(tx, payment, (given == RefundState::Owed).then(|| ctx.now()))?;
    if was_pending {
        release(tx, purchase, book)?;
    }
    if was_completed {
        revoke(tx, ctx, purchase, book)?;
    }
    Ok(())
}

/// Nothing of the payment is open any more, or something is due now.
fn close(tx: &mut dyn Tx, payment: &mut Payment, due_at: Option<Timestamp>) -> Result<(), StoreError> {
    payment.due_at = due_at;
    payment.attempts = 0;
    tx.put_payment(payment)
}

/// Takes all copies of a purchase back, with what they gave.
fn revoke(tx: &mut dyn Tx, ctx: &Ctx, purchase: &Purchase, book: &PackBook) -> Result<(), StoreError> {
    let mut unsold = 0_i32;
    for copy in tx.copies_of(purchase.id)? {
        // Read again under its lock: it may just be opened.
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

/// What a purchase that waited held can be bought by others.
fn release(tx: &mut dyn Tx, purchase: &Purchase, book: &PackBook) -> Result<(), StoreError> {
    count(tx, purchase.pack, StockChange::released(purchase.quantity), book)
}

/// Last of all: everybody waits for it who buys the pack.
fn count(tx: &mut dyn Tx, pack: PackId, change: StockChange, book: &PackBook) -> Result<(), StoreError> {
    let pack = book.pack(pack).ok_or_else(|| defect("its pack is unknown"))?;
    if pack.is_counted() && (change.sold, change.sealed) != (0, 0) {
        tx.count_stock(pack.id, change)?;
    }
    Ok(())
}

/// The money came in, if it had not. It is nobody's balance on its way: a fan pays elsewhere, and has nothing here.
fn take_in(tx: &mut dyn Tx, ctx: &mut Ctx, purchase: &Purchase) -> Result<(), StoreError> {
    journal(tx, ctx, purchase, ("payment", "Payment"), (House::Payments, House::Revenue))
}

/// The money goes out again.
fn give_back(tx: &mut dyn Tx, ctx: &mut Ctx, purchase: &Purchase) -> Result<(), StoreError> {
    journal(tx, ctx, purchase, ("refund", "Refund"), (House::Revenue, House::Payments))
}

fn journal(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    purchase: &Purchase,
    (source, reason): (&'static str, &str),
    (debit, credit): (House, House),
) -> Result<(), StoreError> {
    let currency = purchase.price.currency().ok_or_else(|| defect("it costs no money"))?;
    let currency = currency.to_string().parse().map_err(defect)?;
    let moved = tx.transfer(&Transfer {
        id: ctx.new_id(),
        kind: AccountKind::Money(currency),
        debit: Holder::House(debit),
        credit: Holder::House(credit),
        amount: Amount::new(purchase.total()).map_err(defect)?,
        reason: reason.to_owned(),
        source: TransferSource::of(source, purchase.id),
        at: ctx.now(),
    })?;
    match moved {
        TransferOutcome::Now { .. } | TransferOutcome::Before => Ok(()),
        TransferOutcome::Insufficient { .. } | TransferOutcome::NoFan => Err(defect("the house did not pay")),
    }
}
