//! The lists of the graph in the export of an account.

use crate::account_data::{EXPORT_PAGE, page_of};
use crate::store::ExportReadTx;
use terrace_kernel::{Page, StoreError, TeamId, UserId};
use terrace_social::{OwnTeamFollow, OwnTie};

/// Followed users.
pub fn follows(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<UserId>,
) -> Result<Page<OwnTie, UserId>, StoreError> {
    Ok(page_of(tx.own_follows(user, EXPORT_PAGE, after)?, |tie| tie.user))
}

/// Followed teams.
pub fn team_follows(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TeamId>,
) -> Result<Page<OwnTeamFollow, TeamId>, StoreError> {
    Ok(page_of(tx.own_team_follows(user, EXPORT_PAGE, after)?, |follow| follow.team))
}

/// Blocked users.
pub fn blocks(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<UserId>,
) -> Result<Page<OwnTie, UserId>, StoreError> {
    Ok(page_of(tx.own_blocks(user, EXPORT_PAGE, after)?, |tie| tie.user))
}

/// Users dismissed from recommendations.
pub fn dismissals(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<UserId>,
) -> Result<Page<OwnTie, UserId>, StoreError> {
    Ok(page_of(tx.own_dismissals(user, EXPORT_PAGE, after)?, |tie| tie.user))
}
