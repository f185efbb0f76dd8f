//! The lists of points and boards in the export of an account.

use crate::account_data::whole;
use crate::store::ExportReadTx;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_scoring::{BoardEntry, PointsRecord};

/// Points records, newest first.
pub fn points(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<PointsRecord>, StoreError> {
    tx.records(user, Limit::MAX, after)
}

/// Leaderboards that the fan joined. One row per board, so a single page suffices: there are some hundred teams.
pub fn boards(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<BoardEntry, ()>, StoreError> {
    Ok(whole(tx.entries_of(user)?))
}
