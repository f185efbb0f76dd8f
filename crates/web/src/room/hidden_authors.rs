//! The accounts that blocks hide from readers, kept while no block changes them.

use crate::error::ApiError;
use moka::sync::Cache;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_app::streams::ViewParts;
use terrace_kernel::{UserId, num};

/// Maximum size of all sets in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// Estimated size in bytes of a set, and of each account in it.
const SET_BYTES: usize = 256;
const ACCOUNT_BYTES: usize = 32;
/// Maximum age of a set, even if no change of it was noted.
const LONGEST: Duration = Duration::from_secs(10);

struct Dated {
    hidden: Arc<HashSet<UserId>>,
    /// The number of the last change before it was read.
    changes: u64,
    at: Instant,
}

/// The sets that were read last, by their readers.
pub(super) struct HiddenAuthors(Cache<UserId, Arc<Dated>>);

impl HiddenAuthors {
    pub(super) fn new() -> Self {
        let weigh =
            |_: &UserId, dated: &Arc<Dated>| num::to_u32(SET_BYTES + dated.hidden.len() * ACCOUNT_BYTES);
        Self(Cache::builder().weigher(weigh).max_capacity(MOST_BYTES).build())
    }

    /// The accounts that a block hides from `reader`, in either direction.
    pub(super) async fn of(&self, app: &App, reader: UserId) -> Result<Arc<HashSet<UserId>>, ApiError> {
        let fresh = |dated: &Arc<Dated>| {
            dated.at.elapsed() < LONGEST && app.changes().are_blocks_current(dated.changes, reader)
        };
        if let Some(dated) = self.0.get(&reader).filter(fresh) {
            return Ok(Arc::clone(&dated.hidden));
        }
        // Taken before the blocks are read, so that a concurrent change makes them stale.
        let (changes, at) = (app.changes().latest(), Instant::now());
        let view = app.reader_view(reader, ViewParts::default()).await?;
        let hidden = Arc::new(view.hidden);
        self.0.insert(reader, Arc::new(Dated { hidden: Arc::clone(&hidden), changes, at }));
        Ok(hidden)
    }
}
