//! The media store of a service without a configured one.

use crate::media::{ByteStream, MediaStore, ObjectKey};
use crate::store::BoxFuture;
use bytes::Bytes;
use terrace_kernel::StoreError;

/// A media store that fails every request.
pub(crate) struct NoMediaStore;

fn nowhere<'a, T: Send + 'a>() -> BoxFuture<'a, Result<T, StoreError>> {
    Box::pin(async { Err(StoreError::Unavailable("no place for pictures is configured".to_owned())) })
}

impl MediaStore for NoMediaStore {
    fn put(&self, _key: ObjectKey, _bytes: Bytes) -> BoxFuture<'_, Result<(), StoreError>> {
        nowhere()
    }

    fn get(&self, _key: ObjectKey) -> BoxFuture<'_, Result<Option<ByteStream>, StoreError>> {
        nowhere()
    }

    fn delete(&self, _key: ObjectKey) -> BoxFuture<'_, Result<(), StoreError>> {
        nowhere()
    }

    /// Always empty.
    fn list(&self, _shard: u8) -> BoxFuture<'_, Result<Vec<ObjectKey>, StoreError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}
