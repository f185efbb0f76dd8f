//! Repair of wallets that would not be asked for in time.

use crate::maintenance::{Category, Derived, Looked, Page, Portion, Settled, Task, WalkReport};
use std::convert::Infallible;
use terrace_app::wallets::LONGEST_PAUSE;
use terrace_kernel::{Ctx, Timestamp};
use terrace_ledger::WalletId;
use terrace_store::OpsTx;

/// Wakes requested wallets that are due later than any pause explains: a clock was wrong when they were paused.
pub(crate) fn wallets() -> Task {
    let about = "Wakes requested wallets whose next attempt was postponed for more than an hour";
    Task::new("repair-wallets", Category::Repair, about, |work| async move { work.walk(Sleeping).await })
}

fn latest(now: Timestamp) -> Timestamp {
    now.plus(LONGEST_PAUSE)
}

#[derive(Clone)]
struct Sleeping;

impl Derived for Sleeping {
    const NAME: &'static str = "repair_wallets";
    const PAGE: u32 = 500;
    type Key = WalletId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, limit, now }: Page<'_, WalletId>) -> Looked<WalletId> {
        Ok(Portion::of_suspects(tx.sleeping_wallets(latest(now), after, limit)?))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, wallets: &[WalletId]) -> Settled {
        let mut report = WalkReport::default();
        report.wrote("wallets woken", tx.wake_wallets(wallets, latest(ctx.now()), ctx.now())?);
        Ok(report)
    }
}
