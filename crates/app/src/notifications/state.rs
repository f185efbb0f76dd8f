//! What is stored about the notices of a transaction, read once for all of them, and what they change of it.

use crate::notifications::sources::LevelChange;
use crate::store::NotificationTx;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use terrace_kernel::{PostId, StoreError, Timestamp, UserId, Uuid, distinct};
use terrace_social::notifications::{
    DAILY_LIMIT, Group, GroupKey, Inbox, InboxChange, KindPreference, MENTIONED_FANS, NOTIFICATION_LIFE,
    Notice, NotificationId, NotificationKind, Quota, belongs_to_group, day_of,
};

/// A locked inbox, and how it changes.
pub(super) struct OpenInbox {
    pub(super) inbox: Inbox,
    pub(super) change: InboxChange,
}

impl OpenInbox {
    pub(super) fn new(inbox: Inbox) -> Self {
        Self { change: InboxChange::none(inbox.user), inbox }
    }

    pub(super) fn wants(&self, notice: &Notice) -> KindPreference {
        self.inbox.preferences.of(notice.kind)
    }

    /// Notes a level; returns the notice of one that is higher than any before.
    pub(super) fn reach(&mut self, change: &LevelChange) -> Option<Notice> {
        let highest = change.before.max(change.now);
        self.change.level = Some(highest).filter(|highest| self.inbox.level != Some(*highest));
        (change.now > change.before).then(|| Notice {
            recipient: self.inbox.user,
            kind: NotificationKind::Level,
            actor: None,
            subject: self.inbox.user.as_uuid(),
            object: None,
            detail: Some(change.now.to_string()),
            at: change.event.at,
            position: change.event.position,
        })
    }
}

/// What is stored about notices, read for all of them at once, with what they change of it.
pub(super) struct NoticeState<'n> {
    /// The newest group of each key.
    pub(super) groups: BTreeMap<GroupKey, OpenGroup<'n>>,
    /// Actors who count once, and have counted.
    actors: HashSet<(GroupKey, UserId)>,
    /// The fans who were notified of a mention in a post or comment.
    mentioned: HashMap<Uuid, Vec<UserId>>,
    /// What is used of the daily limits, and what of that is not written yet.
    pub(super) quotas: BTreeMap<Quota, Used>,
}

#[derive(Clone, Copy)]
pub(super) struct Used {
    stored: i32,
    pub(super) new: i32,
}

impl Used {
    /// After the uses were written.
    pub(super) const fn written(self) -> Self {
        Self { stored: self.stored.saturating_add(self.new), new: 0 }
    }

    const fn is_left(self) -> bool {
        self.stored.saturating_add(self.new) < DAILY_LIMIT
    }
}

fn quota(notice: &Notice) -> Option<Quota> {
    notice.actor.map(|actor| Quota { recipient: notice.recipient, actor, day: day_of(notice.at) })
}

