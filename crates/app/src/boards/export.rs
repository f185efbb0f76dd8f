//! The lists of points and boards in the export of an account.

use crate::account_data::{ExportList, ExportRows, ListPage};
use crate::store::ExportReadTx;
use terrace_kernel::{Limit, StoreError, TimeKey, UserId};

pub(crate) const EXPORT: &[ExportList] = &[|tx, user| points(tx, user, None), boards];

/// Points records, newest first.
fn points(tx: &mut dyn ExportReadTx, user: UserId, after: Option<TimeKey>) -> Result<ListPage, StoreError> {
    let page = tx.records(user, Limit::MAX, after)?;
    Ok(ListPage::of_page(page, ExportRows::Points, points))
}

/// One row per board, so a single page suffices: there are some hundred teams.
fn boards(tx: &mut dyn ExportReadTx, user: UserId) -> Result<ListPage, StoreError> {
    Ok(ListPage::whole(ExportRows::Boards(tx.entries_of(user)?)))
}
