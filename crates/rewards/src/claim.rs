//! Claims: who may claim, and what becomes of a claim.

use crate::reward::named;
use crate::{ClaimId, Cost, CostKind, Gives, Period, Reached, Reward, RewardId, RewardStock, TillId};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Timestamp, UnknownName, UserId, Uuid};

named! {
    /// The state of a claim.
    ClaimStatus {
        /// Its code was not used yet.
        Issued = "issued",
        /// Its code was used, or the fan has had its goods since the claim.
        Used = "used",
        /// Its code was not used in time.
        Expired = "expired",
        /// An operator has revoked it.
        Revoked = "revoked",
    }
}

/// A claim of a reward by a fan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Id of the claim.
    pub id: ClaimId,
    /// The reward that was claimed.
    pub reward: RewardId,
    /// The fan.
    pub user: UserId,
    /// The state.
    pub status: ClaimStatus,
    /// What it gave at the time of the claim.
    pub gives: Gives,
    /// What it cost at the time of the claim.
    pub cost: Option<Cost>,
    /// The date of the claim in the fan's time zone.
    pub day: String,
    /// The season in which it was claimed, if one was active.
    pub season: Option<Uuid>,
    /// When it was claimed.
    pub created_at: Timestamp,
    /// The first instant at which it can no longer be used.
    pub expires_at: Option<Timestamp>,
    /// When it was used.
    pub used_at: Option<Timestamp>,
    /// The till at which it was used.
    pub till: Option<TillId>,
    /// Whether the fan has the cost back. Such a claim does not count towards the limit of the fan.
    pub is_returned: bool,
}

impl Claim {
    /// The state at a time: an issued claim expires at its time, whenever the job records it.
    pub fn status_at(&self, now: Timestamp) -> ClaimStatus {
        let is_over = self.expires_at.is_some_and(|at| at.is_over(now));
        if self.status == ClaimStatus::Issued && is_over { ClaimStatus::Expired } else { self.status }
    }

    /// Whether it can be used at a time.
    ///
    /// # Errors
    ///
    /// Why it cannot.
    pub fn check_use(&self, now: Timestamp) -> Result<(), UseRefusal> {
        match self.status_at(now) {
            ClaimStatus::Issued => Ok(()),
            ClaimStatus::Used => Err(UseRefusal::Used),
            ClaimStatus::Expired => Err(UseRefusal::Expired),
            ClaimStatus::Revoked => Err(UseRefusal::Revoked),
        }
    }
}

/// Why a claim cannot be used or revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UseRefusal {
    /// It was used.
    #[error("the claim was used")]
    Used,
    /// It was not used in time.
    #[error("the claim has expired")]
    Expired,
    /// It was revoked.
    #[error("the claim was revoked")]
    Revoked,
}

/// How often a fan has claimed a reward, without claims whose cost was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClaimCounts {
    /// At any time.
    pub ever: u32,
    /// On the present date of the fan.
    pub day: u32,
    /// In the active season.
    pub season: u32,
}

impl ClaimCounts {
    /// The number of claims in a period.
    pub const fn within(self, period: Period) -> u32 {
        match period {
            Period::Ever => self.ever,
            Period::Day => self.day,
            Period::Season => self.season,
        }
    }
}

/// All that a claim of one reward by one fan depends on.
#[derive(Debug, Clone)]
pub struct Standing<'a> {
    /// What the fan has reached.
    pub reached: &'a Reached,
    /// How often the fan has claimed the reward.
    pub claims: ClaimCounts,
    /// The stock of the reward; `None` if it is not limited.
    pub stock: Option<RewardStock>,
    /// The fan's spendable points.
    pub points: i64,
    /// The fan's coins.
    pub coins: i64,
    /// When the account stops being new.
    pub new_until: Timestamp,
    /// Whether a season is active.
    pub has_season: bool,
}

impl Standing<'_> {
    /// The fan's balance of a kind.
    pub const fn balance(&self, kind: CostKind) -> i64 {
        match kind {
            CostKind::Points => self.points,
            CostKind::Coins => self.coins,
        }
    }
}

/// Why a fan cannot claim a reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClaimRefusal {
    /// It is not open yet, or no longer.
    #[error("the reward is not open")]
    Closed,
    /// The account is too new for a limited reward.
    #[error("the account is new until {until}")]
    AccountTooNew {
        /// When it stops being new.
        until: Timestamp,
    },
    /// The fan does not meet a requirement.
    #[error("a requirement is not met")]
    RequirementNotMet,
    /// The fan has claimed it as often as the limit allows in the period.
    #[error("you have claimed it {claimed} times")]
    LimitReached {
        /// How often.
        claimed: u32,
    },
    /// None is left.
    #[error("none is left")]
    SoldOut,
    /// The fan has less than it costs.
    #[error("you have {has}")]
    Insufficient {
        /// The fan's balance.
        has: i64,
    },
}

