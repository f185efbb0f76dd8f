//! Rewards, claims and redemptions.

use crate::dto::{Time, names};
use crate::error::Code;
use crate::grants::dto::Grant;
use serde::{Deserialize, Serialize};
use terrace_app::QuestBook;
use terrace_app::rewards::{Redemption, RewardBook, ShownClaim, ShownReward};
use terrace_quests::QuestId;
use terrace_rewards::{
    Claim as DomainClaim, ClaimRefusal, ClaimStatus as DomainStatus, Cost, CostKind, Gives, Period,
    Requirement, RewardId,
};
use utoipa::ToSchema;
use uuid::Uuid;

names! {
    /// What a claim is paid with.
    RewardCostKind(CostKind): CostKind::ALL, CostKind::as_str
}

names! {
    /// The period in which a fan may claim a reward so many times: ever, on a date of the fan's time zone, or in a season.
    RewardPeriod(Period): Period::ALL, Period::as_str
}

names! {
    /// The state of a claim. `issued`: its code was not used yet; `used`: its code was used, or the fan has the goods;
    /// `expired`: its code was not used in time; `revoked`: by an operator.
    ClaimStatus(DomainStatus): DomainStatus::ALL, DomainStatus::as_str
}

/// The codes that a claim can get.
const REFUSALS: [Code; 7] = [
    Code::AuthenticationRequired,
    Code::RewardClosed,
    Code::AccountTooNew,
    Code::RequirementNotMet,
    Code::LimitReached,
    Code::SoldOut,
    Code::InsufficientBalance,
];

names! {
    /// The code of the error that a claim would get.
    ClaimRefusalCode(Code): REFUSALS, Code::as_str
}

/// What a claim costs.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RewardCost {
    /// What it is paid with.
    kind: RewardCostKind,
    /// The amount.
    #[schema(example = 40, minimum = 1)]
    amount: i64,
}

impl From<Cost> for RewardCost {
    fn from(cost: Cost) -> Self {
        Self { kind: RewardCostKind(cost.kind), amount: cost.amount }
    }
}

/// What a fan must have reached. `met` is null for a signed-out reader.
#[derive(Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum RewardRequirement {
    /// A level.
    Level {
        /// The number of the level, from 1.
        value: u32,
        /// Whether the reader is on it or above.
        #[schema(required)]
        met: Option<bool>,
    },
    /// A completed quest.
    Quest {
        /// The id of the quest.
        value: Uuid,
        /// The title of the quest; null if it is no longer in the content.
        #[schema(required)]
        title: Option<String>,
        /// Whether the reader has completed it.
        #[schema(required)]
        met: Option<bool>,
    },
    /// An achievement.
    Achievement {
        /// The key of the achievement.
        value: String,
        /// The title of the achievement; null if it is no longer in the content.
        #[schema(required)]
        title: Option<String>,
        /// Whether the reader has it.
        #[schema(required)]
        met: Option<bool>,
    },
    /// A rank on the global board of the active season.
    Rank {
        /// The lowest rank that suffices.
        value: u32,
        /// Whether the reader has it or a better one.
        #[schema(required)]
        met: Option<bool>,
    },
    /// Points of the active season.
    Points {
        /// The points.
        value: i64,
        /// Whether the reader has them.
        #[schema(required)]
        met: Option<bool>,
    },
}

impl RewardRequirement {
    fn new(requirement: &Requirement, met: Option<bool>, quests: &QuestBook) -> Self {
        match requirement {
            Requirement::Level(level) => Self::Level { value: *level, met },
            Requirement::Quest(id) => {
                let title = quests.quest(QuestId::from_uuid(*id)).map(|quest| quest.title.clone());
                Self::Quest { value: *id, title, met }
            }
            Requirement::Achievement(key) => {
                let found = quests.achievements().iter().find(|one| one.key.as_str() == key);
                let title = found.map(|one| one.title.clone());
                Self::Achievement { value: key.clone(), title, met }
            }
            Requirement::Rank(rank) => Self::Rank { value: *rank, met },
            Requirement::Points(points) => Self::Points { value: *points, met },
        }
    }
}

