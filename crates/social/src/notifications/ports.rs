//! The stored notifications of fans.

use crate::notifications::{
    GroupKey, Notice, Notification, NotificationId, NotificationKind, Preferences, Quota,
};
use std::collections::{HashMap, HashSet};
use terrace_kernel::{Limit, Position, StoreError, TimeKey, Timestamp, UserId, Uuid};

/// The inbox of an active fan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbox {
    /// The fan.
    pub user: UserId,
    /// What the fan wants to be notified of.
    pub preferences: Preferences,
    /// The number of listed notifications.
    pub listed: i64,
    /// The highest level of which the fan was notified, or that the fan had before the first notification.
    pub level: Option<u32>,
}

/// A change of a fan's inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxChange {
    /// The owner of the inbox, which the caller has locked.
    pub user: UserId,
    /// What is added to the number of listed notifications.
    pub listed: i64,
    /// What is added to the number of unread ones.
    pub unread: i64,
    /// The new level, if it changes.
    pub level: Option<u32>,
}

impl InboxChange {
    /// A change of nothing.
    pub const fn none(user: UserId) -> Self {
        Self { user, listed: 0, unread: 0, level: None }
    }
}

/// A group that may take up another event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Id of the group.
    pub id: NotificationId,
    /// When its first event happened.
    pub created_at: Timestamp,
    /// Whether it belongs into the inbox; otherwise it exists for its push messages only.
    pub in_app: bool,
    /// Whether it is in the inbox: one of which nothing could be shown was taken out.
    pub is_listed: bool,
    /// Whether it has been read since its last event.
    pub is_read: bool,
    /// When it is removed; it takes up nothing from then on.
    pub expires_at: Timestamp,
}

/// A group to be inserted with its first events.
#[derive(Debug, Clone, Copy)]
pub struct NewGroup<'a> {
    /// Id of the group.
    pub id: NotificationId,
    /// Its first event.
    pub first: &'a Notice,
    /// Its last event, whose object and detail it shows.
    pub last: &'a Notice,
    /// The number of its actors.
    pub actors: i64,
    /// Whether it is put into the inbox.
    pub in_app: bool,
}

/// What happened to a group that exists.
#[derive(Debug, Clone, Copy)]
pub struct GroupChange<'a> {
    /// Id of the group.
    pub id: NotificationId,
    /// Its last event, whose object and detail it shows.
    pub last: &'a Notice,
    /// The number of actors who are new to it.
    pub actors: i64,
}

/// An actor of a group.
#[derive(Debug, Clone, Copy)]
pub struct GroupActor<'a> {
    /// Id of the group.
    pub group: NotificationId,
    /// The fan who caused `last`.
    pub actor: UserId,
    /// The actor's last event in the group.
    pub last: &'a Notice,
}

/// Which notifications a fan has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadMark {
    /// All whose last event is not after the position.
    UpTo(Position),
    /// These.
    Ids(Vec<NotificationId>),
}

/// A notification in the export of an account.
pub type OwnNotification = Notification;

/// Reads notifications and preferences.
pub trait NotificationRead {
    /// The number of unread notifications in the inbox, shared ones included.
    fn unread_notifications(&mut self, user: UserId) -> Result<i64, StoreError>;

