//! Repair of the counters that rows carry: all those that the verification of counters checks.

use crate::maintenance::{
    Carrier, Category, Derived, Extent, Looked, LookedAt, Page, Portion, Settled, Task, TaskFailure,
    WalkReport, Work,
};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Uuid};
use terrace_store::OpsTx;

pub(crate) fn counters() -> Task {
    let about = "Recounts the comments, reactions, likes, follows and followers of posts, comments, fans and teams, and notifications";
    Task::new("repair-counters", Category::Repair, about, |work: Work| async move {
        work.expect_all(Extent::Posts).await?;
        work.expect_all(Extent::Comments).await?;
        work.expect_all(Extent::Accounts).await?;
        for carrier in [
            Carrier::Posts,
            Carrier::Comments,
            Carrier::Users,
            Carrier::Teams,
            Carrier::Inboxes,
            Carrier::Notifications,
        ] {
            work.walk(Counters { carrier }).await?;
        }
        Ok::<(), TaskFailure>(())
    })
}

/// The rows of one table: each transaction locks rows of one table only, so that lock orders cannot conflict.
#[derive(Clone)]
struct Counters {
    carrier: Carrier,
}

impl Derived for Counters {
    const NAME: &'static str = "repair_counters";
    type Key = Uuid;
    type Check = Infallible;

    fn look(&self, page: Page<'_, Uuid>) -> Looked<Uuid> {
        let LookedAt { rows, last, suspects } = page.tx.miscounted(self.carrier, page.after, page.limit)?;
        Ok(last.map(|last| Portion::new(rows, last, suspects)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[Uuid]) -> Settled {
        Ok(WalkReport { written: tx.recount(self.carrier, suspects)?, ..WalkReport::default() })
    }
}
