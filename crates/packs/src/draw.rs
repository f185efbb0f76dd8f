//! The draw: a pure function of two seeds, a nonce and the tables, which a script of a dozen lines can recompute
//! (`docs/fair-draws.md`).

use crate::table::narrowed;
use crate::{
    ClientSeed, CollectibleId, Guarantee, Minted, Pack, Rarity, RarityRow, ServerSeed, Table, Tables,
};
use terrace_draws::Source;
use terrace_kernel::num;

/// The outcome of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotOutcome {
    /// The slot, from 0.
    pub slot: u32,
    /// The rarity that was drawn.
    pub rarity: Rarity,
    /// The collectible that was drawn among those of the rarity.
    pub collectible: CollectibleId,
    /// Whether the guarantee narrowed the table. Only possible in the last slot.
    pub is_guaranteed: bool,
}

/// The contents of a copy, and the tables that they were drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    /// The outcomes, in the order of the slots.
    pub outcomes: Vec<SlotOutcome>,
    /// The tables that were used.
    pub tables: Tables,
}

/// The drawn rarity has no collectible left. It cannot happen to a copy that was sold under [`crate::can_sell`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing is left that slot {slot} could give")]
pub struct Unfillable {
    /// The slot, from 0.
    pub slot: u32,
}

/// Draws every slot of a copy, in order. A limited edition that a slot takes is not available to later slots.
///
/// # Errors
///
/// Returns [`Unfillable`] if the limited editions of a drawn rarity are used up. The draw does not fall back to another
/// rarity, because the odds of rarities never change.
pub fn draw(
    seed: &ServerSeed,
    client_seed: &ClientSeed,
    nonce: u32,
    pack: &Pack,
    minted: &Minted,
) -> Result<Draw, Unfillable> {
    let source = Source::new(seed, client_seed, nonce);
    let mut minted = minted.clone();
    let mut outcomes = Vec::with_capacity(pack.slots.len());
    let mut tables = Tables { guarantee: pack.guarantee, slots: Vec::with_capacity(pack.slots.len()) };
    for slot in &pack.slots {
        let table = Table::of(pack, slot, &minted);
        let outcome = outcome(&source, &table, pack.guarantee, pack.slots.len(), &outcomes)?;
        if let Some(taken) = pack.contents.iter().find(|content| content.collectible == outcome.collectible) {
            minted.mint(taken);
        }
        outcomes.push(outcome);
        tables.slots.push(table);
    }
    Ok(Draw { outcomes, tables })
}

/// Draws the slot that follows the outcomes `before`. The draw and its verification share this function.
pub(crate) fn outcome(
    source: &Source<'_>,
    table: &Table,
    guarantee: Option<Guarantee>,
    slots: usize,
    before: &[SlotOutcome],
) -> Result<SlotOutcome, Unfillable> {
    let slot = num::to_u32(before.len());
    let is_last = before.len().saturating_add(1) == slots;
    let at_least = guarantee.map(|guarantee| guarantee.at_least);
    let is_owed = at_least.is_some_and(|least| before.iter().all(|outcome| outcome.rarity < least));
    let is_guaranteed = is_last && is_owed;
    let rows: Vec<&RarityRow> = narrowed(table, at_least.filter(|_| is_guaranteed)).collect();
    let mut words = source.slot(slot);
    let row = words.pick(&rows, |row| row.weight).ok_or(Unfillable { slot })?;
    let (collectible, _) = words.pick(&row.collectibles, |(_, weight)| *weight).ok_or(Unfillable { slot })?;
    Ok(SlotOutcome { slot, rarity: row.rarity, collectible: *collectible, is_guaranteed })
}
#[cfg(test)]
mod tests;
