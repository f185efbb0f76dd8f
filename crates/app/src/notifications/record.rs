//! Writes what events notify of. The work for an event does not depend on the size of its group. The groups, actors and limits
//! that are stored are read once for all events of a transaction, and written once.

use crate::notifications::sources::{SharedNotice, Sources, levels, of_points, sources};
use crate::notifications::state::{NoticeState, OpenGroup, OpenInbox};
use crate::push;
use crate::store::NotificationTx;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use terrace_kernel::{Ctx, Event, EventKind, NewEvent, Position, StoreError, Topic, UserId, distinct, num};
use terrace_social::notifications::{
    GroupActor, GroupChange, GroupKey, INBOX_SIZE, InboxChange, NewGroup, Notice, NotificationId,
};

/// Notifies the fans whom the events concern.
pub(crate) fn notify(tx: &mut dyn NotificationTx, ctx: &mut Ctx, events: &[Event]) -> Result<(), StoreError> {
    let Sources { mut notices, shared, blocks } = sources(tx, events)?;
    let of_points = of_points(events);
    notices.retain(|notice| notice.actor != Some(notice.recipient));
    keep_reachable(tx, &mut notices)?;
    let mut fans: BTreeSet<UserId> = notices.iter().map(|notice| notice.recipient).collect();
    fans.extend(of_points.keys());
    // All inboxes are locked at once, in order, also those of which only actors are removed.
    fans.extend(blocks.iter().flat_map(|(one, other)| [*one, *other]));
    if !fans.is_empty() {
        let fans: Vec<UserId> = fans.into_iter().collect();
        let inboxes = tx.lock_inboxes(&fans)?;
        let mut open: BTreeMap<_, _> =
            inboxes.into_iter().map(|inbox| (inbox.user, OpenInbox::new(inbox))).collect();
        let noted = |fan: UserId| open.get(&fan).and_then(|open| open.inbox.level);
        for (fan, change) in levels(tx, &of_points, noted)? {
            notices.extend(open.get_mut(&fan).and_then(|open| open.reach(&change)));
        }
        let state = NoticeState::read(tx, &open, &mut notices)?;
        let mut made = Record::new(open, state);
        for notice in &notices {
            made.take(tx, ctx, notice)?;
        }
        made.finish(tx, ctx)?;
    }
    for SharedNotice { kind, subject, detail, event } in shared {
        let id: NotificationId = ctx.new_id();
        if tx.insert_shared(id, kind, subject, detail, event.at, event.position)? {
            push::enqueue_shared(tx, id.as_uuid(), ctx.now())?;
        }
    }
    for (one, other) in blocks {
        tx.forget_actor(one, other)?;
        tx.forget_actor(other, one)?;
    }
    Ok(())
}

/// Removes notices whose actor is not active, or from whom the recipient is hidden.
fn keep_reachable(tx: &mut dyn NotificationTx, notices: &mut Vec<Notice>) -> Result<(), StoreError> {
    let pairs = notices.iter().filter_map(|notice| Some((notice.recipient, notice.actor?)));
    let pairs = distinct(pairs);
    if pairs.is_empty() {
        return Ok(());
    }
    let actors = distinct(pairs.iter().map(|(_, actor)| *actor));
    let active: HashSet<UserId> = tx.cards(&actors)?.into_iter().map(|card| card.id).collect();
    let hidden = tx.hidden_pairs(&pairs)?;
    notices.retain(|notice| {
        notice
            .actor
            .is_none_or(|actor| active.contains(&actor) && !hidden.contains(&(notice.recipient, actor)))
    });
    Ok(())
}

/// What the events of a transaction make.
struct Record<'n> {
    open: BTreeMap<UserId, OpenInbox>,
    state: NoticeState<'n>,
    /// The fans who were notified of each event.
    notified: HashSet<(Position, UserId)>,
    /// The groups in inboxes that changed, in order.
    changed: Vec<(UserId, NotificationId)>,
    /// The groups about which a push message is sent.
    pushed: BTreeSet<(UserId, NotificationId)>,
}

impl<'n> Record<'n> {
    fn new(open: BTreeMap<UserId, OpenInbox>, state: NoticeState<'n>) -> Self {
        Self { open, state, notified: HashSet::new(), changed: Vec::new(), pushed: BTreeSet::new() }
    }

