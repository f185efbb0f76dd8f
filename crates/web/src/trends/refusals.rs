//! Maps the refusals of trends to error codes.

use crate::error::{ApiError, Code};
use terrace_app::trends::TrendingRefusal;

impl From<TrendingRefusal> for ApiError {
    fn from(refusal: TrendingRefusal) -> Self {
        match refusal {
            TrendingRefusal::SignInFirst => Code::AuthenticationRequired.into(),
            TrendingRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            TrendingRefusal::Expired => Self::new(
                Code::CursorExpired,
                "the ranking that this page belongs to is gone; begin again without a cursor",
            ),
        }
    }
}
