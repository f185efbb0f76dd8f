//! Repair of orders and of the stock of variants.

use crate::maintenance::{
    Category, Derived, Looked, Page, Portion, Settled, Task, TaskFailure, WalkReport, Work,
};
use std::collections::BTreeSet;
use std::convert::Infallible;
use terrace_app::shop::settle_lost_holds;
use terrace_kernel::{Ctx, StoreError, UserId, num};
use terrace_shop::{OrderId, VariantId};
use terrace_store::OpsTx;

/// Repairs the holds and payments of orders, and the stock of variants.
pub(crate) fn orders() -> Task {
    let about =
        "Settles holds of orders that have ended, wakes their payments, and repairs the stock of variants";
    Task::new("repair-orders", Category::Repair, about, |work: Work| async move {
        work.walk(Orders).await?;
        work.walk(Stocks).await?;
        Ok::<(), TaskFailure>(())
    })
}

/// Locks the fans of orders, which are locked before any of these orders.
pub(super) fn hold_buyers(tx: &mut dyn OpsTx, orders: &[OrderId]) -> Result<(), StoreError> {
    let mut fans: BTreeSet<UserId> = BTreeSet::new();
    for id in orders {
        fans.extend(tx.order(*id)?.map(|order| order.user));
    }
    tx.hold_fans(&fans.into_iter().collect::<Vec<_>>()).map(drop)
}

#[derive(Clone, Copy)]
struct Orders;

impl Derived for Orders {
    const NAME: &'static str = "repair_orders";
    const PAGE: u32 = 500;
    const HELD: usize = 50;
    type Key = OrderId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, limit, .. }: Page<'_, OrderId>) -> Looked<OrderId> {
        let ids = tx.orders_after(after, limit)?;
        let Some(last) = ids.last().copied() else { return Ok(None) };
        let stuck = tx.stuck_orders(&ids)?;
        Ok(Some(Portion::new(num::to_u64(ids.len()), last, stuck)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[OrderId]) -> Settled {
        let mut report = WalkReport::default();
        hold_buyers(tx, suspects)?;
        for id in suspects {
            let Some(order) = tx.lock_order(*id)? else { continue };
            report.wrote("holds of orders", settle_lost_holds(tx, ctx, &order)?);
            report.wrote("payments woken", u64::from(tx.wake_order(order.id, ctx.now())?));
        }
        Ok(report)
    }
}

#[derive(Clone, Copy)]
struct Stocks;

impl Derived for Stocks {
    const NAME: &'static str = "repair_variant_stock";
    /// Every buyer of a variant waits for the lock on its stock.
    const HELD: usize = 1;
    type Key = VariantId;
    type Check = Infallible;

    fn look(&self, Page { tx, after, .. }: Page<'_, VariantId>) -> Looked<VariantId> {
        // There are few of them: all are on one page.
        if after.is_some() {
            return Ok(None);
        }
        Ok(Portion::of_suspects(tx.misstocked_variants()?))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[VariantId]) -> Settled {
        let mut report = WalkReport::default();
        for variant in suspects {
            report.wrote("stocks of variants", u64::from(tx.restock_variant(*variant)?));
        }
        Ok(report)
    }
}
