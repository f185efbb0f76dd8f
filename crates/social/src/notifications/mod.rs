//! Notifications: what happened that concerns a fan, in groups, and what fans want to be notified of.
//!
//! Everything of one kind about one subject within a day is one group, a row of the fan's inbox. Rows hold ids; what they
//! say is rendered when they are read.

mod kind;
mod ports;
mod preferences;

pub use kind::NotificationKind;
pub use ports::{
    Group, GroupActor, GroupChange, Inbox, InboxChange, NewGroup, NotificationRead, NotificationWrite,
    OwnNotification, ReadMark,
};
pub use preferences::{
    KindPreference, LocalTime, MalformedLocalTime, Preferences, QuietHours, QuietHoursError,
};

use std::time::Duration;
use terrace_kernel::{Position, Timestamp, UserId, Uuid};

terrace_kernel::typed_ids! {
    /// A notification: a group in the inbox of a fan, or a row that all fans share.
    NotificationId;
}

/// How long a group takes up further events, from its first one on.
pub const GROUP_SPAN: Duration = Duration::from_hours(24);
/// How long a notification is kept.
pub const NOTIFICATION_LIFE: Duration = Duration::from_hours(90 * 24);
/// The maximum number of notifications in an inbox; further ones replace the oldest.
pub const INBOX_SIZE: i64 = 1_000;
/// The maximum number of notifications of one fan by one other fan on a UTC date.
pub const DAILY_LIMIT: i32 = 20;
/// The maximum number of fans whom a post or comment notifies of a mention, over all its versions.
pub const MENTIONED_FANS: usize = 5;
/// The maximum number of fans who are shown with a notification.
pub const SHOWN_ACTORS: usize = 3;

/// Whether an event at `at` belongs to the group whose first event was at `first`.
pub fn belongs_to_group(first: Timestamp, at: Timestamp) -> bool {
    at < first.plus(GROUP_SPAN)
}

/// The number of the UTC date on which the daily limit counts an event.
pub const fn day_of(at: Timestamp) -> i64 {
    const DAY: i64 = 24 * 60 * 60 * 1_000_000;
    at.as_micros().div_euclid(DAY)
}

/// What an event notifies one fan of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// The fan who is notified.
    pub recipient: UserId,
    /// What happened.
    pub kind: NotificationKind,
    /// The fan who caused it; `None` for kinds without actors.
    pub actor: Option<UserId>,
    /// What it is about: events of one kind and subject form a group.
    pub subject: Uuid,
    /// A second resource, such as the newest comment.
    pub object: Option<Uuid>,
    /// A state or number, such as the state of an order.
    pub detail: Option<String>,
    /// When it happened.
    pub at: Timestamp,
    /// Position of the event.
    pub position: Position,
}

/// What the notices of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    /// The fan who is notified.
    pub recipient: UserId,
    /// The kind of the notices.
    pub kind: NotificationKind,
    /// What they are about, as in a [`Notice`].
    pub subject: Uuid,
}

impl Notice {
    /// The group that it belongs to, if that is still open.
    pub const fn key(&self) -> GroupKey {
        GroupKey { recipient: self.recipient, kind: self.kind, subject: self.subject }
    }
}

/// What the daily limit counts: notifications of one fan by another on a UTC date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Quota {
    /// The fan who is notified.
    pub recipient: UserId,
    /// The fan who causes it.
    pub actor: UserId,
    /// The number of the date ([`day_of`]).
    pub day: i64,
}

/// A notification as it is stored, for one reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Id of the group or of the shared row.
    pub id: NotificationId,
    /// What happened.
    pub kind: NotificationKind,
    /// What it is about; see [`Notice::subject`].
    pub subject: Uuid,
    /// A second resource of its last event.
    pub object: Option<Uuid>,
    /// A state or number of its last event.
    pub detail: Option<String>,
    /// Up to [`SHOWN_ACTORS`] fans who caused it and are not hidden from the reader, the last one first.
    pub actors: Vec<UserId>,
    /// The number of fans who caused it; 0 for kinds without actors.
    pub actor_count: i64,
    /// When it was read; `None` if it is unread, or changed since.
    pub read_at: Option<Timestamp>,
    /// When its first event happened, which is its place in the inbox.
    pub created_at: Timestamp,
    /// Position of its last event.
    pub position: Position,
}

impl Notification {
    /// The sort key in the inbox.
    pub fn key(&self) -> terrace_kernel::TimeKey {
        terrace_kernel::TimeKey { at: self.created_at, id: self.id.as_uuid() }
    }

    /// The number of fans who caused it, as far as the reader can see. If fewer are shown than fit, these are all.
    pub fn visible_actors(&self) -> i64 {
        let shown = terrace_kernel::num::to_i64(self.actors.len());
        if self.actors.len() < SHOWN_ACTORS { shown } else { self.actor_count.max(shown) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn spec_6_a_group_spans_a_day_from_its_first_event_on() {
        let first = at("2026-05-01T23:59:00Z");
        for (event, belongs) in [
            ("2026-05-01T23:59:00Z", true),
            ("2026-05-02T00:01:00Z", true),
            ("2026-05-02T23:58:59.999Z", true),
            ("2026-05-02T23:59:00Z", false),
            // A clock that is behind.
            ("2026-05-01T23:58:00Z", true),
        ] {
            assert_eq!(belongs_to_group(first, at(event)), belongs, "{event}");
        }
    }

    #[test]
    fn spec_6_the_daily_limit_counts_utc_dates() {
        assert_eq!(day_of(at("1970-01-01T23:59:59.999Z")), 0);
        assert_eq!(day_of(at("1970-01-02T00:00:00Z")), 1);
        assert_eq!(day_of(at("1969-12-31T23:59:59Z")), -1);
    }

    #[test]
    fn spec_6_three_fans_are_shown_and_all_are_counted() {
        let fan = |n| UserId::from_uuid(Uuid::from_u128(n));
        let notification = |actors: u128, actor_count| Notification {
            id: NotificationId::from_uuid(Uuid::from_u128(1)),
            kind: NotificationKind::Reaction,
            subject: Uuid::from_u128(2),
            object: None,
            detail: None,
            actors: (0..actors).map(fan).collect(),
            actor_count,
            read_at: None,
            created_at: at("2026-05-01T12:00:00Z"),
            position: Position::START,
        };
        for (shown, stored, counted) in [(3, 10_000, 10_000), (3, 3, 3), (2, 3, 2), (0, 5, 0), (1, 1, 1)] {
            assert_eq!(notification(shown, stored).visible_actors(), counted);
        }
    }
}
