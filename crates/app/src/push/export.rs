//! The list of push subscriptions in the export of an account.

use crate::account_data::whole;
use crate::store::ExportReadTx;
use terrace_identity::KeptPushSubscription;
use terrace_kernel::{Page, StoreError, UserId};

/// The subscriptions, the oldest first.
pub fn subscriptions(
    tx: &mut dyn ExportReadTx,
    user: UserId,
    _after: Option<()>,
) -> Result<Page<KeptPushSubscription, ()>, StoreError> {
    Ok(whole(tx.push_subscriptions(user)?))
}
