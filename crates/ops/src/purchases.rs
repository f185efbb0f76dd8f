//! Finishes interrupted purchases: payments whose notice was lost, purchases that were not paid, and refunds that are
//! owed (spec §3, rule 4).
//!
//! It starts from the stored state. For each due payment it asks the provider between transactions, and applies the
//! answer in one transaction that reads the state again under its locks. Concurrent runs apply each change once, and
//! an interrupted run leaves the rest to the next one.

use crate::maintenance::{TaskContext, TaskFailure};
use crate::on_demand::{Requested, RequestedJob};
use futures_util::{StreamExt, stream};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use terrace_app::payments::{
    BegunCheckout, Charge, ChargeState, ClaimRefund, CloseReason, DuePayments, DueRefunds, EndPending,
    FindPayment, NoticeKind, NoticeTaken, Payable, Payment, PaymentNotice, PaymentState, ProviderFault,
    RecordDisputed, RecordRefund, Refund, RefundAnswer, RefundAttempt, RefundOrder, RefundState, lock_charge,
};
use terrace_app::{App, PurchasesReconciled, ReconcileReport};
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, num};
use terrace_store::{Command, PurchaseTx, into_infallible};

/// Payments read by one query.
const PORTION: u32 = 100;
/// Payments checked concurrently.
const TOGETHER: usize = 8;
/// Name and interval of the job.
const RECONCILE: &str = "reconcile-purchases";
const EVERY: Duration = Duration::from_mins(1);
/// Interval between two checks of a pending purchase.
const LOOK: Duration = Duration::from_mins(5);
/// Minimum and maximum pause after a failed request to a provider; each failure doubles it.
const PAUSES: (Duration, Duration) = (Duration::from_secs(30), Duration::from_hours(1));
/// How long after its expiry a purchase keeps its reserved stock while its provider cannot confirm whether it was
/// paid. A payment that arrives later is refunded.
const GRACE: Duration = Duration::from_hours(1);

/// The periodic job.
pub(crate) const RECONCILE_JOB: RequestedJob<ReconcileReport> = RequestedJob {
    name: RECONCILE,
    every: EVERY,
    run: |app| {
        Box::pin(async move {
            let report = reconcile(&app).await?;
            if !report.is_idle() {
                log::info!("{RECONCILE}: {report:?}");
            }
            Ok(report)
        })
    },
    failed: "the purchases were not reconciled",
    busy: "another process still reconciles the purchases",
};

/// The outcome for one payment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Completed,
    Expired,
    Cancelled,
    Refunded,
    /// A concurrent run was faster, or there was nothing to do.
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

/// Reconciles now, whether or not the job is due. Of several concurrent calls in any processes one does the work,
/// and the others wait for it.
///
/// # Errors
///
/// If the run fails, a concurrent run takes too long, or the database is unavailable.
pub async fn reconcile_purchases(app: &Arc<App>) -> Result<PurchasesReconciled, StoreError> {
    let Requested { refreshed, took, result: report } = RECONCILE_JOB.request(app).await?;
    Ok(PurchasesReconciled { refreshed, took, report })
}

