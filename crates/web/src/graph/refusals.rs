//! Maps the refusals of the follow graph to error codes.

use crate::error::{ApiError, Code};
use crate::platform::{no_fan, no_longer};
use terrace_app::RecommendRefusal;
use terrace_app::graph::{BlockRefusal, DismissRefusal, FollowRefusal, FollowTeamRefusal};

impl From<FollowRefusal> for ApiError {
    fn from(refusal: FollowRefusal) -> Self {
        match refusal {
            FollowRefusal::Oneself => Code::CannotFollowSelf.into(),
            FollowRefusal::NotFound => no_fan(),
            FollowRefusal::NotActive => no_longer(),
        }
    }
}

impl From<FollowTeamRefusal> for ApiError {
    fn from(refusal: FollowTeamRefusal) -> Self {
        match refusal {
            FollowTeamRefusal::UnknownTeam => Self::new(Code::NotFound, "there is no such team"),
            FollowTeamRefusal::NotActive => no_longer(),
        }
    }
}

impl From<BlockRefusal> for ApiError {
    fn from(refusal: BlockRefusal) -> Self {
        match refusal {
            BlockRefusal::Oneself => Code::CannotBlockSelf.into(),
            BlockRefusal::NotFound => no_fan(),
            BlockRefusal::NotActive => no_longer(),
        }
    }
}

impl From<RecommendRefusal> for ApiError {
    fn from(refusal: RecommendRefusal) -> Self {
        match refusal {
            RecommendRefusal::Busy => Self::unavailable("too many recommendations wait to be made", 1),
        }
    }
}

impl From<DismissRefusal> for ApiError {
    fn from(refusal: DismissRefusal) -> Self {
        match refusal {
            DismissRefusal::NotFound => no_fan(),
        }
    }
}
