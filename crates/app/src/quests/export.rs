//! The lists of quests in the export of an account.

use crate::account_data::{EXPORT_PAGE, ExportList, ExportRows, ListPage};
use crate::store::ExportReadTx;
use terrace_kernel::{StoreError, UserId};
use terrace_quests::{Period, QuestId, StepId};

pub(crate) const EXPORT: &[ExportList] =
    &[|tx, user| runs(tx, user, None), |tx, user| steps(tx, user, None), daily_visits, achievements];

/// Quest runs.
fn runs(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<(QuestId, Period)>,
) -> Result<ListPage, StoreError> {
    let rows = tx.own_runs(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |run| (run.quest, run.period), ExportRows::Quests, runs))
}

/// Completed quest steps.
fn steps(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<(StepId, Period)>,
) -> Result<ListPage, StoreError> {
    let rows = tx.own_steps(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |done| (done.step, done.period), ExportRows::QuestSteps, steps))
}

/// Daily visits; at most one row.
fn daily_visits(tx: &mut dyn ExportReadTx, user: UserId) -> Result<ListPage, StoreError> {
    let visits = tx.visits_and_zone(user)?.and_then(|(_, visits)| visits);
    Ok(ListPage::whole(ExportRows::DailyVisits(visits.into_iter().collect())))
}

/// At most as many as the quest content defines.
fn achievements(tx: &mut dyn ExportReadTx, user: UserId) -> Result<ListPage, StoreError> {
    let mut rows = tx.achievements_of(user)?;
    rows.sort();
    Ok(ListPage::whole(ExportRows::Achievements(rows)))
}
