//! The dashboard: summaries of other areas, of which each has a route of its own.

use crate::accounts::dto::{FanLevel, OwnBalances};
use crate::boards::dto::OwnStanding;
use crate::dashboard::games::{DashboardRound, DashboardWheel};
use crate::dto::{Time, media_url};
use crate::packs::{OwnedCollectible, UserPack};
use crate::quests::dto::{Achievement, Cadence, QuestStatus, QuestStep, VisitStatus};
use crate::rewards::RewardCard;
use crate::shop::{OrderStatus, Total};
use crate::teams::dto::Team;
use crate::trends::dto::TrendingTopic;
use serde::Serialize;
use terrace_app::PackBook;
use terrace_app::dashboard::Dashboard as DomainDashboard;
use terrace_app::rewards::RewardBook;
use terrace_app::store::dashboard::OrderSummary as DomainOrder;
use terrace_ledger::{AccountKind, Balance};
use terrace_quests::{AchievementFacts, Quest};
use terrace_rewards::Claim;
use terrace_scoring::Levels;
use utoipa::ToSchema;
use uuid::Uuid;

/// The number of achievements.
const ACHIEVEMENTS: usize = 3;

/// The fan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardUser {
    /// The id of the account.
    id: Uuid,
    /// The username.
    username: String,
    /// The display name.
    display_name: String,
    /// The URL of the picture, if there is one.
    #[schema(required)]
    picture_url: Option<String>,
    /// The favourite team, if one was chosen.
    #[schema(required)]
    favorite_team: Option<Team>,
    /// The number of followers.
    follower_count: i64,
    /// The number of fans that the fan follows.
    following_count: i64,
    /// The sum of all points ever earned.
    points: i64,
}

/// The fan's positions on leaderboards of the season that is shown.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardRank {
    /// The position on the global leaderboard; null if it does not list the fan.
    #[schema(required)]
    global: Option<OwnStanding>,
    /// The position on the leaderboard of the favourite team; null if there is none, or it does not list the fan.
    #[schema(required)]
    team: Option<OwnStanding>,
}

/// A quest that the fan can work on.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardQuest {
    /// The id of the quest.
    id: Uuid,
    /// The stable key of the quest.
    #[schema(example = "welcome")]
    key: String,
    /// The title of the quest.
    title: String,
    /// How often the quest can be done.
    cadence: Cadence,
    /// Whether the fan has started it.
    status: QuestStatus,
    /// The points of the quest and all its steps.
    total_points: i64,
    /// The first instant after the quest is open.
    #[schema(required)]
    closes_at: Option<Time>,
    /// The number of completed steps.
    completed_steps: usize,
    /// The number of steps.
    steps: usize,
    /// The first step that is not completed; null if all are.
    #[schema(required)]
    next_step: Option<QuestStep>,
}

impl DashboardQuest {
    fn new(quest: &Quest, of: &DomainDashboard) -> Self {
        let own = &of.own_quests;
        let run = own.runs.get(&quest.id);
        let is_done = |step: &terrace_quests::Step| {
            run.is_some_and(|(_, done)| done.iter().any(|done| done.step == step.id))
        };
        let next = quest.steps.iter().find(|step| !is_done(step));
        Self {
            id: quest.id.as_uuid(),
            key: quest.key.to_string(),
            title: quest.title.clone(),
            cadence: Cadence(quest.cadence),
            status: if run.is_some() { QuestStatus::Active } else { QuestStatus::Available },
            total_points: quest.total_points(),
            closes_at: quest.closes_at.map(Time),
            completed_steps: quest.steps.iter().filter(|step| is_done(step)).count(),
            steps: quest.steps.len(),
            next_step: next.map(|step| QuestStep::new(step, quest.id, own)),
        }
    }
}

/// The achievements.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardAchievements {
    /// The number of unlocked achievements.
    unlocked: usize,
    /// The number of achievements that the fan can see: secret ones once they are unlocked.
    total: usize,
    /// The achievements that were unlocked last, at most three, latest first.
    latest: Vec<Achievement>,
}

