//! What many readers share, kept while nothing changes.

use crate::error::ApiError;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// Maximum age of a value, even if no change was seen: it bounds how long an outage of the database or a change without
/// an event goes unnoticed.
const LONGEST: Duration = Duration::from_secs(1);

/// A value that is read again after a change. It is stored with the change count from before it was read, and is not
/// served once that count has grown: a client that has received the response to its write sees the effect.
pub(crate) struct Kept<T> {
    last: RwLock<Option<Dated<T>>>,
    /// Held while the value is read, so that concurrent requests read it once.
    reading: Mutex<()>,
}

/// When something was read: the number of the last change, and the time, both taken before reading, so that a
/// concurrent change makes stale what is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsOf {
    pub(crate) changes: u64,
    pub(crate) at: Instant,
}

impl AsOf {
    pub(crate) fn now(changes: u64) -> Self {
        Self { changes, at: Instant::now() }
    }

    pub(crate) fn is_within(&self, longest: Duration) -> bool {
        self.at.elapsed() < longest
    }
}

struct Dated<T> {
    value: Arc<T>,
    as_of: AsOf,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { last: RwLock::new(None), reading: Mutex::new(()) }
    }
}

impl<T> Kept<T> {
    /// The value, read by `read` if the change count, which `count` returns, has grown since it was read last.
    pub(crate) async fn get(
        &self,
        count: impl Fn() -> u64,
        read: impl AsyncFnOnce() -> Result<T, ApiError>,
    ) -> Result<Arc<T>, ApiError> {
        if let Some(value) = self.fresh(count()) {
            return Ok(value);
        }
        let _reading = self.reading.lock().await;
        let as_of = AsOf::now(count());
        if let Some(value) = self.fresh(as_of.changes) {
            return Ok(value);
        }
        let value = Arc::new(read().await?);
        let dated = Dated { value: Arc::clone(&value), as_of };
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(dated);
        Ok(value)
    }

    fn fresh(&self, changes: u64) -> Option<Arc<T>> {
        let last = self.last.read().unwrap_or_else(PoisonError::into_inner);
        let fresh = |dated: &&Dated<T>| dated.as_of.changes == changes && dated.as_of.is_within(LONGEST);
        Some(Arc::clone(&last.as_ref().filter(fresh)?.value))
    }
}
