//! Finishes what stopped half-way: purchases whose payment nobody told of, purchases that nobody paid, and money that is
//! to be given back (spec §3, rule 4).
//!
//! It goes by what is there. Each of what is due is asked for at its provider, between transactions, and what comes of the
//! answer is one transaction that looks again under its locks: several at once do each thing once, and one that is killed
//! leaves what it has not done to the next.

use crate::App;
use crate::maintenance::{TaskContext, TaskFailure};
use crate::payments::{
    BegunCheckout, CloseReason, DuePayments, EndPending, NoticeKind, NoticeTaken, Payment, PaymentState,
    ProviderFault, RefundState,
};
use crate::platform::{AtOnce, Job};
use crate::store::Tx;
use crate::store::{Command, into_infallible};
use futures_util::{StreamExt, stream};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp};
use terrace_packs::{Purchase, PurchaseId, PurchaseState};

/// Payments that one query looks at.
const PORTION: u32 = 100;
/// Payments that are asked for at once.
const TOGETHER: usize = 8;
/// The name of the job, and how often.
const RECONCILE: &str = "reconcile-purchases";
const EVERY: Duration = Duration::from_mins(1);
/// How long who asks for it waits for a run that another has begun.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a purchase is looked at that waits for its payment.
const LOOK: Duration = Duration::from_mins(5);
/// The shortest and the longest pause after a provider did not answer; each failure doubles it.
const PAUSES: (Duration, Duration) = (Duration::from_secs(30), Duration::from_hours(1));
/// How long after its time a purchase holds its stock while its provider does not say whether it was paid. Whatever is paid
/// after that is given back.
const GRACE: Duration = Duration::from_hours(1);

/// What was found and done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReconcileReport {
    /// How many payments were looked at.
    pub looked_at: u64,
    /// How many purchases were paid, and are completed.
    pub completed: u64,
    /// How many ran out of time.
    pub expired: u64,
    /// How many were declined, or given up.
    pub cancelled: u64,
    /// How many payments were given back.
    pub refunded: u64,
    /// How many are left for later: not paid yet, or their provider did not answer.
    pub left: u64,
}

impl ReconcileReport {
    fn and(self, other: Self) -> Self {
        Self {
            looked_at: self.looked_at.saturating_add(other.looked_at),
            completed: self.completed.saturating_add(other.completed),
            expired: self.expired.saturating_add(other.expired),
            cancelled: self.cancelled.saturating_add(other.cancelled),
            refunded: self.refunded.saturating_add(other.refunded),
            left: self.left.saturating_add(other.left),
        }
    }

    /// Whether anything changed.
    pub fn is_idle(&self) -> bool {
        (self.completed, self.expired, self.cancelled, self.refunded) == (0, 0, 0, 0)
    }
}

/// What a wish for reconciled purchases came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurchasesReconciled {
    /// Whether this call did the work; if not, it waited for another that was at it.
    pub refreshed: bool,
    /// How long it took.
    pub took: Duration,
    /// What was done, where this call did the work.
    pub report: Option<ReconcileReport>,
}

/// The job.
pub(crate) fn job() -> Job {
    run(Arc::default())
}

/// The same, saying what it did.
fn run(done: Arc<Mutex<Option<ReconcileReport>>>) -> Job {
    Job::new(RECONCILE, EVERY, move |app| {
        let done = Arc::clone(&done);
        async move {
            let report = app.reconcile().await?;
            if !report.is_idle() {
                log::info!("{RECONCILE}: {report:?}");
            }
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
            Ok(())
        }
    })
}

/// What became of one payment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Completed,
    Expired,
    Cancelled,
    Refunded,
    /// Another was faster, or nothing was to be done.
    Nothing,
    Left,
}

impl From<Done> for ReconcileReport {
    fn from(done: Done) -> Self {
        let one = Self { looked_at: 1, ..Self::default() };
        match done {
            Done::Completed => Self { completed: 1, ..one },
            Done::Expired => Self { expired: 1, ..one },
            Done::Cancelled => Self { cancelled: 1, ..one },
            Done::Refunded => Self { refunded: 1, ..one },
            Done::Left => Self { left: 1, ..one },
            Done::Nothing => one,
        }
    }
}

impl App {
    /// Reconciles now, due or not. Of several who ask at once, in any process, one does the work, and the others wait for
    /// it.
    ///
    /// # Errors
    ///
    /// When the run fails or another's lasts too long, and when the database is not to be had.
    pub async fn reconcile_purchases(self: &Arc<Self>) -> Result<PurchasesReconciled, StoreError> {
        let began = Instant::now();
        let done = Arc::default();
        let unavailable = |why: &str| StoreError::Unavailable(why.to_owned());
        let refreshed = match self.run_now(run(Arc::clone(&done)), PATIENCE).await? {
            AtOnce::Done => true,
            AtOnce::Joined => false,
            AtOnce::Failed => return Err(unavailable("the purchases were not reconciled")),
            AtOnce::Busy => return Err(unavailable("another process still reconciles the purchases")),
        };
        let report = *done.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(PurchasesReconciled { refreshed, took: began.elapsed(), report })
    }

