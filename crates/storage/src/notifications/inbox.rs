//! Inboxes: their counters, which equal their rows, and preferences.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, column};
use crate::numbered::Numbered;
use crate::rows::{corrupt, named};
use crate::schema::{
    notification_actors, notification_inboxes as inboxes, notification_preferences, notifications,
    shared_notification_reads, shared_notifications, users,
};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Integer, Nullable};
use std::collections::HashMap;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_social::notifications::{
    Inbox, InboxChange, KindPreference, LocalTime, NotificationId, NotificationKind, Preferences, QuietHours,
    ReadMark,
};

const TABLE: &str = "notification_inboxes";

/// On PostgreSQL one statement makes the inboxes of all fans, and one changes them.
const MAKE_ALL: &str =
    "INSERT INTO notification_inboxes (user_id, listed, unread) SELECT user_id, 0, 0 FROM unnest(";
const MAKE_ALL_END: &str = ") AS given (user_id) ORDER BY user_id ON CONFLICT DO NOTHING";
const CHANGE_ALL: &str = "UPDATE notification_inboxes AS i SET listed = i.listed + given.listed, \
    unread = i.unread + given.unread, level = coalesce(given.level, i.level) FROM unnest(";
const CHANGE_ALL_END: &str = ") AS given (user_id, listed, unread, level) WHERE i.user_id = given.user_id";
const CHANGE: &str = "UPDATE notification_inboxes SET listed = listed + $2, unread = unread + $3, \
    level = coalesce($4, level) WHERE user_id = $1";

#[derive(Queryable, Selectable)]
#[diesel(table_name = inboxes)]
struct InboxRow {
    user_id: Key,
    listed: i64,
    level: Option<i32>,
    quiet_from: Option<i32>,
    quiet_to: Option<i32>,
}

/// The preferences of a fan for one kind.
type KindRow = (Key, String, bool, bool);

fn quiet_hours(from: Option<i32>, to: Option<i32>) -> Result<Option<QuietHours>, StoreError> {
    let time = |column: &'static str, stored: i32| {
        let minutes = u16::try_from(stored).ok().and_then(LocalTime::from_minutes);
        minutes.ok_or_else(|| corrupt(TABLE, column, &stored))
    };
    let (Some(from), Some(to)) = (from, to) else { return Ok(None) };
    QuietHours::new(time("quiet_from", from)?, time("quiet_to", to)?)
        .map(Some)
        .map_err(|error| corrupt(TABLE, "quiet_to", &error))
}

