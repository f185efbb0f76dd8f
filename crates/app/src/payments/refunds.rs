//! Refunds that are owed: how they are requested from the provider, and requested again.

use crate::App;
use crate::payments::notice::lost_with;
use crate::payments::take_notice::put_returned;
use crate::payments::{Locked, Payable, PaymentRead, Refund, RefundAnswer, RefundState, lock_charge};
use crate::store::{Command, PurchaseTx, Query};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Failure, Outcome, Timestamp, Uuid};
use terrace_shop::RefundId;

/// Reads a portion of the refunds that are due at `by`, longest due first.
pub struct DueRefunds {
    /// The time by which they are due.
    pub by: Timestamp,
    /// Maximum number of refunds.
    pub limit: u32,
    /// Key of the last refund of the previous portion.
    pub after: Option<(Timestamp, Uuid)>,
}

impl Query for DueRefunds {
    const NAME: &'static str = "due_refunds";
    type Ports = dyn PaymentRead;
    type Output = Vec<Refund>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.due_refunds(self.by, self.limit, self.after)?)
    }
}

/// A refund of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefundAttempt {
    pub id: RefundId,
    pub payable: Payable,
    pub attempt: u32,
}

impl From<&Refund> for RefundAttempt {
    fn from(refund: &Refund) -> Self {
        Self { id: refund.id, payable: refund.payable, attempt: refund.attempt }
    }
}

/// Locks what was paid for, and reads a refund of it that is still owed for this attempt.
fn owed(tx: &mut dyn PurchaseTx, of: RefundAttempt) -> Outcome<Option<Refund>, Infallible> {
    if lock_charge(tx, of.payable)?.is_none() {
        return Ok(None);
    }
    let refund = tx.refund(of.id)?;
    Ok(refund.filter(|refund| refund.state == RefundState::Owed && refund.attempt == of.attempt))
}

/// Notes, before the provider is asked, that a refund is requested, and when to ask again if this process stops before the
/// answer. Returns the refund; `None` if it is not owed any more, or another process has just asked.
pub struct ClaimRefund {
    pub of: RefundAttempt,
    /// The refund was due then; another value means that another process has claimed it.
    pub due_at: Option<Timestamp>,
    /// When it is due next.
    pub next: Timestamp,
}

impl Command for ClaimRefund {
    const NAME: &'static str = "claim_refund";
    type Ports = dyn PurchaseTx;
    type Output = Option<Refund>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PurchaseTx, ctx: &mut Ctx) -> Outcome<Option<Refund>, Infallible> {
        let Some(refund) = owed(tx, self.of)?.filter(|refund| refund.due_at == self.due_at) else {
            return Ok(None);
        };
        let claimed = Refund {
            asked_at: refund.asked_at.or(Some(ctx.now())),
            due_at: Some(self.next),
            tries: refund.tries.saturating_add(1),
            ..refund
        };
        tx.put_refund(&claimed)?;
        Ok(Some(claimed))
    }
}

/// Records a provider's answer to the request for a refund; returns whether it changed the state.
pub struct RecordRefund {
    pub of: RefundAttempt,
    pub answer: RefundAnswer,
    /// When the provider is asked again, if the refund is still owed.
    pub next: Timestamp,
}

impl Command for RecordRefund {
    const NAME: &'static str = "record_refund";
    type Ports = dyn PurchaseTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PurchaseTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        let Some(mut refund) = owed(tx, self.of)? else { return Ok(false) };
        let RefundAnswer { reference, state } = &self.answer;
        refund.reference = reference.clone().or(refund.reference);
        if *state == RefundState::Owed {
            tx.put_refund(&Refund { due_at: Some(self.next), ..refund })?;
            return Ok(false);
        }
        tx.put_refund(&refund.moved(*state, None))?;
        publish(tx, ctx, self.of.payable)?;
        Ok(true)
    }
}

/// Records that the provider has not made a refund, because the buyer's bank disputes the payment. Returns whether its money was
/// returned with a dispute that is lost; otherwise it is requested again.
pub struct RecordDisputed {
    pub of: RefundAttempt,
    /// When the provider is asked again.
    pub next: Timestamp,
}

impl Command for RecordDisputed {
    const NAME: &'static str = "record_disputed_refund";
    type Ports = dyn PurchaseTx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PurchaseTx, ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        let Some(refund) = owed(tx, self.of)? else { return Ok(false) };
        let of = [self.of.payable];
        let (refunds, disputes) = (tx.refunds(&of)?, tx.disputes(&of)?);
        let Some(dispute) = lost_with(&refund, &refunds, &disputes) else {
            tx.put_refund(&Refund { asked_at: None, due_at: Some(self.next), ..refund })?;
            return Ok(false);
        };
        put_returned(tx, refund, &dispute.reference)?;
        publish(tx, ctx, self.of.payable)?;
        Ok(true)
    }
}

fn publish(tx: &mut dyn PurchaseTx, ctx: &Ctx, payable: Payable) -> Outcome<(), Infallible> {
    match Locked::lock(tx, payable)? {
        Some(locked) => Ok(locked.publish(tx, ctx)?),
        None => Ok(()),
    }
}

/// Has the failed refunds of something requested again; returns them.
#[derive(Debug, Clone, Copy)]
pub struct RetryRefunds {
    pub payable: Payable,
}

/// Why no refund is requested again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RetryRefundsRefusal {
    /// Nothing of this id was paid for.
    #[error("there is no such order or purchase")]
    Unknown,
    /// No refund of it has failed.
    #[error("none of its refunds has failed")]
    NoneFailed,
}

impl Command for RetryRefunds {
    const NAME: &'static str = "retry_refunds";
    type Ports = dyn PurchaseTx;
    type Output = Vec<Refund>;
    type Refusal = RetryRefundsRefusal;

    fn run(&self, tx: &mut dyn PurchaseTx, ctx: &mut Ctx) -> Outcome<Vec<Refund>, RetryRefundsRefusal> {
        lock_charge(tx, self.payable)?.ok_or(Failure::Refused(RetryRefundsRefusal::Unknown))?;
        let refunds = tx.refunds(&[self.payable])?;
        let failed = refunds.into_iter().filter(|refund| refund.state == RefundState::Failed);
        let retried: Vec<Refund> = failed
            .map(|refund| Refund {
                attempt: refund.attempt.saturating_add(1),
                asked_at: None,
                reference: None,
                ..refund.moved(RefundState::Owed, Some(ctx.now()))
            })
            .collect();
        if retried.is_empty() {
            return Err(Failure::Refused(RetryRefundsRefusal::NoneFailed));
        }
        retried.iter().try_for_each(|refund| tx.put_refund(refund))?;
        if let Some(locked) = Locked::lock(tx, self.payable)? {
            locked.publish(tx, ctx)?;
        }
        Ok(retried)
    }
}

impl App {
    /// Has the failed refunds of an order or of a purchase requested again.
    ///
    /// # Errors
    ///
    /// Refuses an unknown id, and one without a failed refund.
    pub async fn retry_refunds(&self, payable: Payable) -> Outcome<Vec<Refund>, RetryRefundsRefusal> {
        self.execute(RetryRefunds { payable }).await
    }
}
