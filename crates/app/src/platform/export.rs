//! The lists of the platform in the export of an account.

use crate::account_data::{EXPORT_PAGE, page_of};
use crate::store::{ExportReadTx, KeptKey, KeyPlace};
use terrace_kernel::{Page, StoreError, UserId};

/// Idempotency keys.
#[expect(clippy::needless_pass_by_value, reason = "every list takes the key of its last row by value")]
pub fn keys(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<KeyPlace>,
) -> Result<Page<KeptKey, KeyPlace>, StoreError> {
    Ok(page_of(tx.keys_of(user, EXPORT_PAGE, after.as_ref())?, |kept| kept.place.clone()))
}