/// Checks whether a fan may claim a reward. Where several rules refuse, the first one in this order is returned: the period
/// of sale, the age of the account, requirements, the limit of the fan, the stock, the balance.
///
/// # Errors
///
/// Returns the rule that refuses.
pub fn check_claim(reward: &Reward, standing: &Standing<'_>, now: Timestamp) -> Result<(), ClaimRefusal> {
    if !reward.is_open(now) || reward.period == Period::Season && !standing.has_season {
        return Err(ClaimRefusal::Closed);
    }
    if reward.is_limited() && !standing.new_until.is_over(now) {
        return Err(ClaimRefusal::AccountTooNew { until: standing.new_until });
    }
    if !reward.requires.iter().all(|requirement| requirement.is_met(standing.reached)) {
        return Err(ClaimRefusal::RequirementNotMet);
    }
    let claimed = standing.claims.within(reward.period);
    if reward.per_user_limit.is_some_and(|limit| claimed >= limit) {
        return Err(ClaimRefusal::LimitReached { claimed });
    }
    if reward.is_limited() && standing.stock.unwrap_or_default().remaining() == 0 {
        return Err(ClaimRefusal::SoldOut);
    }
    match reward.cost {
        Some(cost) if standing.balance(cost.kind) < cost.amount => {
            Err(ClaimRefusal::Insufficient { has: standing.balance(cost.kind) })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CodeSource, Requirement};

    fn at(micros: i64) -> Timestamp {
        Timestamp::from_micros(micros)
    }

    fn reward() -> Reward {
        Reward {
            id: RewardId::from_uuid(Uuid::from_u128(1)),
            key: "scarf".parse().unwrap(),
            name: "Scarf".to_owned(),
            description: String::new(),
            image_url: None,
            gives: Gives::Code(CodeSource::Generated),
            cost: Some(Cost { kind: CostKind::Coins, amount: 10 }),
            requires: vec![Requirement::Level(2)],
            stock: Some(5),
            per_user_limit: Some(1),
            period: Period::Day,
            valid_for: None,
            opens_at: Some(at(100)),
            closes_at: Some(at(200)),
            is_retired: false,
        }
    }

    /// Contract part 2 §5: the codes of a refused claim.
    #[test]
    fn the_first_rule_that_refuses_is_named() {
        let reached = Reached { level: 2, ..Reached::default() };
        let fit = Standing {
            reached: &reached,
            claims: ClaimCounts::default(),
            stock: Some(RewardStock { supply: 5, taken: 4 }),
            points: 0,
            coins: 10,
            new_until: at(100),
            has_season: true,
        };
        let check = |reward: &Reward, standing: &Standing<'_>| check_claim(reward, standing, at(150));
        assert_eq!(check(&reward(), &fit), Ok(()));
        let poor = Standing { coins: 9, ..fit.clone() };
        assert_eq!(check(&reward(), &poor), Err(ClaimRefusal::Insufficient { has: 9 }));
        assert_eq!(check(&Reward { cost: None, ..reward() }, &poor), Ok(()));
        let sold_out = Standing { stock: Some(RewardStock { supply: 5, taken: 6 }), ..poor };
        assert_eq!(check(&reward(), &sold_out), Err(ClaimRefusal::SoldOut));
        assert_eq!(
            check(&reward(), &Standing { stock: None, ..fit.clone() }),
            Err(ClaimRefusal::SoldOut),
            "no stock is known"
        );
        let again = Standing { claims: ClaimCounts { ever: 3, day: 1, season: 3 }, ..sold_out };
        assert_eq!(check(&reward(), &again), Err(ClaimRefusal::LimitReached { claimed: 1 }));
        let novice = Reached::default();
        let low = Standing { reached: &novice, ..again };
        assert_eq!(check(&reward(), &low), Err(ClaimRefusal::RequirementNotMet));
        let new = Standing { new_until: at(151), ..low };
        assert_eq!(check(&reward(), &new), Err(ClaimRefusal::AccountTooNew { until: at(151) }));
        let unlimited = Reward { stock: None, ..reward() };
        assert_eq!(check(&unlimited, &new), Err(ClaimRefusal::RequirementNotMet));
        for closed in [
            Reward { opens_at: Some(at(151)), ..reward() },
            Reward { closes_at: Some(at(150)), ..reward() },
            Reward { is_retired: true, ..reward() },
        ] {
            assert_eq!(check(&closed, &new), Err(ClaimRefusal::Closed));
        }
        let of_season = Reward { period: Period::Season, ..reward() };
        let out_of_season = Standing { has_season: false, ..fit };
        assert_eq!(check(&of_season, &out_of_season), Err(ClaimRefusal::Closed));
    }

    #[test]
    fn an_issued_claim_expires_at_its_time() {
        let claim = Claim {
            id: ClaimId::from_uuid(Uuid::from_u128(1)),
            reward: RewardId::from_uuid(Uuid::from_u128(2)),
            user: UserId::from_uuid(Uuid::from_u128(3)),
            status: ClaimStatus::Issued,
            gives: Gives::Code(CodeSource::Pool),
            cost: None,
            day: "2026-05-01".to_owned(),
            season: None,
            created_at: at(0),
            expires_at: Some(at(10)),
            used_at: None,
            till: None,
            is_returned: false,
        };
        assert_eq!((claim.check_use(at(9)), claim.check_use(at(10))), (Ok(()), Err(UseRefusal::Expired)));
        let used = Claim { status: ClaimStatus::Used, ..claim.clone() };
        assert_eq!(used.check_use(at(11)), Err(UseRefusal::Used));
        let revoked = Claim { status: ClaimStatus::Revoked, ..claim };
        assert_eq!(revoked.check_use(at(9)), Err(UseRefusal::Revoked));
    }
}
