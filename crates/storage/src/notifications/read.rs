//! Reads inboxes. A page is one statement, whatever the size of its groups.

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::{corrupt, named, overfull};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use terrace_kernel::{Limit, Position, StoreError, TimeKey, Timestamp, UserId, Uuid};
use terrace_social::notifications::{
    Notification, NotificationId, NotificationKind, NotificationRead, OwnNotification, Preferences,
};

/// Whether a fan (`$1`) sees a shared row (`s`) of this kind: one about a round if the fan had joined it by then.
macro_rules! concerns {
    () => {
        "(s.kind <> 'trivia_soon' OR EXISTS (\
             SELECT 1 FROM trivia_players AS j JOIN trivia_rounds AS t ON t.id = j.round_id \
             WHERE j.round_id = s.subject_id AND j.user_id = $1 AND j.joined_at <= s.created_at AND NOT t.is_cancelled))"
    };
}

/// The shared rows that a fan (`$1`) sees.
macro_rules! shared {
    () => {
        concat!(
            "shared_notifications AS s JOIN users AS u ON u.id = $1 \
             LEFT JOIN shared_notification_reads AS r ON r.user_id = $1 AND r.notification_id = s.id \
             WHERE s.created_at > u.created_at AND ",
            concerns!(),
            " AND NOT EXISTS (SELECT 1 FROM notification_preferences AS p \
                WHERE p.user_id = $1 AND p.kind = s.kind AND NOT p.in_app)"
        )
    };
}

const SHARED: &str = shared!();

/// The number of unread notifications of a fan (`$1`), as an expression.
pub(crate) const UNREAD: &str = concat!(
    "CAST((SELECT COUNT(*) FROM ",
    shared!(),
    " AND r.read_at IS NULL) + COALESCE((SELECT unread FROM notification_inboxes WHERE user_id = $1), 0) AS bigint)"
);

/// The actor of a group that is shown in the place `offset`, from 0. One whose newest comment is gone is not shown.
///
/// The conditions are scalar subqueries: PostgreSQL makes a join of `EXISTS`, and one that begins with the users reads
/// every actor of the group for each of them.
fn actor(offset: u8) -> String {
    format!(
        "(SELECT a.actor_id FROM notification_actors AS a WHERE a.notification_id = n.id \
         AND (SELECT u.status FROM users AS u WHERE u.id = a.actor_id) = 'active' \
         AND (a.source_id IS NULL OR (SELECT c.id FROM comments AS c WHERE c.id = a.source_id) IS NOT NULL) \
         AND (SELECT b.blocked_id FROM blocks AS b \
              WHERE b.blocker_id = n.user_id AND b.blocked_id = a.actor_id) IS NULL \
         AND (SELECT b.blocked_id FROM blocks AS b \
              WHERE b.blocker_id = a.actor_id AND b.blocked_id = n.user_id) IS NULL \
         ORDER BY a.position DESC, a.actor_id LIMIT 1 OFFSET {offset})"
    )
}

fn groups(condition: &str) -> String {
    let [first, second, third] = [0, 1, 2].map(actor);
    format!(
        "SELECT n.id, n.kind, n.subject_id, n.object_id, n.detail, n.actor_count, n.position, n.read_at, \
         n.created_at, {first} AS first, {second} AS second, {third} AS third \
         FROM notifications AS n WHERE n.user_id = $1 AND {condition}"
    )
}

/// The rows after a key, which is `$2` and `$3`.
fn after(table: &str, rows: i64) -> String {
    format!(
        "{table}.created_at <= $2 AND ({table}.created_at < $2 OR {table}.id < $3) \
         ORDER BY {table}.created_at DESC, {table}.id DESC LIMIT {rows}"
    )
}

/// The key of a page; the first one starts before all rows.
fn start(after: Option<TimeKey>) -> (At, Key) {
    after.map_or((At(Timestamp::from_micros(i64::MAX)), Key(Uuid::max())), |key| (At(key.at), Key(key.id)))
}

#[derive(QueryableByName)]
struct GroupRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Uid)]
    subject_id: Key,
    #[diesel(sql_type = Nullable<Uid>)]
    object_id: Option<Key>,
    #[diesel(sql_type = Nullable<Text>)]
    detail: Option<String>,
    #[diesel(sql_type = BigInt)]
    actor_count: i64,
    #[diesel(sql_type = BigInt)]
    position: i64,
    #[diesel(sql_type = Nullable<Instant>)]
    read_at: Option<At>,
    #[diesel(sql_type = Instant)]
    created_at: At,
    #[diesel(sql_type = Nullable<Uid>)]
    first: Option<Key>,
    #[diesel(sql_type = Nullable<Uid>)]
    second: Option<Key>,
    #[diesel(sql_type = Nullable<Uid>)]
    third: Option<Key>,
}

fn position(table: &'static str, stored: i64) -> Result<Position, StoreError> {
    Position::new(stored).ok_or_else(|| corrupt(table, "position", &stored))
}

impl GroupRow {
    fn into_notification(self) -> Result<Notification, StoreError> {
        let actors = [self.first, self.second, self.third].into_iter().flatten();
        Ok(Notification {
            id: self.id.id(),
            kind: named::<NotificationKind>("notifications", "kind", &self.kind)?,
            subject: self.subject_id.0,
            object: self.object_id.map(|key| key.0),
            detail: self.detail,
            actors: actors.map(Key::id).collect(),
            actor_count: self.actor_count,
            read_at: self.read_at.map(|at| at.0),
            created_at: self.created_at.0,
            position: position("notifications", self.position)?,
        })
    }
}

