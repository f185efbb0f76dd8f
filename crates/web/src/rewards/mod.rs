//! Rewards, claims and redemptions over HTTP.

pub(crate) mod dto;
mod export;
mod preview;
mod refusals;
mod routes;

pub(crate) use dto::{ClaimStatus, RewardCard};
pub(crate) use export::EXPORT;
pub(crate) use preview::preview;

use crate::register::Routes;

pub(crate) fn routes(config: &mut Routes<'_>) {
    config
        .service(routes::list_rewards)
        .service(routes::get_reward)
        .service(routes::claim_reward)
        .service(routes::list_claims)
        .service(routes::get_claim)
        .service(routes::use_claim)
        .service(routes::redeem_code);
}
