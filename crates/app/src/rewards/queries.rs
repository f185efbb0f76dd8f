//! Reads of rewards, as a reader sees them.

use crate::App;
use crate::grants;
use crate::packs::PackBook;
use crate::rewards::RewardBook;
use crate::rewards::claim_reward::refusal_of;
use crate::rewards::standing::{Facts, FanAt};
use crate::store::{Query, RewardReadTx, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Outcome, StoreError, Timestamp, UserId};
use terrace_quests::QuestRead;
use terrace_rewards::{ClaimRefusal, Requirement, Reward, RewardId, RewardRead, check_claim};
use terrace_scoring::Levels;

/// Reads all rewards.
pub(super) struct ReadRewardBook;

impl Query for ReadRewardBook {
    const NAME: &'static str = "read_rewards";
    /// Content may be loaded between the statements.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn RewardRead;
    type Output = RewardBook;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn RewardRead, _now: Timestamp) -> Outcome<RewardBook, Infallible> {
        Ok(RewardBook(tx.rewards()?))
    }
}

/// A reward as a reader sees it.
#[derive(Debug, Clone)]
pub struct ShownReward {
    pub reward: Reward,
    /// How many are left; `None` if it is not limited.
    pub remaining: Option<u32>,
    /// Whether the reader meets each requirement, in their order; `None` for a signed-out reader.
    pub met: Option<Vec<bool>>,
    /// Why the reader cannot claim it; `None` for a reader who can, and for a signed-out one.
    pub refusal: Option<ClaimRefusal>,
}

/// Rewards as a reader sees them, in their order.
pub type RewardList = Vec<ShownReward>;

/// Reads rewards as a reader sees them.
pub struct ReadStandings {
    /// The reader, if signed in.
    pub user: Option<UserId>,
    pub rewards: Vec<RewardId>,
    pub book: Arc<RewardBook>,
    pub levels: Arc<Levels>,
    /// All packs and collectibles, which may be goods.
    pub packs: Arc<PackBook>,
    /// How long after its registration an account counts as new.
    pub new_account_age: Duration,
}

impl Query for ReadStandings {
    const NAME: &'static str = "read_reward_standings";
    /// What a claim would get is decided by all of it together.
    const CONSISTENT_SNAPSHOT: bool = true;
    type Ports = dyn RewardReadTx;
    type Output = RewardList;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn RewardReadTx, now: Timestamp) -> Outcome<RewardList, Infallible> {
        let rewards: Vec<&Reward> = self.rewards.iter().filter_map(|id| self.book.reward(*id)).collect();
        let facts = match self.user {
            Some(user) => self.facts(tx, user, &rewards, now)?,
            None => None,
        };
        let stocks = RewardRead::reward_stocks(tx)?;
        let mut list = Vec::with_capacity(rewards.len());
        for reward in rewards {
            let (mut met, mut refusal) = (None, None);
            if let Some(facts) = &facts {
                let meets = |requirement: &Requirement| requirement.is_met(facts.reached());
                met = Some(reward.requires.iter().map(meets).collect());
                refusal = match check_claim(reward, &facts.standing(reward.id), now) {
                    Err(refusal) => Some(refusal),
                    Ok(()) => grants::check(tx, now, reward.gives.grant(), &self.packs)?.map(refusal_of),
                };
            }
            let stock = stocks.get(&reward.id).copied().unwrap_or_default();
            let remaining = reward.is_limited().then(|| stock.remaining());
            list.push(ShownReward { reward: reward.clone(), remaining, met, refusal });
        }
        Ok(list)
    }
}

impl ReadStandings {
    fn facts(
        &self,
        tx: &mut dyn RewardReadTx,
        user: UserId,
        rewards: &[&Reward],
        now: Timestamp,
    ) -> Result<Option<Facts>, StoreError> {
        let Some((zone, _)) = QuestRead::visits_and_zone(tx, user)? else { return Ok(None) };
        let day = super::claim_reward::date_in(zone, now);
        let fan = FanAt { user, day: &day, levels: &self.levels, new_account_age: self.new_account_age };
        Facts::read(tx, &fan, rewards)
    }
}

impl App {
    /// Rewards as a reader sees them, in the order of `rewards`.
    pub async fn show_rewards(
        &self,
        user: Option<UserId>,
        book: Arc<RewardBook>,
        rewards: Vec<RewardId>,
    ) -> Result<RewardList, StoreError> {
        let levels = Arc::clone(&self.club().await?.levels);
        let (packs, new_account_age) = (self.pack_book().await?, self.config.new_account_age);
        into_infallible(
            self.query(ReadStandings { user, rewards, book, levels, packs, new_account_age }).await,
        )
    }
}
