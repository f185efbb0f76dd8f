//! The odds of a pack, computed from the tables that the draw uses.

use crate::table::narrowed;
use crate::{CollectibleId, Minted, Pack, Rarity, Table};
use std::collections::BTreeMap;
use terrace_kernel::num;

/// The odds of a pack with the stock that is left. Probabilities come from sums of whole numbers and a few products:
/// each is within 1e-12 of the exact fraction.
#[derive(Debug, Clone, PartialEq)]
pub struct Odds {
    /// The rarities that slots of the pack list, from the most frequent to the rarest.
    pub rarities: Vec<RarityOdds>,
    /// The odds of each slot.
    pub slots: Vec<SlotOdds>,
}

/// The probability that a pack gives a rarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RarityOdds {
    /// A rarity that at least one slot can give.
    pub rarity: Rarity,
    /// The expected share of the pack's collectibles that are of this rarity: the mean of the slots' probabilities. The
    /// shares of all rarities add up to 1.
    pub share: f64,
    /// The probability that a copy gives at least one of this rarity; 1 if it is certain.
    pub at_least_one: f64,
}

/// The odds of a slot before anything is drawn, including the effect of the guarantee.
#[derive(Debug, Clone, PartialEq)]
pub struct SlotOdds {
    /// The probability of each rarity that the slot lists; they add up to 1. A probability is 0 if a guarantee that no
    /// earlier slot can fulfil excludes the rarity.
    pub rarities: BTreeMap<Rarity, f64>,
    /// The probability of each available collectible, computed from the stock before the copy is opened. If fewer
    /// copies of a collectible are left than there are slots, an earlier slot may take the last one; its weight then
    /// goes to the others of its rarity, as the draw's own table shows.
    pub collectibles: BTreeMap<CollectibleId, f64>,
}

impl SlotOdds {
    fn rarity(&self, rarity: Rarity) -> f64 {
        self.rarities.get(&rarity).copied().unwrap_or(0.0)
    }
}

/// The odds of a pack, given how many copies of its collectibles were minted. Exhausted collectibles are left out; the
/// odds of rarities do not depend on the stock.
pub fn odds(pack: &Pack, minted: &Minted) -> Odds {
    let tables: Vec<_> = pack.slots.iter().map(|slot| Table::of(pack, slot, minted)).collect();
    let mut slots: Vec<_> = tables.iter().map(|table| slot_odds(table, None)).collect();
    // The last slot, if an earlier slot fulfilled the guarantee and if none did.
    let free = slots.pop();
    let at_least = pack.guarantee.map(|guarantee| guarantee.at_least);
    let owing = tables.last().map(|table| slot_odds(table, at_least));
    let mut rarities = Vec::new();
    if let (Some(free), Some(owing)) = (free, owing) {
        let fulfils = |rarity: Rarity| at_least.is_some_and(|least| rarity >= least);
        // The probability that no slot before the last gives a rarity for which `holds` is true.
        let none_before = |holds: &dyn Fn(Rarity) -> bool| -> f64 {
            let misses = |slot: &SlotOdds| -> f64 {
                slot.rarities.iter().filter(|(rarity, _)| !holds(**rarity)).map(|(_, odds)| odds).sum()
            };
            slots.iter().map(misses).product()
        };
        let is_owed = if at_least.is_some() { none_before(&fulfils) } else { 0.0 };
        let last = mixed(&free, &owing, is_owed);
        for rarity in Rarity::ALL {
            let given = slots.iter().chain([&last]).map(|slot| slot.rarity(rarity)).sum::<f64>();
            if pack.slots.iter().any(|slot| slot.can_give(rarity)) {
                let missed_owing = if at_least.is_some() {
                    none_before(&|given| given == rarity || fulfils(given))
                } else {
                    0.0
                };
                let missed_free = none_before(&|given| given == rarity) - missed_owing;
                let none =
                    missed_free * (1.0 - free.rarity(rarity)) + missed_owing * (1.0 - owing.rarity(rarity));
                rarities.push(RarityOdds {
                    rarity,
                    share: given / num::to_f64(pack.slots.len()),
                    at_least_one: (1.0 - none).clamp(0.0, 1.0),
                });
            }
        }
        slots.push(last);
    }
    Odds { rarities, slots }
}

/// The odds of one draw from a table, narrowed to rarities of `at_least` and rarer if given.
fn slot_odds(table: &Table, at_least: Option<Rarity>) -> SlotOdds {
    let rows: Vec<_> = narrowed(table, at_least).collect();
    let total: f64 = rows.iter().map(|row| f64::from(row.weight)).sum();
    let mut odds = SlotOdds { rarities: BTreeMap::new(), collectibles: BTreeMap::new() };
    for row in rows {
        let of_rarity = f64::from(row.weight) / total;
        odds.rarities.insert(row.rarity, of_rarity);
        let total: f64 = row.collectibles.iter().map(|(_, weight)| f64::from(*weight)).sum();
        let of_each =
            row.collectibles.iter().map(|(id, weight)| (*id, of_rarity * f64::from(*weight) / total));
        odds.collectibles.extend(of_each);
    }
    odds
}

/// The odds of a slot that equals `owing` with probability `is_owed`, and `free` otherwise.
fn mixed(free: &SlotOdds, owing: &SlotOdds, is_owed: f64) -> SlotOdds {
    fn mix<K: Ord + Copy>(
        free: &BTreeMap<K, f64>,
        owing: &BTreeMap<K, f64>,
        is_owed: f64,
    ) -> BTreeMap<K, f64> {
        let owing = |key: &K| owing.get(key).copied().unwrap_or(0.0);
        let mix = |(key, free): (&K, &f64)| (*key, (1.0 - is_owed) * free + is_owed * owing(key));
        free.iter().map(mix).collect()
    }
    SlotOdds {
        rarities: mix(&free.rarities, &owing.rarities, is_owed),
        collectibles: mix(&free.collectibles, &owing.collectibles, is_owed),
    }
}

#[cfg(test)]
mod tests;