    /// The fan's own notifications in the inbox after a key, newest first: one row more than the limit, if there are that
    /// many. Actors who are hidden from the fan, or whose comment is gone, are left out.
    fn inbox(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Vec<Notification>, StoreError>;

    /// The same for shared notifications: those that are newer than the account and of a kind that the fan wants. One about a
    /// round is for the fans who had joined it by then, and gone if it was cancelled.
    fn shared_inbox(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Vec<Notification>, StoreError>;

    /// The fan's own notification with this id, if it is in the inbox.
    fn notification(&mut self, user: UserId, id: NotificationId) -> Result<Option<Notification>, StoreError>;

    /// The notification that a push message to the fan is about: one of the fan's own, if it is in the inbox or exists for its
    /// push messages only, or one that all fans share and that is newer than the account.
    fn pushed_notification(
        &mut self,
        user: UserId,
        id: NotificationId,
    ) -> Result<Option<Notification>, StoreError>;

    /// Up to `limit` of all stored notifications of an account after a key, newest first.
    fn own_notifications(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<OwnNotification>, StoreError>;

    /// What the fan wants to be notified of.
    fn notification_preferences(&mut self, user: UserId) -> Result<Preferences, StoreError>;
}

/// Writes notifications and preferences. A caller that changes a group or the counters of an inbox holds the lock on it.
pub trait NotificationWrite: NotificationRead {
    /// Locks the inboxes of the active accounts among `users`, in the order of their ids. Inboxes that do not exist yet
    /// are made.
    fn lock_inboxes(&mut self, users: &[UserId]) -> Result<Vec<Inbox>, StoreError>;

    /// Changes inboxes, each at most once in a call: PostgreSQL applies one of two changes of the same inbox.
    fn change_inboxes(&mut self, changes: &[InboxChange]) -> Result<(), StoreError>;

    /// The accounts with these usernames, each after its username.
    fn accounts_named(&mut self, usernames: &[String]) -> Result<Vec<(String, UserId)>, StoreError>;

    /// The fans who were notified that the post or comment mentions them.
    fn mentioned_in(&mut self, content: Uuid) -> Result<Vec<UserId>, StoreError>;

    /// Those of these fans who are actors of any group with the key beside them.
    fn actors_among(
        &mut self,
        fans: &[(GroupKey, UserId)],
    ) -> Result<HashSet<(GroupKey, UserId)>, StoreError>;

    /// How much of each of these quotas is used; those of which nothing is used are left out.
    fn used_quotas(&mut self, quotas: &[Quota]) -> Result<HashMap<Quota, i32>, StoreError>;

    /// Adds to what is used of quotas, each at most once in a call.
    fn use_quotas(&mut self, uses: &[(Quota, i32)]) -> Result<(), StoreError>;

    /// The newest group of each key, whether or not it still takes up events.
    fn newest_groups(&mut self, keys: &[GroupKey]) -> Result<HashMap<GroupKey, Group>, StoreError>;

    /// Inserts groups, without their actors.
    fn insert_groups(&mut self, groups: &[NewGroup<'_>]) -> Result<(), StoreError>;

    /// Adds actors to groups, or records that actors in them acted again, each at most once in a call; returns the group of
    /// each actor who is new to it.
    fn put_actors(&mut self, actors: &[GroupActor<'_>]) -> Result<Vec<NotificationId>, StoreError>;

    /// Records events in groups, each at most once in a call: the group is unread, and in the inbox if it belongs there.
    fn change_groups(&mut self, changes: &[GroupChange<'_>]) -> Result<(), StoreError>;

    /// Takes the oldest notification out of the inbox, to be removed by a sweep; returns whether it was unread, or `None`
    /// if the inbox is empty.
    fn drop_oldest(&mut self, user: UserId, at: Timestamp) -> Result<Option<bool>, StoreError>;

    /// Inserts a row that all fans share; `false` if there is one of this kind, subject and detail.
    fn insert_shared(
        &mut self,
        id: NotificationId,
        kind: NotificationKind,
        subject: Uuid,
        detail: &str,
        at: Timestamp,
        position: Position,
    ) -> Result<bool, StoreError>;

    /// Marks notifications as read, with the counters; returns whether any was unread. Locks the inbox.
    fn mark_read(&mut self, user: UserId, mark: &ReadMark, at: Timestamp) -> Result<bool, StoreError>;

    /// Takes groups out of the inbox because nothing of them can be shown, with the counters. Locks the inbox.
    fn unlist(&mut self, user: UserId, ids: &[NotificationId]) -> Result<(), StoreError>;

    /// Removes the actor from all groups of the recipient, with the counters. Groups without actors are taken out of the
    /// inbox. Locks the inbox.
    fn forget_actor(&mut self, recipient: UserId, actor: UserId) -> Result<(), StoreError>;

    /// Replaces the preferences of an active account; `false` if it is not active.
    fn set_notification_preferences(
        &mut self,
        user: UserId,
        preferences: &Preferences,
    ) -> Result<bool, StoreError>;

    /// Records that the fan was warned on a local date about the streak; `false` if that was done on this date or later.
    fn note_streak_warning(&mut self, user: UserId, date: &str) -> Result<bool, StoreError>;

    /// Replaces the first hundred fans of a board; returns those who were among them in the same season and no longer are.
    fn replace_first_hundred(
        &mut self,
        season: Uuid,
        board: Uuid,
        fans: &[UserId],
    ) -> Result<Vec<UserId>, StoreError>;

    /// Removes up to `limit` rows of a closed account: those of its inbox, and those in which it is an actor; returns how
    /// many. Fewer than the limit means that nothing is left.
    fn erase_notifications(&mut self, user: UserId, limit: u32) -> Result<u32, StoreError>;

    /// Removes up to about `limit` rows of notifications that expired at or before the instant; returns how many.
    fn sweep_notifications(&mut self, at: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
