//! What a timer is told of boards that were put in order.

use serde::Serialize;
use terrace_app::BoardsSynced;
use utoipa::ToSchema;

/// What a wish for boards in order came to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardSyncReport {
    /// Whether this call did the work; false when another was at it, whose end was waited for.
    refreshed: bool,
    /// How long that took, in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// How many fans' totals, listings or entries were made what the ledger says; null when another did the work.
    #[schema(example = 0)]
    mended: Option<u64>,
    /// How many seasons began or ended; null when another did the work.
    #[schema(example = 0)]
    seasons_turned: Option<u64>,
}

impl From<BoardsSynced> for LeaderboardSyncReport {
    fn from(synced: BoardsSynced) -> Self {
        let BoardsSynced { refreshed, took, mended, seasons_turned } = synced;
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self { refreshed, duration_ms, mended, seasons_turned }
    }
}
