//! Notifications, read marks and preferences.

use crate::dto::{IdText, Object, Time, UserCard, given, names, open_set};
use crate::error::{ApiError, Invalid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use terrace_app::notifications::{InboxPage, SUBJECTS, ShownNotification, ShownSubject};
use terrace_kernel::Position;
use terrace_social::notifications::{
    KindPreference, LocalTime, NotificationId, NotificationKind, OwnNotification, Preferences, QuietHours,
    ReadMark,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// The maximum number of ids of a read mark.
const MOST_IDS: usize = 100;

names! {
    /// A kind of notification.
    KnownNotificationKind(NotificationKind): NotificationKind::ALL, NotificationKind::as_str
}

open_set! {
    /// The kind, for clients with their own texts.
    OpenNotificationKind of KnownNotificationKind
}

names! {
    /// What a notification is about.
    KnownSubjectKind(&'static str): SUBJECTS, std::convert::identity
}

open_set! {
    /// What it is.
    OpenSubjectKind of KnownSubjectKind
}

/// What a notification is about.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationSubject {
    #[schema(inline)]
    kind: OpenSubjectKind,
    /// The id; of an achievement the key, of a level the number.
    #[schema(example = "0190a6f2-7c1e-7abc-8def-0123456789ab")]
    id: String,
    /// The title, or the beginning of the text; null if it has none.
    #[schema(example = "What a save!", required)]
    title: Option<String>,
}

impl From<&ShownSubject> for NotificationSubject {
    fn from(subject: &ShownSubject) -> Self {
        Self {
            kind: OpenSubjectKind(KnownSubjectKind(subject.kind)),
            id: subject.id.clone(),
            title: subject.title.clone(),
        }
    }
}

/// A notification: all that happened of one kind about one subject within a day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Notification {
    /// The id of the notification.
    id: Uuid,
    #[schema(inline)]
    kind: OpenNotificationKind,
    /// The last fans who caused it, the latest first: at most three.
    #[schema(max_items = 3)]
    actors: Vec<UserCard>,
    /// The number of fans who caused it.
    actor_count: i64,
    /// What it is about.
    subject: NotificationSubject,
    /// A sentence in English.
    #[schema(example = "Mia Carter and Bo Lind reacted to your post")]
    text: String,
    /// The path of the web client's page that shows more.
    #[schema(example = "/posts/0190a6f2-7c1e-7abc-8def-0123456789ab")]
    url: String,
    /// When it was read; null if it is unread, or changed since it was read.
    #[schema(required)]
    read_at: Option<Time>,
    /// When its first event happened, which decides its place in the list.
    created_at: Time,
}

impl From<&ShownNotification> for Notification {
    fn from(shown: &ShownNotification) -> Self {
        Self {
            id: shown.id.as_uuid(),
            kind: OpenNotificationKind(KnownNotificationKind(shown.kind)),
            actors: shown.actors.iter().map(UserCard::from).collect(),
            actor_count: shown.actor_count,
            subject: NotificationSubject::from(&shown.subject),
            text: shown.text.clone(),
            url: shown.url.clone(),
            read_at: shown.read_at.map(Time),
            created_at: Time(shown.created_at),
        }
    }
}

/// A page of the notifications of an account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationList {
    /// The notifications, by their first events, newest first. A page may have fewer than requested although another
    /// follows: what can no longer be shown is dropped.
    notifications: Vec<Notification>,
    /// The number of unread notifications of the account.
    unread: i64,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
    /// The position at which the account's stream continues after this page, and the `upTo` of a mark that everything in
    /// it was read.
    stream_position: i64,
}

impl NotificationList {
    pub(crate) fn new(inbox: &InboxPage, next_cursor: Option<String>) -> Self {
        Self {
            notifications: inbox.page.items.iter().map(Notification::from).collect(),
            unread: inbox.unread,
            next_cursor,
            stream_position: inbox.position.get(),
        }
    }
}

/// Which notifications were read: exactly one of the two fields.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(min_properties = 1, max_properties = 1)]
pub(crate) struct ReadNotificationsBody {
    /// All up to this `streamPosition`.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, minimum = 0, example = 1041)]
    up_to: Option<i64>,
    /// These; ids of no notification of the caller are ignored.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<Vec<Uuid>>, min_items = 1, max_items = 100)]
    ids: Option<Vec<IdText<NotificationId>>>,
}

impl ReadNotificationsBody {
    pub(crate) fn mark(self) -> Result<ReadMark, ApiError> {
        match (self.up_to, self.ids) {
            (Some(up_to), None) => Position::new(up_to)
                .map(ReadMark::UpTo)
                .ok_or_else(|| Invalid::at("/upTo", "must not be negative")),
            (None, Some(ids)) if (1..=MOST_IDS).contains(&ids.len()) => {
                Ok(ReadMark::Ids(ids.into_iter().map(|id| id.0).collect()))
            }
            (None, Some(_)) => Err(Invalid::at("/ids", format!("1 to {MOST_IDS} ids are needed"))),
            (Some(_), Some(_)) => Err(ApiError::invalid_part("/ids", "goes without upTo only")),
            (None, None) => Err(ApiError::invalid_part("/upTo", "upTo or ids is needed")),
        }
    }
}

