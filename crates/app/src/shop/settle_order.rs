//! State changes of orders, within the caller's transaction. The caller has locked the fan and then the order; stocks are
//! changed last, because every buyer of a variant waits for them: those of packs, then those of variants.
//!
//! Points, coins and balance of a pending order are held: one transfer moves each from the fan to the account `held`, and
//! one other transfer settles it. The source of that one names the order and the kind only, so that whatever happens to an
//! order, and how often, a hold goes to the service or back to the fan exactly once.

use crate::balances::transfer;
use crate::grants::{self, Gift, Granter, give, take_back};
use crate::payments::{Charge, Payment, Refund, RefundState, close, record_refund, take_in};
use crate::store::{PurchaseTx, SettlementTx, TransferTx};
use terrace_kernel::{Ctx, Currency, EventKind, EventLog, Failure, NewEvent, StoreError, Timestamp, Topic};
use terrace_ledger::{AccountKind, Amount, Holder, House, Transfer, TransferOutcome, TransferSource};
use terrace_shop::{
    CartItem, CartWrite, LineState, Order, OrderLine, OrderLineId, OrderState, OrderWrite, PaidBy,
    ProductKind, RefundPlan, VariantId, merge,
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
    of_balances(order.paid_by, order.currency)
}

/// The parts of a payment that come from balances.
fn of_balances(paid: PaidBy, currency: Option<Currency>) -> Vec<Held> {
    let of = |kind, amount, hold, settle, give_back| Held { kind, amount, hold, settle, give_back };
    let mut all = vec![
        of(AccountKind::Points, paid.points, "hold_points", "settle_points", "return_points"),
        of(AccountKind::Coins, paid.coins, "hold_coins", "settle_coins", "return_coins"),
    ];
    if let Some(currency) = currency {
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
    granter: &Granter,
) -> Result<(), StoreError> {
    let to = order.state_when_paid();
    change(tx, ctx, order, to)?;
    if order.card().is_some() {
        take_in(tx, ctx, &Charge::from(&*order))?;
    }
    settle_holds(tx, ctx, order, Holder::House(House::Revenue))?;
    deliver_goods(tx, ctx, order, granter)?;
    match payment {
        Some(payment) => close(tx, payment, None),
        None => Ok(()),
    }
}

/// Gives the fan what the digital lines grant.
fn deliver_goods(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    order: &mut Order,
    granter: &Granter,
) -> Result<(), StoreError> {
    let gift = |line: &OrderLine| Gift {
        source: line.source(),
        grants: line.grants.clone(),
        reason: order.description(),
    };
    let gifts: Vec<Gift> = order.granting().map(gift).collect();
    let expected: usize = gifts.iter().map(|gift| gift.grants.len()).sum();
    // The packs were taken from the stock with the pending order.
    let given = give(tx, ctx, order.user, &gifts, &granter.reserved()).map_err(|failure| match failure {
        Failure::Broken(error) => error,
        Failure::Refused(refusal) => defect(format!("a line was not delivered: {refusal}")),
    })?;
    if given.len() != expected {
        return Err(defect("a line was delivered before"));
    }
    let digital = order.lines.iter().filter(|line| line.kind == ProductKind::Digital);
    let delivered: Vec<OrderLineId> = digital.map(|line| line.id).collect();
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
    grants::release(tx, &order.grants())?;
    release(tx, &order.taken())
}

/// Merges the lines of an order into the fan's cart.
fn put_back(tx: &mut dyn CartWrite, order: &Order, now: Timestamp) -> Result<(), StoreError> {
    let item =
        |line: &OrderLine| CartItem { variant: line.variant, price: line.price, quantity: line.quantity };
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

/// Refunds all lines of an order that were not refunded yet. The provider has already refunded its part, or owes it until
/// it confirms it.
pub(crate) fn refund_order(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    order: &mut Order,
    payment: Option<&mut Payment>,
    state: RefundState,
) -> Result<(), StoreError> {
    let was_pending = order.state == OrderState::Pending;
    if was_pending {
        change(tx, ctx, order, OrderState::Cancelled)?;
        settle_holds(tx, ctx, order, Holder::Fan(order.user))?;
        grants::release(tx, &order.grants())?;
    }
    let plan = if order.state.is_paid() {
        order.refund_of(None).map_err(defect)?
    } else {
        order.refund_of_late_money(was_pending)
    };
    refund_lines(tx, ctx, order, payment, &plan, state)
}

/// Refunds lines of an order: what they granted is taken back as far as the fan still has it, each part goes back in its
/// kind, and the lines are revoked.
pub(super) fn refund_lines(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    order: &mut Order,
    payment: Option<&mut Payment>,
    plan: &RefundPlan,
    state: RefundState,
) -> Result<(), StoreError> {
    let refund = Refund {
        currency: order.currency,
        with_shipping: plan.with_shipping,
        ..Refund::new(ctx.new_id(), order.id.into(), plan.parts, state, ctx.now())
    };
    if order.card().is_some() {
        take_in(tx, ctx, &Charge::from(&*order))?;
    }
    record_refund(tx, ctx, payment, &refund)?;
    // Before parts go back, so that no returned coin pays for one that was spent.
    take_back(tx, ctx, order.user, &plan.given, &order.description())?;
    return_parts(tx, ctx, order, &refund)?;
    tx.revoke_lines(&plan.lines, refund.id)?;
    for line in order.lines.iter_mut().filter(|line| plan.lines.contains(&line.id)) {
        line.state = LineState::Revoked;
        line.refund = Some(refund.id);
    }
    match order.state_after_refund() {
        Some(to) => change(tx, ctx, order, to)?,
        None => publish_order(tx, order, ctx.now())?,
    }
    release(tx, &plan.units)
}

/// Returns the points, coins and balance that the service got.
fn return_parts(
    tx: &mut dyn TransferTx,
    ctx: &mut Ctx,
    order: &Order,
    refund: &Refund,
) -> Result<(), StoreError> {
    let from = Holder::House(House::Revenue);
    for Held { kind, amount, give_back, .. } in of_balances(refund.parts, refund.currency) {
        let source = TransferSource::of(give_back, refund.id);
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
