//! Recomputes a draw from the text of a response alone.

use serde::Deserialize;
use std::fmt::Display;
use std::str::FromStr;
use terrace_packs::{
    Claim, CollectibleId, Guarantee, Proof, ProofFault, Rarity, RarityRow, Table, Tables, verify,
};

/// The recomputed result of a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedSlot {
    /// Rarity of the collectible.
    pub rarity: Rarity,
    /// Id of the collectible.
    pub collectible: CollectibleId,
    /// Name of the collectible in the response.
    pub name: Option<String>,
    /// Serial number within a limited edition, which the draw does not determine.
    pub serial: Option<u32>,
}

/// Why an opening could not be verified.
#[derive(Debug, thiserror::Error)]
pub enum OpeningFault {
    /// The text is no response of `POST /api/packs/{id}/open`.
    #[error("this is not the answer of an opening: {0}")]
    Malformed(String),
    /// The draw does not match the claimed result.
    #[error(transparent)]
    Wrong(#[from] ProofFault),
}

#[derive(Deserialize)]
struct Answer {
    collectibles: Vec<ResponseSlot>,
    proof: ResponseProof,
}

#[derive(Deserialize)]
struct ResponseSlot {
    collectible: ResponseCollectible,
    #[serde(default)]
    serial: Option<u32>,
}

#[derive(Deserialize)]
struct ResponseCollectible {
    id: String,
    rarity: String,
    #[serde(default)]
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResponseProof {
    algorithm: String,
    server_seed: String,
    server_seed_hash: String,
    client_seed: String,
    client_seed_source: String,
    nonce: u32,
    table: ResponseTables,
    table_hash: String,
}

#[derive(Deserialize)]
struct ResponseTables {
    guarantee: Option<String>,
    slots: Vec<Vec<ResponseRow>>,
}

#[derive(Deserialize)]
struct ResponseRow {
    rarity: String,
    weight: u32,
    collectibles: Vec<ResponseWeight>,
}

#[derive(Deserialize)]
struct ResponseWeight {
    id: String,
    weight: u32,
}

fn read<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, OpeningFault> {
    text.parse().map_err(|error: T::Err| OpeningFault::Malformed(format!("{name}: {error}")))
}

impl ResponseProof {
    fn proof(&self) -> Result<Proof, OpeningFault> {
        Ok(Proof {
            algorithm: read("algorithm", &self.algorithm)?,
            server_seed: read("serverSeed", &self.server_seed)?,
            server_seed_hash: read("serverSeedHash", &self.server_seed_hash)?,
            client_seed: read("clientSeed", &self.client_seed)?,
            client_seed_source: read("clientSeedSource", &self.client_seed_source)?,
            nonce: self.nonce,
            tables: self.table.tables()?,
            table_hash: read("tableHash", &self.table_hash)?,
        })
    }
}

impl ResponseTables {
    fn tables(&self) -> Result<Tables, OpeningFault> {
        let row = |row: &ResponseRow| {
            let weighted =
                |entry: &ResponseWeight| Ok((read::<CollectibleId>("table", &entry.id)?, entry.weight));
            Ok(RarityRow {
                rarity: read("table", &row.rarity)?,
                weight: row.weight,
                collectibles: row.collectibles.iter().map(weighted).collect::<Result<_, OpeningFault>>()?,
            })
        };
        let slot = |slot: &Vec<ResponseRow>| {
            Ok(Table { rarities: slot.iter().map(row).collect::<Result<_, OpeningFault>>()? })
        };
        let guarantee = self.guarantee.as_deref().map(|rarity| read("guarantee", rarity)).transpose()?;
        Ok(Tables {
            guarantee: guarantee.map(|at_least| Guarantee { at_least }),
            slots: self.slots.iter().map(slot).collect::<Result<_, OpeningFault>>()?,
        })
    }
}

/// Recomputes the result of an opening from the response of `POST /api/packs/{id}/open` alone. The caller must
/// compare the hash of the server seed with the one published at the purchase.
///
/// # Errors
///
/// Fails if the text is no such response, or if the recomputed draw differs from the claimed result.
pub fn verify_opening(text: &str) -> Result<Vec<VerifiedSlot>, OpeningFault> {
    let answer: Answer =
        serde_json::from_str(text).map_err(|error| OpeningFault::Malformed(error.to_string()))?;
    let slot = |drawn: &ResponseSlot| {
        Ok::<_, OpeningFault>(VerifiedSlot {
            rarity: read("rarity", &drawn.collectible.rarity)?,
            collectible: read("id", &drawn.collectible.id)?,
            name: drawn.collectible.name.clone(),
            serial: drawn.serial,
        })
    };
    let slots: Vec<_> = answer.collectibles.iter().map(slot).collect::<Result<_, _>>()?;
    let claims: Vec<_> =
        slots.iter().map(|slot| Claim { rarity: slot.rarity, collectible: slot.collectible }).collect();
    verify(&answer.proof.proof()?, &claims)?;
    Ok(slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of `docs/fair-draws.md`.
    fn example() -> String {
        let page = include_str!("../../../../docs/fair-draws.md");
        let (_, rest) = page.split_once("```json\n").unwrap();
        rest.split_once("```").unwrap().0.to_owned()
    }

    #[test]
    fn the_worked_example_is_verified_from_its_text() {
        let slots = verify_opening(&example()).unwrap();
        let rarities: Vec<_> = slots.iter().map(|slot| slot.rarity).collect();
        assert_eq!(rarities, [Rarity::Common, Rarity::Rare]);
    }

    #[test]
    fn changed_and_malformed_responses_are_detected() {
        for (right, wrong) in [
            ("\"clientSeed\": \"kop\"", "\"clientSeed\": \"kip\""),
            ("000102", "010102"),
            ("\"weight\": 9", "\"weight\": 8"),
            ("\"guarantee\": \"rare\"", "\"guarantee\": null"),
        ] {
            let changed = example().replacen(right, wrong, 1);
            assert_ne!(changed, example());
            assert!(matches!(verify_opening(&changed), Err(OpeningFault::Wrong(_))), "{wrong}");
        }
        // Another nonce draws another result, or the same one by chance.
        let found = (2..32).filter(|nonce| {
            let changed = example().replacen("\"nonce\": 1", &format!("\"nonce\": {nonce}"), 1);
            matches!(verify_opening(&changed), Err(OpeningFault::Wrong(_)))
        });
        assert!(found.count() > 10);
        for wrong in ["", "{}", "[]", &example().replacen("hmac-sha256-v1", "dice", 1)] {
            assert!(matches!(verify_opening(wrong), Err(OpeningFault::Malformed(_))), "{wrong}");
        }
    }
}
