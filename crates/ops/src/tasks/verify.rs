//! Verification by dry run: reports what repairs would change.

use crate::maintenance::{Round, RoundFailure, TaskRun, Unwatched, Wanted, maintain};
use crate::tasks::catalogue;
use std::sync::Arc;
use terrace_app::App;
use terrace_kernel::StoreError;
use tokio::sync::watch;

/// The repairs to report, in addition to those of counters, points and balances, which are verified row by row.
const VERIFIED_BY_DRY_RUN: [&str; 11] = [
    "repair-step-order",
    "repair-quest-runs",
    "repair-purchases",
    "repair-pack-stock",
    "repair-orders",
    "repair-rewards",
    "repair-grants",
    "repair-minting-lanes",
    "repair-minted-tokens",
    "repair-search",
    "repair-wallets",
];

/// Makes a dry run of the repairs of quests, purchases, orders, claims, grants, stock, messages to the minter and the
/// search: what each would write is what is wrong. Writes nothing.
///
/// # Errors
///
/// When the database is unavailable.
pub async fn verify_rows(app: &Arc<App>) -> Result<Vec<TaskRun>, StoreError> {
    let wanted = Wanted::Named(VERIFIED_BY_DRY_RUN.map(str::to_owned).into());
    let plan = catalogue().plan(&wanted).map_err(|fault| StoreError::defect("verify rows", fault))?;
    let (_keep, stop) = watch::channel(false);
    let (by, arguments) = ("verify".to_owned(), String::new());
    let round = Round { plan: plan.only_requested(), is_dry: true, only: false, by, arguments };
    let report = maintain(app, round, Arc::new(Unwatched), stop).await.map_err(|failure| match failure {
        RoundFailure::Broken(error) => error,
        other @ (RoundFailure::Busy(_) | RoundFailure::Missing { .. } | RoundFailure::Unfit(_)) => {
            StoreError::defect("verify rows", other)
        }
    })?;
    match report.ran.iter().find_map(|ran| ran.failure.clone()) {
        Some(why) => Err(StoreError::Unavailable(why)),
        None => Ok(report.ran),
    }
}
