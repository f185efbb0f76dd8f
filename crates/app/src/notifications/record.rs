//! Writes what events notify of. The work for an event does not depend on the size of its group.

use crate::notifications::sources::{LevelChange, SharedNotice, Sources, levels, of_points, sources};
use crate::push;
use crate::store::NotificationTx;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use terrace_kernel::{Ctx, Event, EventKind, NewEvent, Position, StoreError, Topic, UserId};
use terrace_social::notifications::{
    DAILY_LIMIT, INBOX_SIZE, Inbox, InboxChange, MENTIONED_FANS, NewGroup, Notice, NotificationId,
    NotificationKind, belongs_to_group, day_of,
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
    let mut made = Record::default();
    if !fans.is_empty() {
        let fans: Vec<UserId> = fans.into_iter().collect();
        let inboxes = tx.lock_inboxes(&fans)?;
        made.open = inboxes.into_iter().map(|inbox| (inbox.user, OpenInbox::new(inbox))).collect();
    }
    for notice in &notices {
        made.take(tx, ctx, notice)?;
    }
    let noted = |fan: UserId| made.open.get(&fan).and_then(|open| open.inbox.level);
    for (fan, change) in levels(tx, &of_points, noted)? {
        made.take_level(tx, ctx, fan, &change)?;
    }
    made.finish(tx, ctx)?;
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
    let mut actors: BTreeMap<UserId, Vec<UserId>> = BTreeMap::new();
    for notice in notices.iter() {
        if let Some(actor) = notice.actor {
            actors.entry(notice.recipient).or_default().push(actor);
        }
    }
    if actors.is_empty() {
        return Ok(());
    }
    let all: Vec<UserId> = actors.values().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let active: HashSet<UserId> = tx.cards(&all)?.into_iter().map(|card| card.id).collect();
    let mut hidden = HashSet::new();
    for (recipient, actors) in &actors {
        let from = tx.hidden_among(*recipient, actors)?;
        hidden.extend(from.into_iter().map(|actor| (*recipient, actor)));
    }
    notices.retain(|notice| {
        notice
            .actor
            .is_none_or(|actor| active.contains(&actor) && !hidden.contains(&(notice.recipient, actor)))
    });
    Ok(())
}

/// A locked inbox, and how it changes.
struct OpenInbox {
    inbox: Inbox,
    change: InboxChange,
}

impl OpenInbox {
    fn new(inbox: Inbox) -> Self {
        Self { change: InboxChange::none(inbox.user), inbox }
    }
}

/// What the events of a transaction have made.
#[derive(Default)]
struct Record {
    open: BTreeMap<UserId, OpenInbox>,
    /// The fans who were notified of each event.
    notified: HashSet<(Position, UserId)>,
    /// The groups in inboxes that changed, in order.
    changed: Vec<(UserId, NotificationId)>,
    /// The groups about which a push message is sent.
    pushed: BTreeSet<(UserId, NotificationId)>,
}

impl Record {
    fn take(
        &mut self,
        tx: &mut dyn NotificationTx,
        ctx: &mut Ctx,
        notice: &Notice,
    ) -> Result<(), StoreError> {
        let source = (notice.position, notice.recipient);
        let Some(open) = self.open.get_mut(&notice.recipient) else { return Ok(()) };
        let wanted = open.inbox.preferences.of(notice.kind);
        if self.notified.contains(&source) || !(wanted.in_app || wanted.push) || !counts(tx, notice)? {
            return Ok(());
        }
        let newest = tx.newest_group(notice)?.filter(|group| belongs_to_group(group.created_at, notice.at));
        let (id, in_app) = match newest {
            Some(group) => {
                let is_new = match notice.actor {
                    Some(actor) => tx.put_actor(group.id, notice, actor)?,
                    None => false,
                };
                tx.touch_group(group.id, notice, i64::from(is_new))?;
                if group.in_app {
                    open.change.listed += i64::from(!group.is_listed);
                    open.change.unread += i64::from(!group.is_listed || group.is_read);
                }
                (group.id, group.in_app)
            }
            None => (open.insert(tx, ctx, notice, wanted.in_app)?, wanted.in_app),
        };
        open.keep_size(tx, ctx)?;
        self.notified.insert(source);
        if in_app {
            self.changed.push((notice.recipient, id));
        }
        if wanted.push {
            self.pushed.insert((notice.recipient, id));
        }
        Ok(())
    }

    /// Notifies a fan of a level that is higher than any before.
    fn take_level(
        &mut self,
        tx: &mut dyn NotificationTx,
        ctx: &mut Ctx,
        fan: UserId,
        change: &LevelChange,
    ) -> Result<(), StoreError> {
        let Some(open) = self.open.get_mut(&fan) else { return Ok(()) };
        let highest = change.before.max(change.now);
        open.change.level = Some(highest).filter(|highest| open.inbox.level != Some(*highest));
        if change.now <= change.before {
            return Ok(());
        }
        let notice = Notice {
            recipient: fan,
            kind: NotificationKind::Level,
            actor: None,
            subject: fan.as_uuid(),
            object: None,
            detail: Some(change.now.to_string()),
            at: change.event.at,
            position: change.event.position,
        };
        self.take(tx, ctx, &notice)
    }

    /// Writes the counters, one event for each group, and the messages to be pushed.
    fn finish(self, tx: &mut dyn NotificationTx, ctx: &Ctx) -> Result<(), StoreError> {
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

impl OpenInbox {
    fn insert(
        &mut self,
        tx: &mut dyn NotificationTx,
        ctx: &mut Ctx,
        notice: &Notice,
        in_app: bool,
    ) -> Result<NotificationId, StoreError> {
        let id = ctx.new_id_at(notice.at);
        tx.insert_group(&NewGroup { id, notice, in_app })?;
        if let Some(actor) = notice.actor {
            tx.put_actor(id, notice, actor)?;
        }
        self.change.listed += i64::from(in_app);
        self.change.unread += i64::from(in_app);
        Ok(id)
    }

    /// Drops the oldest notifications of an inbox that is over its size.
    fn keep_size(&mut self, tx: &mut dyn NotificationTx, ctx: &Ctx) -> Result<(), StoreError> {
        while self.inbox.listed + self.change.listed > INBOX_SIZE {
            let Some(was_unread) = tx.drop_oldest(self.inbox.user, ctx.now())? else { return Ok(()) };
            self.change.listed -= 1;
            self.change.unread -= i64::from(was_unread);
        }
        Ok(())
    }
}

/// Whether the notice counts: an actor once for a subject, where the cause can be repeated; a mention once for a text and
/// fan, and for few fans of a text; and few notices of an actor on a day.
fn counts(tx: &mut dyn NotificationTx, notice: &Notice) -> Result<bool, StoreError> {
    let Some(actor) = notice.actor else { return Ok(true) };
    if notice.kind.counts_once() && tx.has_notified(notice, actor)? {
        return Ok(false);
    }
    if notice.kind == NotificationKind::Mention {
        let fans = tx.mentioned_in(notice.subject)?;
        if fans.len() >= MENTIONED_FANS || fans.contains(&notice.recipient) {
            return Ok(false);
        }
    }
    tx.take_daily(notice.recipient, actor, day_of(notice.at), DAILY_LIMIT)
}
