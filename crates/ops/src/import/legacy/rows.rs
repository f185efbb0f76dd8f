//! Ids of imported rows.

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

/// Derives the id of a row from its old id, deterministically, so that a repeated row is the same row. Like the ids
/// of all imported fans, it contains a time before the service existed.
pub(super) fn id_of<I: From<Uuid>>(table: &str, old: &str) -> I {
    let digest = Sha256::new().chain_update(table).chain_update([0]).chain_update(old).finalize();
    let bits = digest.first_chunk().copied().unwrap_or_default();
    I::from(Builder::from_unix_timestamp_millis(crate::import::BEFORE_ALL, &bits).into_uuid())
}
