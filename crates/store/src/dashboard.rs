//! What a dashboard reads of several areas in one statement.

use terrace_games::{RoundId, RoundMode};
use terrace_kernel::{Currency, StoreError, Timestamp, UserId};
use terrace_scoring::{BoardId, Points};
use terrace_shop::{Amounts, OrderId, OrderState};
use terrace_social::RankedTopic;

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

/// Reads the parts of a dashboard that span areas.
pub trait DashboardRead {
    /// The numbers of a fan at a time; `None` if there is no such account. The round is the first one that is not over and
    /// not paid to the fan: first live rounds that begin within a day, then open ones, then those to come, each in the
    /// order of their start.
    fn dashboard_numbers(
        &mut self,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<DashboardNumbers>, StoreError>;

    /// A fan's newest orders.
    fn newest_orders(&mut self, user: UserId, limit: u32) -> Result<Vec<OrderSummary>, StoreError>;

    /// The first topics of the current ranking, and its instant; `None` before the first ranking.
    fn current_topics(&mut self, limit: u32) -> Result<Option<(Timestamp, Vec<RankedTopic>)>, StoreError>;
}
