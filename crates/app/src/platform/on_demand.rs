//! Upkeep that an operator may request over HTTP. `terrace-ops` implements it; the program passes it to the
//! HTTP layer, which therefore does not depend on it.

use crate::App;
use crate::store::BoxFuture;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::StoreError;

/// Jobs that run when they are requested, whether or not they are due. Of several concurrent requests in any processes
/// one does the work, and the others wait for it.
pub trait OnDemand: Send + Sync {
    /// Opens and closes seasons that are due, repairs rows that differ from the ledger, and completes the quest steps
    /// that require a rank which their fan has reached.
    fn sync_leaderboards(&self, app: Arc<App>) -> BoxFuture<'static, Result<BoardsSynced, StoreError>>;

    /// Completes steps and quests whose conditions fans meet and grants the achievements they have reached.
    fn sync_quests(&self, app: Arc<App>) -> BoxFuture<'static, Result<QuestsSynced, StoreError>>;

    /// Completes, ends or refunds interrupted purchases.
    fn reconcile_purchases(
        &self,
        app: Arc<App>,
    ) -> BoxFuture<'static, Result<PurchasesReconciled, StoreError>>;
}

/// Result of a request to synchronize the boards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardsSynced {
    /// Whether this call did the work; otherwise it waited for a run in progress.
    pub refreshed: bool,
    /// Duration of the call.
    pub took: Duration,
    /// Number of fans whose rows were repaired, if this call did the work.
    pub repaired: Option<u64>,
    /// Number of seasons that started or ended, if this call did the work.
    pub seasons_turned: Option<u64>,
    /// Number of steps completed by rank, if this call did the work.
    pub steps_completed: Option<u64>,
}

/// Result of checking all fans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuestSweep {
    /// Number of fans checked.
    pub fans: u64,
    /// Number of steps completed.
    pub steps: u64,
    /// Number of quests completed.
    pub quests: u64,
    /// Points awarded.
    pub points: i64,
    /// Number of achievements granted.
    pub achievements: u64,
}

/// Result of a request to check all fans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestsSynced {
    /// Whether this call did the work; otherwise it waited for a run in progress.
    pub refreshed: bool,
    /// Duration of the call.
    pub took: Duration,
    /// Result of the check, if this call did the work.
    pub sweep: Option<QuestSweep>,
}

/// Counts of a reconciliation run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReconcileReport {
    /// Payments checked.
    pub looked_at: u64,
    /// Purchases completed.
    pub completed: u64,
    /// Purchases expired.
    pub expired: u64,
    /// Purchases cancelled.
    pub cancelled: u64,
    /// Payments refunded.
    pub refunded: u64,
    /// Payments left for later: not paid yet, or the provider did not answer.
    pub left: u64,
}

impl ReconcileReport {
    /// Adds the counts of two runs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            looked_at: self.looked_at.saturating_add(other.looked_at),
            completed: self.completed.saturating_add(other.completed),
            expired: self.expired.saturating_add(other.expired),
            cancelled: self.cancelled.saturating_add(other.cancelled),
            refunded: self.refunded.saturating_add(other.refunded),
            left: self.left.saturating_add(other.left),
        }
    }

    /// Whether nothing changed.
    pub fn is_idle(&self) -> bool {
        (self.completed, self.expired, self.cancelled, self.refunded) == (0, 0, 0, 0)
    }
}

/// The outcome of a request for reconciliation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PurchasesReconciled {
    /// Whether this call did the work; otherwise it waited for a concurrent run.
    pub refreshed: bool,
    /// How long the call took.
    pub took: Duration,
    /// The counts, if this call did the work.
    pub report: Option<ReconcileReport>,
}
