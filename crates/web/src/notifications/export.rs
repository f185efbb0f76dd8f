//! Notifications in the export of an account.

use crate::account_data::{ExportPart, pages};
use crate::notifications::dto::{ExportedNotification, NotificationPreferences};
use terrace_app::notifications::export;

pub(crate) const EXPORT: &[ExportPart] = &[
    ExportPart::of::<ExportedNotification>(
        "notifications",
        "Notifications, the newest first.",
        |app, viewer| pages::<ExportedNotification, _, _>(app, viewer, export::notifications),
    ),
    ExportPart::of::<NotificationPreferences>(
        "notificationPreferences",
        "What the fan is notified of: one element.",
        |app, viewer| pages::<NotificationPreferences, _, _>(app, viewer, export::preferences),
    ),
];
