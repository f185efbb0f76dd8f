//! Storage of picture bytes.

use crate::future::BoxFuture;
use bytes::Bytes;
use futures_util::Stream;
use std::fmt;
use std::pin::Pin;
use std::str::FromStr;
use terrace_kernel::{MalformedHash, MediaHash, StoreError, Timestamp};
use uuid::Uuid;

pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, StoreError>> + Send>>;

/// Name of an upload's object: `ab/abcd…-0190…`, made of the hash and an id that contains the time of the upload. The
/// folder keeps listings short.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The SHA-256 of the bytes.
    pub hash: MediaHash,
    /// Distinguishes objects with the same bytes; a `UUIDv7`.
    pub id: Uuid,
}

impl ObjectKey {
    /// Folder of the object: the first byte of its hash.
    pub fn shard(&self) -> u8 {
        let [first, ..] = *self.hash.as_bytes();
        first
    }

    /// Time at which the object was stored, according to its name; `None` if the id contains no time.
    pub fn put_at(&self) -> Option<Timestamp> {
        let (seconds, nanos) = self.id.get_timestamp()?.to_unix();
        let micros = i64::try_from(seconds).ok()?.checked_mul(1_000_000)?;
        Some(Timestamp::from_micros(micros.checked_add(i64::from(nanos / 1000))?))
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}/{}-{}", self.shard(), self.hash, self.id.simple())
    }
}

impl FromStr for ObjectKey {
    type Err = MalformedHash;

    fn from_str(text: &str) -> Result<Self, MalformedHash> {
        let (_, name) = text.split_once('/').ok_or(MalformedHash)?;
        let (hash, id) = name.split_once('-').ok_or(MalformedHash)?;
        let key = Self { hash: hash.parse()?, id: Uuid::try_parse(id).map_err(|_| MalformedHash)? };
        if key.to_string() == text { Ok(key) } else { Err(MalformedHash) }
    }
}

/// Stores the bytes of pictures, in a folder or a bucket.
pub trait MediaStore: Send + Sync + 'static {
    /// Stores an object durably and atomically.
    fn put(&self, key: ObjectKey, bytes: Bytes) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Opens an object; `None` if it does not exist.
    fn get(&self, key: ObjectKey) -> BoxFuture<'_, Result<Option<ByteStream>, StoreError>>;

    /// Removes an object; succeeds if it does not exist.
    fn delete(&self, key: ObjectKey) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Lists the objects whose hash begins with this byte. Files with other names are skipped.
    fn list(&self, shard: u8) -> BoxFuture<'_, Result<Vec<ObjectKey>, StoreError>>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::CtxSeed;

    #[test]
    fn a_name_holds_hash_and_time_and_has_one_spelling() {
        let now = Timestamp::from_micros(1_777_636_800_123_000);
        let id = CtxSeed::new(now, [1; 32]).open().new_id();
        let key = ObjectKey { hash: MediaHash::from_bytes([0x0b; 32]), id };
        let text = key.to_string();
        assert!(text.starts_with("0b/0b0b"), "{text}");
        assert_eq!((text.parse(), key.put_at()), (Ok(key), Some(now)));
        for wrong in [
            "",
            "0b",
            &text[3..],
            &text.replacen("0b/", "0c/", 1),
            &text.to_uppercase(),
            &format!("{text}#1"),
            &format!("x/{text}"),
            &text.replace(&id.simple().to_string(), &id.hyphenated().to_string()),
        ] {
            assert!(wrong.parse::<ObjectKey>().is_err(), "{wrong}");
        }
    }
}
