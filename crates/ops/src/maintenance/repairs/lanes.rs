//! Repair of the minting outbox: fans whose pending messages would never be sent.

use crate::maintenance::repairs::walk::{CheckedPortion, Repair, count, hold, into_portion, walk};
use crate::maintenance::{Category, Counts, Task};
use terrace_kernel::{Ctx, StoreError, Timestamp, UserId, Uuid};
use terrace_store::{ReadTx, Tx};

/// Maximum number of fans that one query returns.
const PORTION: u32 = 200;

/// Opens missing lanes of fans with pending messages.
pub(in crate::maintenance) fn minting_lanes() -> Task {
    let about = "Creates the missing delivery lanes of fans with pending messages to the minter";
    Task::new("repair-minting-lanes", Category::Repair, about, |work| async move { walk(&work, Lanes).await })
}

#[derive(Clone)]
struct Lanes;

impl Repair for Lanes {
    const NAME: &'static str = "repair_minting_lanes";

    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        _now: Timestamp,
    ) -> Result<Option<CheckedPortion>, StoreError> {
        Ok(into_portion(tx.fans_without_lane(after.map(UserId::from_uuid), PORTION)?))
    }

    fn settle(&self, tx: &mut dyn Tx, ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError> {
        let mut counts = Counts::new();
        let Some(held) = hold(tx, suspects)? else { return Ok(counts) };
        count(&mut counts, "lanes", tx.open_missing_lanes(&held.fans, ctx.now())?);
        Ok(counts)
    }
}
