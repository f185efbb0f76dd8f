//! The proof of a draw: everything that it takes to recompute it.

use crate::draw::Source;
use crate::{
    ClientSeed, ClientSeedSource, CollectibleId, Digest, Draw, Owned, Rarity, ServerSeed, SlotOutcome, Table,
    Tables, Unfillable,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::UnknownName;

/// How a copy was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// [`crate::draw`] as it is.
    HmacSha256V1,
}

impl Algorithm {
    /// The stable name, as proofs hold it.
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
    /// How it was drawn.
    pub algorithm: Algorithm,
    /// The server seed, revealed.
    pub server_seed: ServerSeed,
    /// Its hash, as it was published when the copy was bought.
    pub server_seed_hash: Digest,
    /// The client seed.
    pub client_seed: ClientSeed,
    /// Who gave the client seed.
    pub client_seed_source: ClientSeedSource,
    /// The copy's place in its purchase.
    pub nonce: u32,
    /// From what the slots were drawn.
    pub tables: Tables,
    /// The hash of [`Tables::canonical`].
    pub table_hash: Digest,
}

/// What came of a copy that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The proof.
    pub proof: Proof,
    /// The collectibles, by slot.
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

/// What a slot is said to have given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The rarity.
    pub rarity: Rarity,
    /// The collectible.
    pub collectible: CollectibleId,
}

impl From<&SlotOutcome> for Claim {
    fn from(outcome: &SlotOutcome) -> Self {
        Self { rarity: outcome.rarity, collectible: outcome.collectible }
    }
}

/// What is wrong with a proof. Slots count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {
    /// The server seed is not the one whose hash was published.
    #[error("the server seed does not have the published hash")]
    SeedHash,
    /// The tables are not those whose hash is given.
    #[error("the tables do not have the given hash")]
    TableHash,
    /// There are not as many tables as collectibles.
    #[error("there are {tables} tables for {claims} collectibles")]
    Slots {
        /// How many tables there are.
        tables: usize,
        /// How many collectibles are said to have been drawn.
        claims: usize,
    },
    /// A table names something twice, or with a weight of nothing.
    #[error("the table of slot {slot} is none")]
    Table {
        /// The slot.
        slot: u32,
    },
    /// A table lacks, or has, a collectible that the slots before say otherwise of.
    #[error("the table of slot {slot} does not follow from those before it")]
    TableChanged {
        /// The slot.
        slot: u32,
    },
    /// The table of a slot holds nothing of the rarity that was drawn, or nothing that the guarantee promises.
    #[error("the table of slot {slot} holds nothing that could be drawn")]
    Unfillable {
        /// The slot.
        slot: u32,
    },
    /// What was promised is not among the collectibles.
    #[error("none of the collectibles is {0} or rarer, as guaranteed")]
    GuaranteeBroken(Rarity),
    /// A slot gave another rarity.
    #[error("slot {slot} gave {drawn}, not {claimed}")]
    Rarity {
        /// The slot.
        slot: u32,
        /// What the draw comes to.
        drawn: Rarity,
        /// What is claimed.
        claimed: Rarity,
    },
    /// A slot gave another collectible.
    #[error("slot {slot} gave {drawn}, not {claimed}")]
    Collectible {
        /// The slot.
        slot: u32,
        /// What the draw comes to.
        drawn: CollectibleId,
        /// What is claimed.
        claimed: CollectibleId,
    },
}

/// What the slots of a copy gave, by slot, from its proof alone.
///
/// # Errors
///
/// When a table of the proof holds nothing that could be drawn.
pub fn outcomes(proof: &Proof) -> Result<Vec<SlotOutcome>, Unfillable> {
    let Algorithm::HmacSha256V1 = proof.algorithm;
    let tables = &proof.tables;
    let source = Source::new(&proof.server_seed, &proof.client_seed, proof.nonce);
    let mut outcomes = Vec::with_capacity(tables.slots.len());
    for table in &tables.slots {
        outcomes.push(source.outcome(table, tables.guarantee, tables.slots.len(), &outcomes)?);
    }
    Ok(outcomes)
}

/// Recomputes a draw from its proof alone and compares it with what the slots are said to have given, by slot. What no
/// proof can show is that the hash of the server seed was published before the client seed was given: whoever opened
/// the copy has seen it, and compares.
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
        let outcome = source
            .outcome(table, tables.guarantee, claims.len(), &outcomes)
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

/// Whether it names everything once, with a weight.
fn is_table(table: &Table) -> bool {
    let mut rarities = BTreeSet::new();
    let mut collectibles = BTreeSet::new();
    table.rarities.iter().all(|row| {
        row.weight > 0
            && rarities.insert(row.rarity)
            && row.collectibles.iter().all(|(id, weight)| *weight > 0 && collectibles.insert(*id))
    })
}

/// What the slots so far say of the collectibles of each rarity.
#[derive(Default)]
struct Seen<'p> {
    rows: BTreeMap<Rarity, &'p [(CollectibleId, u32)]>,
    taken: BTreeSet<CollectibleId>,
}

impl<'p> Seen<'p> {
    /// Within one opening only what a slot took may be gone from the tables after it, and nothing comes.
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
