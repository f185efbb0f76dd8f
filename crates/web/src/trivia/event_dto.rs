//! The events of rounds in streams.

use crate::dto::Time;
use crate::trivia::dto::{OptionCount, Question, option_counts};
use serde::Serialize;
use std::collections::HashMap;
use terrace_games::{OptionId, Question as DomainQuestion, QuestionTime, RoundId};
use utoipa::ToSchema;
use uuid::Uuid;

/// `question.opened`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionOpened {
    round_id: Uuid,
    question: Question,
    /// When the time for it ends.
    ends_at: Time,
}

impl QuestionOpened {
    pub(crate) fn new(round: RoundId, question: &DomainQuestion, place: u32, time: QuestionTime) -> Self {
        let question = Question::new(question, place, time);
        Self { round_id: round.as_uuid(), question, ends_at: Time(time.ends_at) }
    }
}

/// `question.closed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionClosed {
    round_id: Uuid,
    question_id: Uuid,
    /// The id of the right option.
    correct_option_id: Uuid,
    /// How often each option was chosen.
    counts: Vec<OptionCount>,
}

impl QuestionClosed {
    pub(crate) fn new(round: RoundId, question: &DomainQuestion, counts: &HashMap<OptionId, u64>) -> Self {
        Self {
            round_id: round.as_uuid(),
            question_id: question.id.as_uuid(),
            correct_option_id: question.right.as_uuid(),
            counts: option_counts(question, counts),
        }
    }
}

/// `standings.changed`: read the leaderboard of the round again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StandingsChanged {
    pub(crate) round_id: Uuid,
}

/// `round.ended`: the round is over, or was cancelled.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoundEnded {
    pub(crate) round_id: Uuid,
}
