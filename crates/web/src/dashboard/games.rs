//! The wheel and the round of trivia of a dashboard.

use crate::dto::Time;
use crate::trivia::dto::{Mode, RoundStatus};
use serde::Serialize;
use terrace_app::dashboard::OwnWheel;
use terrace_app::store::dashboard::RoundSummary;
use terrace_games::RoundStatus as DomainStatus;
use terrace_kernel::Timestamp;
use utoipa::ToSchema;
use uuid::Uuid;

/// A wheel that can be spun.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardWheel {
    /// The id of the wheel.
    id: Uuid,
    /// The stable key of the wheel.
    #[schema(example = "daily")]
    key: String,
    /// The name of the wheel.
    name: String,
    /// Whether the fan has a free spin of it now.
    free_spin: bool,
    /// When the fan has a free spin again; null if one is there, or the wheel has none.
    #[schema(required)]
    next_free_spin_at: Option<Time>,
}

impl From<&OwnWheel> for DashboardWheel {
    fn from(wheel: &OwnWheel) -> Self {
        Self {
            id: wheel.id.as_uuid(),
            key: wheel.key.to_string(),
            name: wheel.name.clone(),
            free_spin: wheel.has_free_spin,
            next_free_spin_at: wheel.next_free_spin_at.map(Time),
        }
    }
}

/// A round of trivia that is open or to come.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardRound {
    /// The id of the round.
    id: Uuid,
    /// The title of the round.
    title: String,
    /// How it is played.
    mode: Mode,
    /// The state.
    status: RoundStatus,
    /// When it begins.
    starts_at: Time,
    /// When it ends.
    closes_at: Time,
    /// How many questions each fan gets.
    #[schema(minimum = 1)]
    question_count: u32,
    /// Whether the fan has joined it.
    joined: bool,
}

impl DashboardRound {
    pub(crate) fn new(round: &RoundSummary, now: Timestamp) -> Self {
        let status = DomainStatus::of(round.starts_at, round.closes_at, now);
        Self {
            id: round.id.as_uuid(),
            title: round.title.clone(),
            mode: Mode(round.mode),
            status: status.into(),
            starts_at: Time(round.starts_at),
            closes_at: Time(round.closes_at),
            question_count: round.question_count,
            joined: round.has_joined,
        }
    }
}
