//! Groups of notifications, and who caused them. Every statement is a fixed number of searches in indexes, whatever the size of
//! a group.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional text")]

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::numbered::Numbered;
use crate::rows::named;
use crate::schema::{notification_actors, notification_quotas, notifications, shared_notifications, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text};
use std::collections::{HashMap, HashSet};
use terrace_kernel::{Position, StoreError, Timestamp, UserId, Uuid};
use terrace_social::notifications::{
    Group, GroupActor, GroupChange, GroupKey, NOTIFICATION_LIFE, NewGroup, Notice, NotificationId,
    NotificationKind, Quota,
};

const QUOTA: &str = "INSERT INTO notification_quotas (user_id, actor_id, day, used) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (user_id, actor_id, day) DO UPDATE SET used = notification_quotas.used + excluded.used";

const TOUCH: &str = "UPDATE notifications SET object_id = $2, detail = $3, position = $4, \
    actor_count = actor_count + $5, read_at = NULL, listed = in_app WHERE id = $1";

// On PostgreSQL, one statement for many rows.
const ACTORS_AMONG: &str = ") AS given (user_id, kind, subject_id, actor_id)) \
    SELECT user_id, kind, subject_id, actor_id FROM given WHERE EXISTS ( \
        SELECT 1 FROM notification_actors a JOIN notifications n ON n.id = a.notification_id \
        WHERE a.actor_id = given.actor_id AND a.user_id = given.user_id \
        AND n.kind = given.kind AND n.subject_id = given.subject_id)";

const USED_QUOTAS: &str = ") AS given (user_id, actor_id, day)) \
    SELECT q.user_id, q.actor_id, q.day, q.used FROM given \
    JOIN notification_quotas q USING (user_id, actor_id, day)";

const USE_QUOTAS: &str = ") AS given (user_id, actor_id, day, used)) \
    INSERT INTO notification_quotas (user_id, actor_id, day, used) SELECT * FROM given \
    ON CONFLICT (user_id, actor_id, day) DO UPDATE SET used = notification_quotas.used + excluded.used";

const NEWEST_GROUPS: &str = ") AS given (user_id, kind, subject_id)) \
    SELECT given.user_id, given.kind, given.subject_id, \
        n.id, n.created_at, n.in_app, n.listed, n.read_at, n.expires_at \
    FROM given CROSS JOIN LATERAL (SELECT * FROM notifications \
        WHERE notifications.user_id = given.user_id AND notifications.kind = given.kind \
        AND notifications.subject_id = given.subject_id ORDER BY created_at DESC LIMIT 1) n";

const INSERT_GROUPS: &str = ") AS given (id, user_id, kind, subject_id, object_id, detail, actor_count, in_app, \
        position, created_at, expires_at)) \
    INSERT INTO notifications (id, user_id, kind, subject_id, object_id, detail, actor_count, in_app, listed, \
        position, created_at, expires_at) \
    SELECT id, user_id, kind, subject_id, object_id, detail, actor_count, in_app, in_app, \
        position, created_at, expires_at FROM given";

/// The update sees the rows from before the statement, not those that it inserts.
const PUT_ACTORS: &str = ") AS given (actor_id, user_id, notification_id, source_id, position)), \
    inserted AS (INSERT INTO notification_actors (actor_id, user_id, notification_id, source_id, position) \
        SELECT * FROM given ON CONFLICT DO NOTHING RETURNING notification_id), \
    changed AS (UPDATE notification_actors a SET source_id = given.source_id, position = given.position FROM given \
        WHERE a.actor_id = given.actor_id AND a.user_id = given.user_id \
        AND a.notification_id = given.notification_id) \
    SELECT notification_id FROM inserted";

const CHANGE_GROUPS: &str = ") AS given (id, object_id, detail, position, actors)) \
    UPDATE notifications AS n SET object_id = given.object_id, detail = given.detail, position = given.position, \
        actor_count = n.actor_count + given.actors, read_at = NULL, listed = n.in_app \
    FROM given WHERE n.id = given.id";

