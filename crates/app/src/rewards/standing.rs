//! What claims of a fan depend on, read for one claim or for the whole list.

use crate::store::RewardReadTx;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use terrace_identity::AccountRead;
use terrace_kernel::{StoreError, Timestamp, UserId, Uuid, num};
use terrace_ledger::{AccountKind, LedgerRead};
use terrace_quests::{AchievementKey, QuestId, QuestRead};
use terrace_rewards::{
    ClaimCounts, ClaimRead, Reached, Requirement, Reward, RewardId, RewardRead, RewardStock, Standing,
};
use terrace_scoring::{BoardRead, Levels, PointsRead, Season};

/// All that claims of a fan depend on.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    reached: Reached,
    counts: HashMap<RewardId, ClaimCounts>,
    stocks: HashMap<RewardId, RewardStock>,
    points: i64,
    coins: i64,
    new_until: Timestamp,
    /// The active season.
    pub(super) season: Option<Uuid>,
}

/// A fan whose facts are read.
pub(super) struct FanAt<'a> {
    pub(super) user: UserId,
    /// The date in the fan's time zone.
    pub(super) day: &'a str,
    pub(super) levels: &'a Levels,
    /// How long after its registration an account counts as new.
    pub(super) new_account_age: Duration,
}

impl Facts {
    /// Reads what claims of these rewards depend on; `None` if the account is not active.
    pub(super) fn read(
        tx: &mut dyn RewardReadTx,
        fan: &FanAt<'_>,
        rewards: &[&Reward],
    ) -> Result<Option<Self>, StoreError> {
        let Some(profile) = AccountRead::public_profile(tx, fan.user)? else { return Ok(None) };
        let seasons = BoardRead::seasons(tx)?;
        let season = seasons.active();
        let balances = LedgerRead::balances(tx, fan.user)?;
        let balance =
            |kind| balances.iter().find(|balance| balance.kind == kind).map_or(0, |balance| balance.amount);
        let (points, coins) = (balance(AccountKind::Points), balance(AccountKind::Coins));
        let season_id = season.map(|season| season.id.as_uuid());
        Ok(Some(Self {
            reached: reached(tx, fan, rewards, season)?,
            counts: ClaimRead::claim_counts(tx, fan.user, fan.day, season_id)?,
            stocks: RewardRead::reward_stocks(tx)?,
            points,
            coins,
            new_until: profile.created_at.plus(fan.new_account_age),
            season: season_id,
        }))
    }

    pub(super) fn reached(&self) -> &Reached {
        &self.reached
    }

    /// What a claim of one reward depends on.
    pub(super) fn standing(&self, reward: RewardId) -> Standing<'_> {
        Standing {
            reached: &self.reached,
            claims: self.counts.get(&reward).copied().unwrap_or_default(),
            stock: self.stocks.get(&reward).copied(),
            points: self.points,
            coins: self.coins,
            new_until: self.new_until,
            has_season: self.season.is_some(),
        }
    }
}

/// What the fan has reached, as far as these rewards require something.
fn reached(
    tx: &mut dyn RewardReadTx,
    fan: &FanAt<'_>,
    rewards: &[&Reward],
    season: Option<&Season>,
) -> Result<Reached, StoreError> {
    let (mut quests, mut keys) = (HashSet::new(), HashSet::new());
    let (mut needs_level, mut needs_season) = (false, false);
    for requirement in rewards.iter().flat_map(|reward| &reward.requires) {
        match requirement {
            Requirement::Level(_) => needs_level = true,
            Requirement::Quest(quest) => drop(quests.insert(QuestId::from_uuid(*quest))),
            Requirement::Achievement(key) => keys.extend(key.parse::<AchievementKey>()),
            Requirement::Rank(_) | Requirement::Points(_) => needs_season = true,
        }
    }
    let mut reached = Reached::default();
    if needs_level {
        let number = fan.levels.of(PointsRead::points_of(tx, fan.user)?).number;
        reached.level = num::to_u32(number);
    }
    if !quests.is_empty() {
        let quests: Vec<_> = quests.into_iter().collect();
        let completed = QuestRead::completed_among(tx, fan.user, &quests)?;
        reached.quests = completed.into_iter().map(QuestId::as_uuid).collect();
    }
    if !keys.is_empty() {
        let keys: Vec<_> = keys.into_iter().collect();
        let achieved = QuestRead::achieved_among(tx, &[fan.user], &keys)?;
        reached.achievements = achieved.into_iter().map(|(_, key)| key.to_string()).collect();
    }
    if let Some(season) = season.filter(|_| needs_season)
        && let Some(board) = BoardRead::global_board(tx, season.id)?
    {
        let totals = PointsRead::totals_of(tx, fan.user, season.id)?;
        if let Some(total) = totals.iter().find(|total| total.board == board.id) {
            reached.points = total.total.points.get();
            if total.is_listed {
                let above = BoardRead::count_above(tx, season.id, board.id, total.total.points)?;
                reached.rank = Some(above.saturating_add(1));
            }
        }
    }
    Ok(reached)
}