impl NoticeState<'_> {
    /// Reads what the notices need. Removes those that are not wanted, those over the limit of their day, and those of
    /// reactions that were taken back.
    pub(super) fn read(
        tx: &mut dyn NotificationTx,
        open: &BTreeMap<UserId, OpenInbox>,
        notices: &mut Vec<Notice>,
    ) -> Result<Self, StoreError> {
        notices.retain(|notice| {
            let wanted = open.get(&notice.recipient).map(|open| open.wants(notice));
            wanted.is_some_and(|wanted| wanted.in_app || wanted.push)
        });
        let quotas = distinct(notices.iter().filter_map(quota));
        let used = tx.used_quotas(&quotas)?;
        let used = |quota: Quota| Used { stored: used.get(&quota).copied().unwrap_or_default(), new: 0 };
        let quotas: BTreeMap<_, _> = quotas.into_iter().map(|quota| (quota, used(quota))).collect();
        notices.retain(|notice| {
            quota(notice).is_none_or(|quota| quotas.get(&quota).is_some_and(|it| it.is_left()))
        });
        let once = notices.iter().filter(|notice| notice.kind.counts_once());
        let once = distinct(once.filter_map(|notice| Some((notice.key(), notice.actor?))));
        let actors = tx.actors_among(&once)?;
        let reaction = |notice: &Notice| {
            let is_to_post = notice.kind == NotificationKind::Reaction && notice.object.is_none();
            notice.actor.filter(|_| is_to_post).map(|actor| (PostId::from_uuid(notice.subject), actor))
        };
        let reacted = tx.reacted_among(&distinct(notices.iter().filter_map(reaction)))?;
        notices.retain(|notice| reaction(notice).is_none_or(|reaction| reacted.contains(&reaction)));
        let groups = tx.newest_groups(&distinct(notices.iter().map(Notice::key)))?;
        let groups = groups.into_iter().map(|(key, group)| (key, OpenGroup::from(group))).collect();
        Ok(Self { groups, actors, mentioned: HashMap::new(), quotas })
    }

    /// Whether the notice counts: an actor once for a subject, where the cause can be repeated; a mention once for a text and
    /// fan, and for few fans of a text; and few notices of an actor on a day.
    pub(super) fn counts(
        &mut self,
        tx: &mut dyn NotificationTx,
        notice: &Notice,
    ) -> Result<bool, StoreError> {
        let Some(actor) = notice.actor else { return Ok(true) };
        let counts_once = notice.kind.counts_once();
        if counts_once && self.actors.contains(&(notice.key(), actor)) {
            return Ok(false);
        }
        let Some(used) = quota(notice).and_then(|quota| self.quotas.get_mut(&quota)) else {
            return Ok(false);
        };
        if !used.is_left() {
            return Ok(false);
        }
        if notice.kind == NotificationKind::Mention {
            let fans = match self.mentioned.entry(notice.subject) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => unknown.insert(tx.mentioned_in(notice.subject)?),
            };
            if fans.len() >= MENTIONED_FANS || fans.contains(&notice.recipient) {
                return Ok(false);
            }
            fans.push(notice.recipient);
        }
        used.new += 1;
        if counts_once {
            self.actors.insert((notice.key(), actor));
        }
        Ok(true)
    }
}

/// A group of an inbox, with the events that are not written yet.
pub(super) struct OpenGroup<'n> {
    pub(super) group: Group,
    /// The first event, if the group is new.
    pub(super) first: Option<&'n Notice>,
    pub(super) last: Option<&'n Notice>,
    /// The actors of these events, with the last one of each.
    pub(super) actors: BTreeMap<UserId, &'n Notice>,
}

impl From<Group> for OpenGroup<'_> {
    fn from(group: Group) -> Self {
        Self { group, first: None, last: None, actors: BTreeMap::new() }
    }
}

impl<'n> OpenGroup<'n> {
    pub(super) fn new(id: NotificationId, notice: &'n Notice, in_app: bool) -> Self {
        let group = Group {
            id,
            created_at: notice.at,
            in_app,
            is_listed: in_app,
            is_read: false,
            expires_at: notice.at.plus(NOTIFICATION_LIFE),
        };
        let actors = notice.actor.map(|actor| (actor, notice)).into_iter().collect();
        Self { group, first: Some(notice), last: Some(notice), actors }
    }

    /// Whether an event at `at` belongs to it. One that is being removed takes up nothing.
    pub(super) fn takes_up(&self, at: Timestamp) -> bool {
        self.group.expires_at > at && belongs_to_group(self.group.created_at, at)
    }

    pub(super) fn take_up(&mut self, notice: &'n Notice, inbox: &mut InboxChange) {
        self.last = Some(notice);
        self.actors.extend(notice.actor.map(|actor| (actor, notice)));
        let Group { in_app, is_listed, is_read, .. } = &mut self.group;
        if *in_app {
            inbox.listed += i64::from(!*is_listed);
            inbox.unread += i64::from(!*is_listed || *is_read);
            (*is_listed, *is_read) = (true, false);
        }
    }
}