    fn take(
        &mut self,
        tx: &mut dyn NotificationTx,
        ctx: &mut Ctx,
        notice: &'n Notice,
    ) -> Result<(), StoreError> {
        let source = (notice.position, notice.recipient);
        if self.notified.contains(&source) || !self.state.counts(tx, notice)? {
            return Ok(());
        }
        let key = notice.key();
        if self.state.groups.get(&key).is_some_and(|group| !group.takes_up(notice.at)) {
            self.write(tx)?;
            self.state.groups.remove(&key);
        }
        let Some(open) = self.open.get_mut(&notice.recipient) else { return Ok(()) };
        let wanted = open.wants(notice);
        let group = match self.state.groups.entry(key) {
            Entry::Occupied(open_group) => {
                let group = open_group.into_mut();
                group.take_up(notice, &mut open.change);
                group.group
            }
            Entry::Vacant(place) => {
                open.change.listed += i64::from(wanted.in_app);
                open.change.unread += i64::from(wanted.in_app);
                place.insert(OpenGroup::new(ctx.new_id_at(notice.at), notice, wanted.in_app)).group
            }
        };
        self.keep_size(tx, ctx, notice.recipient)?;
        self.notified.insert(source);
        if group.in_app {
            self.changed.push((notice.recipient, group.id));
        }
        if wanted.push {
            self.pushed.insert((notice.recipient, group.id));
        }
        Ok(())
    }

    /// Drops the oldest notifications of an inbox that is over its size.
    fn keep_size(&mut self, tx: &mut dyn NotificationTx, ctx: &Ctx, user: UserId) -> Result<(), StoreError> {
        let is_over = |open: &OpenInbox| open.inbox.listed + open.change.listed > INBOX_SIZE;
        if !self.open.get(&user).is_some_and(is_over) {
            return Ok(());
        }
        // The oldest one is chosen among the rows, and may be a group that is known here.
        self.write(tx)?;
        let Some(open) = self.open.get_mut(&user) else { return Ok(()) };
        while is_over(open) {
            let Some(was_unread) = tx.drop_oldest(user, ctx.now())? else { break };
            open.change.listed -= 1;
            open.change.unread -= i64::from(was_unread);
        }
        let keys: Vec<GroupKey> =
            self.state.groups.keys().filter(|key| key.recipient == user).copied().collect();
        for (key, group) in tx.newest_groups(&keys)? {
            self.state.groups.insert(key, group.into());
        }
        Ok(())
    }

    /// Writes the groups, their actors and the quotas, as far as that was not done before.
    fn write(&mut self, tx: &mut dyn NotificationTx) -> Result<(), StoreError> {
        let NoticeState { groups, quotas, .. } = &mut self.state;
        let new_groups: Vec<NewGroup<'_>> = groups
            .values()
            .filter_map(|OpenGroup { group, first, last, actors }| {
                let (actors, in_app) = (num::to_i64(actors.len()), group.in_app);
                Some(NewGroup { id: group.id, first: (*first)?, last: (*last)?, actors, in_app })
            })
            .collect();
        tx.insert_groups(&new_groups)?;
        let actors = groups.values().flat_map(|OpenGroup { group, actors, .. }| {
            actors.iter().map(|(actor, last)| GroupActor { group: group.id, actor: *actor, last })
        });
        let mut new_actors: HashMap<NotificationId, i64> = HashMap::new();
        for group in tx.put_actors(&actors.collect::<Vec<_>>())? {
            *new_actors.entry(group).or_default() += 1;
        }
        let changed = groups.values().filter(|group| group.first.is_none());
        let changed = changed.filter_map(|OpenGroup { group, last, .. }| {
            let actors = new_actors.get(&group.id).copied().unwrap_or_default();
            Some(GroupChange { id: group.id, last: (*last)?, actors })
        });
        tx.change_groups(&changed.collect::<Vec<_>>())?;
        for group in groups.values_mut() {
            (group.first, group.last) = (None, None);
            group.actors.clear();
        }
        let uses = quotas.iter().filter(|(_, used)| used.new > 0).map(|(quota, used)| (*quota, used.new));
        tx.use_quotas(&uses.collect::<Vec<_>>())?;
        for used in quotas.values_mut() {
            *used = used.written();
        }
        Ok(())
    }

    /// Writes what is left, the counters, one event for each group, and the messages to be pushed.
    fn finish(mut self, tx: &mut dyn NotificationTx, ctx: &Ctx) -> Result<(), StoreError> {
        self.write(tx)?;
        let inboxes = self.open.values().map(|open| open.change);
        let inboxes: Vec<_> = inboxes.filter(|change| *change != InboxChange::none(change.user)).collect();
        tx.change_inboxes(&inboxes)?;
        for (user, id) in self.pushed {
            push::enqueue(tx, user, id.as_uuid(), ctx.now())?;
        }
        let mut seen = HashSet::new();
        let changed = self.changed.into_iter().filter(|group| seen.insert(*group));
        let event = |(user, id): (UserId, NotificationId)| NewEvent {
            topic: Topic::Notifications,
            kind: EventKind::NotificationCreated,
            actor: Some(user),
            team: None,
            subject: id.as_uuid(),
            object: None,
        };
        let events: Vec<_> = changed.map(|group| (event(group), ctx.now())).collect();
        if events.is_empty() { Ok(()) } else { tx.append_all(&events) }
    }
}
