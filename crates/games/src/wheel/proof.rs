//! The draw of a spin and its proof: a pure function of two seeds, a nonce, the count of pity and the table.

use super::{Pity, Spun};
use crate::SegmentKey;
use std::fmt::Write as _;
use std::str::FromStr;
use terrace_draws::{ClientSeed, Digest, ServerSeed, Source};

/// The part of a wheel that decides outcomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinTable {
    /// The segments and their weights, in the order in which the weights are accumulated.
    pub rows: Vec<(SegmentKey, u32)>,
    /// The guarantee.
    pub pity: Option<Pity>,
}

impl SpinTable {
    /// Draws a segment. The draw and its verification share this function. The words are those of slot 0.
    pub fn draw(&self, seed: &ServerSeed, client_seed: &ClientSeed, nonce: u32, pity_count: u32) -> Spun {
        let is_lucky = |key: &SegmentKey| self.pity.as_ref().is_none_or(|pity| pity.segments.contains(key));
        let is_guaranteed = self.pity.as_ref().is_some_and(|pity| pity_count >= pity.after);
        let rows: Vec<_> = self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, (key, _))| !is_guaranteed || is_lucky(key))
            .map(|(index, (key, weight))| (index, is_lucky(key), *weight))
            .collect();
        let source = Source::new(seed, client_seed, nonce);
        let picked = source.slot(0).pick(&rows, |(_, _, weight)| *weight).copied();
        // Content has at least one segment of a weight above 0 in every table.
        let (segment, is_lucky, _) = picked.unwrap_or_default();
        let pity_count = if is_lucky { 0 } else { pity_count.saturating_add(1) };
        Spun { segment, is_guaranteed, pity_count }
    }

    /// The table as text, the input of its hash: lines that end with `\n`, words separated by one space.
    ///
    /// ```text
    /// wheel-v1
    /// segment coins-5 40        (each segment in order: its key and its weight)
    /// pity 9 jackpot scarf      (the count and the keys in order, or: pity none)
    /// ```
    pub fn canonical(&self) -> String {
        let mut text = String::from("wheel-v1\n");
        for (key, weight) in &self.rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "segment {key} {weight}");
        }
        match &self.pity {
            None => text.push_str("pity none\n"),
            Some(pity) => {
                let _ = write!(text, "pity {}", pity.after);
                for key in &pity.segments {
                    let _ = write!(text, " {key}");
                }
                text.push('\n');
            }
        }
        text
    }

    /// The SHA-256 of [`canonical`](Self::canonical).
    pub fn hash(&self) -> Digest {
        Digest::of(self.canonical().as_bytes())
    }
}

/// The text is not the canonical form of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the canonical text of a table of spins")]
pub struct MalformedSpinTable;

/// Parses [`SpinTable::canonical`], and accepts no other form.
impl FromStr for SpinTable {
    type Err = MalformedSpinTable;

    fn from_str(text: &str) -> Result<Self, MalformedSpinTable> {
        read(text).filter(|table| table.canonical() == text).ok_or(MalformedSpinTable)
    }
}

fn read(text: &str) -> Option<SpinTable> {
    let mut table = SpinTable { rows: Vec::new(), pity: None };
    for line in text.strip_prefix("wheel-v1\n")?.lines() {
        let mut words = line.split(' ');
        match (words.next()?, words.next()?) {
            ("segment", key) => table.rows.push((key.parse().ok()?, words.next()?.parse().ok()?)),
            ("pity", "none") => {}
            ("pity", after) => {
                let segments = words.map(|key| key.parse().ok()).collect::<Option<_>>()?;
                table.pity = Some(Pity { after: after.parse().ok()?, segments });
            }
            _ => return None,
        }
    }
    Some(table)
}

/// Everything that is needed to recompute a spin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinProof {
    /// The revealed server seed.
    pub server_seed: ServerSeed,
    /// Its SHA-256, which was published before the spin.
    pub server_seed_hash: Digest,
    /// The fan's seed.
    pub client_seed: ClientSeed,
    /// The number of the spin among the fan's spins of this wheel, from 1.
    pub nonce: u32,
    /// The spins before this one, in a row, that gave no segment of the guarantee.
    pub pity_count: u32,
    /// The table of the draw.
    pub table: SpinTable,
    /// The SHA-256 of the table.
    pub table_hash: Digest,
}

/// Why a proof does not show the claimed outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpinFault {
    /// The server seed has another hash.
    #[error("the server seed does not have the published hash")]
    SeedHash,
    /// The table has another hash.
    #[error("the table does not have the published hash")]
    TableHash,
    /// The table has no weights to draw from.
    #[error("the table has no segment that can be drawn")]
    Table,
    /// The draw gives another segment.
    #[error("the draw gives {0}")]
    Segment(SegmentKey),
}

/// Recomputes a spin from its proof alone, and compares it with the claimed segment. A proof cannot show that the hash of
/// the server seed and the count of pity were published before; the fan who spun saw both.
pub fn verify_spin(proof: &SpinProof, claimed: &SegmentKey) -> Result<(), SpinFault> {
    let SpinProof { server_seed, client_seed, table, .. } = proof;
    if server_seed.hash() != proof.server_seed_hash {
        return Err(SpinFault::SeedHash);
    }
    if table.hash() != proof.table_hash {
        return Err(SpinFault::TableHash);
    }
    let is_drawable = |key: &SegmentKey| table.rows.iter().any(|(row, weight)| row == key && *weight > 0);
    let is_table = match &table.pity {
        Some(pity) => pity.segments.iter().any(is_drawable),
        None => table.rows.iter().any(|(_, weight)| *weight > 0),
    };
    if !is_table {
        return Err(SpinFault::Table);
    }
    let spun = table.draw(server_seed, client_seed, proof.nonce, proof.pity_count);
    match table.rows.get(spun.segment) {
        Some((drawn, _)) if drawn == claimed => Ok(()),
        Some((drawn, _)) => Err(SpinFault::Segment(drawn.clone())),
        None => Err(SpinFault::Table),
    }
}
