//! What every settlement of a payment writes: the money in the journal, and when the payment is checked again.

use crate::store::SettlementTx;
use crate::store::payments::{Charge, Payment, PaymentWrite, Refund};
use std::time::Duration;
use terrace_kernel::{Ctx, Money, StoreError, Timestamp};
use terrace_ledger::{
    AccountKind, Amount, Holder, House, LedgerWrite, Transfer, TransferOutcome, TransferSource,
};

/// How long after its start reconciliation first checks a payment, in case its notice is lost.
pub(crate) const CLAIM: Duration = Duration::from_mins(2);

fn defect(cause: impl std::fmt::Display) -> StoreError {
    StoreError::defect("book a payment", cause.to_string())
}

/// The initial payment row of a pending charge.
pub(crate) fn awaited(charge: &Charge, provider: &str) -> Payment {
    Payment {
        payable: charge.payable,
        provider: provider.to_owned(),
        reference: None,
        checkout_attempt: 0,
        due_at: Some(charge.created_at.plus(CLAIM)),
        attempts: 0,
    }
}

/// Schedules the next check of a payment; `None` if nothing remains to be done.
pub(crate) fn close(
    tx: &mut dyn PaymentWrite,
    payment: &mut Payment,
    due_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    payment.due_at = due_at;
    payment.attempts = 0;
    tx.put_payment(payment)
}

/// Books the incoming payment, unless it was booked before. The money never enters a fan's balance, because the fan
/// pays at the provider.
pub(crate) fn take_in(tx: &mut dyn LedgerWrite, ctx: &mut Ctx, charge: &Charge) -> Result<(), StoreError> {
    let money = charge.money.ok_or_else(|| defect("it costs no money"))?;
    let source = TransferSource::of("payment", charge.payable.id());
    journal(tx, ctx, money, (source, "Payment"), (House::Payments, House::Revenue))
}

/// Records a refund that was decided on: its row, the outgoing money, and that the payment is settled.
pub(crate) fn record_refund(
    tx: &mut dyn SettlementTx,
    ctx: &mut Ctx,
    payment: Option<&mut Payment>,
    refund: &Refund,
) -> Result<(), StoreError> {
    tx.insert_refund(refund)?;
    if let Some(money) = refund.card() {
        let accounts = (House::Revenue, House::Payments);
        journal(tx, ctx, money, (TransferSource::of("refund", refund.id), "Refund"), accounts)?;
    }
    payment.map_or(Ok(()), |payment| close(tx, payment, None))
}

fn journal(
    tx: &mut dyn LedgerWrite,
    ctx: &mut Ctx,
    money: Money,
    (source, reason): (TransferSource, &str),
    (debit, credit): (House, House),
) -> Result<(), StoreError> {
    let moved = tx.transfer(&Transfer {
        id: ctx.new_id(),
        kind: AccountKind::Money(money.currency),
        debit: Holder::House(debit),
        credit: Holder::House(credit),
        amount: Amount::new(money.amount).map_err(defect)?,
        reason: reason.to_owned(),
        source,
        at: ctx.now(),
    })?;
    match moved {
        TransferOutcome::Now { .. } | TransferOutcome::Before => Ok(()),
        TransferOutcome::Insufficient { .. } | TransferOutcome::NoFan => {
            Err(defect("the service account did not pay"))
        }
    }
}
