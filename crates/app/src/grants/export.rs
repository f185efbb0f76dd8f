//! The list of grants in the export of an account.

use crate::store::ExportReadTx;
use crate::store::grants::GivenGrant;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};

/// What the fan was given, newest first.
pub fn grants(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<GivenGrant, TimeKey>, StoreError> {
    tx.grants(user, Limit::MAX, after)
}
