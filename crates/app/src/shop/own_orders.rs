//! A fan's own orders: reads, the completion of a checkout, cancelling and ordering again.

use crate::App;
use crate::grants::is_used;
use crate::once::KeyedRequest;
use crate::payments::{
    CancelPurchaseRefusal, Checkout, Dispute, DisputeState, Payable, PaymentRead, RefundState,
};
use crate::shop::cart::{merge_lines, show};
use crate::shop::settle_order::{end_order, refund_order};
use crate::shop::{CartMerged, GuestLine, ProductBook, ShownOrder};
use crate::store::{
    CartTx, CheckoutTx, Command, OrderReadTx, PaymentTx, Query, StoredAnswer, into_infallible,
};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_kernel::{Ctx, Failure, Limit, Outcome, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_shop::{MOST_UNITS, Order, OrderId, OrderLine, OrderState, RETURN_WINDOW};

pub(super) fn shown(tx: &mut dyn PaymentRead, order: Order) -> Result<ShownOrder, StoreError> {
    let all = all_shown(tx, vec![order])?;
    all.into_iter().next().ok_or_else(|| StoreError::defect("read an order", "it is gone"))
}

/// Orders with what was returned of them.
pub(super) fn all_shown(tx: &mut dyn PaymentRead, orders: Vec<Order>) -> Result<Vec<ShownOrder>, StoreError> {
    let refunded = orders.iter().filter(|order| order.lines.iter().any(|line| line.refund.is_some()));
    let refunded: Vec<Payable> = refunded.map(|order| order.id.into()).collect();
    let refunds = tx.refunds(&refunded)?;
    let paid = orders.iter().filter(|order| order.paid_by.card > 0 && order.state != OrderState::Pending);
    let paid: Vec<Payable> = paid.map(|order| order.id.into()).collect();
    let disputes = tx.disputes(&paid)?;
    let shown = |order: Order| {
        let own = refunds.iter().filter(|refund| refund.payable == order.id.into());
        let is_disputed =
            |dispute: &Dispute| dispute.payable == order.id.into() && dispute.state != DisputeState::Won;
        let is_disputed = disputes.iter().any(is_disputed);
        ShownOrder { refunds: own.cloned().collect(), is_disputed, order }
    };
    Ok(orders.into_iter().map(shown).collect())
}

/// Reads an order of a fan; `None` if the fan has no such order.
pub struct FindOrder {
    /// The buyer.
    pub user: UserId,
    pub order: OrderId,
}

impl Query for FindOrder {
    const NAME: &'static str = "find_order";
    type Ports = dyn OrderReadTx;
    type Output = Option<ShownOrder>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OrderReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let found = tx.order(self.order)?.filter(|order| order.user == self.user);
        Ok(found.map(|order| shown(tx, order)).transpose()?)
    }
}

/// Reads an order of any fan.
pub struct ReadOrder {
    pub order: OrderId,
}

impl Query for ReadOrder {
    const NAME: &'static str = "read_order";
    type Ports = dyn OrderReadTx;
    type Output = Option<ShownOrder>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OrderReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let found = tx.order(self.order)?;
        Ok(found.map(|order| shown(tx, order)).transpose()?)
    }
}

/// Lists orders, the newest first.
pub struct ListOrders {
    /// The buyer; `None` for all fans.
    pub user: Option<UserId>,
    /// Only orders in this state.
    pub state: Option<OrderState>,
    pub limit: Limit,
    pub after: Option<TimeKey>,
}

impl Query for ListOrders {
    const NAME: &'static str = "list_orders";
    type Ports = dyn OrderReadTx;
    type Output = Page<ShownOrder>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OrderReadTx, _now: Timestamp) -> Outcome<Page<ShownOrder>, Infallible> {
        let page = match self.user {
            Some(user) => tx.orders(user, self.state, self.limit, self.after)?,
            None => tx.all_orders(self.state, self.limit, self.after)?,
        };
        Ok(Page { items: all_shown(tx, page.items)?, next: page.next })
    }
}

