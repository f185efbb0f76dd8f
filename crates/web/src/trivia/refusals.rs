//! Refusals of the area as errors.

use crate::error::{ApiError, Code, Invalid};
use crate::platform::no_longer;
use terrace_app::trivia::{PlayRefusal, RoundRefusal};

fn no_round() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such round")
}

impl From<RoundRefusal> for ApiError {
    fn from(refusal: RoundRefusal) -> Self {
        match refusal {
            RoundRefusal::Unknown => no_round(),
            RoundRefusal::NotOver => Self::new(Code::NotFound, "the proof comes when the round is over"),
        }
    }
}

impl From<PlayRefusal> for ApiError {
    fn from(refusal: PlayRefusal) -> Self {
        match refusal {
            PlayRefusal::UnknownRound => no_round(),
            PlayRefusal::NotOpen => Code::RoundNotOpen.into(),
            PlayRefusal::Over => Code::RoundOver.into(),
            PlayRefusal::NotJoined => Code::NotJoined.into(),
            PlayRefusal::QuestionNotOpen => Code::QuestionNotOpen.into(),
            PlayRefusal::TooLate => Code::TooLate.into(),
            PlayRefusal::AlreadyAnswered => Code::AlreadyAnswered.into(),
            PlayRefusal::UnknownOption => Invalid::at("/optionId", "the question has no such option"),
            PlayRefusal::NotActive => no_longer(),
        }
    }
}
