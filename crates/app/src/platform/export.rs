//! The lists of the platform in the export of an account.

use crate::account_data::{EXPORT_PAGE, ExportList, ExportRows, ListPage};
use crate::store::ExportReadTx;
use crate::store::KeyPlace;
use terrace_kernel::{StoreError, UserId};

pub(crate) const EXPORT: &[ExportList] = &[|tx, user| keys(tx, user, None)];

/// Idempotency keys.
#[expect(clippy::needless_pass_by_value, reason = "every list takes the key of its last row by value")]
fn keys(tx: &mut dyn ExportReadTx, user: UserId, after: Option<KeyPlace>) -> Result<ListPage, StoreError> {
    let rows = tx.keys_of(user, EXPORT_PAGE, after.as_ref())?;
    Ok(ListPage::of_rows(rows, |kept| kept.place.clone(), ExportRows::Keys, keys))
}
