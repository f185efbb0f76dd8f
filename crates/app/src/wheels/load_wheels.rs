//! Loads wheels into the database.

use crate::content::ContentFaults;
use crate::grants::{Giver, GrantBook};
use crate::store::{Command, WheelContentTx};
use crate::wheels::{WheelContent, WheelSummary};
use terrace_games::KnownWheels;
use terrace_kernel::{Ctx, Failure, Outcome};

/// Loads wheels by their keys. A wheel whose key exists keeps its id, and a limited segment what it gave.
pub struct LoadWheels {
    /// The wheels.
    pub content: WheelContent,
}

impl Command for LoadWheels {
    const NAME: &'static str = "load_wheels";
    type Ports = dyn WheelContentTx;
    type Output = WheelSummary;
    type Refusal = ContentFaults;

    fn run(&self, tx: &mut dyn WheelContentTx, ctx: &mut Ctx) -> Outcome<WheelSummary, ContentFaults> {
        let stored = tx.wheels()?;
        let (packs, collectibles, shop) = (tx.packs()?, tx.collectibles()?, tx.catalogue()?);
        let book = GrantBook {
            packs: &packs,
            collectibles: &collectibles,
            products: &shop.products,
            is_open: false,
        };
        let planned = book.with_names(Giver::Spin, |names| {
            // The dates of a club's folder are checked when it is planned; wheels of the program may have closed.
            let known = KnownWheels { wheels: &stored, names, closes_after: None };
            self.content.plan(&known, || ctx.new_id())
        });
        let planned = planned.map_err(Failure::Refused)?;
        tx.put_wheels(&planned)?;
        let keys: Vec<_> = planned.iter().map(|wheel| wheel.key.clone()).collect();
        let retired = tx.retire_wheels(&keys)?;
        Ok(WheelSummary { wheels: planned.len(), retired })
    }
}
