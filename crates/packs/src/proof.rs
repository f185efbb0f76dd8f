//! The proof of a draw: everything that is needed to recompute it.

use crate::draw::outcome;
use crate::{
    ClientSeed, ClientSeedSource, CollectibleId, Digest, Draw, Owned, Rarity, ServerSeed, SlotOutcome, Table,
    Tables, Unfillable,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use terrace_draws::Source;
use terrace_kernel::UnknownName;

/// The algorithm of a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The algorithm of [`crate::draw`].
    HmacSha256V1,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Self; 1] = [Self::HmacSha256V1];

    /// The stable name, as stored in proofs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::HmacSha256V1 => "hmac-sha256-v1",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        if text == Self::HmacSha256V1.as_str() {
            Ok(Self::HmacSha256V1)
        } else {
            Err(UnknownName(text.to_owned()))
        }
    }
}

/// The proof of a draw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The algorithm of the draw.
    pub algorithm: Algorithm,
    /// The revealed server seed.
    pub server_seed: ServerSeed,
    /// The hash of the server seed, published when the copy was bought.
    pub server_seed_hash: Digest,
    /// The seed that the client sent, or that was drawn for it.
    pub client_seed: ClientSeed,
    /// Where the client seed came from.
    pub client_seed_source: ClientSeedSource,
    /// Position of the copy in its purchase.
    pub nonce: u32,
    /// The tables that the slots were drawn from.
    pub tables: Tables,
    /// The hash of [`Tables::canonical`].
    pub table_hash: Digest,
}

/// The result of opening a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// What a client needs to recompute the draw.
    pub proof: Proof,
    /// The collectibles, in the order of the slots.
    pub owned: Vec<Owned>,
}

impl Proof {
    /// The proof of a draw that was made with these seeds and this nonce.
    pub fn of(
        draw: &Draw,
        server_seed: ServerSeed,
        client_seed: ClientSeed,
        client_seed_source: ClientSeedSource,
        nonce: u32,
    ) -> Self {
        Self {
            algorithm: Algorithm::HmacSha256V1,
            server_seed_hash: server_seed.hash(),
            server_seed,
            client_seed,
            client_seed_source,
            nonce,
            table_hash: draw.tables.hash(),
            tables: draw.tables.clone(),
        }
    }
}

/// The claimed outcome of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The claimed rarity.
    pub rarity: Rarity,
    /// The claimed collectible.
    pub collectible: CollectibleId,
}

impl From<&SlotOutcome> for Claim {
    fn from(outcome: &SlotOutcome) -> Self {
        Self { rarity: outcome.rarity, collectible: outcome.collectible }
    }
}

/// Why a proof is invalid. Slots count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {
    /// The server seed does not match the published hash.
    #[error("the server seed does not have the published hash")]
    SeedHash,
    /// The tables do not match the given hash.
    #[error("the tables do not have the given hash")]
    TableHash,
    /// The numbers of tables and collectibles differ.
    #[error("there are {tables} tables for {claims} collectibles")]
    Slots {
        /// How many tables there are.
        tables: usize,
        /// How many collectibles are claimed.
        claims: usize,
    },
    /// A table lists an entry twice, or with a weight of 0.
    #[error("the table of slot {slot} is none")]
    Table {
        /// Position of the slot, from 0.
        slot: u32,
    },
    /// A table does not follow from the earlier tables: a collectible is missing or added.
    #[error("the table of slot {slot} does not follow from those before it")]
    TableChanged {
        /// Position of the slot, from 0.
        slot: u32,
    },
    /// The table of a slot has nothing of the drawn rarity, or nothing that fulfils the guarantee.
    #[error("the table of slot {slot} holds nothing that could be drawn")]
    Unfillable {
        /// Position of the slot, from 0.
        slot: u32,
    },
    /// No claimed collectible fulfils the guarantee.
    #[error("none of the collectibles is {0} or rarer, as guaranteed")]
    GuaranteeBroken(Rarity),
    /// The recomputed rarity of a slot differs.
    #[error("slot {slot} gave {drawn}, not {claimed}")]
    Rarity {
        /// Position of the slot, from 0.
        slot: u32,
        /// The recomputed rarity.
        drawn: Rarity,
        /// The claimed rarity.
        claimed: Rarity,
    },
    /// The recomputed collectible of a slot differs.
    #[error("slot {slot} gave {drawn}, not {claimed}")]
    Collectible {
        /// Position of the slot, from 0.
        slot: u32,
        /// The recomputed collectible.
        drawn: CollectibleId,
        /// The claimed collectible.
        claimed: CollectibleId,
    },
}

