//! Figures of a period for operators.

use terrace_games::WheelId;
use terrace_kernel::{GrantKind, PriceKind, StoreError, TeamId, Timestamp};
use terrace_ledger::{AccountKind, House};
use terrace_shop::OrderState;

/// The figures to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportScope {
    /// The first instant of the period.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
    /// Only fans whose favourite team this is now.
    pub team: Option<TeamId>,
}

/// All transfers of the journal for the same kind of cause between the same accounts, up to the end of the period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    pub unit: AccountKind,
    /// The debited account of the service; `None` for accounts of fans.
    pub debit: Option<House>,
    /// The credited account.
    pub credit: Option<House>,
    /// The kind of the cause, such as `award`: what precedes the first `:` of the source.
    pub source: String,
    /// Whether a payment or a refund is that of an order.
    pub is_of_order: Option<bool>,
    /// The sum before the period.
    pub earlier: i64,
    /// The sum in the period.
    pub during: i64,
    /// The number of transfers in the period.
    pub entries: u64,
}

/// Numbers of fans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FanFigures {
    /// Accounts that were registered before the end of the period and are not deleted.
    pub registered: u64,
    /// Accounts that were registered in the period.
    pub new: u64,
    /// Accounts with a transfer, a post, a comment or a reaction in the period that still exists.
    pub active: u64,
}

/// Numbers of copies of packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackFigures {
    /// Copies that fans received in the period, also if they were revoked later.
    pub sold: u64,
    /// Copies that were opened in the period, also if they were revoked later.
    pub opened: u64,
    /// Copies that were revoked in the period.
    pub revoked: u64,
}

/// Numbers of claims of rewards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimFigures {
    /// Claims that were made in the period, also if they were revoked later.
    pub claimed: u64,
    /// Claims that were used in the period.
    pub used: u64,
}

/// Spins of a wheel in the period that gave grants of one kind and were paid in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpinFigures {
    pub wheel: WheelId,
    pub grant: GrantKind,
    /// What was paid with; `None` for free spins.
    pub price: Option<PriceKind>,
    /// The number of spins.
    pub spins: u64,
    /// The sum of what was given.
    pub given: i64,
    /// The sum of what was paid.
    pub paid: i64,
}

/// Numbers of rounds of trivia. Deleted accounts are not in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriviaFigures {
    /// How often fans joined rounds in the period.
    pub joined: u64,
    /// Answers that came in in the period.
    pub answers: u64,
    /// How often rounds awarded points to fans in the period.
    pub awards: u64,
    /// The sum of these points.
    pub points: i64,
}

/// Reads figures of a period. Each call is one statement that aggregates in the database.
pub trait OperatorReportRead {
    /// The flows of all accounts, in a total order.
    fn report_flows(&mut self, scope: &ReportScope) -> Result<Vec<Flow>, StoreError>;

    /// The numbers of fans.
    fn report_fans(&mut self, scope: &ReportScope) -> Result<FanFigures, StoreError>;

    /// How many orders that were placed in the period are in each state now; states without orders are left out.
    fn report_orders(&mut self, scope: &ReportScope) -> Result<Vec<(OrderState, u64)>, StoreError>;

    /// The numbers of copies of packs.
    fn report_packs(&mut self, scope: &ReportScope) -> Result<PackFigures, StoreError>;

    /// The numbers of claims of rewards.
    fn report_claims(&mut self, scope: &ReportScope) -> Result<ClaimFigures, StoreError>;

    /// The spins of all wheels, by wheel, kind of grant and price.
    fn report_spins(&mut self, scope: &ReportScope) -> Result<Vec<SpinFigures>, StoreError>;

    /// The numbers of rounds of trivia.
    fn report_trivia(&mut self, scope: &ReportScope) -> Result<TriviaFigures, StoreError>;
}
