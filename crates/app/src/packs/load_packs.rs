//! Loads packs and collectibles into the database.

use crate::content::ContentFaults;
use crate::packs::{PackContent, PackSummary};
use crate::store::{CatalogueTx, Command};
use std::collections::HashMap;
use terrace_kernel::{Ctx, Currency, Failure, Outcome};
use terrace_packs::Known;

/// Loads packs and collectibles by key. An item whose key exists keeps its id, and so its purchases and owners.
pub struct LoadPacks {
    /// The packs and collectibles.
    pub content: PackContent,
}

impl Command for LoadPacks {
    const NAME: &'static str = "load_packs";
    type Ports = dyn CatalogueTx;
    type Output = PackSummary;
    type Refusal = ContentFaults;

    fn run(&self, tx: &mut dyn CatalogueTx, ctx: &mut Ctx) -> Outcome<PackSummary, ContentFaults> {
        let (collectibles, packs) = (tx.collectibles()?, tx.packs()?);
        let mut teams = HashMap::new();
        for team in self.content.teams() {
            if let Some(id) = tx.team_by_key(team)? {
                teams.insert(team.to_owned(), id);
            }
        }
        let team = |key: &str| teams.get(key).copied();
        // The dates of a club's folder are checked when it is planned; packs of the program may have closed.
        let (now, currency) = (Some(ctx.now()), Some(Currency::DEFAULT));
        let known = Known {
            collectibles: &collectibles,
            packs: &packs,
            team: &team,
            now,
            closes_after: None,
            currency,
        };
        let planned = self.content.plan(&known, || ctx.new_id()).map_err(Failure::Refused)?;
        tx.put_collectibles(&planned.collectibles)?;
        tx.put_packs(&planned.packs)?;
        let keys: Vec<_> = planned.packs.iter().map(|pack| pack.key.clone()).collect();
        let retired = tx.retire_packs(&keys)?;
        let (packs, collectibles) = (planned.packs.len(), planned.collectibles.len());
        Ok(PackSummary { packs, collectibles, retired })
    }
}
