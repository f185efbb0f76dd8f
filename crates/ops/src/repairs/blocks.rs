//! Removal of follows between fans where either blocks the other.

use crate::maintenance::{Category, Derived, Looked, Page, Portion, Settled, Task, WalkReport};
use std::collections::BTreeSet;
use std::convert::Infallible;
use terrace_app::graph::end_follow;
use terrace_kernel::{Ctx, UserId};
use terrace_store::OpsTx;

/// Removes follows that a block forbids.
pub(crate) fn blocked_follows() -> Task {
    let about = "Removes follows between fans if one of them blocks the other";
    Task::new("sweep-blocked-follows", Category::CleanUp, about, |work| async move {
        work.walk(BlockedFollows).await
    })
    // Removing a follow decrements two counters, which must be correct before.
    .after(&["repair-counters"])
}

#[derive(Clone)]
struct BlockedFollows;

impl Derived for BlockedFollows {
    const NAME: &'static str = "sweep_blocked_follows";
    const PAGE: u32 = 200;
    /// A fan may block many accounts with which a follow exists.
    const HELD: usize = 20;
    type Key = UserId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId> {
        Ok(Portion::of_suspects(page.tx.blockers_with_follows(page.after, page.limit)?))
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, blockers: &[UserId]) -> Settled {
        let mut report = WalkReport::default();
        let concerned: BTreeSet<UserId> =
            tx.follows_beside_blocks(blockers)?.into_iter().flat_map(|(from, to)| [from, to]).collect();
        // All locks at once, in ascending order of id; follows created since the read are left to the next run.
        tx.hold_fans(&concerned.iter().copied().collect::<Vec<_>>())?;
        for (follower, followee) in tx.follows_beside_blocks(blockers)? {
            if concerned.contains(&follower) && concerned.contains(&followee) {
                report.wrote("follows", u64::from(end_follow(tx, ctx, follower, followee)?));
            }
        }
        Ok(report)
    }
}
