//! Loads rewards into the database.

use crate::content::ContentFaults;
use crate::grants::{Giver, GrantBook};
use crate::quests::embedded_achievements;
use crate::rewards::{RewardContent, RewardSummary};
use crate::store::{Command, RewardContentTx};
use terrace_kernel::{Ctx, Failure, Outcome};
use terrace_quests::QuestRead;
use terrace_rewards::{Known, RewardRead};
use terrace_shop::ProductRead;

/// Loads rewards by their keys. A reward whose key exists keeps its id, its stock and its claims.
pub struct LoadRewards {
    /// The rewards.
    pub content: RewardContent,
}

impl Command for LoadRewards {
    const NAME: &'static str = "load_rewards";
    type Ports = dyn RewardContentTx;
    type Output = RewardSummary;
    type Refusal = ContentFaults;

    fn run(&self, tx: &mut dyn RewardContentTx, ctx: &mut Ctx) -> Outcome<RewardSummary, ContentFaults> {
        let rewards = RewardRead::rewards(tx)?;
        let quests = QuestRead::quests(tx)?;
        let quest = |key: &str| {
            let found = quests.iter().find(|quest| quest.key.as_str() == key && !quest.is_retired);
            found.map(|quest| quest.id.as_uuid())
        };
        let achievements = embedded_achievements();
        let achievement = |key: &str| achievements.iter().any(|known| known.key.as_str() == key);
        // The dates of a club's folder are checked when it is planned; rewards of the program may have closed.
        let (packs, collectibles) = (tx.packs()?, tx.collectibles()?);
        let products = ProductRead::catalogue(tx)?.products;
        let book =
            GrantBook { packs: &packs, collectibles: &collectibles, products: &products, is_open: false };
        let planned = book.with_names(Giver::Claim, |grants| {
            let known = Known {
                rewards: &rewards,
                quest: &quest,
                achievement: &achievement,
                grants,
                closes_after: None,
            };
            self.content.plan(&known, || ctx.new_id()).map_err(Failure::Refused)
        })?;
        tx.put_rewards(&planned)?;
        let keys: Vec<_> = planned.iter().map(|reward| reward.key.clone()).collect();
        let retired = tx.retire_rewards(&keys)?;
        Ok(RewardSummary { rewards: planned.len(), retired })
    }
}
