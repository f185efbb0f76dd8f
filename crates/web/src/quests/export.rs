//! Quests, daily visits and achievements in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::dto::Time;
use crate::quests::dto::RunStatus;
use serde::Serialize;
use terrace_app::quests::export;
use terrace_kernel::Timestamp;
use terrace_quests::{AchievementKey, OwnStep, Run, Visits};
use utoipa::ToSchema;
use uuid::Uuid;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<ExportedQuest>(
        "quests",
        "Started quests, daily ones once for each date, ordered by id.",
        |app, viewer| pages::<ExportedQuest, _, _>(app, viewer, export::runs),
    ),
    ExportPart::of::<ExportedQuestStep>(
        "questSteps",
        "Completed steps of quests, ordered by id.",
        |app, viewer| pages::<ExportedQuestStep, _, _>(app, viewer, export::steps),
    ),
    ExportPart::of::<ExportedVisits>(
        "dailyVisits",
        "The progress of daily visits; empty if there was none.",
        |app, viewer| pages::<ExportedVisits, _, _>(app, viewer, export::daily_visits),
    ),
    ExportPart::of::<ExportedAchievement>("achievements", "Achievements, ordered by key.", |app, viewer| {
        pages::<ExportedAchievement, _, _>(app, viewer, export::achievements)
    }),
];

/// A started quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedQuest {
    /// The id of the quest.
    quest_id: Uuid,
    /// The local date, for a daily quest.
    #[schema(format = Date, example = "2026-05-01", required)]
    date: Option<String>,
    /// The status.
    status: RunStatus,
    /// When the quest was started.
    started_at: Time,
    /// When the quest was completed, if it was.
    #[schema(required)]
    completed_at: Option<Time>,
}

impl From<&Run> for ExportedQuest {
    fn from(run: &Run) -> Self {
        Self {
            quest_id: run.quest.as_uuid(),
            date: run.period.local_date().map(|date| date.to_string()),
            status: RunStatus(run.status),
            started_at: Time(run.started_at),
            completed_at: run.completed_at.map(Time),
        }
    }
}

/// A completed step of a quest.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedQuestStep {
    /// The id of the step.
    step_id: Uuid,
    /// The local date, for a daily quest.
    #[schema(format = Date, example = "2026-05-01", required)]
    date: Option<String>,
    /// When the step was completed.
    completed_at: Time,
}

impl From<&OwnStep> for ExportedQuestStep {
    fn from(done: &OwnStep) -> Self {
        Self {
            step_id: done.step.as_uuid(),
            date: done.period.local_date().map(|date| date.to_string()),
            completed_at: Time(done.at),
        }
    }
}

/// The progress of daily visits.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedVisits {
    /// The last paid local date.
    #[schema(format = Date, example = "2026-05-01", required)]
    last_paid: Option<String>,
    /// The time zone that determines dates.
    #[schema(example = "Europe/Lisbon")]
    time_zone: &'static str,
    /// The next time zone, if it is about to change.
    #[schema(required)]
    next_time_zone: Option<&'static str>,
    /// When the next time zone takes effect.
    #[schema(required)]
    next_time_zone_from: Option<Time>,
    /// The current streak in dates.
    streak: u32,
    /// The longest streak in dates.
    longest_streak: u32,
    /// The number of dates that may be missed without ending the streak.
    freezes: u32,
}

impl From<&Visits> for ExportedVisits {
    fn from(visits: &Visits) -> Self {
        Self {
            last_paid: visits.last_paid.map(|date| date.to_string()),
            time_zone: visits.zone.name(),
            next_time_zone: visits.change.map(|change| change.to.name()),
            next_time_zone_from: visits.change.map(|change| Time(change.from)),
            streak: visits.streak,
            longest_streak: visits.longest,
            freezes: visits.freezes,
        }
    }
}

/// An achievement.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedAchievement {
    /// The key of the achievement.
    #[schema(example = "first-quest")]
    key: String,
    /// When it was unlocked.
    unlocked_at: Time,
}

impl From<&(AchievementKey, Timestamp)> for ExportedAchievement {
    fn from((key, at): &(AchievementKey, Timestamp)) -> Self {
        Self { key: key.to_string(), unlocked_at: Time(*at) }
    }
}