/// Recomputes the outcomes of a copy, by slot, from its proof alone.
///
/// # Errors
///
/// Returns [`Unfillable`] if a table of the proof has nothing that could be drawn.
pub fn outcomes(proof: &Proof) -> Result<Vec<SlotOutcome>, Unfillable> {
    let Algorithm::HmacSha256V1 = proof.algorithm;
    let tables = &proof.tables;
    let source = Source::new(&proof.server_seed, &proof.client_seed, proof.nonce);
    let mut outcomes = Vec::with_capacity(tables.slots.len());
    for table in &tables.slots {
        outcomes.push(outcome(&source, table, tables.guarantee, tables.slots.len(), &outcomes)?);
    }
    Ok(outcomes)
}

/// Recomputes a draw from its proof alone and compares it with the claimed outcomes, by slot. A proof cannot show that
/// the hash of the server seed was published before the client seed was given; the fan who opened the copy saw the hash
/// beforehand and can compare it.
pub fn verify(proof: &Proof, claims: &[Claim]) -> Result<(), ProofFault> {
    let Algorithm::HmacSha256V1 = proof.algorithm;
    let tables = &proof.tables;
    if proof.server_seed.hash() != proof.server_seed_hash {
        return Err(ProofFault::SeedHash);
    }
    if tables.hash() != proof.table_hash {
        return Err(ProofFault::TableHash);
    }
    if tables.slots.len() != claims.len() {
        return Err(ProofFault::Slots { tables: tables.slots.len(), claims: claims.len() });
    }
    if let Some(promised) = tables.guarantee
        && claims.iter().all(|claim| claim.rarity < promised.at_least)
    {
        return Err(ProofFault::GuaranteeBroken(promised.at_least));
    }
    let source = Source::new(&proof.server_seed, &proof.client_seed, proof.nonce);
    let mut seen = Seen::default();
    let mut outcomes = Vec::new();
    for ((table, claim), slot) in tables.slots.iter().zip(claims).zip(0..) {
        if !is_table(table) {
            return Err(ProofFault::Table { slot });
        }
        if !seen.agrees(table) {
            return Err(ProofFault::TableChanged { slot });
        }
        let outcome = outcome(&source, table, tables.guarantee, claims.len(), &outcomes)
            .map_err(|Unfillable { slot }| ProofFault::Unfillable { slot })?;
        let (drawn, claimed) = (outcome.rarity, claim.rarity);
        if drawn != claimed {
            return Err(ProofFault::Rarity { slot, drawn, claimed });
        }
        let (drawn, claimed) = (outcome.collectible, claim.collectible);
        if drawn != claimed {
            return Err(ProofFault::Collectible { slot, drawn, claimed });
        }
        seen.taken.insert(outcome.collectible);
        outcomes.push(outcome);
    }
    Ok(())
}

/// Whether the table lists every entry once, with a positive weight.
fn is_table(table: &Table) -> bool {
    let mut rarities = BTreeSet::new();
    let mut collectibles = BTreeSet::new();
    table.rarities.iter().all(|row| {
        row.weight > 0
            && rarities.insert(row.rarity)
            && row.collectibles.iter().all(|(id, weight)| *weight > 0 && collectibles.insert(*id))
    })
}

/// The latest rows of each rarity in the earlier tables of an opening, and the collectibles that slots took.
#[derive(Default)]
struct Seen<'p> {
    rows: BTreeMap<Rarity, &'p [(CollectibleId, u32)]>,
    taken: BTreeSet<CollectibleId>,
}

impl<'p> Seen<'p> {
    /// Whether the table follows from the earlier ones: within one opening only taken collectibles may be missing, and
    /// none may be added.
    fn agrees(&mut self, table: &'p Table) -> bool {
        table.rarities.iter().all(|row| {
            let Some(before) = self.rows.insert(row.rarity, &row.collectibles) else { return true };
            let is_there = |one: &&(CollectibleId, u32)| row.collectibles.contains(one);
            let stays = |one: &&(CollectibleId, u32)| is_there(one) || !self.taken.contains(&one.0);
            before.iter().filter(stays).eq(&row.collectibles)
        })
    }
}

#[cfg(test)]
mod tests;
