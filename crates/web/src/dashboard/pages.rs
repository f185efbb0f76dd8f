//! The encoded dashboards of fans who read theirs more than once a second: in several tabs, or anew after each of several
//! events.

use crate::edge::TaggedJson;
use crate::error::ApiError;
use crate::platform::Kept;
use actix_web::HttpResponse;
use moka::sync::Cache;
use std::sync::Arc;
use terrace_app::App;
use terrace_kernel::UserId;

/// The number of dashboards, each of about 5 KB.
const MOST: u64 = 2_048;

/// The dashboards that were read last, by their fans.
pub(crate) struct DashboardPages(Cache<UserId, Arc<Kept<TaggedJson>>>);

impl DashboardPages {
    pub(crate) fn new() -> Self {
        Self(Cache::new(MOST))
    }

    /// The dashboard of a fan, encoded by `encode` unless it is kept. A kept one has the position as of which its ranks are
    /// exact, and a stream that continues from there misses nothing.
    pub(crate) async fn answer(
        &self,
        app: &App,
        fan: UserId,
        encode: impl AsyncFnOnce() -> Result<TaggedJson, ApiError>,
    ) -> Result<HttpResponse, ApiError> {
        if !app.has_noted_boards() {
            return Ok(encode().await?.answer(true));
        }
        let kept = self.0.get_with(fan, Arc::default);
        Ok(kept.get(|| app.changes().count_of_fan(fan), encode).await?.answer(true))
    }
}
