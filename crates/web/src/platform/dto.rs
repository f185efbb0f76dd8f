//! The results of synchronising leaderboards and quests.

use serde::Serialize;
use terrace_app::{BoardsSynced, QuestsSynced};
use terrace_kernel::num;
use utoipa::ToSchema;

/// The result of synchronising the leaderboards.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeaderboardSyncReport {
    /// Whether this call did the work; false if it waited for another call that did.
    refreshed: bool,
    /// The duration in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// The number of fans whose totals, listings or entries were repaired from the points ledger; null if another call
    /// did the work.
    #[schema(example = 0, required)]
    mended: Option<u64>,
    /// The number of seasons that began or ended; null if another call did the work.
    #[schema(example = 0, required)]
    seasons_turned: Option<u64>,
    /// The number of quest steps completed by fans' ranks; null if another call did the work.
    #[schema(example = 0, required)]
    steps_completed: Option<u64>,
}

impl From<BoardsSynced> for LeaderboardSyncReport {
    fn from(synced: BoardsSynced) -> Self {
        let BoardsSynced { refreshed, took, repaired, seasons_turned, steps_completed } = synced;
        let duration_ms = num::to_u64(took.as_millis());
        Self { refreshed, duration_ms, mended: repaired, seasons_turned, steps_completed }
    }
}

/// The result of synchronising quests. Counts are null if another call did the work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestSyncReport {
    /// Whether this call did the work; false if it waited for another call that did.
    refreshed: bool,
    /// The duration in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// The number of checked fans.
    #[schema(example = 1250, required)]
    fans_checked: Option<u64>,
    /// The number of completed steps.
    #[schema(example = 3, required)]
    steps_completed: Option<u64>,
    /// The number of completed quests.
    #[schema(example = 1, required)]
    quests_completed: Option<u64>,
    /// The points awarded for them.
    #[schema(example = 70, required)]
    points_awarded: Option<i64>,
    /// The number of granted achievements.
    #[schema(example = 2, required)]
    achievements_unlocked: Option<u64>,
}

impl From<QuestsSynced> for QuestSyncReport {
    fn from(synced: QuestsSynced) -> Self {
        let QuestsSynced { refreshed, took, sweep } = synced;
        Self {
            refreshed,
            duration_ms: num::to_u64(took.as_millis()),
            fans_checked: sweep.map(|sweep| sweep.fans),
            steps_completed: sweep.map(|sweep| sweep.steps),
            quests_completed: sweep.map(|sweep| sweep.quests),
            points_awarded: sweep.map(|sweep| sweep.points),
            achievements_unlocked: sweep.map(|sweep| sweep.achievements),
        }
    }
}
