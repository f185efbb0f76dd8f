//! Applies the notices of payment providers.

use crate::grants::Granter;
use crate::payments::{
    Charge, ChargeState, Decision, Dispute, DisputeState, KnownPayment, Locked, Mismatch, NoticeDetail,
    NoticeKind, NoticeOutcome, PaymentNotice, Refund, RefundState, can_be_confirmed, decide,
};
use crate::store::payments::PaymentWrite;
use crate::store::{Command, PaymentTx};
use std::convert::Infallible;
use terrace_identity::AccountStatus;
use terrace_kernel::{Ctx, Outcome, StoreError, UserId};
use terrace_shop::RefundId;

/// Applies a notice at most once across all processes, in the transaction that also stores it.
#[derive(Debug, Clone)]
pub struct TakeNotice {
    /// Name of the provider.
    pub provider: &'static str,
    pub notice: PaymentNotice,
    /// All packs and collectibles, and what they are given with.
    pub granter: Granter,
}

/// The outcome of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeTaken {
    /// What is paid for changed.
    Applied,
    /// No change was necessary.
    Nothing,
    /// The same notice was applied before; nothing changed.
    Before,
    /// It does not match what it names; it was stored, but nothing changed.
    Mismatch(Mismatch),
}

impl NoticeTaken {
    /// Stable name, as used in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Nothing => "nothing",
            Self::Before => "before",
            Self::Mismatch(_) => "mismatch",
        }
    }

    /// Counts it in the metrics, under the kind of its notice.
    pub fn record(self, kind: NoticeKind) {
        metrics::counter!("terrace_payment_notices_total", "kind" => kind.as_str(), "outcome" => self.as_str())
            .increment(1);
    }
}

impl Command for TakeNotice {
    const NAME: &'static str = "take_notice";
    type Ports = dyn PaymentTx;
    type Output = NoticeTaken;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PaymentTx, ctx: &mut Ctx) -> Outcome<NoticeTaken, Infallible> {
        // The account that pays never changes, so it can be read without a lock. It is locked before what it pays for.
        let locked = match tx.charge(self.notice.payable)? {
            Some(charge) => {
                let can_own = can_own(tx, charge.user)?;
                Locked::lock(tx, charge.payable)?.map(|locked| (locked, can_own))
            }
            None => None,
        };
        let payment = tx.payment(self.notice.payable)?;
        let (Some((mut locked, can_own)), Some(mut payment)) = (locked, payment) else {
            let stored = self.note(tx, ctx, Err(Mismatch::Payable))?;
            return Ok(stored.unwrap_or(NoticeTaken::Mismatch(Mismatch::Payable)));
        };
        let charge = locked.charge();
        let refunds = tx.refunds(&[charge.payable])?;
        let disputes = match &self.notice.detail {
            Some(_) => tx.disputes(&[charge.payable])?,
            None => Vec::new(),
        };
        let known =
            KnownPayment { charge: &charge, payment: &payment, refunds: &refunds, disputes: &disputes };
        let decision = decide(&self.notice, self.provider, &known);
        if let Some(outcome) = self.note(tx, ctx, decision)? {
            return Ok(outcome);
        }
        let decision = match decision {
            Ok(Decision::Nothing) => return Ok(NoticeTaken::Nothing),
            Err(mismatch) => return Ok(NoticeTaken::Mismatch(mismatch)),
            Ok(decision) => decision,
        };
        payment.reference.get_or_insert_with(|| self.notice.reference.clone());
        let book = &self.granter.book;
        match decision {
            Decision::Complete if can_own => {
                locked.complete(tx, ctx, &mut payment, &self.granter)?;
            }
            // The account was deleted and cannot own anything.
            Decision::Complete => {
                locked.refund(tx, ctx, &mut payment, book, RefundState::Owed)?;
            }
            // A provider also cancels checkouts that expire, as reconciliation does here.
            Decision::Cancel if is_out_of_time(&self.notice, &charge, ctx) => {
                locked.expire(tx, ctx, &mut payment, book, can_own)?;
            }
            Decision::Cancel => locked.cancel(tx, ctx, &mut payment, book, can_own)?,
            Decision::Refund { confirmed } => {
                let state = if confirmed { RefundState::Given } else { RefundState::Owed };
                locked.refund(tx, ctx, &mut payment, book, state)?;
                if confirmed {
                    settle_refunds(tx, refunds)?;
                }
            }
            Decision::RefundConfirmed => settle_refunds(tx, refunds)?,
            Decision::RefundMoved(id, state) => {
                let moved = refunds.into_iter().find(|refund| refund.id == id);
                let moved = moved.map(|refund| refund.moved(state, None));
                moved.map_or(Ok(()), |refund| tx.put_refund(&refund))?;
                locked.publish(tx, ctx)?;
            }
            Decision::RefundReturned(refund, dispute) => {
                put_returned(tx, refund.clone(), &dispute.reference)?;
                locked.publish(tx, ctx)?;
            }
            Decision::Dispute(state) => {
                let reference = self.dispute(tx, ctx, &disputes, state)?;
                if state == DisputeState::Lost && charge.state != ChargeState::Refunded {
                    locked.refund(tx, ctx, &mut payment, book, RefundState::Given)?;
                } else {
                    locked.publish(tx, ctx)?;
                }
                if state == DisputeState::Lost {
                    let before = covered(&refunds, &charge, self.notice.money.amount);
                    let is_new = |refund: &Refund| refunds.iter().all(|known| known.id != refund.id);
                    for refund in tx.refunds(&[charge.payable])? {
                        if is_new(&refund) || before.contains(&refund.id) {
                            put_returned(tx, refund, &reference)?;
                        }
                    }
                }
            }
            Decision::Nothing => {}
        }
        Ok(NoticeTaken::Applied)
    }
}

