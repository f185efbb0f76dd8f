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

struct Dated<T> {
    value: Arc<T>,
    changes: u64,
    at: Instant,
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
        // Taken before the value is read, so that a concurrent change makes it stale.
        let (changes, at) = (count(), Instant::now());
        if let Some(value) = self.fresh(changes) {
            return Ok(value);
        }
        let value = Arc::new(read().await?);
        let dated = Dated { value: Arc::clone(&value), changes, at };
        *self.last.write().unwrap_or_else(PoisonError::into_inner) = Some(dated);
        Ok(value)
    }

    fn fresh(&self, changes: u64) -> Option<Arc<T>> {
        let last = self.last.read().unwrap_or_else(PoisonError::into_inner);
        let last = last.as_ref().filter(|last| last.changes == changes && last.at.elapsed() < LONGEST)?;
        Some(Arc::clone(&last.value))
    }
}