    /// Looks at every payment that is due, in portions, and finishes what can be. It may run beside itself, be stopped at
    /// any time and begin again.
    ///
    /// # Errors
    ///
    /// When the database is not to be had. What the others of its portion came to is done.
    pub async fn reconcile(&self) -> Result<ReconcileReport, StoreError> {
        self.reconcile_at(&TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
    }

    /// [`App::reconcile`], at a pace. A rehearsal asks providers where payments stand, and asks them for nothing else: what
    /// it would close counts as closed, what it would have given back as given back.
    pub(crate) async fn reconcile_at(&self, pace: &TaskContext) -> Result<ReconcileReport, TaskFailure> {
        let by = self.now();
        let mut report = ReconcileReport::default();
        let mut after = None;
        loop {
            let due = into_infallible(self.query(DuePayments { by, limit: PORTION, after }).await)?;
            let Some((_, last)) = due.last() else { return Ok(report) };
            after = Some((last.due_at.unwrap_or(by), last.purchase));
            let count = u64::try_from(due.len()).unwrap_or(u64::MAX);
            let works = due.into_iter().map(|(purchase, payment)| self.settle_one(purchase, payment, pace));
            let done: Vec<_> = stream::iter(works).buffer_unordered(TOGETHER).collect().await;
            for done in done {
                report = report.and(done?.into());
            }
            pace.advance(count);
        }
    }

    async fn settle_one(
        &self,
        purchase: Purchase,
        payment: Payment,
        pace: &TaskContext,
    ) -> Result<Done, TaskFailure> {
        pace.go_on()?;
        match (purchase.state, payment.refund) {
            (PurchaseState::Pending, _) => self.settle_pending(&purchase, &payment, pace).await,
            (PurchaseState::Refunded, Some(RefundState::Owed)) => {
                self.give_back(&purchase, &payment, pace).await
            }
            (
                PurchaseState::Completed
                | PurchaseState::Expired
                | PurchaseState::Cancelled
                | PurchaseState::Refunded,
                _,
            ) => {
                self.look_again(purchase.id, None, pace).await?;
                Ok(Done::Nothing)
            }
        }
    }

    async fn settle_pending(
        &self,
        purchase: &Purchase,
        payment: &Payment,
        pace: &TaskContext,
    ) -> Result<Done, TaskFailure> {
        let now = self.now();
        let expires_at = purchase.expires_at.unwrap_or(purchase.created_at);
        let is_over = expires_at.is_over(now);
        let asked = match (self.provider_of(payment), BegunCheckout::of(purchase, payment)) {
            (Some(provider), Some(begun)) => {
                let state = match (is_over, pace.is_dry()) {
                    (true, false) => provider.close(begun.clone()).await,
                    (false, _) => provider.look_up(begun.clone()).await,
                    (true, true) => provider.look_up(begun.clone()).await.map(|state| match state {
                        // What closing it would come to.
                        PaymentState::Open => PaymentState::Ended,
                        PaymentState::Paid(_) | PaymentState::Ended | PaymentState::Refunded(_) => state,
                    }),
                };
                Some((provider.name(), begun, state))
            }
            // Nobody was ever told where to pay it, or there is nobody to ask any more.
            _ => None,
        };
        let told = match asked {
            Some((name, begun, Ok(PaymentState::Paid(money)))) => {
                Some((name, self.found(&begun, NoticeKind::Paid, money), Done::Completed))
            }
            Some((name, begun, Ok(PaymentState::Refunded(money)))) => {
                Some((name, self.found(&begun, NoticeKind::Refunded, money), Done::Refunded))
            }
            Some((name, begun, Ok(PaymentState::Ended))) if !is_over => {
                let money = begun.price;
                Some((name, self.found(&begun, NoticeKind::Cancelled, money), Done::Cancelled))
            }
            Some((_, _, Err(fault))) => {
                log::warn!("the payment of purchase {} is not known: {fault}", purchase.id);
                if !is_over || !expires_at.plus(GRACE).is_over(now) {
                    self.look_again(purchase.id, Some(now.plus(pause(payment.attempts))), pace).await?;
                    return Ok(Done::Left);
                }
                None
            }
            Some((_, _, Ok(PaymentState::Open))) if is_over && !expires_at.plus(GRACE).is_over(now) => {
                self.look_again(purchase.id, Some(now.plus(pause(payment.attempts))), pace).await?;
                return Ok(Done::Left);
            }
            Some((_, _, Ok(PaymentState::Open | PaymentState::Ended))) | None => None,
        };
        if let Some((name, notice, done)) = told {
            return Ok(match self.take_notice_at(name, notice, pace).await? {
                NoticeTaken::Applied => done,
                NoticeTaken::Nothing | NoticeTaken::Before => Done::Nothing,
                NoticeTaken::Mismatch(mismatch) => {
                    log::error!(
                        "what the provider says of purchase {} does not fit: {mismatch}",
                        purchase.id
                    );
                    self.look_again(purchase.id, Some(now.plus(PAUSES.1)), pace).await?;
                    Done::Left
                }
            });
        }
        if is_over {
            let book = self.pack_book().await?;
            let end = EndPending { purchase: purchase.id, how: CloseReason::Expired, book };
            return Ok(if pace.batch(self, end).await? { Done::Expired } else { Done::Nothing });
        }
        self.look_again(purchase.id, Some(now.plus(LOOK).min(expires_at)), pace).await?;
        Ok(Done::Left)
    }

    async fn give_back(
        &self,
        purchase: &Purchase,
        payment: &Payment,
        pace: &TaskContext,
    ) -> Result<Done, TaskFailure> {
        let asked = match (self.provider_of(payment), BegunCheckout::of(purchase, payment)) {
            (Some(_), Some(_)) if pace.is_dry() => Ok(()),
            (Some(provider), Some(begun)) => provider.refund(begun).await,
            _ => Err(ProviderFault::Passing(format!("there is no provider {} here", payment.provider))),
        };
        match asked {
            Ok(()) => {
                let given = pace.batch(self, RefundGiven { purchase: purchase.id }).await?;
                Ok(if given { Done::Refunded } else { Done::Nothing })
            }
            Err(fault) => {
                log::error!("the payment of purchase {} was not given back: {fault}", purchase.id);
                let pause = match fault {
                    ProviderFault::Passing(_) => pause(payment.attempts),
                    ProviderFault::Refused(_) => PAUSES.1,
                };
                self.look_again(purchase.id, Some(self.now().plus(pause)), pace).await?;
                Ok(Done::Left)
            }
        }
    }

    async fn look_again(
        &self,
        purchase: PurchaseId,
        at: Option<Timestamp>,
        pace: &TaskContext,
    ) -> Result<(), TaskFailure> {
        pace.batch(self, LookAgain { purchase, at }).await
    }
}

fn pause(attempts: u32) -> Duration {
    PAUSES.0.saturating_mul(2_u32.saturating_pow(attempts.min(20))).min(PAUSES.1)
}

/// Notes when a payment is looked at again, unless it was settled meanwhile.
struct LookAgain {
    purchase: PurchaseId,
    at: Option<Timestamp>,
}

impl Command for LookAgain {
    const NAME: &'static str = "look_again_at_payment";
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let Some(purchase) = tx.lock_purchase(self.purchase)? else { return Ok(()) };
        let Some(payment) = tx.payment(self.purchase)? else { return Ok(()) };
        let is_open = purchase.state == PurchaseState::Pending || payment.refund == Some(RefundState::Owed);
        let due_at = self.at.filter(|_| is_open);
        if payment.due_at.is_some() && (due_at.is_some() || !is_open) {
            tx.put_payment(&Payment { due_at, attempts: payment.attempts.saturating_add(1), ..payment })?;
        }
        Ok(())
    }
}