#[derive(QueryableByName)]
struct SharedRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Uid)]
    subject_id: Key,
    #[diesel(sql_type = Text)]
    detail: String,
    #[diesel(sql_type = BigInt)]
    position: i64,
    #[diesel(sql_type = Nullable<Instant>)]
    read_at: Option<At>,
    #[diesel(sql_type = Instant)]
    created_at: At,
}

impl SharedRow {
    fn into_notification(self) -> Result<Notification, StoreError> {
        Ok(Notification {
            id: self.id.id(),
            kind: named::<NotificationKind>("shared_notifications", "kind", &self.kind)?,
            subject: self.subject_id.0,
            object: None,
            detail: Some(self.detail),
            actors: Vec::new(),
            actor_count: 0,
            read_at: self.read_at.map(|at| at.0),
            created_at: self.created_at.0,
            position: position("shared_notifications", self.position)?,
        })
    }
}

impl DieselTx<'_> {
    fn page_of_groups(
        &mut self,
        user: UserId,
        sql: String,
        key: Option<TimeKey>,
    ) -> Result<Vec<Notification>, StoreError> {
        let (at, id) = start(key);
        let rows: Vec<GroupRow> = on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (Key::of(user).into_sql::<Uid>(), at.into_sql::<Instant>(), id.into_sql::<Uid>()),
            )
            .load(conn)
        })
        .map_err(broken("read a page of notifications"))?;
        rows.into_iter().map(GroupRow::into_notification).collect()
    }
}

impl NotificationRead for DieselTx<'_> {
    fn unread_notifications(&mut self, user: UserId) -> Result<i64, StoreError> {
        let sql = format!("SELECT {UNREAD} AS unread");
        on!(self.conn, |conn| Numbered::<_, BigInt>::typed(sql, (Key::of(user).into_sql::<Uid>(),))
            .get_result(conn))
        .map_err(broken("count unread notifications"))
    }

    fn inbox(
        &mut self,
        user: UserId,
        limit: Limit,
        key: Option<TimeKey>,
    ) -> Result<Vec<Notification>, StoreError> {
        let sql = groups(&format!("n.listed AND {}", after("n", overfull(limit))));
        self.page_of_groups(user, sql, key)
    }

    fn shared_inbox(
        &mut self,
        user: UserId,
        limit: Limit,
        key: Option<TimeKey>,
    ) -> Result<Vec<Notification>, StoreError> {
        let (at, id) = start(key);
        let sql = format!(
            "SELECT s.id, s.kind, s.subject_id, s.detail, s.position, r.read_at, s.created_at \
             FROM {SHARED} AND {}",
            after("s", overfull(limit))
        );
        let rows: Vec<SharedRow> = on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (Key::of(user).into_sql::<Uid>(), at.into_sql::<Instant>(), id.into_sql::<Uid>()),
            )
            .load(conn)
        })
        .map_err(broken("read a page of shared notifications"))?;
        rows.into_iter().map(SharedRow::into_notification).collect()
    }

    fn notification(&mut self, user: UserId, id: NotificationId) -> Result<Option<Notification>, StoreError> {
        let row: Option<GroupRow> = on!(self.conn, |conn| {
            Numbered::new(
                groups("n.listed AND n.id = $2"),
                (Key::of(user).into_sql::<Uid>(), Key::of(id).into_sql::<Uid>()),
            )
            .get_result(conn)
            .optional()
        })
        .map_err(broken("read a notification"))?;
        row.map(GroupRow::into_notification).transpose()
    }

    fn pushed_notification(
        &mut self,
        user: UserId,
        id: NotificationId,
    ) -> Result<Option<Notification>, StoreError> {
        const SHARED: &str = concat!(
            "SELECT s.id, s.kind, s.subject_id, s.detail, s.position, r.read_at, s.created_at \
             FROM shared_notifications AS s JOIN users AS u ON u.id = $1 \
             LEFT JOIN shared_notification_reads AS r ON r.user_id = $1 AND r.notification_id = s.id \
             WHERE s.created_at > u.created_at AND s.id = $2 AND ",
            concerns!()
        );
        let fail = broken("read a notification to be pushed");
        let own: Option<GroupRow> = on!(self.conn, |conn| {
            Numbered::new(
                groups("(n.listed OR NOT n.in_app) AND n.id = $2"),
                (Key::of(user).into_sql::<Uid>(), Key::of(id).into_sql::<Uid>()),
            )
            .get_result(conn)
            .optional()
        })
        .map_err(&fail)?;
        if let Some(own) = own {
            return own.into_notification().map(Some);
        }
        let shared: Option<SharedRow> = on!(self.conn, |conn| {
            Numbered::new(SHARED, (Key::of(user).into_sql::<Uid>(), Key::of(id).into_sql::<Uid>()))
                .get_result(conn)
                .optional()
        })
        .map_err(fail)?;
        shared.map(SharedRow::into_notification).transpose()
    }

    fn own_notifications(
        &mut self,
        user: UserId,
        limit: u32,
        key: Option<TimeKey>,
    ) -> Result<Vec<OwnNotification>, StoreError> {
        self.page_of_groups(user, groups(&after("n", i64::from(limit))), key)
    }

    fn notification_preferences(&mut self, user: UserId) -> Result<Preferences, StoreError> {
        self.preferences_of(user)
    }
}
