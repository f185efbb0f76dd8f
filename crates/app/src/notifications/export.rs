//! The lists of notifications in the export of an account.

use crate::account_data::{EXPORT_PAGE, page_of, whole};
use crate::store::ExportReadTx;
use terrace_kernel::{Page, StoreError, TimeKey, UserId};
use terrace_social::notifications::{OwnNotification, Preferences};

/// All stored notifications, newest first.
pub fn notifications(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    after: Option<TimeKey>,
) -> Result<Page<OwnNotification>, StoreError> {
    let rows = tx.own_notifications(user, EXPORT_PAGE, after)?;
    Ok(page_of(rows, OwnNotification::key))
}

/// The preferences: one row.
pub fn preferences(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<Preferences, ()>, StoreError> {
    Ok(whole(vec![tx.notification_preferences(user)?]))
}
