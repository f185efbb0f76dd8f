//! Repair of the search index: names of accounts and words of posts.

use crate::maintenance::{Category, Extent, Task, TaskFailure, Work};
use crate::search::{Indexed, IndexedUntil};
use crate::walk::{Derived, Looked, Page, Portion, Settled, WalkReport};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Timestamp, Uuid, num};
use terrace_store::OpsTx;

/// Indexes what differs from its row.
pub(in crate::maintenance) fn search() -> Task {
    let about = "Corrects what the search finds fans and posts by";
    Task::new("repair-search", Category::Repair, about, |work: Work| async move {
        work.expect_all(Extent::Accounts).await?;
        work.expect_all(Extent::Posts).await?;
        for of in Indexed::ALL {
            // What was never indexed is left to the backfill.
            if let Some(before) = work.ask(IndexedUntil(of)).await? {
                work.walk(Index { of, before }).await?;
            }
        }
        Ok::<(), TaskFailure>(())
    })
}

#[derive(Clone)]
struct Index {
    of: Indexed,
    /// Later changes may be on their way to the index.
    before: Timestamp,
}

impl Derived for Index {
    const NAME: &'static str = "repair_search";
    type Key = Uuid;
    type Check = Infallible;

    fn look(&self, page: Page<'_, Uuid>) -> Looked<Uuid> {
        let rows = self.of.after(page.tx, page.after, page.limit)?;
        let Some(last) = rows.last().copied() else { return Ok(None) };
        let wrong = self.of.wrong(page.tx, &rows, self.before)?;
        Ok(Some(Portion::new(num::to_u64(rows.len()), last, wrong)))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[Uuid]) -> Settled {
        let mut report = WalkReport::default();
        report.wrote(self.of.as_str(), self.of.index(tx, suspects)?);
        Ok(report)
    }
}
