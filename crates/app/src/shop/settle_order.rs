//! State changes of orders, within the caller's transaction. The caller has locked the fan and then the order; stocks are
//! changed last, because every buyer of a variant waits for them.
//!
//! Points, coins and balance of a pending order are held: one transfer moves each from the fan to the account `held`, and
//! one other transfer settles it. The source of that one names the order and the kind only, so that whatever happens to an
//! order, and how often, a hold goes to the service or back to the fan exactly once.

use crate::balances::transfer;
use crate::payments::{Charge, Payment, RefundState, close, give_back, take_in};
use crate::store::{PurchaseTx, SettlementTx, TransferTx};
use terrace_kernel::{Ctx, EventKind, EventLog, NewEvent, StoreError, Timestamp, Topic};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_shop::{
    CartItem, CartWrite, LineState, Order, OrderLineId, OrderState, OrderWrite, ProductKind, VariantId, merge,
};

/// The longest reason of a transfer.
const LONGEST_REASON: usize = 200;

fn defect(cause: impl std::fmt::Display) -> StoreError {
    StoreError::defect("settle an order", cause.to_string())
}

/// Appends the event for an order's state.
pub(crate) fn publish_order(tx: &mut dyn EventLog, order: &Order, at: Timestamp) -> Result<(), StoreError> {
    let event = NewEvent {
        topic: Topic::Packs,
        kind: EventKind::OrderChanged,
        actor: Some(order.user),
        team: None,
        subject: order.id.as_uuid(),
        object: None,
    };
    tx.append_with_detail(&event, order.state.as_str(), at)
}

/// Changes the state of a locked order, and appends the event.
pub(super) fn change(
    tx: &mut dyn PurchaseTx,
    ctx: &Ctx,
    order: &mut Order,
    to: OrderState,
) -> Result<(), StoreError> {
    if !order.state.may_become(to) {
        return Err(defect(format!("what is {} cannot become {to}", order.state)));
    }
    let paid_at = order.paid_at.or_else(|| to.is_paid().then(|| ctx.now()));
    if !tx.move_order(order.id, order.state, to, paid_at, ctx.now())? {
        return Err(defect("it changed under a lock"));
    }
    order.state = to;
    order.paid_at = paid_at;
    order.changed_at = ctx.now();
    order.checkout_url = None;
    publish_order(tx, order, ctx.now())
}

/// A kind of value that an order holds, with the names of the transfers that move it.
struct Held {
    kind: AccountKind,
    amount: i64,
    /// From the fan to the account `held`.
    hold: &'static str,
    /// From there to the service, or back to the fan.
    settle: &'static str,
    /// From the service to the fan, after a refund.
    give_back: &'static str,
}

fn held(order: &Order) -> Vec<Held> {
    let paid = order.paid_by;
    let of = |kind, amount, hold, settle, give_back| Held { kind, amount, hold, settle, give_back };
    let mut all = vec![
        of(AccountKind::Points, paid.points, "hold_points", "settle_points", "return_points"),
        of(AccountKind::Coins, paid.coins, "hold_coins", "settle_coins", "return_coins"),
    ];
    if let Some(currency) = order.currency {
        let kind = AccountKind::Money(currency);
        all.push(of(kind, paid.balance, "hold_balance", "settle_balance", "return_balance"));
    }
    all.retain(|held| held.amount > 0);
    all
}

fn pay(
    tx: &mut dyn TransferTx,
    ctx: &mut Ctx,
    order: &Order,
    (kind, amount): (AccountKind, i64),
    (debit, credit): (Holder, Holder),
    source: TransferSource,
) -> Result<TransferOutcome, StoreError> {
    let due = Transfer {
        id: ctx.new_id(),
        kind,
        debit,
        credit,
        amount: Amount::new(amount).map_err(defect)?,
        reason: order.description().chars().take(LONGEST_REASON).collect(),
        source,
        at: ctx.now(),
    };
    transfer(tx, &due)
}

/// Holds what the order takes of the fan's balances. Returns `false` if the fan has less than that.
pub(super) fn hold(tx: &mut dyn TransferTx, ctx: &mut Ctx, order: &Order) -> Result<bool, StoreError> {
    let accounts = (Holder::Fan(order.user), Holder::House(House::Held));
    for Held { kind, amount, hold, .. } in held(order) {
        match pay(tx, ctx, order, (kind, amount), accounts, TransferSource::of(hold, order.id))? {
            TransferOutcome::Now { .. } => {}
            TransferOutcome::Insufficient { .. } => return Ok(false),
            TransferOutcome::Before | TransferOutcome::NoFan => {
                return Err(defect("a new order held something before"));
            }
        }
    }
    Ok(true)
}

