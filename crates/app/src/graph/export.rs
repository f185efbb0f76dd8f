//! The lists of the graph in the export of an account.

use crate::account_data::{EXPORT_PAGE, ExportList, ExportRows, ListPage};
use crate::store::ExportReadTx;
use terrace_kernel::{StoreError, TeamId, UserId};

pub(crate) const EXPORT: &[ExportList] = &[
    |tx, user| follows(tx, user, None),
    |tx, user| team_follows(tx, user, None),
    |tx, user| blocks(tx, user, None),
    |tx, user| dismissals(tx, user, None),
];

/// Followed users.
fn follows(tx: &mut dyn ExportReadTx, user: UserId, after: Option<UserId>) -> Result<ListPage, StoreError> {
    let rows = tx.own_follows(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |tie| tie.user, ExportRows::Follows, follows))
}

/// Followed teams.
fn team_follows(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TeamId>,
) -> Result<ListPage, StoreError> {
    let rows = tx.own_team_follows(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |follow| follow.team, ExportRows::TeamFollows, team_follows))
}

/// Blocked users.
fn blocks(tx: &mut dyn ExportReadTx, user: UserId, after: Option<UserId>) -> Result<ListPage, StoreError> {
    let rows = tx.own_blocks(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |tie| tie.user, ExportRows::Blocks, blocks))
}

/// Users dismissed from recommendations.
fn dismissals(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<UserId>,
) -> Result<ListPage, StoreError> {
    let rows = tx.own_dismissals(user, EXPORT_PAGE, after)?;
    Ok(ListPage::of_rows(rows, |tie| tie.user, ExportRows::Dismissals, dismissals))
}
