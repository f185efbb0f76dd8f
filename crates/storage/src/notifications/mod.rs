//! Notifications of fans.

mod groups;
mod inbox;
mod read;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod upkeep;

pub(crate) use read::UNREAD;
pub(crate) use upkeep::EXPIRED_NOTIFICATIONS;

use crate::tx::DieselTx;
use std::collections::{HashMap, HashSet};
use terrace_kernel::{Position, StoreError, Timestamp, UserId, Uuid};
use terrace_social::notifications::{
    Group, GroupActor, GroupChange, GroupKey, Inbox, InboxChange, NewGroup, NotificationId, NotificationKind,
    NotificationWrite, Preferences, Quota, ReadMark,
};

impl NotificationWrite for DieselTx<'_> {
    fn lock_inboxes(&mut self, users: &[UserId]) -> Result<Vec<Inbox>, StoreError> {
        self.lock_inboxes_of(users)
    }

    fn change_inboxes(&mut self, changes: &[InboxChange]) -> Result<(), StoreError> {
        self.add_to_inboxes(changes)
    }

    fn accounts_named(&mut self, usernames: &[String]) -> Result<Vec<(String, UserId)>, StoreError> {
        self.find_accounts_named(usernames)
    }

    fn mentioned_in(&mut self, content: Uuid) -> Result<Vec<UserId>, StoreError> {
        self.find_mentioned_in(content)
    }

    fn actors_among(
        &mut self,
        fans: &[(GroupKey, UserId)],
    ) -> Result<HashSet<(GroupKey, UserId)>, StoreError> {
        self.find_actors_among(fans)
    }

    fn used_quotas(&mut self, quotas: &[Quota]) -> Result<HashMap<Quota, i32>, StoreError> {
        self.find_used_quotas(quotas)
    }

    fn use_quotas(&mut self, uses: &[(Quota, i32)]) -> Result<(), StoreError> {
        self.add_to_quotas(uses)
    }

    fn newest_groups(&mut self, keys: &[GroupKey]) -> Result<HashMap<GroupKey, Group>, StoreError> {
        self.find_newest_groups(keys)
    }

    fn insert_groups(&mut self, groups: &[NewGroup<'_>]) -> Result<(), StoreError> {
        self.insert_notifications(groups)
    }

    fn put_actors(&mut self, actors: &[GroupActor<'_>]) -> Result<Vec<NotificationId>, StoreError> {
        self.put_actors_of(actors)
    }

    fn change_groups(&mut self, changes: &[GroupChange<'_>]) -> Result<(), StoreError> {
        self.touch_notifications(changes)
    }

    fn drop_oldest(&mut self, user: UserId, at: Timestamp) -> Result<Option<bool>, StoreError> {
        self.drop_oldest_of(user, at)
    }

    fn insert_shared(
        &mut self,
        id: NotificationId,
        kind: NotificationKind,
        subject: Uuid,
        detail: &str,
        at: Timestamp,
        position: Position,
    ) -> Result<bool, StoreError> {
        self.insert_shared_notification(id, (kind, subject, detail), at, position)
    }

    fn mark_read(&mut self, user: UserId, mark: &ReadMark, at: Timestamp) -> Result<bool, StoreError> {
        self.mark_notifications_read(user, mark, at)
    }

    fn unlist(&mut self, user: UserId, ids: &[NotificationId]) -> Result<(), StoreError> {
        self.unlist_of(user, ids)
    }

    fn forget_actor(&mut self, recipient: UserId, actor: UserId) -> Result<(), StoreError> {
        self.forget_actor_of(recipient, actor)
    }

    fn set_notification_preferences(
        &mut self,
        user: UserId,
        preferences: &Preferences,
    ) -> Result<bool, StoreError> {
        self.replace_preferences(user, preferences)
    }

    fn note_streak_warning(&mut self, user: UserId, date: &str) -> Result<bool, StoreError> {
        self.note_warning(user, date)
    }

    fn replace_first_hundred(
        &mut self,
        season: Uuid,
        board: Uuid,
        fans: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        self.replace_firsts(season, board, fans)
    }

    fn erase_notifications(&mut self, user: UserId, limit: u32) -> Result<u32, StoreError> {
        self.erase_notifications_of(user, limit)
    }

    fn sweep_notifications(&mut self, at: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.sweep_expired(at, limit)
    }
}
