//! Read marks and preferences of a fan.

use crate::store::{Command, InboxTx};
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, Topic, UserId};
use terrace_social::notifications::{NotificationId, Preferences, ReadMark};

/// The account was deleted or suspended in the meantime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotActive;

/// Marks notifications as read. What is not unread stays as it is.
#[derive(Debug, Clone)]
pub struct MarkRead {
    /// The fan who has read them.
    pub user: UserId,
    /// Those that were read.
    pub mark: ReadMark,
}

impl Command for MarkRead {
    const NAME: &'static str = "mark_notifications_read";
    type Ports = dyn InboxTx;
    /// The number of notifications that are still unread.
    type Output = i64;
    type Refusal = std::convert::Infallible;

    fn run(&self, tx: &mut dyn InboxTx, ctx: &mut Ctx) -> Outcome<i64, Self::Refusal> {
        if tx.mark_read(self.user, &self.mark, ctx.now())? {
            let event = NewEvent {
                topic: Topic::Notifications,
                kind: EventKind::NotificationRead,
                actor: Some(self.user),
                team: None,
                subject: self.user.as_uuid(),
                object: None,
            };
            let detail = match &self.mark {
                ReadMark::UpTo(position) => position.to_string(),
                ReadMark::Ids(ids) => ids.iter().map(NotificationId::to_string).collect::<Vec<_>>().join(","),
            };
            tx.append_with_detail(&event, &detail, ctx.now())?;
        }
        Ok(tx.unread_notifications(self.user)?)
    }
}

/// Parses the detail of the event.
pub(crate) fn read_mark(detail: &str) -> Result<ReadMark, StoreError> {
    let malformed = |error: &dyn std::fmt::Display| StoreError::defect("notifications", error.to_string());
    if let Ok(position) = detail.parse::<i64>() {
        let position = terrace_kernel::Position::new(position);
        return position.map(ReadMark::UpTo).ok_or_else(|| malformed(&detail));
    }
    let ids = detail.split(',').map(|id| id.parse().map_err(|error| malformed(&error)));
    ids.collect::<Result<Vec<NotificationId>, _>>().map(ReadMark::Ids)
}

/// Replaces the preferences of a fan.
#[derive(Debug, Clone)]
pub struct SetPreferences {
    /// The fan.
    pub user: UserId,
    /// The new preferences.
    pub preferences: Preferences,
}

impl Command for SetPreferences {
    const NAME: &'static str = "set_notification_preferences";
    type Ports = dyn InboxTx;
    type Output = ();
    type Refusal = NotActive;

    fn run(&self, tx: &mut dyn InboxTx, _ctx: &mut Ctx) -> Outcome<(), NotActive> {
        let is_set = tx.set_notification_preferences(self.user, &self.preferences)?;
        if is_set { Ok(()) } else { Err(Failure::Refused(NotActive)) }
    }
}
