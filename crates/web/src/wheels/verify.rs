//! Recomputes a spin from the text of a response alone.

use serde::Deserialize;
use std::fmt::Display;
use std::str::FromStr;
use terrace_games::{Pity, SegmentKey, SpinFault, SpinProof, SpinTable, verify_spin};
use terrace_packs::Algorithm;

/// Why a spin could not be verified.
#[derive(Debug, thiserror::Error)]
pub enum SpinResponseFault {
    /// The text is no response of `POST /api/wheel/{id}/spin` and no entry of `GET /api/user/spins`.
    #[error("this is not the answer of a spin: {0}")]
    Malformed(String),
    /// The draw does not match the claimed segment.
    #[error(transparent)]
    Wrong(#[from] SpinFault),
}

#[derive(Deserialize)]
struct Answer {
    spin: ResponseSpin,
    proof: ResponseProof,
}

#[derive(Deserialize)]
struct ResponseSpin {
    segment: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseProof {
    algorithm: String,
    server_seed: String,
    server_seed_hash: String,
    client_seed: String,
    nonce: u32,
    pity_count: u32,
    table: ResponseTable,
    table_hash: String,
}

#[derive(Deserialize)]
struct ResponseTable {
    segments: Vec<ResponseRow>,
    pity: Option<ResponsePity>,
}

#[derive(Deserialize)]
struct ResponseRow {
    key: String,
    weight: u32,
}

#[derive(Deserialize)]
struct ResponsePity {
    after: u32,
    segments: Vec<String>,
}

fn read<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, SpinResponseFault> {
    text.parse().map_err(|error: T::Err| SpinResponseFault::Malformed(format!("{name}: {error}")))
}

impl ResponseProof {
    fn into_proof(self) -> Result<SpinProof, SpinResponseFault> {
        let _: Algorithm = read("algorithm", &self.algorithm)?;
        let key = |key: &String| read::<SegmentKey>("key", key);
        let row = |row: &ResponseRow| Ok((key(&row.key)?, row.weight));
        let pity = self.table.pity.map(|pity| {
            let segments = pity.segments.iter().map(key).collect::<Result<_, SpinResponseFault>>()?;
            Ok::<_, SpinResponseFault>(Pity { after: pity.after, segments })
        });
        Ok(SpinProof {
            server_seed: read("serverSeed", &self.server_seed)?,
            server_seed_hash: read("serverSeedHash", &self.server_seed_hash)?,
            client_seed: read("clientSeed", &self.client_seed)?,
            nonce: self.nonce,
            pity_count: self.pity_count,
            table: SpinTable {
                rows: self.table.segments.iter().map(row).collect::<Result<_, SpinResponseFault>>()?,
                pity: pity.transpose()?,
            },
            table_hash: read("tableHash", &self.table_hash)?,
        })
    }
}

/// Whether a text is meant as the response of a spin, as opposed to that of an opening.
pub fn is_spin(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok_and(|answer| answer.get("spin").is_some())
}

/// Recomputes the spin of a response, and returns the key of its segment.
///
/// # Errors
///
/// If the text is no such response, or the draw gives another segment.
pub fn verify_spin_response(text: &str) -> Result<SegmentKey, SpinResponseFault> {
    let answer: Answer =
        serde_json::from_str(text).map_err(|error| SpinResponseFault::Malformed(error.to_string()))?;
    let segment = read("segment", &answer.spin.segment)?;
    verify_spin(&answer.proof.into_proof()?, &segment)?;
    Ok(segment)
}
