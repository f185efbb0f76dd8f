//! The draw: a pure function of two seeds, a nonce and the tables, which a script of a dozen lines can recompute
//! (`docs/fair-draws.md`).

use crate::table::narrowed;
use crate::{
    ClientSeed, CollectibleId, Guarantee, Minted, Pack, Rarity, RarityRow, ServerSeed, Table, Tables,
};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::array;
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
        let outcome = source.outcome(&table, pack.guarantee, pack.slots.len(), &outcomes)?;
        if let Some(taken) = pack.contents.iter().find(|content| content.collectible == outcome.collectible) {
            minted.mint(taken);
        }
        outcomes.push(outcome);
        tables.slots.push(table);
    }
    Ok(Draw { outcomes, tables })
}

/// Generates the words of one draw: HMAC-SHA-256 (RFC 2104) keyed with the server seed.
pub(crate) struct Source<'a> {
    keyed: Hmac<Sha256>,
    client_seed: &'a ClientSeed,
    nonce: u32,
}

impl<'a> Source<'a> {
    pub(crate) fn new(seed: &ServerSeed, client_seed: &'a ClientSeed, nonce: u32) -> Self {
        // HMAC pads a key shorter than a block with zeros. A padded key always has a valid length.
        let mut block = [0; 64];
        for (to, from) in block.iter_mut().zip(seed.as_bytes()) {
            *to = *from;
        }
        Self { keyed: Hmac::new(&block.into()), client_seed, nonce }
    }

    /// The four big-endian words of the digest of a message.
    fn words(&self, message: &str) -> array::IntoIter<u64, 4> {
        let digest: [u8; 32] = self.keyed.clone().chain_update(message).finalize().into_bytes().into();
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(digest.as_chunks::<8>().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        words.into_iter()
    }

    /// Draws the slot that follows the outcomes `before`. The draw and its verification share this function.
    pub(crate) fn outcome(
        &self,
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
        let mut words = Words::new(self, slot);
        let row = words.pick(&rows, |row| row.weight).ok_or(Unfillable { slot })?;
        let (collectible, _) =
            words.pick(&row.collectibles, |(_, weight)| *weight).ok_or(Unfillable { slot })?;
        Ok(SlotOutcome { slot, rarity: row.rarity, collectible: *collectible, is_guaranteed })
    }
}

/// The words of one slot: four from each digest, in order.
struct Words<'a> {
    source: &'a Source<'a>,
    slot: u32,
    /// How many digests have been computed.
    digests: u64,
    unread: array::IntoIter<u64, 4>,
}

impl<'a> Words<'a> {
    fn new(source: &'a Source<'a>, slot: u32) -> Self {
        let Source { client_seed, nonce, .. } = source;
        let unread = source.words(&format!("{client_seed}:{nonce}:{slot}"));
        Self { source, slot, digests: 1, unread }
    }

    fn word(&mut self) -> u64 {
        loop {
            if let Some(word) = self.unread.next() {
                return word;
            }
            let (Source { client_seed, nonce, .. }, slot) = (self.source, self.slot);
            self.unread = self.source.words(&format!("{client_seed}:{nonce}:{slot}:{}", self.digests));
            self.digests = self.digests.wrapping_add(1);
        }
    }

    /// A uniform number below `total`. Words that would favour low numbers are rejected.
    fn below(&mut self, total: u64) -> Option<u64> {
        let whole = u128::from(u64::MAX) + 1;
        let fair = whole.checked_div(u128::from(total))? * u128::from(total);
        loop {
            let word = self.word();
            if u128::from(word) < fair {
                return word.checked_rem(total);
            }
        }
    }

    /// Picks an item by weight; `None` if the weights sum to 0.
    fn pick<'t, T>(&mut self, from: &'t [T], weight: impl Fn(&T) -> u32) -> Option<&'t T> {
        let total = from.iter().map(|one| u64::from(weight(one))).sum();
        let mut left = self.below(total)?;
        from.iter().find(|one| {
            let weight = u64::from(weight(one));
            let is_it = left < weight;
            left = left.saturating_sub(weight);
            is_it
        })
    }
}

#[cfg(test)]
mod tests;