/// Notes that a payment was given back; says whether it was this that did.
struct RefundGiven {
    purchase: PurchaseId,
}

impl Command for RefundGiven {
    const NAME: &'static str = "refund_given";
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        if tx.lock_purchase(self.purchase)?.is_none() {
            return Ok(false);
        }
        let Some(payment) = tx.payment(self.purchase)? else { return Ok(false) };
        let owed = payment.refund == Some(RefundState::Owed);
        if owed {
            tx.put_payment(&Payment { refund: Some(RefundState::Given), due_at: None, ..payment })?;
        }
        Ok(owed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_bounded() {
        let pauses: Vec<_> = [0, 1, 2, 3, 6, 7, u32::MAX].map(|attempts| pause(attempts).as_secs()).into();
        assert_eq!(pauses, [30, 60, 120, 240, 1920, 3600, 3600]);
    }

    #[test]
    fn reports_add_up() {
        let all =
            [Done::Completed, Done::Expired, Done::Cancelled, Done::Refunded, Done::Left, Done::Nothing];
        let report =
            all.into_iter().map(ReconcileReport::from).fold(ReconcileReport::default(), ReconcileReport::and);
        let one =
            ReconcileReport { looked_at: 6, completed: 1, expired: 1, cancelled: 1, refunded: 1, left: 1 };
        assert_eq!(report, one);
        assert!(!report.is_idle() && ReconcileReport::from(Done::Left).is_idle());
    }
}