#[derive(Queryable, Selectable)]
#[diesel(table_name = notifications)]
struct GroupRow {
    id: Key,
    created_at: At,
    in_app: bool,
    listed: bool,
    read_at: Option<At>,
    expires_at: At,
}

/// A row of [`NEWEST_GROUPS`]: the key and the group.
type NewestRow = ((Key, String, Key), GroupRow);
type NewestColumns = ((Uid, Text, Uid), (Uid, Instant, Bool, Bool, Nullable<Instant>, Instant));

impl From<GroupRow> for Group {
    fn from(row: GroupRow) -> Self {
        Self {
            id: row.id.id(),
            created_at: row.created_at.0,
            in_app: row.in_app,
            is_listed: row.listed,
            is_read: row.read_at.is_some(),
            expires_at: row.expires_at.0,
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = notifications, treat_none_as_default_value = false)]
struct NewRow<'a> {
    id: Key,
    user_id: Key,
    kind: &'static str,
    subject_id: Key,
    object_id: Option<Key>,
    detail: Option<&'a str>,
    actor_count: i64,
    in_app: bool,
    listed: bool,
    position: i64,
    read_at: Option<At>,
    created_at: At,
    expires_at: At,
}

impl<'a> NewRow<'a> {
    fn of(group: &NewGroup<'a>) -> Self {
        let NewGroup { id, first, last, actors, in_app } = *group;
        Self {
            id: Key::of(id),
            user_id: Key::of(first.recipient),
            kind: first.kind.as_str(),
            subject_id: Key(first.subject),
            object_id: last.object.map(Key),
            detail: last.detail.as_deref(),
            actor_count: actors,
            in_app,
            listed: in_app,
            position: last.position.get(),
            read_at: None,
            created_at: At(first.at),
            expires_at: At(first.at.plus(NOTIFICATION_LIFE)),
        }
    }
}

/// What a group of comments shows of an actor. Other groups show only the actor.
fn source(notice: &Notice) -> Option<Key> {
    let is_comment = matches!(notice.kind, NotificationKind::Comment | NotificationKind::Reply);
    notice.object.filter(|_| is_comment).map(Key)
}

fn group_key(user: Key, kind: &str, subject: Key) -> Result<GroupKey, StoreError> {
    let kind = named("notifications", "kind", kind)?;
    Ok(GroupKey { recipient: user.id(), kind, subject: subject.0 })
}

