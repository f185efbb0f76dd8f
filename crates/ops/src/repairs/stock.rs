//! Repair of the stock of packs and of the minted counts of editions.

use crate::maintenance::{
    Category, Derived, Looked, Page, Portion, Settled, Task, TaskFailure, WalkReport, Work,
};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Uuid};
use terrace_packs::{CollectibleId, PackId};
use terrace_store::OpsTx;

pub(crate) fn pack_stock() -> Task {
    let about = "Repairs the stock of packs from purchases and openings, and the minted counts of editions from serial numbers";
    Task::new("repair-pack-stock", Category::Repair, about, |work: Work| async move {
        work.walk(Stock::Packs).await?;
        work.walk(Stock::Editions).await?;
        Ok::<(), TaskFailure>(())
    })
    // Missing copies would be missing from the stock.
    .after(&["backfill-packs", "repair-grants"])
}

#[derive(Clone, Copy)]
enum Stock {
    Packs,
    Editions,
}

impl Derived for Stock {
    const NAME: &'static str = "repair_pack_stock";
    /// Every buyer of a pack waits for the lock on its stock.
    const HELD: usize = 1;
    type Key = Uuid;
    type Check = Infallible;

    fn look(&self, Page { tx, after, .. }: Page<'_, Uuid>) -> Looked<Uuid> {
        // There are few of them: all are on one page.
        if after.is_some() {
            return Ok(None);
        }
        Ok(Portion::of_suspects(match self {
            Self::Packs => tx.misstocked()?.into_iter().map(PackId::as_uuid).collect(),
            Self::Editions => tx.underminted()?.into_iter().map(CollectibleId::as_uuid).collect(),
        }))
    }

    fn settle(&self, tx: &mut dyn OpsTx, _ctx: &mut Ctx, suspects: &[Uuid]) -> Settled {
        let mut report = WalkReport::default();
        for id in suspects.iter().copied() {
            match self {
                Self::Packs => report.wrote("stocks of packs", u64::from(tx.restock(PackId::from_uuid(id))?)),
                Self::Editions => {
                    report.wrote("editions", u64::from(tx.raise_minted(CollectibleId::from_uuid(id))?));
                }
            }
        }
        Ok(report)
    }
}
