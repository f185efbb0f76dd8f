//! Operators send, deliver and refund orders, as a whole or by line.

use crate::App;
use crate::payments::{RefundState, can_own};
use crate::shop::settle_order::{change, publish_order, refund_lines};
use crate::store::{Command, PaymentTx};
use terrace_kernel::{Ctx, Failure, Outcome};
use terrace_shop::{
    LineState, Order, OrderId, OrderLineId, OrderState, ProductKind, RefundRefusal, Shipment,
};

/// What an operator does with an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fulfilment {
    /// The lines were sent.
    Ship {
        /// Name of the carrier.
        carrier: Option<String>,
        /// The carrier's number of the parcel.
        tracking: Option<String>,
    },
    /// The fan has the lines, whether they were sent or picked up.
    Deliver,
    /// The lines are refunded, whether they were sent or not.
    Refund,
}

/// Changes a paid order on behalf of an operator.
#[derive(Debug, Clone)]
pub struct FulfilOrder {
    pub order: OrderId,
    /// Only this line; `None` for all lines that it fits.
    pub line: Option<OrderLineId>,
    pub fulfilment: Fulfilment,
}

/// Why an order is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FulfilOrderRefusal {
    /// No order has this id.
    #[error("there is no such order")]
    UnknownOrder,
    /// The order is in this state.
    #[error("the order is {0}")]
    WrongState(OrderState),
    /// No line of the order, or not this one, is to be sent or delivered.
    #[error("there is no such line to send or to deliver")]
    NothingToDo,
    /// The line cannot be refunded.
    #[error(transparent)]
    NoRefund(#[from] RefundRefusal),
}

impl Command for FulfilOrder {
    const NAME: &'static str = "fulfil_order";
    type Ports = dyn PaymentTx;
    type Output = Order;
    type Refusal = FulfilOrderRefusal;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<Order, FulfilOrderRefusal> {
        let refused = |refusal| Failure::Refused(refusal);
        let unknown = || refused(FulfilOrderRefusal::UnknownOrder);
        // The account that pays never changes. It is locked before the order.
        let user = tx.order(self.order)?.ok_or_else(unknown)?.user;
        can_own(tx, user)?;
        let mut order = tx.lock_order(self.order)?.ok_or_else(unknown)?;
        if !order.state.is_paid() {
            return Err(refused(FulfilOrderRefusal::WrongState(order.state)));
        }
        match &self.fulfilment {
            Fulfilment::Refund => {
                let mut payment = tx.payment(order.id.into())?;
                let line = self.line.map(|line| [line]);
                let plan = order.refund_of(line.as_ref().map(<[OrderLineId; 1]>::as_slice));
                let plan = plan.map_err(|refusal| refused(FulfilOrderRefusal::NoRefund(refusal)))?;
                refund_lines(tx, ctx, &mut order, payment.as_mut(), &plan, RefundState::Owed)?;
            }
            Fulfilment::Ship { carrier, tracking } => {
                let shipment =
                    Shipment { carrier: carrier.clone(), tracking: tracking.clone(), at: ctx.now() };
                self.move_lines(tx, &mut order, LineState::Shipped, &shipment)?;
                publish_order(tx, &order, ctx.now())?;
            }
            Fulfilment::Deliver => {
                let shipment = Shipment { carrier: None, tracking: None, at: ctx.now() };
                self.move_lines(tx, &mut order, LineState::Delivered, &shipment)?;
                let is_open = |state| matches!(state, LineState::Waiting | LineState::Shipped);
                if order.lines.iter().any(|line| is_open(line.state)) {
                    publish_order(tx, &order, ctx.now())?;
                } else {
                    change(tx, ctx, &mut order, OrderState::Completed)?;
                }
            }
        }
        Ok(order)
    }
}

impl FulfilOrder {
    /// Moves the lines that fit to a state. A line that is delivered without having been sent was picked up.
    fn move_lines(
        &self,
        tx: &mut dyn PaymentTx,
        order: &mut Order,
        to: LineState,
        shipment: &Shipment,
    ) -> Outcome<(), FulfilOrderRefusal> {
        let fits =
            |state| state == LineState::Waiting || state == LineState::Shipped && to == LineState::Delivered;
        let mut is_any = false;
        for line in &mut order.lines {
            let is_meant = self.line.is_none_or(|id| id == line.id);
            if line.kind != ProductKind::Physical || !is_meant || !fits(line.state) {
                continue;
            }
            is_any = true;
            let new = line.shipment.is_none().then_some(shipment);
            tx.move_lines(&[line.id], to, new)?;
            line.state = to;
            line.shipment.get_or_insert_with(|| shipment.clone());
        }
        if is_any { Ok(()) } else { Err(Failure::Refused(FulfilOrderRefusal::NothingToDo)) }
    }
}

impl App {
    /// Sends, delivers or refunds a paid order.
    ///
    /// # Errors
    ///
    /// Refuses an unknown order, and one whose state does not allow it.
    pub async fn fulfil_order(&self, command: FulfilOrder) -> Outcome<Order, FulfilOrderRefusal> {
        self.execute(command).await
    }
}
