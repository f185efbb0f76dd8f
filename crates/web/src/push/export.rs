//! Push subscriptions in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::push::dto::ExportedPushSubscription;
use terrace_app::push::export;

pub(crate) const EXPORT: &[ExportPart] = &[ExportPart::of::<ExportedPushSubscription>(
    "pushSubscriptions",
    "Subscriptions to push messages, the oldest first.",
    |app, viewer| pages::<ExportedPushSubscription, _, _>(app, viewer, export::subscriptions),
)];
