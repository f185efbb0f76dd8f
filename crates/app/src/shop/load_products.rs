//! Loads the shop into the database.

use crate::content::ContentFaults;
use crate::grants::{Giver, GrantBook};
use crate::shop::{ShopContent, ShopSummary};
use crate::store::{Command, ShopContentTx};
use std::collections::HashMap;
use terrace_kernel::{Ctx, Currency, Failure, Outcome};
use terrace_shop::Known;

/// Loads the shop by its keys. An item whose key exists keeps its id, and a variant its stock.
pub struct LoadProducts {
    /// The shop.
    pub content: ShopContent,
}

impl Command for LoadProducts {
    const NAME: &'static str = "load_products";
    type Ports = dyn ShopContentTx;
    type Output = ShopSummary;
    type Refusal = ContentFaults;

    fn run(&self, tx: &mut dyn ShopContentTx, ctx: &mut Ctx) -> Outcome<ShopSummary, ContentFaults> {
        let catalogue = tx.catalogue()?;
        let mut teams = HashMap::new();
        for team in self.content.teams() {
            if let Some(id) = tx.team_by_key(team)? {
                teams.insert(team.to_owned(), id);
            }
        }
        let team = |key: &str| teams.get(key).copied();
        // The dates of a club's folder are checked when it is planned; products of the program may have closed.
        let currency = Some(Currency::DEFAULT);
        let (packs, collectibles) = (tx.packs()?, tx.collectibles()?);
        let book = GrantBook { packs: &packs, collectibles: &collectibles, ..GrantBook::default() };
        let planned = book.with_names(Giver::Order, |grants| {
            let known = Known { catalogue: &catalogue, team: &team, grants, closes_after: None, currency };
            self.content.plan(&known, || ctx.new_id()).map_err(Failure::Refused)
        })?;
        tx.put_catalogue(&planned)?;
        let keys: Vec<_> = planned.products.iter().map(|product| product.key.clone()).collect();
        let retired = tx.retire_products(&keys)?;
        Ok(ShopSummary { products: planned.products.len(), retired })
    }
}