/// Records the checkout of an order, and returns the answer for its current state, which replaces the one stored under the
/// request's key.
pub(crate) struct RecordOrderCheckout {
    pub(crate) order: OrderId,
    /// The checkout begun at the provider; if one is already recorded, that one stays.
    pub(crate) checkout: Option<Checkout>,
    pub(crate) request: Option<KeyedRequest>,
    pub(crate) render: fn(&ShownOrder) -> StoredAnswer,
}

impl Command for RecordOrderCheckout {
    const NAME: &'static str = "record_order_checkout";
    type Ports = dyn CheckoutTx;
    type Output = StoredAnswer;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn CheckoutTx, _ctx: &mut Ctx) -> Outcome<StoredAnswer, Infallible> {
        let gone = || StoreError::defect("record a checkout", "its order is gone");
        let mut order = tx.lock_order(self.order)?.ok_or_else(gone)?;
        let payable = Payable::from(order.id);
        if let Some(checkout) = &self.checkout
            && order.state == OrderState::Pending
            && tx.set_checkout(payable, &checkout.url)?
            && let Some(mut payment) = tx.payment(payable)?
        {
            payment.reference.get_or_insert_with(|| checkout.reference.clone());
            tx.put_payment(&payment)?;
            order.checkout_url = Some(checkout.url.clone());
        }
        let answer = (self.render)(&shown(tx, order)?);
        if let Some(KeyedRequest { scope, key, .. }) = &self.request {
            tx.store_answer(scope, key, scope.account, &answer)?;
        }
        Ok(answer)
    }
}

/// Why an order is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompleteOrderRefusal {
    /// The fan has no such order.
    UnknownOrder,
    /// The order is in this state, neither paid nor completed.
    NotPaid(OrderState),
}

/// Why an order is not cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelOrderRefusal {
    /// The fan has no such order.
    UnknownOrder,
    /// The money came while the fan gave the order up.
    AlreadyPaid,
    /// It has ended already, was sent, or was paid too long ago.
    NotCancellable,
    /// The fan has opened a pack or spent coins that the order granted.
    Used,
    /// The provider is processing a payment of the order.
    BeingPaid,
    /// The provider did not close the checkout, and may do so later.
    NotNow,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

/// Cancels an order of the buyer: a pending one ends, and a paid one is refunded as a whole.
#[derive(Debug, Clone)]
pub struct CancelOrder {
    /// The buyer.
    pub user: UserId,
    pub order: OrderId,
    /// Whether the fan has seen the order paid, and wants the money back.
    pub is_paid: bool,
}

impl Command for CancelOrder {
    const NAME: &'static str = "cancel_order";
    type Ports = dyn PaymentTx;
    type Output = ShownOrder;
    type Refusal = CancelOrderRefusal;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<ShownOrder, CancelOrderRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        tx.lock_fan(self.user)?.ok_or(refused(CancelOrderRefusal::NotActive))?;
        let found = tx.lock_order(self.order)?.filter(|order| order.user == self.user);
        let mut order = found.ok_or(refused(CancelOrderRefusal::UnknownOrder))?;
        let mut payment = tx.payment(order.id.into())?;
        match (order.state, self.is_paid) {
            (OrderState::Pending, _) => {
                end_order(tx, ctx, &mut order, payment.as_mut(), OrderState::Cancelled, true)?;
            }
            (OrderState::Paid | OrderState::Completed, false) => {
                return Err(refused(CancelOrderRefusal::AlreadyPaid));
            }
            (OrderState::Paid | OrderState::Completed, true) => {
                let is_late = order.paid_at.is_some_and(|at| at.plus(RETURN_WINDOW).is_over(ctx.now()));
                if order.was_sent() || is_late {
                    return Err(refused(CancelOrderRefusal::NotCancellable));
                }
                let given: Vec<_> = order.granting().map(OrderLine::source).collect();
                if is_used(tx, self.user, &given)? {
                    return Err(refused(CancelOrderRefusal::Used));
                }
                refund_order(tx, ctx, &mut order, payment.as_mut(), RefundState::Owed)?;
            }
            (OrderState::Expired | OrderState::Cancelled | OrderState::Refunded, _) => {
                return Err(refused(CancelOrderRefusal::NotCancellable));
            }
        }
        Ok(shown(tx, order)?)
    }
}

