//! Repair of the outbox of minting: fans whose messages wait and would never go out.

use super::walk::{Looked, Mending, count, fans, tally, walk};
use crate::maintenance::{Category, Counts, Task};
use crate::store::{ReadTx, Tx};
use terrace_kernel::{Ctx, StoreError, Timestamp, UserId, Uuid};

/// Fans that one query finds.
const PORTION: u32 = 200;

/// Lanes of fans whose messages wait.
pub(in crate::maintenance) fn minting_lanes() -> Task {
    let about = "Opens the lanes of fans whose messages to the minter wait and have none";
    Task::new("repair-minting-lanes", Category::Repair, about, |work| async move { walk(&work, Lanes).await })
}

#[derive(Clone)]
struct Lanes;

impl Mending for Lanes {
    const NAME: &'static str = "repair_minting_lanes";

    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        _now: Timestamp,
    ) -> Result<Option<Looked>, StoreError> {
        let found = tx.fans_without_lane(after.map(UserId::from_uuid), PORTION)?;
        let suspects: Vec<Uuid> = found.into_iter().map(UserId::as_uuid).collect();
        let Some(last) = suspects.last().copied() else { return Ok(None) };
        Ok(Some(Looked { rows: tally(suspects.len()), last, suspects }))
    }

    fn settle(&self, tx: &mut dyn Tx, ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError> {
        let mut counts = Counts::new();
        let Some((held, ..)) = fans(suspects) else { return Ok(counts) };
        tx.hold_fans(&held)?;
        count(&mut counts, "lanes", tx.open_missing_lanes(&held, ctx.now())?);
        Ok(counts)
    }
}
