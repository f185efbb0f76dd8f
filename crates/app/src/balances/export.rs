//! The lists of balances in the export of an account.

use crate::account_data::{ExportList, ExportRows, ListPage};
use crate::store::ExportReadTx;
use terrace_kernel::{Limit, StoreError, TimeKey, UserId};

pub(crate) const EXPORT: &[ExportList] = &[balances, |tx, user| entries(tx, user, None)];

/// At most one per kind of ledger account.
fn balances(tx: &mut dyn ExportReadTx, user: UserId) -> Result<ListPage, StoreError> {
    Ok(ListPage::whole(ExportRows::Balances(tx.balances(user)?)))
}

/// Ledger entries, newest first.
fn entries(tx: &mut dyn ExportReadTx, user: UserId, after: Option<TimeKey>) -> Result<ListPage, StoreError> {
    let page = tx.entries(user, Limit::MAX, after)?;
    Ok(ListPage::of_page(page, ExportRows::Entries, entries))
}
