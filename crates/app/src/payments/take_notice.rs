//! Applies the notices of payment providers.

use crate::packs::{PackBook, SeedCipher};
use crate::payments::{
    Charge, Decision, Locked, Mismatch, NoticeKind, NoticeOutcome, PaymentNotice, RefundState, decide,
};
use crate::store::payments::PaymentWrite;
use crate::store::{Command, PaymentTx};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_identity::AccountStatus;
use terrace_kernel::{Ctx, Outcome, StoreError, UserId};

/// Applies a notice at most once across all processes, in the transaction that also stores it.
#[derive(Debug, Clone)]
pub struct TakeNotice {
    /// Name of the provider.
    pub provider: &'static str,
    pub notice: PaymentNotice,
    /// All packs and collectibles.
    pub book: Arc<PackBook>,
    /// Encrypts the seeds of copies.
    pub safe: Arc<SeedCipher>,
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
        let decision = decide(&self.notice, self.provider, &charge, &payment);
        if let Some(outcome) = self.note(tx, ctx, decision)? {
            return Ok(outcome);
        }
        let decision = match decision {
            Ok(Decision::Nothing) => return Ok(NoticeTaken::Nothing),
            Err(mismatch) => return Ok(NoticeTaken::Mismatch(mismatch)),
            Ok(decision) => decision,
        };
        payment.reference.get_or_insert_with(|| self.notice.reference.clone());
        let book = &self.book;
        match decision {
            Decision::Complete if can_own => {
                locked.complete(tx, ctx, &mut payment, &self.safe)?;
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
                let state = if confirmed { RefundState::Refunded } else { RefundState::Owed };
                locked.refund(tx, ctx, &mut payment, book, state)?;
            }
            Decision::RefundConfirmed => {
                payment.refund = Some(RefundState::Refunded);
                payment.due_at = None;
                tx.put_payment(&payment)?;
            }
            Decision::Nothing => {}
        }
        Ok(NoticeTaken::Applied)
    }
}

impl TakeNotice {
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
