//! Points and leaderboards in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::Time;
use serde::Serialize;
use terrace_app::boards::export;
use terrace_scoring::{BoardEntry, PointsRecord, SeasonId, TeamBoardId};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<ExportedPoints>("points", "Records of points, newest first.", |app, viewer| {
        pages::<ExportedPoints, _, _>(app, viewer, export::points)
    }),
    ExportPart::of::<ExportedBoard>(
        "leaderboards",
        "Leaderboards that the fan joined, including those left, ordered by id.",
        |app, viewer| pages::<ExportedBoard, _, _>(app, viewer, export::boards),
    ),
];

/// A record of points.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedPoints {
    /// The id of the record.
    id: Uuid,
    /// The number of points; negative if points were reversed.
    #[schema(example = 50)]
    amount: i64,
    /// The reason, as a text.
    reason: String,
    /// The key of the rewarded event.
    #[schema(example = "import:tickets/4711")]
    source: String,
    /// The season that the points count in; null if they never count.
    #[schema(required)]
    season_id: Option<Uuid>,
    /// The team's leaderboard that the points count on; null if there is none.
    #[schema(required)]
    leaderboard_id: Option<Uuid>,
    /// When the rewarded event happened.
    at: Time,
}

impl From<&PointsRecord> for ExportedPoints {
    fn from(record: &PointsRecord) -> Self {
        Self {
            id: record.id.as_uuid(),
            amount: record.amount.get(),
            reason: record.reason.clone(),
            source: record.source.to_string(),
            season_id: record.season.map(SeasonId::as_uuid),
            leaderboard_id: record.board.map(TeamBoardId::as_uuid),
            at: Time(record.at),
        }
    }
}

/// A leaderboard that the fan joined.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedBoard {
    /// The id of the leaderboard.
    leaderboard_id: Uuid,
    /// The fan's points in the season.
    #[schema(example = 50)]
    points: i64,
    /// The season of the points; null if the fan has none in an active season.
    #[schema(required)]
    season_id: Option<Uuid>,
    /// When the fan joined.
    joined_at: Time,
    /// When the fan left, if they did.
    #[schema(required)]
    left_at: Option<Time>,
}

impl From<&BoardEntry> for ExportedBoard {
    fn from(entry: &BoardEntry) -> Self {
        Self {
            leaderboard_id: entry.board.as_uuid(),
            points: entry.points.get(),
            season_id: entry.season.map(SeasonId::as_uuid),
            joined_at: Time(entry.created_at),
            left_at: entry.left_at.map(Time),
        }
    }
}