/// Settles what the order holds: the service gets it, or the fan has it back.
fn settle_holds(tx: &mut dyn TransferTx, ctx: &mut Ctx, order: &Order, to: Holder) -> Result<(), StoreError> {
    let from = Holder::House(House::Held);
    for Held { kind, amount, settle, .. } in held(order) {
        let source = TransferSource::of(settle, order.id);
        let mut outcome = pay(tx, ctx, order, (kind, amount), (from, to), source.clone())?;
        if outcome == TransferOutcome::NoFan {
            // The account is deleted.
            let lost = Holder::House(House::WrittenOff);
            outcome = pay(tx, ctx, order, (kind, amount), (from, lost), source)?;
        }
        if !matches!(outcome, TransferOutcome::Now { .. }) {
            return Err(defect(format!("a hold was settled before: {outcome:?}")));
        }
    }
    Ok(())
}

/// Settles the holds of an order that has ended: the service gets those of a paid one, the fan has the others back. Returns
/// how many were not settled before.
pub fn settle_lost_holds(tx: &mut dyn TransferTx, ctx: &mut Ctx, order: &Order) -> Result<u64, StoreError> {
    if order.state == OrderState::Pending {
        return Ok(0);
    }
    let to = match order.paid_at {
        Some(_) => Holder::House(House::Revenue),
        None => Holder::Fan(order.user),
    };
    let mut settled = 0;
    for Held { kind, amount, hold, settle, .. } in held(order) {
        if tx.transfer_of(&TransferSource::of(hold, order.id))?.is_none() {
            continue;
        }
        let source = TransferSource::of(settle, order.id);
        let accounts = (Holder::House(House::Held), to);
        let mut outcome = pay(tx, ctx, order, (kind, amount), accounts, source.clone())?;
        if outcome == TransferOutcome::NoFan {
            let lost = (Holder::House(House::Held), Holder::House(House::WrittenOff));
            outcome = pay(tx, ctx, order, (kind, amount), lost, source)?;
        }
        settled += u64::from(matches!(outcome, TransferOutcome::Now { .. }));
    }
    Ok(settled)
}

/// Completes an order that is paid: settles its holds, books the money as revenue, and delivers what is digital.
pub(crate) fn complete_order(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    order: &mut Order,
    payment: Option<&mut Payment>,
) -> Result<(), StoreError> {
    let to = order.state_when_paid();
    change(tx, ctx, order, to)?;
    if order.card().is_some() {
        take_in(tx, ctx, &Charge::from(&*order))?;
    }
    settle_holds(tx, ctx, order, Holder::House(House::Revenue))?;
    deliver_goods(tx, ctx, order)?;
    match payment {
        Some(payment) => close(tx, payment, None),
        None => Ok(()),
    }
}

/// Gives the fan what the digital lines grant.
fn deliver_goods(tx: &mut dyn SettlementTx, ctx: &mut Ctx, order: &mut Order) -> Result<(), StoreError> {
    let mut delivered: Vec<OrderLineId> = Vec::new();
    for line in order.lines.iter().filter(|line| line.kind == ProductKind::Digital) {
        delivered.push(line.id);
        if line.granted > 0 {
            let accounts = (Holder::House(House::Issuance), Holder::Fan(order.user));
            let source = TransferSource::of("grant", line.id);
            let given = pay(tx, ctx, order, (AccountKind::Coins, line.granted), accounts, source)?;
            if !matches!(given, TransferOutcome::Now { .. }) {
                return Err(defect(format!("a line was not delivered: {given:?}")));
            }
        }
    }
    tx.move_lines(&delivered, LineState::Delivered, None)?;
    for line in order.lines.iter_mut().filter(|line| delivered.contains(&line.id)) {
        line.state = LineState::Delivered;
    }
    Ok(())
}

/// Ends an order that will not be paid: the fan has back what was held, the lines return to the cart, and their units to
/// the stock. `can_own` is whether the account exists.
pub(crate) fn end_order(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    order: &mut Order,
    payment: Option<&mut Payment>,
    to: OrderState,
    can_own: bool,
) -> Result<(), StoreError> {
    change(tx, ctx, order, to)?;
    if let Some(payment) = payment {
        close(tx, payment, None)?;
    }
    settle_holds(tx, ctx, order, Holder::Fan(order.user))?;
    if can_own {
        put_back(tx, order, ctx.now())?;
    }
    release(tx, &order.taken())
}

