//! What shared feeds are for single readers, kept while no block and no own reaction changes it.

use crate::error::ApiError;
use crate::platform::AsOf;
use crate::room::pages::LONGEST;
use moka::sync::Cache;
use std::collections::HashMap;
use std::sync::Arc;
use terrace_app::App;
use terrace_app::room::{OwnFeedView, ReadOwnFeedView};
use terrace_app::store::into_infallible;
use terrace_kernel::{UserId, num};

/// Maximum size of all views in bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// Estimated size in bytes of a view, and of each account and each reaction in it.
const VIEW_BYTES: usize = 256;
const ENTRY_BYTES: usize = 32;

type Dated = (AsOf, Arc<OwnFeedView>);

/// The views that were read last, by their readers.
pub(super) struct FeedViews(Cache<UserId, Dated>);

impl FeedViews {
    pub(super) fn new() -> Self {
        let weigh = |_: &UserId, (_, view): &Dated| {
            let reactions = view.reactions.as_ref().map_or(0, HashMap::len);
            num::to_u32(VIEW_BYTES + (view.hidden.len() + reactions) * ENTRY_BYTES)
        };
        Self(Cache::builder().weigher(weigh).max_capacity(MOST_BYTES).build())
    }

    pub(super) async fn of(&self, app: &App, reader: UserId) -> Result<Arc<OwnFeedView>, ApiError> {
        let fresh = |(as_of, _): &Dated| {
            as_of.is_within(LONGEST) && app.changes().is_reader_current(as_of.changes, reader)
        };
        if let Some((_, view)) = self.0.get(&reader).filter(fresh) {
            return Ok(view);
        }
        let as_of = AsOf::now(app.changes().latest());
        let view = Arc::new(into_infallible(app.query(ReadOwnFeedView { reader }).await)?);
        self.0.insert(reader, (as_of, Arc::clone(&view)));
        Ok(view)
    }
}