/// A reward.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reward {
    /// The id of the reward.
    id: Uuid,
    /// The stable key of the reward.
    #[schema(example = "stadium-tour")]
    key: String,
    /// The name.
    name: String,
    /// The description; may be empty.
    description: String,
    /// The address of the picture.
    #[schema(required)]
    image_url: Option<String>,
    /// What a claim gives.
    grant: Grant,
    /// What a claim costs; null if it is free.
    #[schema(required)]
    cost: Option<RewardCost>,
    /// What a fan must have reached; all of them.
    requires: Vec<RewardRequirement>,
    /// How many are left; null if the reward is not limited.
    #[schema(required)]
    remaining: Option<u32>,
    /// The most claims of a fan in `period`; null for no limit.
    #[schema(required)]
    per_user_limit: Option<u32>,
    /// The period of that limit.
    period: RewardPeriod,
    /// How many seconds a claim may be used; null for no limit.
    #[schema(required)]
    valid_for: Option<u64>,
    /// When it opens; null if it always was open.
    #[schema(required)]
    opens_at: Option<Time>,
    /// When it closes; null if it stays open.
    #[schema(required)]
    closes_at: Option<Time>,
    /// Whether the reader can claim it.
    claimable: bool,
    /// The code of the error that a claim would get; null if the reader can claim it.
    #[schema(required)]
    why: Option<ClaimRefusalCode>,
}

impl Reward {
    pub(crate) fn new(shown: &ShownReward, quests: &QuestBook) -> Self {
        let reward = &shown.reward;
        let met = |place: usize| shown.met.as_ref().and_then(|met| met.get(place).copied());
        let requires = reward.requires.iter().enumerate();
        let why = match (&shown.met, &shown.refusal) {
            (None, _) => Some(Code::AuthenticationRequired),
            (Some(_), Some(refusal)) => Some(code_of(refusal)),
            (Some(_), None) => None,
        };
        Self {
            id: reward.id.as_uuid(),
            key: reward.key.to_string(),
            name: reward.name.clone(),
            description: reward.description.clone(),
            image_url: reward.image_url.clone(),
            grant: Grant::from(&reward.gives.grant()),
            cost: reward.cost.map(RewardCost::from),
            requires: requires
                .map(|(place, requirement)| RewardRequirement::new(requirement, met(place), quests))
                .collect(),
            remaining: shown.remaining,
            per_user_limit: reward.per_user_limit,
            period: RewardPeriod(reward.period),
            valid_for: reward.valid_for.map(|life| life.as_secs()),
            opens_at: reward.opens_at.map(Time),
            closes_at: reward.closes_at.map(Time),
            claimable: why.is_none(),
            why: why.map(ClaimRefusalCode),
        }
    }
}

/// The code of the error for a refused claim.
pub(crate) fn code_of(refusal: &ClaimRefusal) -> Code {
    match refusal {
        ClaimRefusal::Closed => Code::RewardClosed,
        ClaimRefusal::AccountTooNew { .. } => Code::AccountTooNew,
        ClaimRefusal::RequirementNotMet => Code::RequirementNotMet,
        ClaimRefusal::LimitReached { .. } => Code::LimitReached,
        ClaimRefusal::SoldOut => Code::SoldOut,
        ClaimRefusal::Insufficient { .. } => Code::InsufficientBalance,
    }
}

/// A reward.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RewardEnvelope {
    /// The reward.
    pub(crate) reward: Reward,
}

/// A page of rewards.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RewardPage {
    /// The rewards, in the order of the content.
    pub(crate) rewards: Vec<Reward>,
    /// The cursor of the next page; null on the last one.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// The reward of a claim.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RewardCard {
    /// The name of the reward.
    name: String,
    /// The address of its picture.
    #[schema(required)]
    image_url: Option<String>,
}

impl RewardCard {
    pub(crate) fn of(id: RewardId, book: &RewardBook) -> Option<Self> {
        let reward = book.reward(id)?;
        Some(Self { name: reward.name.clone(), image_url: reward.image_url.clone() })
    }
}

