//! Maps the refusals of boards and points to error codes.

use crate::error::{ApiError, Code, Invalid};
use crate::platform::{no_fan, no_longer, unknown_team};
use terrace_app::boards::MembershipRefusal;
use terrace_app::{AwardPointsRefusal, BoardRefusal};
use terrace_scoring::AwardRefusal;

fn no_board() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such board")
}

impl From<BoardRefusal> for ApiError {
    fn from(refusal: BoardRefusal) -> Self {
        match refusal {
            BoardRefusal::UnknownBoard => no_board(),
            BoardRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            BoardRefusal::UnknownSeason => Self::new(Code::NotFound, "there is no such season of this board"),
        }
    }
}

impl From<MembershipRefusal> for ApiError {
    fn from(refusal: MembershipRefusal) -> Self {
        match refusal {
            MembershipRefusal::UnknownBoard => no_board(),
            MembershipRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            MembershipRefusal::SeasonClosed | MembershipRefusal::NoSeason => Code::SeasonClosed.into(),
            MembershipRefusal::NotActive => no_longer(),
        }
    }
}

impl From<AwardPointsRefusal> for ApiError {
    fn from(refusal: AwardPointsRefusal) -> Self {
        match refusal {
            AwardPointsRefusal::Rule(AwardRefusal::SeasonClosed) => Code::SeasonClosed.into(),
            AwardPointsRefusal::Rule(
                rule @ (AwardRefusal::TooLarge | AwardRefusal::Negative | AwardRefusal::Reversal),
            ) => Invalid::at("/amount", rule.to_string()),
            AwardPointsRefusal::NotActive => no_fan(),
            AwardPointsRefusal::UnknownTeam => unknown_team("/teamId"),
        }
    }
}
