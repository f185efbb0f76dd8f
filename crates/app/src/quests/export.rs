//! The lists of quests in the export of an account.

use crate::account_data::{EXPORT_PAGE, page_of, whole};
use crate::store::ExportReadTx;
use terrace_kernel::{Page, StoreError, Timestamp, UserId};
use terrace_quests::{AchievementKey, OwnStep, Period, QuestId, Run, StepId, Visits};

/// Quest runs.
pub fn runs(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<(QuestId, Period)>,
) -> Result<Page<Run, (QuestId, Period)>, StoreError> {
    Ok(page_of(tx.own_runs(user, EXPORT_PAGE, after)?, |run| (run.quest, run.period)))
}

/// Completed quest steps.
pub fn steps(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<(StepId, Period)>,
) -> Result<Page<OwnStep, (StepId, Period)>, StoreError> {
    Ok(page_of(tx.own_steps(user, EXPORT_PAGE, after)?, |done| (done.step, done.period)))
}

/// Daily visits; at most one row.
pub fn daily_visits(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<Visits, ()>, StoreError> {
    let visits = tx.visits_and_zone(user)?.and_then(|(_, visits)| visits);
    Ok(whole(visits.into_iter().collect()))
}

/// At most as many as the quest content defines.
pub fn achievements(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<(AchievementKey, Timestamp), ()>, StoreError> {
    let mut rows = tx.achievements_of(user)?;
    rows.sort();
    Ok(whole(rows))
}
