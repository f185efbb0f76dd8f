//! Repair of the minting outbox: fans whose pending messages would never be sent.

use crate::maintenance::{Category, Derived, Looked, Page, Portion, Settled, Task, WalkReport};
use std::convert::Infallible;
use terrace_kernel::{Ctx, UserId};
use terrace_store::OpsTx;

/// Opens missing lanes of fans with pending messages.
pub(crate) fn minting_lanes() -> Task {
    let about = "Creates the missing delivery lanes of fans with pending messages to the minter";
    Task::new("repair-minting-lanes", Category::Repair, about, |work| async move { work.walk(Lanes).await })
}

#[derive(Clone)]
struct Lanes;

impl Derived for Lanes {
    const NAME: &'static str = "repair_minting_lanes";
    const PAGE: u32 = 200;
    type Key = UserId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId> {
        Ok(Portion::of_suspects(page.tx.fans_without_lane(page.after, page.limit)?))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, fans: &[UserId]) -> Settled {
        let mut report = WalkReport::default();
        tx.hold_fans(fans)?;
        report.wrote("lanes", tx.open_missing_lanes(fans, ctx.now())?);
        Ok(report)
    }
}