/// Merges the lines of an order into the fan's cart.
fn put_back(tx: &mut dyn CartWrite, order: &Order, now: Timestamp) -> Result<(), StoreError> {
    let item = |line: &terrace_shop::OrderLine| CartItem {
        variant: line.variant,
        price: line.price,
        quantity: line.quantity,
    };
    let items: Vec<_> = order.lines.iter().map(item).collect();
    let cart: Vec<_> = tx.cart(order.user)?.items.into_iter().map(|(item, _)| item).collect();
    let (written, _) = merge(&cart, &items);
    if written.is_empty() {
        return Ok(());
    }
    tx.touch_cart(order.user, now)?;
    tx.put_cart_lines(order.user, &written, now)
}

/// Returns units to the stocks, in the order of the ids.
fn release(tx: &mut dyn OrderWrite, units: &[(VariantId, u32)]) -> Result<(), StoreError> {
    units.iter().try_for_each(|(variant, units)| tx.release_stock(*variant, *units))
}

/// Refunds an order as a whole: each part goes back in its kind, what was granted is taken back as far as the fan still has
/// it, and all lines are revoked. The provider has already refunded its part, or owes it until it confirms it.
pub(crate) fn refund_order(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    order: &mut Order,
    payment: Option<&mut Payment>,
    state: RefundState,
) -> Result<(), StoreError> {
    let (was_pending, was_paid) = (order.state == OrderState::Pending, order.state.is_paid());
    if was_pending {
        change(tx, ctx, order, OrderState::Cancelled)?;
        settle_holds(tx, ctx, order, Holder::Fan(order.user))?;
    }
    change(tx, ctx, order, OrderState::Refunded)?;
    if order.card().is_some() {
        take_in(tx, ctx, &Charge::from(&*order))?;
        give_back(tx, ctx, &Charge::from(&*order))?;
    }
    if let Some(payment) = payment {
        payment.refund = Some(state);
        close(tx, payment, (state == RefundState::Owed).then(|| ctx.now()))?;
    }
    if was_paid {
        return_parts(tx, ctx, order)?;
        take_back_grants(tx, ctx, order)?;
    }
    let returned: Vec<_> = order.lines.iter().filter(|line| line.shipment.is_none()).cloned().collect();
    let all: Vec<_> = order.lines.iter().map(|line| line.id).collect();
    tx.move_lines(&all, LineState::Revoked, None)?;
    order.lines.iter_mut().for_each(|line| line.state = LineState::Revoked);
    if was_pending || was_paid {
        let units = Order { lines: returned, ..order.clone() }.taken();
        release(tx, &units)?;
    }
    Ok(())
}

/// Returns the points, coins and balance that the service got.
fn return_parts(tx: &mut dyn TransferTx, ctx: &mut Ctx, order: &Order) -> Result<(), StoreError> {
    let from = Holder::House(House::Revenue);
    for Held { kind, amount, give_back, .. } in held(order) {
        let source = TransferSource::of(give_back, order.id);
        let accounts = (from, Holder::Fan(order.user));
        match pay(tx, ctx, order, (kind, amount), accounts, source)? {
            // A deleted account gets nothing.
            TransferOutcome::Now { .. } | TransferOutcome::NoFan => {}
            outcome @ (TransferOutcome::Before | TransferOutcome::Insufficient { .. }) => {
                return Err(defect(format!("a part was returned before: {outcome:?}")));
            }
        }
    }
    Ok(())
}

/// Takes back the coins that the order granted. What the fan has spent of them is written off.
fn take_back_grants(tx: &mut dyn TransferTx, ctx: &mut Ctx, order: &Order) -> Result<(), StoreError> {
    let granted = order.granted();
    if granted == 0 {
        return Ok(());
    }
    let balances = tx.lock_balances(order.user)?;
    let has = balances.iter().find(|balance| balance.kind == AccountKind::Coins);
    let taken = has.map_or(0, |balance| balance.amount).clamp(0, granted);
    let issuance = Holder::House(House::Issuance);
    let parts = [
        (taken, Holder::Fan(order.user), "ungrant"),
        (granted.saturating_sub(taken), Holder::House(House::WrittenOff), "ungrant_spent"),
    ];
    for (amount, from, source) in parts.into_iter().filter(|(amount, ..)| *amount > 0) {
        let source = TransferSource::of(source, order.id);
        let outcome = pay(tx, ctx, order, (AccountKind::Coins, amount), (from, issuance), source)?;
        if !matches!(outcome, TransferOutcome::Now { .. }) {
            return Err(defect(format!("a grant was taken back before: {outcome:?}")));
        }
    }
    Ok(())
}
