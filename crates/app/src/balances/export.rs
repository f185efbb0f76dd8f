//! The lists of balances in the export of an account.

use crate::account_data::whole;
use crate::balances::{AccountBalance, queries};
use crate::store::ExportReadTx;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_ledger::Entry;

/// At most one per kind of ledger account.
pub fn balances(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<AccountBalance, ()>, StoreError> {
    Ok(whole(queries::accounts(tx, user)?))
}

/// Ledger entries, newest first.
pub fn entries(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<Entry>, StoreError> {
    tx.entries(user, Limit::MAX, after)
}
