//! Repair of the counters that rows carry: all those that the verification of counters checks.

use crate::maintenance::repairs::walk::{CheckedPortion, Repair, walk};
use crate::maintenance::{Carrier, Category, CountRows, Counts, Extent, Task, TaskFailure, Work};
use terrace_kernel::{Ctx, StoreError, Timestamp, Uuid};
use terrace_store::{ReadTx, Tx};

/// Rows that one query checks.
const PORTION: u32 = 1_000;

pub(in crate::maintenance) fn counters() -> Task {
    let about = "Recounts the comments, reactions, follows and followers of posts, fans and teams";
    Task::new("repair-counters", Category::Repair, about, |work: Work| async move {
        work.expect(work.ask(CountRows(Extent::Posts)).await?);
        work.expect(work.ask(CountRows(Extent::Accounts)).await?);
        for carrier in [Carrier::Posts, Carrier::Users, Carrier::Teams] {
            walk(&work, Counters { carrier }).await?;
        }
        Ok::<(), TaskFailure>(())
    })
}

/// The rows of one table: each transaction locks rows of one table only, so that lock orders cannot conflict.
#[derive(Clone)]
struct Counters {
    carrier: Carrier,
}

impl Repair for Counters {
    const NAME: &'static str = "repair_counters";

    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        _now: Timestamp,
    ) -> Result<Option<CheckedPortion>, StoreError> {
        let looked = tx.miscounted(self.carrier, after, PORTION)?;
        Ok(looked.last.map(|last| CheckedPortion { rows: looked.rows, last, suspects: looked.suspects }))
    }

    fn settle(&self, tx: &mut dyn Tx, _ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError> {
        tx.recount(self.carrier, suspects)
    }
}