/// Puts the lines of an order into the fan's cart again, by the rule of merging. A line whose price has changed gets the
/// current one.
#[derive(Debug, Clone)]
pub struct Reorder {
    /// The buyer.
    pub user: UserId,
    pub order: OrderId,
    /// The shop.
    pub book: Arc<ProductBook>,
}

/// The fan has no such order, or is no longer active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReorderRefusal {
    /// The fan has no such order.
    UnknownOrder,
    /// The account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for Reorder {
    const NAME: &'static str = "reorder";
    type Ports = dyn CartTx;
    type Output = CartMerged;
    type Refusal = ReorderRefusal;

    fn run(&self, tx: &mut dyn CartTx, ctx: &mut Ctx) -> Outcome<CartMerged, ReorderRefusal> {
        tx.lock_fan(self.user)?.ok_or(Failure::Refused(ReorderRefusal::NotActive))?;
        let order = tx.order(self.order)?.filter(|order| order.user == self.user);
        let order = order.ok_or(Failure::Refused(ReorderRefusal::UnknownOrder))?;
        let line = |line: &OrderLine| GuestLine {
            variant: line.variant,
            quantity: line.quantity.min(MOST_UNITS),
            price: Some(line.price),
        };
        let lines: Vec<_> = order.lines.iter().map(line).collect();
        let (offered, gone): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| {
            let found = self.book.variant(line.variant);
            found.is_some_and(|(product, variant)| product.is_on_sale(ctx.now()) && !variant.is_retired)
        });
        let mut skipped: Vec<_> = gone.iter().map(|line| line.variant).collect();
        skipped.extend(merge_lines(tx, self.user, &offered, &self.book, ctx.now())?);
        Ok(CartMerged { cart: show(tx, self.user, &self.book, ctx.now())?, skipped })
    }
}

impl App {
    /// Returns a fan's order once it is paid. If no notice of the payment has arrived, asks the provider first.
    ///
    /// # Errors
    ///
    /// Refuses an unknown order, and one that is not paid.
    pub async fn complete_order(
        &self,
        user: UserId,
        order: OrderId,
    ) -> Outcome<ShownOrder, CompleteOrderRefusal> {
        self.look_for_payment(user, order.into()).await?;
        let found = into_infallible(self.query(FindOrder { user, order }).await)?;
        let found = found.ok_or(Failure::Refused(CompleteOrderRefusal::UnknownOrder))?;
        if found.order.state.is_paid() {
            return Ok(found);
        }
        Err(Failure::Refused(CompleteOrderRefusal::NotPaid(found.order.state)))
    }

    /// Cancels an order. The checkout of a pending one is closed at the provider before, so that it can no longer be paid.
    ///
    /// # Errors
    ///
    /// Refuses an order that cannot be cancelled, and one whose checkout the provider does not close.
    pub async fn cancel_order(
        &self,
        user: UserId,
        order: OrderId,
    ) -> Outcome<ShownOrder, CancelOrderRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let found = into_infallible(self.query(FindOrder { user, order }).await)?;
        let found = found.ok_or(refused(CancelOrderRefusal::UnknownOrder))?;
        let is_paid = found.order.state.is_paid();
        if found.order.state == OrderState::Pending {
            self.close_checkout(order.into()).await.map_err(|failure| match failure {
                Failure::Refused(CancelPurchaseRefusal::BeingPaid) => refused(CancelOrderRefusal::BeingPaid),
                Failure::Refused(_) => refused(CancelOrderRefusal::NotNow),
                Failure::Broken(error) => Failure::Broken(error),
            })?;
        }
        self.execute(CancelOrder { user, order, is_paid }).await
    }

    /// Puts the lines of an order into the fan's cart again.
    ///
    /// # Errors
    ///
    /// Refuses an unknown order.
    pub async fn reorder(&self, user: UserId, order: OrderId) -> Outcome<CartMerged, ReorderRefusal> {
        let book = self.product_book().await?;
        self.execute(Reorder { user, order, book }).await
    }
}