impl DieselTx<'_> {
    /// Locks the active accounts among these against being closed; returns them in order.
    fn hold_active(&mut self, users: &[UserId]) -> Result<Vec<Key>, StoreError> {
        let active = users::table
            .filter(users::id.eq_any(users.iter().copied().map(Key::of)))
            .filter(users::status.eq(ACTIVE))
            .order(users::id)
            .select(users::id);
        match &mut self.conn {
            Conn::Pg(conn) => active.for_key_share().load(*conn),
            Conn::Sqlite(conn) => active.load(*conn),
        }
        .map_err(broken("hold the accounts of inboxes"))
    }

    fn make_inboxes(&mut self, users: &[Key]) -> Result<(), StoreError> {
        let row =
            |user: &Key| (inboxes::user_id.eq(*user), inboxes::listed.eq(0_i64), inboxes::unread.eq(0_i64));
        match &mut self.conn {
            Conn::Pg(conn) => {
                let users = (users.to_vec().into_sql::<Array<Uid>>(),);
                Fixed::<_>::new(MAKE_ALL, users, MAKE_ALL_END).execute(*conn)
            }
            Conn::Sqlite(conn) => {
                let rows: Vec<_> = users.iter().map(row).collect();
                diesel::insert_into(inboxes::table).values(&rows).on_conflict_do_nothing().execute(*conn)
            }
        }
        .map(drop)
        .map_err(broken("make inboxes"))
    }

    /// Locks inboxes that exist, in the order of their ids.
    fn hold_inboxes(&mut self, users: &[Key]) -> Result<Vec<InboxRow>, StoreError> {
        let query =
            inboxes::table.filter(inboxes::user_id.eq_any(users.iter().copied())).order(inboxes::user_id);
        match &mut self.conn {
            Conn::Pg(conn) => query.for_update().select(InboxRow::as_select()).load(*conn),
            Conn::Sqlite(conn) => query.select(InboxRow::as_select()).load(*conn),
        }
        .map_err(broken("lock inboxes"))
    }

    fn kinds_of(&mut self, users: &[Key]) -> Result<Vec<KindRow>, StoreError> {
        use notification_preferences as kinds;
        on!(self.conn, |conn| {
            kinds::table
                .filter(kinds::user_id.eq_any(users.iter().copied()))
                .select((kinds::user_id, kinds::kind, kinds::in_app, kinds::push))
                .load(conn)
        })
        .map_err(broken("read preferences of notifications"))
    }

    pub(super) fn lock_inboxes_of(&mut self, users: &[UserId]) -> Result<Vec<Inbox>, StoreError> {
        let active = self.hold_active(users)?;
        if active.is_empty() {
            return Ok(Vec::new());
        }
        self.make_inboxes(&active)?;
        let rows = self.hold_inboxes(&active)?;
        let mut kinds: HashMap<Key, Vec<KindRow>> = HashMap::new();
        for row in self.kinds_of(&active)? {
            kinds.entry(row.0).or_default().push(row);
        }
        let inbox = |row: InboxRow| {
            Ok(Inbox {
                user: row.user_id.id(),
                preferences: preferences(
                    kinds.remove(&row.user_id).unwrap_or_default(),
                    quiet_hours(row.quiet_from, row.quiet_to)?,
                )?,
                listed: row.listed,
                level: row.level.map(num::to_u32),
            })
        };
        rows.into_iter().map(inbox).collect()
    }

    pub(super) fn preferences_of(&mut self, user: UserId) -> Result<Preferences, StoreError> {
        let hours: Option<(Option<i32>, Option<i32>)> = on!(self.conn, |conn| {
            inboxes::table
                .find(Key::of(user))
                .select((inboxes::quiet_from, inboxes::quiet_to))
                .first(conn)
                .optional()
        })
        .map_err(broken("read quiet hours"))?;
        let (from, to) = hours.unwrap_or_default();
        let kinds = self.kinds_of(&[Key::of(user)])?;
        preferences(kinds, quiet_hours(from, to)?)
    }

    pub(super) fn replace_preferences(
        &mut self,
        user: UserId,
        preferences: &Preferences,
    ) -> Result<bool, StoreError> {
        use notification_preferences as kinds;
        let fail = broken("store preferences of notifications");
        if self.lock_inboxes_of(&[user])?.is_empty() {
            return Ok(false);
        }
        let minutes = |time: LocalTime| i32::from(time.minutes());
        let hours = preferences.quiet_hours;
        let values = (
            inboxes::quiet_from.eq(hours.map(|hours| minutes(hours.from()))),
            inboxes::quiet_to.eq(hours.map(|hours| minutes(hours.to()))),
        );
        let own = inboxes::table.find(Key::of(user));
        on!(self.conn, |conn| diesel::update(own).set(values).execute(conn)).map_err(&fail)?;
        let old = kinds::table.filter(kinds::user_id.eq(Key::of(user)));
        on!(self.conn, |conn| diesel::delete(old).execute(conn)).map_err(&fail)?;
        let row = |(kind, wanted): (NotificationKind, KindPreference)| {
            (
                kinds::user_id.eq(Key::of(user)),
                kinds::kind.eq(kind.as_str()),
                kinds::in_app.eq(wanted.in_app),
                kinds::push.eq(wanted.push),
            )
        };
        let rows: Vec<_> = preferences.exceptions().map(row).collect();
        if !rows.is_empty() {
            on!(self.conn, |conn| diesel::insert_into(kinds::table).values(&rows).execute(conn))
                .map_err(fail)?;
        }
        Ok(true)
    }

    pub(super) fn add_to_inboxes(&mut self, changes: &[InboxChange]) -> Result<(), StoreError> {
        let fail = broken("count the notifications of inboxes");
        let level = |change: &InboxChange| change.level.map(num::to_i32);
        match &mut self.conn {
            Conn::Pg(_) if changes.is_empty() => Ok(()),
            Conn::Pg(conn) => {
                let values = (
                    column(changes, |change| Key::of(change.user)).into_sql::<Array<Uid>>(),
                    column(changes, |change| change.listed).into_sql::<Array<BigInt>>(),
                    column(changes, |change| change.unread).into_sql::<Array<BigInt>>(),
                    column(changes, level).into_sql::<Array<Nullable<Integer>>>(),
                );
                Fixed::<_>::new(CHANGE_ALL, values, CHANGE_ALL_END).execute(*conn).map(drop).map_err(fail)
            }
            Conn::Sqlite(conn) => changes.iter().try_for_each(|change| {
                let values = (
                    Key::of(change.user).into_sql::<Uid>(),
                    change.listed.into_sql::<BigInt>(),
                    change.unread.into_sql::<BigInt>(),
                    level(change).into_sql::<Nullable<Integer>>(),
                );
                Numbered::new(CHANGE, values).execute(*conn).map(drop).map_err(&fail)
            }),
        }
    }

    pub(super) fn note_warning(&mut self, user: UserId, date: &str) -> Result<bool, StoreError> {
        let earlier = inboxes::streak_warned_on.is_null().or(inboxes::streak_warned_on.lt(date));
        let own = inboxes::table.find(Key::of(user)).filter(earlier);
        on!(self.conn, |conn| {
            diesel::update(own).set(inboxes::streak_warned_on.eq(Some(date))).execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("note a warning about a streak"))
    }

    pub(super) fn drop_oldest_of(&mut self, user: UserId, at: Timestamp) -> Result<Option<bool>, StoreError> {
        let fail = broken("drop the oldest notification");
        let oldest: Option<(Key, Option<At>)> = on!(self.conn, |conn| {
            notifications::table
                .filter(notifications::user_id.eq(Key::of(user)))
                .filter(notifications::listed)
                .order((notifications::created_at, notifications::id))
                .select((notifications::id, notifications::read_at))
                .first(conn)
                .optional()
        })
        .map_err(&fail)?;
        let Some((id, read_at)) = oldest else { return Ok(None) };
        let dropped = (notifications::listed.eq(false), notifications::expires_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(notifications::table.find(id)).set(dropped).execute(conn))
            .map_err(fail)?;
        Ok(Some(read_at.is_none()))
    }

    pub(super) fn mark_notifications_read(
        &mut self,
        user: UserId,
        mark: &ReadMark,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let fail = broken("mark notifications as read");
        if self.hold_active(&[user])?.is_empty() {
            return Ok(false);
        }
        let has_inbox = !self.hold_inboxes(&[Key::of(user)])?.is_empty();
        let mut read = 0;
        if has_inbox {
            let unread = notifications::table
                .filter(notifications::user_id.eq(Key::of(user)))
                .filter(notifications::listed)
                .filter(notifications::read_at.is_null());
            let values = notifications::read_at.eq(Some(At(at)));
            read = on!(self.conn, |conn| match mark {
                ReadMark::UpTo(position) => {
                    let unread = unread.filter(notifications::position.le(position.get()));
                    diesel::update(unread).set(values).execute(conn)
                }
                ReadMark::Ids(ids) => {
                    let unread = unread.filter(notifications::id.eq_any(keys(ids)));
                    diesel::update(unread).set(values).execute(conn)
                }
            })
            .map_err(fail)?;
            self.add_to_inboxes(&[InboxChange { unread: -num::to_i64(read), ..InboxChange::none(user) }])?;
        }
        Ok(self.mark_shared_read(user, mark, at)? + read > 0)
    }

    fn mark_shared_read(
        &mut self,
        user: UserId,
        mark: &ReadMark,
        at: Timestamp,
    ) -> Result<usize, StoreError> {
        use shared_notification_reads as reads;
        let fail = broken("mark shared notifications as read");
        let shared = shared_notifications::table.select(shared_notifications::id);
        let ids: Vec<Key> = on!(self.conn, |conn| match mark {
            ReadMark::UpTo(position) => {
                shared.filter(shared_notifications::position.le(position.get())).load(conn)
            }
            ReadMark::Ids(ids) => shared.filter(shared_notifications::id.eq_any(keys(ids))).load(conn),
        })
        .map_err(&fail)?;
        if ids.is_empty() {
            return Ok(0);
        }
        let row = |id: Key| {
            (reads::user_id.eq(Key::of(user)), reads::notification_id.eq(id), reads::read_at.eq(At(at)))
        };
        let rows: Vec<_> = ids.into_iter().map(row).collect();
        on!(self.conn, |conn| {
            diesel::insert_into(reads::table).values(&rows).on_conflict_do_nothing().execute(conn)
        })
        .map_err(fail)
    }

    pub(super) fn unlist_of(&mut self, user: UserId, ids: &[NotificationId]) -> Result<(), StoreError> {
        if self.hold_inboxes(&[Key::of(user)])?.is_empty() {
            return Ok(());
        }
        let listed = notifications::table
            .filter(notifications::user_id.eq(Key::of(user)))
            .filter(notifications::id.eq_any(keys(ids)))
            .filter(notifications::listed);
        let out: Vec<Option<At>> = on!(self.conn, |conn| {
            diesel::update(listed)
                .set(notifications::listed.eq(false))
                .returning(notifications::read_at)
                .get_results(conn)
        })
        .map_err(broken("take notifications out of an inbox"))?;
        let unread = num::to_i64(out.iter().filter(|read_at| read_at.is_none()).count());
        self.add_to_inboxes(&[InboxChange {
            listed: -num::to_i64(out.len()),
            unread: -unread,
            ..InboxChange::none(user)
        }])
    }

    pub(super) fn forget_actor_of(&mut self, recipient: UserId, actor: UserId) -> Result<(), StoreError> {
        use notification_actors as actors;
        let fail = broken("remove an actor from the notifications of a fan");
        // Also locks the rows of an inbox whose account is closed.
        self.hold_inboxes(&[Key::of(recipient)])?;
        let pair = actors::table
            .filter(actors::actor_id.eq(Key::of(actor)))
            .filter(actors::user_id.eq(Key::of(recipient)));
        let groups: Vec<Key> = on!(self.conn, |conn| {
            diesel::delete(pair).returning(actors::notification_id).get_results(conn)
        })
        .map_err(&fail)?;
        if groups.is_empty() {
            return Ok(());
        }
        let changed = notifications::table.filter(notifications::id.eq_any(groups));
        let left: Vec<(Key, i64)> = on!(self.conn, |conn| {
            diesel::update(changed)
                .set(notifications::actor_count.eq(notifications::actor_count - 1))
                .returning((notifications::id, notifications::actor_count))
                .get_results(conn)
        })
        .map_err(fail)?;
        let empty: Vec<NotificationId> =
            left.into_iter().filter(|(_, actors)| *actors == 0).map(|(id, _)| id.id()).collect();
        if empty.is_empty() { Ok(()) } else { self.unlist_of(recipient, &empty) }
    }
}

fn keys(ids: &[NotificationId]) -> Vec<Key> {
    ids.iter().copied().map(Key::of).collect()
}

fn preferences(rows: Vec<KindRow>, quiet_hours: Option<QuietHours>) -> Result<Preferences, StoreError> {
    let mut preferences = Preferences::default();
    preferences.quiet_hours = quiet_hours;
    for (_, kind, in_app, push) in rows {
        let kind: NotificationKind = named("notification_preferences", "kind", &kind)?;
        preferences.set(kind, KindPreference { in_app, push });
    }
    Ok(preferences)
}
