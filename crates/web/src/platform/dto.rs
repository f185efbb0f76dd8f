//! What a timer is told of boards and quests that were put in order.

use serde::Serialize;
use terrace_app::{BoardsSynced, QuestsSynced};
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
    /// How many steps of quests were completed by the ranks of fans; null when another did the work.
    #[schema(example = 0)]
    steps_completed: Option<u64>,
}

impl From<BoardsSynced> for LeaderboardSyncReport {
    fn from(synced: BoardsSynced) -> Self {
        let BoardsSynced { refreshed, took, repaired, seasons_turned, steps_completed } = synced;
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self { refreshed, duration_ms, mended: repaired, seasons_turned, steps_completed }
    }
}

/// What a wish for quests up to date came to. Counts are null when another did the work.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestSyncReport {
    /// Whether this call did the work; false when another was at it, whose end was waited for.
    refreshed: bool,
    /// How long that took, in milliseconds.
    #[schema(example = 42)]
    duration_ms: u64,
    /// How many fans were looked at.
    #[schema(example = 1250)]
    fans_checked: Option<u64>,
    /// How many steps were completed.
    #[schema(example = 3)]
    steps_completed: Option<u64>,
    /// How many quests were completed.
    #[schema(example = 1)]
    quests_completed: Option<u64>,
    /// The points that these paid.
    #[schema(example = 70)]
    points_awarded: Option<i64>,
    /// How many achievements were granted.
    #[schema(example = 2)]
    achievements_unlocked: Option<u64>,
}

impl From<QuestsSynced> for QuestSyncReport {
    fn from(synced: QuestsSynced) -> Self {
        let QuestsSynced { refreshed, took, sweep } = synced;
        Self {
            refreshed,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            fans_checked: sweep.map(|sweep| sweep.fans),
            steps_completed: sweep.map(|sweep| sweep.steps),
            quests_completed: sweep.map(|sweep| sweep.quests),
            points_awarded: sweep.map(|sweep| sweep.points),
            achievements_unlocked: sweep.map(|sweep| sweep.achievements),
        }
    }
}