impl DashboardAchievements {
    fn new(of: &DomainDashboard) -> Self {
        let known = of.book.achievements();
        let unlocked = |key| of.achievements.iter().find(|(own, _)| own == key).map(|(_, at)| *at);
        let shown = known.iter().filter(|one| one.is_shown(unlocked(&one.key).is_some()));
        // Retired ones are not listed.
        let own = of
            .achievements
            .iter()
            .filter_map(|(key, at)| known.iter().find(|one| one.key == *key).map(|found| (found, *at)));
        let own: Vec<_> = own.collect();
        let latest = own.iter().take(ACHIEVEMENTS);
        // An unlocked achievement shows its target as its progress.
        let latest = latest.map(|(one, at)| Achievement::new(one, &AchievementFacts::default(), Some(*at)));
        Self { unlocked: own.len(), total: shown.count(), latest: latest.collect() }
    }
}

/// The packs of the fan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardPacks {
    /// The number of sealed copies.
    #[schema(minimum = 0)]
    sealed: u64,
    /// The number of copies, sealed or opened.
    #[schema(minimum = 0)]
    owned: u64,
    /// The sealed copies, at most three, newest first.
    latest: Vec<UserPack>,
}

/// The collectibles of the fan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardCollectibles {
    /// The number of collectibles.
    #[schema(minimum = 0)]
    owned: u64,
    /// The number of different collectibles.
    #[schema(minimum = 0)]
    distinct: u64,
    /// The collectibles, at most three, newest first.
    latest: Vec<OwnedCollectible>,
}

/// A claim of a reward that can be used. `GET /api/user/rewards/{id}` has its code.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UsableClaim {
    /// The id of the claim.
    id: Uuid,
    /// The id of the reward.
    reward_id: Uuid,
    /// The reward; null for a moment if it was just added to the content.
    #[schema(required)]
    reward: Option<RewardCard>,
    /// When it was claimed.
    created_at: Time,
    /// From when on it cannot be used; null for no limit.
    #[schema(required)]
    expires_at: Option<Time>,
}

impl UsableClaim {
    fn new(claim: &Claim, book: &RewardBook) -> Self {
        Self {
            id: claim.id.as_uuid(),
            reward_id: claim.reward.as_uuid(),
            reward: RewardCard::of(claim.reward, book),
            created_at: Time(claim.created_at),
            expires_at: claim.expires_at.map(Time),
        }
    }
}

/// The rewards that the fan has claimed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardRewards {
    /// The number of claims that can be used.
    #[schema(minimum = 0)]
    usable: u64,
    /// These claims, at most three, newest first.
    latest: Vec<UsableClaim>,
}

/// An order without its lines.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderSummary {
    /// The id of the order.
    id: Uuid,
    /// The state of the order.
    status: OrderStatus,
    /// The name of the first line when the order was placed.
    name: String,
    /// The number of units of all lines.
    #[schema(minimum = 1)]
    units: u64,
    /// What it costs in all.
    totals: Total,
    /// The URL of the page on which it is paid; null unless it waits for its payment.
    #[schema(required)]
    checkout_url: Option<String>,
    /// The first instant at which a payment is too late; null for what was paid at once.
    #[schema(required)]
    expires_at: Option<Time>,
    /// When it was placed.
    created_at: Time,
}

impl From<&DomainOrder> for OrderSummary {
    fn from(order: &DomainOrder) -> Self {
        Self {
            id: order.id.as_uuid(),
            status: OrderStatus(order.state),
            name: order.name.clone(),
            units: order.units,
            totals: Total::of(order.totals, order.currency),
            checkout_url: order.checkout_url.clone(),
            expires_at: order.expires_at.map(Time),
            created_at: Time(order.created_at),
        }
    }
}

/// The orders of the fan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardOrders {
    /// The number of orders that wait for their payment.
    #[schema(minimum = 0)]
    pending: u64,
    /// The number of paid orders of which something is still to be sent, or on its way.
    #[schema(minimum = 0)]
    paid: u64,
    /// The orders in any state, at most three, newest first.
    latest: Vec<OrderSummary>,
}

/// What is trending.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardTrends {
    /// The topics, at most five, best first.
    topics: Vec<TrendingTopic>,
    /// The instant of the ranking; null before the first ranking.
    #[schema(required)]
    refreshed_at: Option<Time>,
}

