//! Identifiers of imported rows.

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

/// The identifier of what had another one elsewhere: always the same, so that a row that comes again is the same row. It
/// carries a time before the service's own, as those of other fans who were brought in do.
pub(super) fn id_of<I: From<Uuid>>(table: &str, old: &str) -> I {
    let digest = Sha256::new().chain_update(table).chain_update([0]).chain_update(old).finalize();
    let bits = digest.first_chunk().copied().unwrap_or_default();
    I::from(Builder::from_unix_timestamp_millis(crate::import::BEFORE_ALL, &bits).into_uuid())
}