/// A claim of the caller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Claim {
    /// The id of the claim.
    id: Uuid,
    /// The id of the reward.
    reward_id: Uuid,
    /// The reward; null for a moment if it was just added to the content.
    #[schema(required)]
    reward: Option<RewardCard>,
    /// The state.
    status: ClaimStatus,
    /// The code, which only its fan ever sees; null if the claim gave goods.
    #[schema(example = "7K2M-9QTX-04HD-PZ3V", required)]
    code: Option<String>,
    /// What the fan was given with the claim; empty for a code.
    goods: Vec<Grant>,
    /// What it cost; null if it was free.
    #[schema(required)]
    cost: Option<RewardCost>,
    /// Whether the fan has the cost of a revoked claim back.
    returned: bool,
    /// When it was claimed.
    created_at: Time,
    /// From when on it cannot be used; null for no limit.
    #[schema(required)]
    expires_at: Option<Time>,
    /// When it was used; null before that.
    #[schema(required)]
    used_at: Option<Time>,
}

impl Claim {
    pub(crate) fn new(shown: &ShownClaim, book: &RewardBook) -> Self {
        let claim = &shown.claim;
        Self {
            id: claim.id.as_uuid(),
            reward_id: claim.reward.as_uuid(),
            reward: RewardCard::of(claim.reward, book),
            status: ClaimStatus(claim.status),
            code: shown.code.as_ref().map(|code| code.expose().to_owned()),
            goods: goods(claim),
            cost: claim.cost.map(RewardCost::from),
            returned: claim.is_returned,
            created_at: Time(claim.created_at),
            expires_at: claim.expires_at.map(Time),
            used_at: claim.used_at.map(Time),
        }
    }
}

fn goods(claim: &DomainClaim) -> Vec<Grant> {
    match &claim.gives {
        Gives::Code(_) => Vec::new(),
        Gives::Goods(grant) => vec![Grant::from(grant)],
    }
}

/// A claim.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimEnvelope {
    /// The claim.
    pub(crate) claim: Claim,
}

/// A page of claims.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClaimPage {
    /// The claims, the newest first.
    pub(crate) claims: Vec<Claim>,
    /// The cursor of the next page; null on the last one.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A code to redeem.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RedeemBody {
    /// The code, in any case, with or without spaces and hyphens.
    #[schema(example = "7K2M-9QTX-04HD-PZ3V", min_length = 4, max_length = 64)]
    pub(crate) code: String,
}

/// The outcome of a redemption.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RedemptionResult {
    /// Whether this request redeemed the code; false if it was used before.
    redeemed: bool,
    /// The id of the claim.
    claim_id: Uuid,
    /// When the code was used.
    used_at: Time,
    /// The reward, which tells the till what to hand out; null for a moment if it was just added to the content.
    #[schema(required)]
    reward: Option<RewardCard>,
}

impl RedemptionResult {
    pub(crate) fn new(redemption: &Redemption, book: &RewardBook) -> Self {
        Self {
            redeemed: redemption.redeemed,
            claim_id: redemption.claim.as_uuid(),
            used_at: Time(redemption.used_at),
            reward: RewardCard::of(redemption.reward, book),
        }
    }
}

/// A claim in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedClaim {
    /// The id of the claim.
    id: Uuid,
    /// The id of the reward.
    reward_id: Uuid,
    /// The state.
    status: ClaimStatus,
    /// The code; null if the claim gave goods.
    #[schema(required)]
    code: Option<String>,
    /// What the fan was given with the claim; empty for a code.
    goods: Vec<Grant>,
    /// What it cost; null if it was free.
    #[schema(required)]
    cost: Option<RewardCost>,
    /// Whether the fan has the cost back.
    returned: bool,
    /// When it was claimed.
    created_at: Time,
    /// From when on it cannot be used; null for no limit.
    #[schema(required)]
    expires_at: Option<Time>,
    /// When it was used; null before that.
    #[schema(required)]
    used_at: Option<Time>,
}

impl ExportedClaim {
    pub(crate) fn new(claim: &DomainClaim, code: Option<String>) -> Self {
        Self {
            id: claim.id.as_uuid(),
            reward_id: claim.reward.as_uuid(),
            status: ClaimStatus(claim.status),
            code,
            goods: goods(claim),
            cost: claim.cost.map(RewardCost::from),
            returned: claim.is_returned,
            created_at: Time(claim.created_at),
            expires_at: claim.expires_at.map(Time),
            used_at: claim.used_at.map(Time),
        }
    }
}
