//! Groups of notifications, and who caused them. Every statement is a fixed number of searches in indexes, whatever the size of
//! a group.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional text")]

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::{notification_actors, notifications, shared_notifications, users};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use terrace_kernel::{Position, StoreError, Timestamp, UserId, Uuid};
use terrace_social::notifications::{
    Group, NOTIFICATION_LIFE, NewGroup, Notice, NotificationId, NotificationKind,
};

const QUOTA: &str = "INSERT INTO notification_quotas (user_id, actor_id, day, used) VALUES ($1, $2, $3, 1) \
    ON CONFLICT (user_id, actor_id, day) DO UPDATE SET used = notification_quotas.used + 1 \
    WHERE notification_quotas.used < $4";

const TOUCH: &str = "UPDATE notifications SET object_id = $2, detail = $3, position = $4, \
    actor_count = actor_count + $5, read_at = NULL, listed = in_app WHERE id = $1";

#[derive(Queryable, Selectable)]
#[diesel(table_name = notifications)]
struct GroupRow {
    id: Key,
    created_at: At,
    in_app: bool,
    listed: bool,
    read_at: Option<At>,
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

    pub(super) fn is_in_any_group(&mut self, notice: &Notice, actor: UserId) -> Result<bool, StoreError> {
        let found = notification_actors::table
            .inner_join(notifications::table.on(notifications::id.eq(notification_actors::notification_id)))
            .filter(notification_actors::actor_id.eq(Key::of(actor)))
            .filter(notification_actors::user_id.eq(Key::of(notice.recipient)))
            .filter(notifications::kind.eq(notice.kind.as_str()))
            .filter(notifications::subject_id.eq(Key(notice.subject)));
        on!(self.conn, |conn| diesel::select(exists(found)).get_result(conn))
            .map_err(broken("look for an actor in the groups of a fan"))
    }

    pub(super) fn count_daily(
        &mut self,
        recipient: UserId,
        actor: UserId,
        day: i64,
        limit: i32,
    ) -> Result<bool, StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(
                QUOTA,
                (
                    Key::of(recipient).into_sql::<Uid>(),
                    Key::of(actor).into_sql::<Uid>(),
                    day.into_sql::<BigInt>(),
                    limit.into_sql::<Integer>(),
                ),
            )
            .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("count the notifications of a day"))
    }

    pub(super) fn find_newest_group(&mut self, notice: &Notice) -> Result<Option<Group>, StoreError> {
        let row: Option<GroupRow> = on!(self.conn, |conn| {
            notifications::table
                .filter(notifications::user_id.eq(Key::of(notice.recipient)))
                .filter(notifications::kind.eq(notice.kind.as_str()))
                .filter(notifications::subject_id.eq(Key(notice.subject)))
                // A group that is being removed takes up nothing.
                .filter(notifications::expires_at.gt(At(notice.at)))
                .order(notifications::created_at.desc())
                .select(GroupRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("find the newest group"))?;
        Ok(row.map(|row| Group {
            id: row.id.id(),
            created_at: row.created_at.0,
            in_app: row.in_app,
            is_listed: row.listed,
            is_read: row.read_at.is_some(),
        }))
    }

    pub(super) fn insert_notification(&mut self, group: &NewGroup<'_>) -> Result<(), StoreError> {
        let NewGroup { id, notice, in_app } = *group;
        let row = NewRow {
            id: Key::of(id),
            user_id: Key::of(notice.recipient),
            kind: notice.kind.as_str(),
            subject_id: Key(notice.subject),
            object_id: notice.object.map(Key),
            detail: notice.detail.as_deref(),
            actor_count: i64::from(notice.actor.is_some()),
            in_app,
            listed: in_app,
            position: notice.position.get(),
            read_at: None,
            created_at: At(notice.at),
            expires_at: At(notice.at.plus(NOTIFICATION_LIFE)),
        };
        on!(self.conn, |conn| diesel::insert_into(notifications::table).values(&row).execute(conn))
            .map(drop)
            .map_err(broken("insert a notification"))
    }

    pub(super) fn put_actor_of(
        &mut self,
        group: NotificationId,
        notice: &Notice,
        actor: UserId,
    ) -> Result<bool, StoreError> {
        use notification_actors as actors;
        let fail = broken("add an actor to a group");
        // Only groups of comments show actors by what they wrote.
        let is_comment = matches!(notice.kind, NotificationKind::Comment | NotificationKind::Reply);
        let source = notice.object.filter(|_| is_comment).map(Key);
        let latest = (actors::source_id.eq(source), actors::position.eq(notice.position.get()));
        let key = (Key::of(actor), Key::of(notice.recipient), Key::of(group));
        let row = (
            actors::actor_id.eq(key.0),
            actors::user_id.eq(key.1),
            actors::notification_id.eq(key.2),
            actors::source_id.eq(source),
            actors::position.eq(notice.position.get()),
        );
        let is_new = on!(self.conn, |conn| {
            diesel::insert_into(actors::table).values(row).on_conflict_do_nothing().execute(conn)
        })
        .map_err(&fail)?
            == 1;
        if !is_new {
            on!(self.conn, |conn| diesel::update(actors::table.find(key)).set(latest).execute(conn))
                .map_err(fail)?;
        }
        Ok(is_new)
    }

    pub(super) fn touch_notification(
        &mut self,
        group: NotificationId,
        notice: &Notice,
        actors: i64,
    ) -> Result<(), StoreError> {
        let values = (
            Key::of(group).into_sql::<Uid>(),
            notice.object.map(Key).into_sql::<Nullable<Uid>>(),
            notice.detail.as_deref().into_sql::<Nullable<Text>>(),
            notice.position.get().into_sql::<BigInt>(),
            actors.into_sql::<BigInt>(),
        );
        on!(self.conn, |conn| Numbered::new(TOUCH, values).execute(conn))
            .map(drop)
            .map_err(broken("record an event in a group"))
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