impl DieselTx<'_> {
    pub(super) fn find_accounts_named(
        &mut self,
        usernames: &[String],
    ) -> Result<Vec<(String, UserId)>, StoreError> {
        let found: Vec<(String, Key)> = on!(self.conn, |conn| {
            users::table
                .filter(users::username.eq_any(usernames))
                .select((users::username, users::id))
                .load(conn)
        })
        .map_err(broken("find accounts by their names"))?;
        Ok(found.into_iter().map(|(name, id)| (name, id.id())).collect())
    }

    pub(super) fn find_mentioned_in(&mut self, content: Uuid) -> Result<Vec<UserId>, StoreError> {
        let users: Vec<Key> = on!(self.conn, |conn| {
            notifications::table
                .filter(notifications::subject_id.eq(Key(content)))
                // In the text, so that it implies the condition of the index.
                .filter(diesel::dsl::sql::<diesel::sql_types::Bool>("kind = 'mention'"))
                .select(notifications::user_id)
                .distinct()
                .load(conn)
        })
        .map_err(broken("find who was notified of a mention"))?;
        Ok(users.into_iter().map(Key::id).collect())
    }

    pub(super) fn find_actors_among(
        &mut self,
        fans: &[(GroupKey, UserId)],
    ) -> Result<HashSet<(GroupKey, UserId)>, StoreError> {
        let fail = broken("look for actors in the groups of fans");
        match &mut self.conn {
            _ if fans.is_empty() => Ok(HashSet::new()),
            Conn::Pg(conn) => {
                let values = (
                    column(fans, |(key, _)| Key::of(key.recipient)).into_sql::<Array<Uid>>(),
                    column(fans, |(key, _)| key.kind.as_str()).into_sql::<Array<Text>>(),
                    column(fans, |(key, _)| Key(key.subject)).into_sql::<Array<Uid>>(),
                    column(fans, |(_, actor)| Key::of(*actor)).into_sql::<Array<Uid>>(),
                );
                let statement = Fixed::<_, (Uid, Text, Uid, Uid)>::new(GIVEN, values, ACTORS_AMONG);
                let rows: Vec<(Key, String, Key, Key)> = statement.load(*conn).map_err(fail)?;
                rows.into_iter()
                    .map(|(user, kind, subject, actor)| Ok((group_key(user, &kind, subject)?, actor.id())))
                    .collect()
            }
            Conn::Sqlite(conn) => {
                let mut among = HashSet::new();
                for (key, actor) in fans {
                    let groups =
                        notifications::table.on(notifications::id.eq(notification_actors::notification_id));
                    let found = notification_actors::table
                        .inner_join(groups)
                        .filter(notification_actors::actor_id.eq(Key::of(*actor)))
                        .filter(notification_actors::user_id.eq(Key::of(key.recipient)))
                        .filter(notifications::kind.eq(key.kind.as_str()))
                        .filter(notifications::subject_id.eq(Key(key.subject)));
                    if diesel::select(exists(found)).get_result(*conn).map_err(&fail)? {
                        among.insert((*key, *actor));
                    }
                }
                Ok(among)
            }
        }
    }

    pub(super) fn find_used_quotas(&mut self, quotas: &[Quota]) -> Result<HashMap<Quota, i32>, StoreError> {
        use notification_quotas as used;
        let fail = broken("read the notifications of a day");
        let mut found = HashMap::new();
        match &mut self.conn {
            _ if quotas.is_empty() => {}
            Conn::Pg(conn) => {
                let values = (
                    column(quotas, |quota| Key::of(quota.recipient)).into_sql::<Array<Uid>>(),
                    column(quotas, |quota| Key::of(quota.actor)).into_sql::<Array<Uid>>(),
                    column(quotas, |quota| quota.day).into_sql::<Array<BigInt>>(),
                );
                let statement = Fixed::<_, (Uid, Uid, BigInt, Integer)>::new(GIVEN, values, USED_QUOTAS);
                let rows: Vec<(Key, Key, i64, i32)> = statement.load(*conn).map_err(fail)?;
                let rows = rows.into_iter().map(|(user, actor, day, used)| {
                    (Quota { recipient: user.id(), actor: actor.id(), day }, used)
                });
                found.extend(rows);
            }
            Conn::Sqlite(conn) => {
                for quota in quotas {
                    let row = used::table.find((Key::of(quota.recipient), Key::of(quota.actor), quota.day));
                    let row: Option<i32> = row.select(used::used).first(*conn).optional().map_err(&fail)?;
                    found.extend(row.map(|used| (*quota, used)));
                }
            }
        }
        Ok(found)
    }

    pub(super) fn add_to_quotas(&mut self, uses: &[(Quota, i32)]) -> Result<(), StoreError> {
        let fail = broken("count the notifications of a day");
        match &mut self.conn {
            _ if uses.is_empty() => Ok(()),
            Conn::Pg(conn) => {
                let values = (
                    column(uses, |(quota, _)| Key::of(quota.recipient)).into_sql::<Array<Uid>>(),
                    column(uses, |(quota, _)| Key::of(quota.actor)).into_sql::<Array<Uid>>(),
                    column(uses, |(quota, _)| quota.day).into_sql::<Array<BigInt>>(),
                    column(uses, |(_, used)| *used).into_sql::<Array<Integer>>(),
                );
                Fixed::<_>::new(GIVEN, values, USE_QUOTAS).execute(*conn).map(drop).map_err(fail)
            }
            Conn::Sqlite(conn) => uses.iter().try_for_each(|(quota, used)| {
                let values = (
                    Key::of(quota.recipient).into_sql::<Uid>(),
                    Key::of(quota.actor).into_sql::<Uid>(),
                    quota.day.into_sql::<BigInt>(),
                    (*used).into_sql::<Integer>(),
                );
                Numbered::new(QUOTA, values).execute(*conn).map(drop).map_err(&fail)
            }),
        }
    }

    pub(super) fn find_newest_groups(
        &mut self,
        keys: &[GroupKey],
    ) -> Result<HashMap<GroupKey, Group>, StoreError> {
        let fail = broken("find the newest groups");
        match &mut self.conn {
            _ if keys.is_empty() => Ok(HashMap::new()),
            Conn::Pg(conn) => {
                let values = (
                    column(keys, |key| Key::of(key.recipient)).into_sql::<Array<Uid>>(),
                    column(keys, |key| key.kind.as_str()).into_sql::<Array<Text>>(),
                    column(keys, |key| Key(key.subject)).into_sql::<Array<Uid>>(),
                );
                let statement = Fixed::<_, NewestColumns>::new(GIVEN, values, NEWEST_GROUPS);
                let rows: Vec<NewestRow> = statement.load(*conn).map_err(fail)?;
                rows.into_iter()
                    .map(|((user, kind, subject), row)| Ok((group_key(user, &kind, subject)?, row.into())))
                    .collect()
            }
            Conn::Sqlite(conn) => {
                let mut newest = HashMap::new();
                for key in keys {
                    let row: Option<GroupRow> = notifications::table
                        .filter(notifications::user_id.eq(Key::of(key.recipient)))
                        .filter(notifications::kind.eq(key.kind.as_str()))
                        .filter(notifications::subject_id.eq(Key(key.subject)))
                        .order(notifications::created_at.desc())
                        .select(GroupRow::as_select())
                        .first(*conn)
                        .optional()
                        .map_err(&fail)?;
                    newest.extend(row.map(|row| (*key, row.into())));
                }
                Ok(newest)
            }
        }
    }

    pub(super) fn insert_notifications(&mut self, groups: &[NewGroup<'_>]) -> Result<(), StoreError> {
        let fail = broken("insert notifications");
        let rows: Vec<NewRow<'_>> = groups.iter().map(NewRow::of).collect();
        match &mut self.conn {
            _ if rows.is_empty() => Ok(()),
            Conn::Pg(conn) => {
                let values = (
                    column(&rows, |row| row.id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.user_id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.kind).into_sql::<Array<Text>>(),
                    column(&rows, |row| row.subject_id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.object_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |row| row.detail).into_sql::<Array<Nullable<Text>>>(),
                    column(&rows, |row| row.actor_count).into_sql::<Array<BigInt>>(),
                    column(&rows, |row| row.in_app).into_sql::<Array<Bool>>(),
                    column(&rows, |row| row.position).into_sql::<Array<BigInt>>(),
                    column(&rows, |row| row.created_at).into_sql::<Array<Instant>>(),
                    column(&rows, |row| row.expires_at).into_sql::<Array<Instant>>(),
                );
                Fixed::<_>::new(GIVEN, values, INSERT_GROUPS).execute(*conn).map(drop).map_err(fail)
            }
            Conn::Sqlite(conn) => rows.iter().try_for_each(|row| {
                diesel::insert_into(notifications::table).values(row).execute(*conn).map(drop).map_err(&fail)
            }),
        }
    }

    pub(super) fn put_actors_of(
        &mut self,
        actors: &[GroupActor<'_>],
    ) -> Result<Vec<NotificationId>, StoreError> {
        use notification_actors as rows;
        let fail = broken("add actors to groups");
        match &mut self.conn {
            _ if actors.is_empty() => Ok(Vec::new()),
            Conn::Pg(conn) => {
                let values = (
                    column(actors, |it| Key::of(it.actor)).into_sql::<Array<Uid>>(),
                    column(actors, |it| Key::of(it.last.recipient)).into_sql::<Array<Uid>>(),
                    column(actors, |it| Key::of(it.group)).into_sql::<Array<Uid>>(),
                    column(actors, |it| source(it.last)).into_sql::<Array<Nullable<Uid>>>(),
                    column(actors, |it| it.last.position.get()).into_sql::<Array<BigInt>>(),
                );
                let statement = Fixed::<_, Uid>::new(GIVEN, values, PUT_ACTORS);
                let groups: Vec<Key> = statement.load(*conn).map_err(fail)?;
                Ok(groups.into_iter().map(Key::id).collect())
            }
            Conn::Sqlite(conn) => {
                let mut new = Vec::new();
                for GroupActor { group, actor, last } in actors {
                    let key = (Key::of(*actor), Key::of(last.recipient), Key::of(*group));
                    let latest = (rows::source_id.eq(source(last)), rows::position.eq(last.position.get()));
                    let row = (
                        rows::actor_id.eq(key.0),
                        rows::user_id.eq(key.1),
                        rows::notification_id.eq(key.2),
                        latest.0,
                        latest.1,
                    );
                    let insert = diesel::insert_into(rows::table).values(row).on_conflict_do_nothing();
                    if insert.execute(*conn).map_err(&fail)? == 1 {
                        new.push(*group);
                    } else {
                        diesel::update(rows::table.find(key)).set(latest).execute(*conn).map_err(&fail)?;
                    }
                }
                Ok(new)
            }
        }
    }

    pub(super) fn touch_notifications(&mut self, changes: &[GroupChange<'_>]) -> Result<(), StoreError> {
        let fail = broken("record events in groups");
        match &mut self.conn {
            _ if changes.is_empty() => Ok(()),
            Conn::Pg(conn) => {
                let values = (
                    column(changes, |it| Key::of(it.id)).into_sql::<Array<Uid>>(),
                    column(changes, |it| it.last.object.map(Key)).into_sql::<Array<Nullable<Uid>>>(),
                    column(changes, |it| it.last.detail.as_deref()).into_sql::<Array<Nullable<Text>>>(),
                    column(changes, |it| it.last.position.get()).into_sql::<Array<BigInt>>(),
                    column(changes, |it| it.actors).into_sql::<Array<BigInt>>(),
                );
                Fixed::<_>::new(GIVEN, values, CHANGE_GROUPS).execute(*conn).map(drop).map_err(fail)
            }
            Conn::Sqlite(conn) => changes.iter().try_for_each(|GroupChange { id, last, actors }| {
                let values = (
                    Key::of(*id).into_sql::<Uid>(),
                    last.object.map(Key).into_sql::<Nullable<Uid>>(),
                    last.detail.as_deref().into_sql::<Nullable<Text>>(),
                    last.position.get().into_sql::<BigInt>(),
                    (*actors).into_sql::<BigInt>(),
                );
                Numbered::new(TOUCH, values).execute(*conn).map(drop).map_err(&fail)
            }),
        }
    }

    pub(super) fn insert_shared_notification(
        &mut self,
        id: NotificationId,
        (kind, subject, detail): (NotificationKind, Uuid, &str),
        at: Timestamp,
        position: Position,
    ) -> Result<bool, StoreError> {
        let row = (
            shared_notifications::id.eq(Key::of(id)),
            shared_notifications::kind.eq(kind.as_str()),
            shared_notifications::subject_id.eq(Key(subject)),
            shared_notifications::detail.eq(detail),
            shared_notifications::position.eq(position.get()),
            shared_notifications::created_at.eq(At(at)),
            shared_notifications::expires_at.eq(At(at.plus(NOTIFICATION_LIFE))),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(shared_notifications::table)
                .values(row)
                .on_conflict_do_nothing()
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("insert a shared notification"))
    }
}
