//! Repair of the stock of packs and of the minted counts of editions.

use crate::maintenance::{Category, Task, TaskFailure, Work};
use std::convert::Infallible;
use terrace_kernel::{Ctx, Outcome, Timestamp};
use terrace_packs::{CollectibleId, PackId};
use terrace_store::{Command, Query, ReadTx, Tx};

pub(in crate::maintenance) fn pack_stock() -> Task {
    let about = "Repairs the stock of packs from purchases and openings, and the minted counts of editions from serial numbers";
    Task::new("repair-pack-stock", Category::Repair, about, |work: Work| async move {
        let (packs, collectibles) = work.ask(Misstocked).await?;
        // One transaction for each: every buyer of a pack waits for the lock on its stock.
        for pack in packs {
            work.count("stocks of packs", u64::from(work.batch(Restock { pack }).await?));
        }
        for collectible in collectibles {
            work.count("editions", u64::from(work.batch(RaiseMinted { collectible }).await?));
        }
        Ok::<(), TaskFailure>(())
    })
    // Missing copies would be missing from the stock.
    .after(&["backfill-packs"])
}

struct Misstocked;

impl Query for Misstocked {
    const NAME: &'static str = "misstocked_packs";
    type Ports = dyn ReadTx;
    type Output = (Vec<PackId>, Vec<CollectibleId>);
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok((tx.misstocked()?, tx.underminted()?))
    }
}

struct Restock {
    pack: PackId,
}

impl Command for Restock {
    const NAME: &'static str = "restock_pack";
    type Ports = dyn Tx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.restock(self.pack)?)
    }
}

struct RaiseMinted {
    collectible: CollectibleId,
}

impl Command for RaiseMinted {
    const NAME: &'static str = "raise_minted";
    type Ports = dyn Tx;
    type Output = bool;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, _ctx: &mut Ctx) -> Outcome<bool, Infallible> {
        Ok(tx.raise_minted(self.collectible)?)
    }
}
