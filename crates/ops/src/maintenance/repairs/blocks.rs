//! Removal of follows between fans where either blocks the other.

use crate::maintenance::repairs::walk::{CheckedPortion, Repair, count, fans, into_portion, walk};
use crate::maintenance::{Category, Counts, Task};
use std::collections::BTreeSet;
use terrace_app::graph::end_follow;
use terrace_kernel::{Ctx, StoreError, Timestamp, UserId, Uuid};
use terrace_store::{ReadTx, Tx};

/// Maximum number of fans that one query returns.
const PORTION: u32 = 200;

/// Removes follows that a block forbids.
pub(in crate::maintenance) fn blocked_follows() -> Task {
    let about = "Removes follows between fans if one of them blocks the other";
    Task::new("sweep-blocked-follows", Category::CleanUp, about, |work| async move {
        walk(&work, BlockedFollows).await
    })
    // Removing a follow decrements two counters, which must be correct before.
    .after(&["repair-counters"])
}

#[derive(Clone)]
struct BlockedFollows;

impl Repair for BlockedFollows {
    const NAME: &'static str = "sweep_blocked_follows";
    /// A fan may block many accounts with which a follow exists.
    const HELD: usize = 20;

    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        _now: Timestamp,
    ) -> Result<Option<CheckedPortion>, StoreError> {
        Ok(into_portion(tx.blockers_with_follows(after.map(UserId::from_uuid), PORTION)?))
    }

    fn settle(&self, tx: &mut dyn Tx, ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError> {
        let mut counts = Counts::new();
        let blockers = fans(suspects);
        let concerned: BTreeSet<UserId> =
            tx.follows_beside_blocks(&blockers)?.into_iter().flat_map(|(from, to)| [from, to]).collect();
        // All locks at once, in ascending order of id; follows created since the read are left to the next run.
        tx.hold_fans(&concerned.iter().copied().collect::<Vec<_>>())?;
        for (follower, followee) in tx.follows_beside_blocks(&blockers)? {
            if concerned.contains(&follower) && concerned.contains(&followee) {
                count(&mut counts, "follows", u64::from(end_follow(tx, ctx, follower, followee)?));
            }
        }
        Ok(counts)
    }
}
