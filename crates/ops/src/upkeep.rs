//! The upkeep that operators request over HTTP.

use crate::{points, purchases, quests};
use std::sync::Arc;
use terrace_app::{App, BoardsSynced, OnDemand, PurchasesReconciled, QuestsSynced};
use terrace_kernel::StoreError;
use terrace_store::BoxFuture;

/// The upkeep of this crate, for the HTTP layer.
#[derive(Debug, Clone, Copy)]
pub struct Upkeep;

impl OnDemand for Upkeep {
    fn sync_leaderboards(&self, app: Arc<App>) -> BoxFuture<'static, Result<BoardsSynced, StoreError>> {
        Box::pin(async move { points::sync_leaderboards(&app).await })
    }

    fn sync_quests(&self, app: Arc<App>) -> BoxFuture<'static, Result<QuestsSynced, StoreError>> {
        Box::pin(async move { quests::sync_quests(&app).await })
    }

    fn reconcile_purchases(
        &self,
        app: Arc<App>,
    ) -> BoxFuture<'static, Result<PurchasesReconciled, StoreError>> {
        Box::pin(async move { purchases::reconcile_purchases(&app).await })
    }
}
