//! Repair of balances: balances and the entries of statements are compared with the journal, and spendable points with the
//! records of points.

use crate::maintenance::{Derived, Looked, Page, Settled, TaskContext, TaskFailure, WalkReport, walk};
use std::time::Duration;
use terrace_app::App;
use terrace_app::platform::Job;
use terrace_kernel::{Ctx, StoreError, UserId};
use terrace_ledger::{FanLedger, LedgerCheck, LedgerRepairWrite};
use terrace_store::OpsTx;

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
    repair_ledger(app, true).await
}

/// Sets balances to the sums of the journal, and transfers points that are recorded but missing from the journal;
/// with `dry_run` only reports the differences. A journal with a negative sum is reported and left unchanged. May
/// be stopped and run again at any time, also concurrently with itself and with changes of balances.
///
/// # Errors
///
/// When the database is unavailable.
pub async fn repair_ledger(app: &App, dry_run: bool) -> Result<LedgerReport, StoreError> {
    repair_ledger_task(app, &TaskContext::without_observer(dry_run)).await.map_err(TaskFailure::into_store)
}

/// Same as [`repair_ledger`], as part of a maintenance task.
pub(crate) async fn repair_ledger_task(app: &App, pace: &TaskContext) -> Result<LedgerReport, TaskFailure> {
    walk(app, pace, FanBalances).await
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

/// Balances of fans.
#[derive(Clone)]
struct FanBalances;

impl Derived for FanBalances {
    const NAME: &'static str = "repair_balances";
    const PAGE: u32 = 2_000;
    const CHECKS: &'static [LedgerCheck] = &LedgerCheck::ALL;
    type Key = UserId;
    type Check = LedgerCheck;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId, LedgerCheck> {
        page.audit_fans(|tx, portion, first, last| {
            for fan in tx.ledger_between(first, last)? {
                portion.audited(fan.user, fan.checked(), !fan.audit().0.is_empty());
            }
            Ok(())
        })
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, fans: &[UserId]) -> Settled<LedgerCheck> {
        // Before any read: the lock keeps the data from changing until the transaction ends.
        tx.hold_fans(fans)?;
        let mut report = WalkReport::default();
        for fan in held_ledgers(tx, fans)? {
            let (faults, repair) = fan.audit();
            for fault in &faults {
                report.note(fault.check, fault);
            }
            if let Some(repair) = repair {
                report.repaired += 1;
                tx.write_ledger_repair(&repair, ctx.new_id(), ctx.now())?;
                for currency in &repair.statements {
                    let entries = terrace_ledger::number_entries(tx.bookings(fan.user, *currency)?);
                    tx.write_entries(fan.user, *currency, &entries)?;
                }
            }
        }
        Ok(report)
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