/// Checks all due payments and refunds in portions and settles those that can be settled. Several runs may overlap; a run may
/// be stopped at any time and started again.
///
/// # Errors
///
/// If the database is unavailable. Settled payments of the portion stay settled.
pub async fn reconcile(app: &App) -> Result<ReconcileReport, StoreError> {
    reconcile_at(app, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
}

/// [`reconcile`] in the context of a maintenance task. A dry run only reads the state of payments from
/// providers: a checkout that would be closed counts as closed, a payment that would be refunded counts as
/// refunded.
pub(crate) async fn reconcile_at(app: &App, pace: &TaskContext) -> Result<ReconcileReport, TaskFailure> {
    let by = app.now();
    let mut report = ReconcileReport::default();
    let mut after = None;
    loop {
        let due = into_infallible(app.query(DuePayments { by, limit: PORTION, after }).await)?;
        let Some((_, last)) = due.last() else { break };
        after = Some((last.due_at.unwrap_or(by), last.payable.id()));
        let count = num::to_u64(due.len());
        let works = due.into_iter().map(|(charge, payment)| settle_one(app, charge, payment, pace));
        let done: Vec<_> = stream::iter(works).buffer_unordered(TOGETHER).collect().await;
        for done in done {
            report = report.and(done?.into());
        }
        pace.advance(count);
    }
    let mut after = None;
    loop {
        let due = into_infallible(app.query(DueRefunds { by, limit: PORTION, after }).await)?;
        let Some(last) = due.last() else { return Ok(report) };
        after = Some((last.due_at.unwrap_or(by), last.id.as_uuid()));
        let count = num::to_u64(due.len());
        let works = due.into_iter().map(|refund| give_back(app, refund, pace));
        let done: Vec<_> = stream::iter(works).buffer_unordered(TOGETHER).collect().await;
        for done in done {
            report = report.and(done?.into());
        }
        pace.advance(count);
    }
}

async fn settle_one(
    app: &App,
    charge: Charge,
    payment: Payment,
    pace: &TaskContext,
) -> Result<Done, TaskFailure> {
    pace.go_on()?;
    if charge.state == ChargeState::Pending {
        return settle_pending(app, &charge, &payment, pace).await;
    }
    look_again(app, charge.payable, None, pace).await?;
    Ok(Done::Nothing)
}

async fn settle_pending(
    app: &App,
    charge: &Charge,
    payment: &Payment,
    pace: &TaskContext,
) -> Result<Done, TaskFailure> {
    let now = app.now();
    let expires_at = charge.expires_at.unwrap_or(charge.created_at);
    let is_over = expires_at.is_over(now);
    let asked = match (app.provider_of(payment), BegunCheckout::of(charge, payment)) {
        (Some(provider), Some(begun)) => {
            let state = match (is_over, pace.is_dry()) {
                (true, false) => provider.close(begun.clone()).await,
                (false, _) => provider.look_up(begun.clone()).await,
                (true, true) => provider.look_up(begun.clone()).await.map(|state| match state {
                    // The state that closing would lead to.
                    PaymentState::Open => PaymentState::Ended,
                    PaymentState::Paid(_) | PaymentState::Ended | PaymentState::Refunded(_) => state,
                }),
            };
            Some((provider.name(), begun, state))
        }
        // No checkout was begun, or the provider is no longer configured.
        _ => None,
    };
    let notice = match asked {
        Some((name, begun, Ok(PaymentState::Paid(money)))) => {
            Some((name, app.found(&begun, NoticeKind::Paid, money), Done::Completed))
        }
        Some((name, begun, Ok(PaymentState::Refunded(money)))) => {
            Some((name, app.found(&begun, NoticeKind::Refunded, money), Done::Refunded))
        }
        Some((name, begun, Ok(PaymentState::Ended))) if !is_over => {
            let money = begun.price;
            Some((name, app.found(&begun, NoticeKind::Cancelled, money), Done::Cancelled))
        }
        Some((_, _, Err(fault))) => {
            log::warn!("the payment of {} is unknown: {fault}", charge.payable);
            if !is_over || !expires_at.plus(GRACE).is_over(now) {
                look_again(app, charge.payable, Some(now.plus(pause(payment.attempts))), pace).await?;
                return Ok(Done::Left);
            }
            None
        }
        Some((_, _, Ok(PaymentState::Open))) if is_over && !expires_at.plus(GRACE).is_over(now) => {
            look_again(app, charge.payable, Some(now.plus(pause(payment.attempts))), pace).await?;
            return Ok(Done::Left);
        }
        Some((_, _, Ok(PaymentState::Open | PaymentState::Ended))) | None => None,
    };
    if let Some((name, notice, done)) = notice {
        return Ok(match take_notice(app, name, notice, pace).await? {
            NoticeTaken::Applied => done,
            NoticeTaken::Nothing | NoticeTaken::Before => Done::Nothing,
            NoticeTaken::Mismatch(mismatch) => {
                log::error!("the provider's state of {} does not match: {mismatch}", charge.payable);
                look_again(app, charge.payable, Some(now.plus(PAUSES.1)), pace).await?;
                Done::Left
            }
        });
    }
    if is_over {
        let book = app.pack_book().await?;
        let end = EndPending { payable: charge.payable, how: CloseReason::Expired, book };
        return Ok(if pace.batch(app, end).await? { Done::Expired } else { Done::Nothing });
    }
    look_again(app, charge.payable, Some(now.plus(LOOK).min(expires_at)), pace).await?;
    Ok(Done::Left)
}

/// Applies a notice as part of a task; a dry run rolls it back.
async fn take_notice(
    app: &App,
    provider: &'static str,
    notice: PaymentNotice,
    pace: &TaskContext,
) -> Result<NoticeTaken, TaskFailure> {
    let (kind, command) = (notice.kind, app.notice_command(provider, notice).await?);
    let taken = pace.batch(app, command).await?;
    taken.record(kind);
    Ok(taken)
}

async fn give_back(app: &App, refund: Refund, pace: &TaskContext) -> Result<Done, TaskFailure> {
    pace.go_on()?;
    let (of, now) = (RefundAttempt::from(&refund), app.now());
    let next = now.plus(pause(refund.tries));
    let claim = ClaimRefund { of, due_at: refund.due_at, next };
    let Some(refund) = pace.batch(app, claim).await? else { return Ok(Done::Nothing) };
    let answer = if pace.is_dry() {
        Ok(RefundAnswer { reference: None, state: RefundState::Given })
    } else {
        request(app, &refund).await?
    };
    let answer = match answer {
        Ok(answer) => answer,
        Err(fault) => {
            log::error!("refund {} of {} was not made: {fault}", refund.id, refund.payable);
            let next = now.plus(PAUSES.1);
            let is_returned = match fault {
                ProviderFault::Disputed => pace.batch(app, RecordDisputed { of, next }).await?,
                ProviderFault::Refused(_) => {
                    let answer = RefundAnswer { reference: None, state: RefundState::Owed };
                    pace.batch(app, RecordRefund { of, answer, next }).await?
                }
                ProviderFault::Passing(_) | ProviderFault::Stored(_) => false,
            };
            return Ok(if is_returned { Done::Refunded } else { Done::Left });
        }
    };
    if answer.state == RefundState::Failed {
        log::error!("refund {} of {} failed: terrace order refund --retry", refund.id, refund.payable);
    }
    let (state, next) = (answer.state, now.plus(PAUSES.1));
    let is_new = pace.batch(app, RecordRefund { of, answer, next }).await?;
    Ok(match state {
        RefundState::Given if is_new => Done::Refunded,
        RefundState::Given => Done::Nothing,
        RefundState::Owed | RefundState::Failed => Done::Left,
    })
}

/// Requests a refund from its provider.
async fn request(app: &App, refund: &Refund) -> Result<Result<RefundAnswer, ProviderFault>, StoreError> {
    let passing = |why: &str| Ok(Err(ProviderFault::Passing(why.to_owned())));
    let found = into_infallible(app.query(FindPayment { payable: refund.payable }).await)?;
    let Some((charge, payment)) = found else { return passing("there is no payment") };
    let Some(provider) = app.provider_of(&payment) else { return passing("its provider is not set here") };
    let (Some(checkout), Some(money)) = (BegunCheckout::of(&charge, &payment), refund.card()) else {
        return passing("its checkout is not known");
    };
    let order = RefundOrder {
        id: refund.id,
        attempt: refund.attempt,
        checkout,
        money,
        reference: refund.reference.clone(),
        asked_at: refund.asked_at.unwrap_or_else(|| app.now()),
        now: app.now(),
    };
    Ok(provider.refund(order).await)
}

async fn look_again(
    app: &App,
    payable: Payable,
    at: Option<Timestamp>,
    pace: &TaskContext,
) -> Result<(), TaskFailure> {
    pace.batch(app, RecheckPurchase { payable, at }).await
}

fn pause(attempts: u32) -> Duration {
    PAUSES.0.saturating_mul(2_u32.saturating_pow(attempts.min(20))).min(PAUSES.1)
}

/// Schedules the next check of a payment, unless it was settled in the meantime.
struct RecheckPurchase {
    payable: Payable,
    at: Option<Timestamp>,
}

impl Command for RecheckPurchase {
    const NAME: &'static str = "look_again_at_payment";
    type Ports = dyn PurchaseTx;
    type Output = ();
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn PurchaseTx, _ctx: &mut Ctx) -> Outcome<(), Infallible> {
        let Some(charge) = lock_charge(tx, self.payable)? else { return Ok(()) };
        let Some(payment) = tx.payment(self.payable)? else { return Ok(()) };
        let is_open = charge.state == ChargeState::Pending;
        let due_at = self.at.filter(|_| is_open);
        if payment.due_at.is_some() && (due_at.is_some() || !is_open) {
            tx.put_payment(&Payment { due_at, attempts: payment.attempts.saturating_add(1), ..payment })?;
        }
        Ok(())
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