/// The refunds whose money the buyer's bank has returned with a lost dispute of this amount, beside what was not refunded
/// before. A refund that the provider had made before the dispute is not part of its amount. Whether it has made one whose
/// request was not answered is asked first ([`RecordDisputed`](super::RecordDisputed)).
fn covered(refunds: &[Refund], charge: &Charge, amount: i64) -> Vec<RefundId> {
    let of_refunds = refunds.iter().fold(0_i64, |sum, refund| sum.saturating_add(refund.parts.card));
    let rest = charge.money.map_or(0, |money| money.amount).saturating_sub(of_refunds);
    let mut left = amount.saturating_sub(rest);
    let mut is_covered = |refund: &&Refund| {
        let is_unmade = match refund.state {
            RefundState::Owed => refund.asked_at.is_none(),
            RefundState::Failed => true,
            RefundState::Given => false,
        };
        let fits = is_unmade && refund.parts.card <= left;
        if fits {
            left = left.saturating_sub(refund.parts.card);
        }
        fits
    };
    refunds.iter().filter(|refund| is_covered(refund)).map(|refund| refund.id).collect()
}

/// Notes that the fan has the money of the refunds that a notice of the whole payment confirms.
fn settle_refunds(tx: &mut dyn PaymentTx, refunds: Vec<Refund>) -> Result<(), StoreError> {
    let mut settled = refunds.into_iter().filter(can_be_confirmed);
    settled.try_for_each(|refund| tx.put_refund(&refund.moved(RefundState::Given, None)))
}

/// Notes that the fan has the money of a refund by a lost dispute, whose reference the refund gets.
pub(crate) fn put_returned(
    tx: &mut dyn PaymentWrite,
    refund: Refund,
    reference: &str,
) -> Result<(), StoreError> {
    let refund = refund.moved(RefundState::Given, None);
    tx.put_refund(&Refund { reference: Some(reference.to_owned()), ..refund })
}

impl TakeNotice {
    /// Stores the state of the dispute that the notice is about; returns its reference.
    fn dispute(
        &self,
        tx: &mut dyn PaymentWrite,
        ctx: &Ctx,
        known: &[Dispute],
        state: DisputeState,
    ) -> Result<String, StoreError> {
        let Some(NoticeDetail::Dispute(reference)) = &self.notice.detail else {
            return Err(StoreError::defect("take a notice", "it names no dispute"));
        };
        let known = known.iter().find(|dispute| dispute.reference == *reference);
        tx.put_dispute(&Dispute {
            provider: self.provider.to_owned(),
            reference: reference.clone(),
            payable: self.notice.payable,
            state,
            money: self.notice.money,
            opened_at: known.map_or(ctx.now(), |known| known.opened_at),
            changed_at: ctx.now(),
        })?;
        Ok(reference.clone())
    }

    /// Stores the notice with its outcome; returns the outcome if it was stored before.
    fn note(
        &self,
        tx: &mut dyn PaymentWrite,
        ctx: &Ctx,
        decision: Result<Decision, Mismatch>,
    ) -> Result<Option<NoticeTaken>, StoreError> {
        let outcome = match decision {
            Ok(Decision::Nothing) => NoticeOutcome::Nothing,
            Ok(_) => NoticeOutcome::Applied,
            Err(_) => NoticeOutcome::Mismatch,
        };
        if tx.insert_notice(self.provider, &self.notice, outcome, ctx.now())? {
            return Ok(None);
        }
        let before = tx.notice(self.provider, &self.notice.event_id)?;
        let (before, outcome) = before.ok_or_else(|| {
            StoreError::defect("take a notice", "a notice that was received before is gone")
        })?;
        Ok(Some(match decision {
            _ if !before.says_the_same(&self.notice) => NoticeTaken::Mismatch(Mismatch::Event),
            Err(mismatch) if outcome == NoticeOutcome::Mismatch => NoticeTaken::Mismatch(mismatch),
            Ok(_) | Err(_) => NoticeTaken::Before,
        }))
    }
}

fn is_out_of_time(notice: &PaymentNotice, charge: &Charge, ctx: &Ctx) -> bool {
    notice.kind == NoticeKind::Cancelled && charge.expires_at.is_some_and(|at| at.is_over(ctx.now()))
}

/// Whether the account can own something: a suspended account keeps what it has, a deleted one owns nothing. Locks the
/// account.
pub(crate) fn can_own(tx: &mut dyn PaymentTx, user: UserId) -> Result<bool, StoreError> {
    if tx.lock_fan(user)?.is_some() {
        return Ok(true);
    }
    let account = tx.lock_credentials(user)?;
    Ok(account.is_some_and(|account| account.status == AccountStatus::Suspended))
}
