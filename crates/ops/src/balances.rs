//! Repair of balances: balances are compared with the journal, and spendable points with the records of points. As in
//! `points`, accounts are scanned in portions, and suspects are checked again under a lock.

use crate::maintenance::{AdaptiveBatch, TaskContext, TaskFailure};
use crate::walked::{HELD, PORTION, Portion, Settled, WalkReport};
use std::convert::Infallible;
use std::time::Duration;
use terrace_app::App;
use terrace_app::platform::Job;
use terrace_kernel::{Ctx, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::{FanLedger, LedgerCheck, LedgerFault, LedgerRepairWrite};
use terrace_store::{Command, OpsReadTx, OpsTx, Query, into_infallible};

/// Name and period of the job; the period is that of the boards.
const SYNC: &str = "sync-balances";
const EVERY: Duration = Duration::from_hours(1);

/// Result of a scan of balances.
pub type LedgerReport = WalkReport<LedgerCheck>;

/// The job that verifies and repairs balances.
pub(crate) fn job() -> Job {
    Job::new(SYNC, EVERY, |app| async move { keep_balances(&app).await })
}

/// Compares every balance with the journal. Writes nothing.
///
/// # Errors
///
/// When the database is unavailable.
pub async fn verify_ledger(app: &App) -> Result<LedgerReport, StoreError> {
    walk_ledger(app, false, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
}

/// Sets balances to the sums of the journal, and transfers points that are recorded but missing from the journal;
/// with `dry_run` only reports the differences. A journal with a negative sum is reported and left unchanged. May
/// be stopped and run again at any time, also concurrently with itself and with changes of balances.
///
/// # Errors
///
/// When the database is unavailable.
pub async fn repair_ledger(app: &App, dry_run: bool) -> Result<LedgerReport, StoreError> {
    walk_ledger(app, !dry_run, &TaskContext::unwatched()).await.map_err(TaskFailure::into_store)
}

/// Same as [`repair_ledger`], as part of a maintenance task.
pub(crate) async fn repair_ledger_task(app: &App, pace: &TaskContext) -> Result<LedgerReport, TaskFailure> {
    walk_ledger(app, !pace.is_dry(), pace).await
}

/// One run of the job.
async fn keep_balances(app: &App) -> Result<(), StoreError> {
    let report = repair_ledger(app, false).await?;
    for (check, found) in report.checks.iter().filter(|(_, found)| found.wrong > 0) {
        let (name, example) = (check.as_str(), found.examples.first().map_or("", String::as_str));
        log::warn!("{SYNC} found {} of {} {name} wrong: {example}", found.wrong, found.checked);
        metrics::counter!("terrace_balances_wrong_total", "check" => name).increment(found.wrong);
    }
    if report.wrong() > 0 {
        log::warn!("{SYNC} repaired the balances of {} fans", report.repaired);
    }
    Ok(())
}

async fn walk_ledger(app: &App, repairs: bool, pace: &TaskContext) -> Result<LedgerReport, TaskFailure> {
    let mut report = LedgerReport::of(LedgerCheck::ALL);
    let (mut after, mut stride) = (None, AdaptiveBatch::up_to(HELD));
    while let Some(portion) = into_infallible(app.query(CheckLedger { after }).await)? {
        pace.go_on()?;
        report.count(portion.checked);
        let on_settled = |settled| report.settled(&settled, |fault: &LedgerFault| fault.check);
        let command = |fans| SettleLedger { fans, repairs };
        pace.settle(app, &mut stride, &portion.suspects, command, on_settled).await?;
        pace.advance(portion.fans);
        after = Some(portion.last);
    }
    Ok(report)
}

/// Checks the next portion of accounts.
struct CheckLedger {
    after: Option<UserId>,
}

impl Query for CheckLedger {
    const NAME: &'static str = "check_ledger";
    type Ports = dyn OpsReadTx;
    /// `None` after the last account.
    type Output = Option<Portion<LedgerCheck>>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let fans = tx.fans_after(self.after, PORTION)?;
        let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(None) };
        let mut portion = Portion::of(fans.len(), *last);
        for fan in tx.ledger_between(*first, *last)? {
            portion.audited(fan.user, fan.checked(), !fan.audit().0.is_empty());
        }
        Ok(Some(portion))
    }
}

/// Checks suspects under a lock and, if requested, repairs them.
struct SettleLedger {
    /// In ascending order of id.
    fans: Vec<UserId>,
    repairs: bool,
}

impl Command for SettleLedger {
    const NAME: &'static str = "settle_ledger";
    type Ports = dyn OpsTx;
    type Output = Settled<LedgerFault>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx) -> Outcome<Settled<LedgerFault>, Infallible> {
        // Before any read: the lock keeps the data from changing until the transaction ends.
        tx.hold_fans(&self.fans)?;
        let mut settled = Settled::default();
        for fan in held_ledgers(tx, &self.fans)? {
            let (faults, repair) = fan.audit();
            settled.faults.extend(faults);
            if let Some(repair) = repair {
                settled.repaired += 1;
                if self.repairs {
                    tx.write_ledger_repair(&repair, ctx.new_id(), ctx.now())?;
                }
            }
        }
        Ok(settled)
    }
}

/// Returns the balances of these fans with the data that they are derived from, in ascending order of id. The
/// balances stay locked until the transaction ends. The caller holds the locks on the accounts.
pub(crate) fn held_ledgers(
    tx: &mut dyn LedgerRepairWrite,
    fans: &[UserId],
) -> Result<Vec<FanLedger>, StoreError> {
    let (Some(first), Some(last)) = (fans.first(), fans.last()) else { return Ok(Vec::new()) };
    tx.hold_balances(fans)?;
    let mut ledgers = tx.ledger_between(*first, *last)?;
    // The range of ids may include other fans.
    ledgers.retain(|fan| fans.binary_search(&fan.user).is_ok());
    Ok(ledgers)
}