/// The inbox of the fan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DashboardNotifications {
    /// The number of unread notifications.
    #[schema(minimum = 0)]
    unread: i64,
}

/// A summary of what the caller has, and of what there is to do.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dashboard {
    /// The fan.
    user: DashboardUser,
    /// The level of the fan.
    level: FanLevel,
    /// What the fan can spend.
    balances: OwnBalances,
    /// The positions on leaderboards, exact as of `streamPosition`.
    rank: DashboardRank,
    /// The daily visits.
    streak: VisitStatus,
    /// The quests that the fan can work on, at most five: those that were started, then those that are available, each in
    /// the order of the content.
    quests: Vec<DashboardQuest>,
    /// The achievements.
    achievements: DashboardAchievements,
    /// The packs.
    packs: DashboardPacks,
    /// The collectibles.
    collectibles: DashboardCollectibles,
    /// The rewards.
    rewards: DashboardRewards,
    /// The orders.
    orders: DashboardOrders,
    /// The first wheel on which the fan has a free spin, otherwise the first one; null if none can be spun.
    #[schema(required)]
    wheel: Option<DashboardWheel>,
    /// The round of trivia that the fan can play next: a live one that is open or begins within a day, otherwise an open
    /// one, otherwise the next to begin. Null if there is none; a round that was awarded to the fan is left out.
    #[schema(required)]
    trivia: Option<DashboardRound>,
    /// What is trending.
    trends: DashboardTrends,
    /// The inbox.
    notifications: DashboardNotifications,
    /// The position in the event log from which a stream continues.
    // The last field: the entity tag covers all fields before it.
    #[schema(minimum = 0)]
    stream_position: i64,
}

impl Dashboard {
    pub(crate) fn new(of: &DomainDashboard, packs: &PackBook, rewards: &RewardBook, levels: &Levels) -> Self {
        let (account, numbers) = (&of.account, &of.numbers);
        let balances = [
            Balance { kind: AccountKind::Points, amount: numbers.point_balance },
            Balance { kind: AccountKind::Coins, amount: numbers.coin_balance },
        ];
        Self {
            user: DashboardUser {
                id: account.card.id.as_uuid(),
                username: account.card.username.clone(),
                display_name: account.card.display_name.clone(),
                picture_url: account.card.picture.as_ref().map(media_url),
                favorite_team: of.favorite_team.as_ref().map(Team::from),
                follower_count: account.follower_count,
                following_count: account.following_count,
                points: numbers.points.get(),
            },
            level: FanLevel::of(numbers.points, levels),
            balances: OwnBalances::from(balances.as_slice()),
            rank: DashboardRank {
                global: of.global_rank.as_ref().map(OwnStanding::from),
                team: of.team_rank.as_ref().map(OwnStanding::from),
            },
            streak: VisitStatus::from(of.visits),
            quests: of.quests().into_iter().map(|quest| DashboardQuest::new(quest, of)).collect(),
            achievements: DashboardAchievements::new(of),
            packs: DashboardPacks {
                sealed: numbers.sealed_packs,
                owned: numbers.owned_packs,
                latest: of.sealed_packs.iter().map(|copy| UserPack::new(copy, packs)).collect(),
            },
            collectibles: DashboardCollectibles {
                owned: numbers.collectibles,
                distinct: numbers.distinct_collectibles,
                latest: of.collectibles.iter().map(|owned| OwnedCollectible::new(owned, packs)).collect(),
            },
            rewards: DashboardRewards {
                usable: numbers.usable_claims,
                latest: of.claims.iter().map(|claim| UsableClaim::new(claim, rewards)).collect(),
            },
            orders: DashboardOrders {
                pending: numbers.pending_orders,
                paid: numbers.paid_orders,
                latest: of.orders.iter().map(OrderSummary::from).collect(),
            },
            wheel: of.wheel.as_ref().map(DashboardWheel::from),
            trivia: numbers.round.as_ref().map(|round| DashboardRound::new(round, of.read_at)),
            trends: DashboardTrends {
                topics: of.topics.iter().map(TrendingTopic::from).collect(),
                refreshed_at: of.ranked_at.map(Time),
            },
            notifications: DashboardNotifications { unread: numbers.unread },
            stream_position: of.position.get(),
        }
    }
}