/// The number of unread notifications.
#[derive(Serialize, ToSchema)]
pub(crate) struct UnreadNotifications {
    /// The number of unread notifications of the account.
    pub(crate) unread: i64,
}

/// How the caller is notified of a kind.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NotificationPreference {
    /// In the list of notifications.
    #[schema(example = true)]
    in_app: bool,
    /// By push messages to the browsers that have subscribed.
    #[schema(example = false)]
    push: bool,
}

/// The times of day between which push messages wait, in the time zone of the account. They may span midnight.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NotificationQuietHours {
    /// When they begin.
    #[schema(example = "22:00", pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    from: String,
    /// When they end, at another time.
    #[schema(example = "07:00", pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    to: String,
}

/// What the caller is notified of.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NotificationPreferences {
    /// For each kind, how the caller is notified of it.
    kinds: BTreeMap<&'static str, NotificationPreference>,
    /// When push messages wait; null if they never do.
    #[schema(required)]
    quiet_hours: Option<NotificationQuietHours>,
}

/// What the caller wants to be notified of. It replaces the former preferences.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NotificationPreferencesBody {
    /// For each kind, how the caller is notified of it. Kinds that are left out get the default: both. `moderation` is
    /// always in-app.
    #[schema(
        value_type = BTreeMap<String, NotificationPreference>,
        example = json!({"follow": {"inApp": true, "push": false}})
    )]
    kinds: BTreeMap<String, Object<NotificationPreference>>,
    /// When push messages wait; null or left out if they never do.
    #[serde(default)]
    #[schema(value_type = Option<NotificationQuietHours>)]
    quiet_hours: Option<Object<NotificationQuietHours>>,
}

impl From<&Preferences> for NotificationPreferences {
    fn from(preferences: &Preferences) -> Self {
        let of = |kind: NotificationKind| {
            let KindPreference { in_app, push } = preferences.of(kind);
            (kind.as_str(), NotificationPreference { in_app, push })
        };
        let hours = |hours: QuietHours| NotificationQuietHours {
            from: hours.from().to_string(),
            to: hours.to().to_string(),
        };
        Self {
            kinds: NotificationKind::ALL.into_iter().map(of).collect(),
            quiet_hours: preferences.quiet_hours.map(hours),
        }
    }
}

impl NotificationPreferencesBody {
    pub(crate) fn preferences(self) -> Result<Preferences, ApiError> {
        let mut preferences = Preferences::default();
        for (name, Object(wanted)) in self.kinds {
            let kind: NotificationKind =
                name.parse().map_err(|_| Invalid::at("/kinds", format!("there is no kind {name:?}")))?;
            if kind.is_always_in_app() && !wanted.in_app {
                return Err(Invalid::at(format!("/kinds/{kind}/inApp"), "this kind is always in-app"));
            }
            preferences.set(kind, KindPreference { in_app: wanted.in_app, push: wanted.push });
        }
        preferences.quiet_hours = self.quiet_hours.map(|Object(hours)| hours.parse()).transpose()?;
        Ok(preferences)
    }
}

impl NotificationQuietHours {
    fn parse(self) -> Result<QuietHours, ApiError> {
        let time = |at: &str, text: &str| -> Result<LocalTime, ApiError> {
            text.parse().map_err(|error| Invalid::at(at, format!("{error}")))
        };
        let (from, to) = (time("/quietHours/from", &self.from)?, time("/quietHours/to", &self.to)?);
        QuietHours::new(from, to).map_err(|error| Invalid::at("/quietHours/to", error.to_string()))
    }
}

/// A notification in an export.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExportedNotification {
    /// The id of the notification.
    id: Uuid,
    #[schema(inline)]
    kind: OpenNotificationKind,
    /// The id of what it is about; null for an achievement, whose key is the detail.
    #[schema(required)]
    subject_id: Option<Uuid>,
    /// A state, number or key that belongs to it.
    #[schema(required)]
    detail: Option<String>,
    /// The number of fans who caused it.
    actor_count: i64,
    /// When it was read.
    #[schema(required)]
    read_at: Option<Time>,
    /// When its first event happened.
    created_at: Time,
}

impl From<&OwnNotification> for ExportedNotification {
    fn from(row: &OwnNotification) -> Self {
        Self {
            id: row.id.as_uuid(),
            kind: OpenNotificationKind(KnownNotificationKind(row.kind)),
            subject_id: (row.kind != NotificationKind::Achievement).then_some(row.subject),
            detail: row.detail.clone(),
            actor_count: row.actor_count,
            read_at: row.read_at.map(Time),
            created_at: Time(row.created_at),
        }
    }
}
