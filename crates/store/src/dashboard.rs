//! What a dashboard reads of all areas.

use terrace_games::{RoundId, RoundMode, SpinState, WheelId};
use terrace_identity::{Account, Team};
use terrace_kernel::{Currency, StoreError, Timestamp, UserId};
use terrace_packs::{Owned, UserPack};
use terrace_quests::{AchievementKey, Facts, QuestId, Run, StepDone, Visits};
use terrace_rewards::Claim;
use terrace_scoring::{BoardId, Points};
use terrace_shop::{Amounts, OrderId, OrderState};
use terrace_social::RankedTopic;

/// What a fan's dashboard shows, apart from ranks and content.
#[derive(Debug, Clone)]
pub struct DashboardRows {
    pub account: Account,
    pub favorite_team: Option<Team>,
    pub numbers: DashboardNumbers,
    pub visits: Option<Visits>,
    /// The runs of quests that are done once, and those of the dates that it is now in any time zone, each with its
    /// completed steps.
    pub runs: Vec<(Run, Vec<StepDone>)>,
    /// The quests that the fan has completed, of those that were asked for.
    pub completed: Vec<QuestId>,
    /// The facts towards which steps show progress; boards and the rank are not among them. Points of the season are 0
    /// unless facts were asked for.
    pub facts: Facts,
    pub achievements: Vec<(AchievementKey, Timestamp)>,
    /// Sealed copies of packs, newest first, at most [`DashboardRows::NEWEST`].
    pub sealed_packs: Vec<UserPack>,
    /// Collectibles, without revoked ones, newest first, at most [`DashboardRows::NEWEST`].
    pub collectibles: Vec<Owned>,
    /// Claims of rewards that can be used, newest first, at most [`DashboardRows::NEWEST`].
    pub claims: Vec<Claim>,
    /// Orders in any state, newest first, at most [`DashboardRows::NEWEST`].
    pub orders: Vec<OrderSummary>,
    /// The fan's standings at wheels.
    pub spins: Vec<(WheelId, SpinState)>,
    /// The instant of the current ranking of topics, and its first topics, at most [`DashboardRows::TOPICS`]; `None`
    /// before the first ranking.
    pub topics: Option<(Timestamp, Vec<RankedTopic>)>,
}

impl DashboardRows {
    /// The maximum number of copies, collectibles, claims and orders.
    pub const NEWEST: i64 = 3;
    /// The maximum number of topics.
    pub const TOPICS: i64 = 5;
}

/// The numbers of a fan's dashboard, and the round that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DashboardNumbers {
    /// Sum of all points ever earned, across all seasons.
    pub points: Points,
    /// Spendable points.
    pub point_balance: i64,
    /// Spendable coins.
    pub coin_balance: i64,
    /// The board of the favourite team, if it was ever requested.
    pub team_board: Option<BoardId>,
    /// Sealed copies of packs.
    pub sealed_packs: u64,
    /// Copies of packs, sealed or opened, without revoked ones.
    pub owned_packs: u64,
    /// Collectibles, without revoked ones.
    pub collectibles: u64,
    /// Different collectibles among them.
    pub distinct_collectibles: u64,
    /// Claims of rewards that can be used.
    pub usable_claims: u64,
    /// Orders in any state.
    pub orders: u64,
    /// Orders that wait for their payment.
    pub pending_orders: u64,
    /// Paid orders of which something is still to be sent, or on its way.
    pub paid_orders: u64,
    /// Unread notifications, shared ones included.
    pub unread: i64,
    /// The round of trivia that the fan can play next.
    pub round: Option<RoundSummary>,
}

/// A round of trivia that is open or to come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundSummary {
    pub id: RoundId,
    pub title: String,
    pub mode: RoundMode,
    pub starts_at: Timestamp,
    pub closes_at: Timestamp,
    /// How many questions each fan gets.
    pub question_count: u32,
    /// Whether the fan has joined it.
    pub has_joined: bool,
}

/// An order without its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderSummary {
    pub id: OrderId,
    pub state: OrderState,
    /// The name of the first line.
    pub name: String,
    /// The number of units of all lines.
    pub units: u64,
    /// What the order costs.
    pub totals: Amounts,
    pub currency: Option<Currency>,
    /// The page on which it is paid, while it waits for the payment.
    pub checkout_url: Option<String>,
    /// The first instant at which a payment is too late.
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// What is asked about quests.
#[derive(Debug, Clone, Copy)]
pub struct QuestsAsked<'q> {
    /// The quests of which it is asked whether the fan has completed them.
    pub prerequisites: &'q [QuestId],
    /// Whether the facts of the fan are asked for.
    pub facts: bool,
}

/// Everything that a dashboard shows apart from ranks and content, as one state of the database.
pub trait DashboardRead {
    /// What the dashboard of a fan shows at a time, in one statement on PostgreSQL and in at most 14 on SQLite; `None`
    /// if there is no such active account. The round of trivia is the first one that is not over and not paid to the fan:
    /// first live rounds that begin within a day, then open ones, then those to come, each in the order of their start.
    fn dashboard(
        &mut self,
        user: UserId,
        asked: QuestsAsked<'_>,
        now: Timestamp,
    ) -> Result<Option<DashboardRows>, StoreError>;
}
