//! Maps the refusals of rewards to error codes.

use crate::error::{ApiError, Code};
use crate::platform::no_longer;
use crate::rewards::dto::code_of;
use terrace_app::rewards::{ClaimRewardRefusal, RedeemCodeRefusal, UseClaimRefusal};
use terrace_rewards::UseRefusal;

pub(crate) fn no_reward() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such reward")
}

pub(crate) fn no_claim() -> ApiError {
    ApiError::new(Code::NotFound, "you have no such claim")
}

impl From<ClaimRewardRefusal> for ApiError {
    fn from(refusal: ClaimRewardRefusal) -> Self {
        match refusal {
            ClaimRewardRefusal::UnknownReward => no_reward(),
            ClaimRewardRefusal::Rule(rule) => Self::new(code_of(&rule), rule.to_string()),
            ClaimRewardRefusal::NotActive => no_longer(),
        }
    }
}

impl From<UseRefusal> for ApiError {
    fn from(refusal: UseRefusal) -> Self {
        match refusal {
            UseRefusal::Used => Code::ClaimUsed.into(),
            UseRefusal::Expired => Code::ClaimExpired.into(),
            UseRefusal::Revoked => Code::ClaimRevoked.into(),
        }
    }
}

impl From<UseClaimRefusal> for ApiError {
    fn from(refusal: UseClaimRefusal) -> Self {
        match refusal {
            UseClaimRefusal::UnknownClaim => no_claim(),
            UseClaimRefusal::Rule(rule) => rule.into(),
            UseClaimRefusal::NotActive => no_longer(),
        }
    }
}

impl From<RedeemCodeRefusal> for ApiError {
    fn from(refusal: RedeemCodeRefusal) -> Self {
        match refusal {
            RedeemCodeRefusal::UnknownCode => Self::new(Code::NotFound, "no claim has this code"),
            RedeemCodeRefusal::Rule(rule) => rule.into(),
        }
    }
}
