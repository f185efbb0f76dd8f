//! Subscriptions at push services, and the queue of their messages.

mod queue;
pub(crate) mod schema;

pub(crate) use queue::EXPIRED_PUSHES;

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::{corrupt, named};
use crate::schema::{push_broadcasts, push_deliveries, push_subscriptions, sessions};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use terrace_identity::{
    KeptPushSubscription, NewPushSubscription, PushDelivery, PushEndpoint, PushKeys, PushQueue, PushRead,
    PushSettlement, PushStanding, PushSubscriptionId, PushWrite,
};
use terrace_kernel::{SessionId, StoreError, Timestamp, UserId, Uuid, num};

/// A subscription.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = push_subscriptions)]
struct SubscriptionRow {
    id: Key,
    session_id: Key,
    user_id: Key,
    endpoint: String,
    p256dh: Vec<u8>,
    auth: Vec<u8>,
    key_id: String,
    created_at: At,
}

fn fixed<const N: usize>(column: &'static str, bytes: Vec<u8>) -> Result<[u8; N], StoreError> {
    let length = bytes.len();
    bytes.try_into().map_err(|_| corrupt("push_subscriptions", column, &format!("{length} bytes")))
}

impl SubscriptionRow {
    fn into_subscription(self) -> Result<NewPushSubscription, StoreError> {
        Ok(NewPushSubscription {
            session: self.session_id.id(),
            user: self.user_id.id(),
            endpoint: named::<PushEndpoint>("push_subscriptions", "endpoint", &self.endpoint)?,
            keys: PushKeys { p256dh: fixed("p256dh", self.p256dh)?, auth: fixed("auth", self.auth)? },
            key_id: self.key_id,
        })
    }
}

#[derive(QueryableByName)]
struct StandingRow {
    #[diesel(sql_type = BigInt)]
    subscriptions: i64,
    #[diesel(sql_type = BigInt)]
    due: i64,
    #[diesel(sql_type = Nullable<Instant>)]
    oldest: Option<At>,
}

impl PushRead for DieselTx<'_> {
    fn push_subscriptions(&mut self, user: UserId) -> Result<Vec<KeptPushSubscription>, StoreError> {
        let rows: Vec<SubscriptionRow> = on!(self.conn, |conn| {
            push_subscriptions::table
                .filter(push_subscriptions::user_id.eq(Key::of(user)))
                .order(push_subscriptions::id)
                .select(SubscriptionRow::as_select())
                .load(conn)
        })
        .map_err(broken("list push subscriptions"))?;
        let kept = |row: SubscriptionRow| {
            let created_at = row.created_at.0;
            let subscription = row.into_subscription()?;
            let host = subscription.endpoint.host().to_owned();
            Ok(KeptPushSubscription { host, session: subscription.session, created_at })
        };
        rows.into_iter().map(kept).collect()
    }

    fn is_push_due(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let fail = broken("look for push messages to send");
        let due = push_deliveries::table
            .filter(push_deliveries::due_at.is_not_null())
            .filter(push_deliveries::due_at.le(At(now)));
        let shared = push_broadcasts::table
            .filter(push_broadcasts::next_at.is_not_null())
            .filter(push_broadcasts::next_at.le(At(now)));
        on!(self.conn, |conn| diesel::select(exists(due).or(exists(shared))).get_result(conn)).map_err(fail)
    }

    fn push_standing(&mut self, now: Timestamp) -> Result<PushStanding, StoreError> {
        const COUNT: &str = "SELECT (SELECT count(*) FROM push_subscriptions) AS subscriptions, \
                count(*) AS due, min(due_at) AS oldest FROM push_deliveries \
             WHERE due_at IS NOT NULL AND due_at <= $1";
        let row: StandingRow = on!(self.conn, |conn| Numbered::new(COUNT, (At(now).into_sql::<Instant>(),))
            .get_result(conn))
        .map_err(broken("count push messages"))?;
        Ok(PushStanding {
            subscriptions: num::to_u64(row.subscriptions),
            due: num::to_u64(row.due),
            oldest: row.oldest.map(|at| at.0),
        })
    }
}

impl PushQueue for DieselTx<'_> {
    fn enqueue_push(
        &mut self,
        user: UserId,
        group: Uuid,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.enqueue_for_fan(user, group, now, expires_at)
    }

    fn enqueue_shared_push(
        &mut self,
        group: Uuid,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = (
            push_broadcasts::group_id.eq(Key(group)),
            push_broadcasts::next_at.eq(Some(At(now))),
            push_broadcasts::created_at.eq(At(now)),
            push_broadcasts::expires_at.eq(At(expires_at)),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(push_broadcasts::table)
                .values(&row)
                .on_conflict(push_broadcasts::group_id)
                .do_nothing()
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("enqueue a shared push message"))
    }
}

impl PushWrite for DieselTx<'_> {
    fn put_push_subscription(
        &mut self,
        id: PushSubscriptionId,
        subscription: &NewPushSubscription,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let fail = broken("store a push subscription");
        let session = Key::of(subscription.session);
        let live = sessions::table
            .find(session)
            .filter(sessions::user_id.eq(Key::of(subscription.user)))
            .filter(sessions::ended_at.is_null())
            .filter(sessions::expires_at.gt(At(now)))
            .select(sessions::id);
        // Locked, so that the session does not end meanwhile and has one subscription in the end.
        let found: Option<Key> = match &mut self.conn {
            Conn::Pg(conn) => live.for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => live.first(*conn).optional(),
        }
        .map_err(&fail)?;
        if found.is_none() {
            return Ok(false);
        }
        let endpoint = subscription.endpoint.as_str();
        let others = push_subscriptions::table.filter(
            (push_subscriptions::session_id.eq(session).and(push_subscriptions::endpoint.ne(endpoint))).or(
                push_subscriptions::endpoint.eq(endpoint).and(push_subscriptions::session_id.ne(session)),
            ),
        );
        on!(self.conn, |conn| diesel::delete(others).execute(conn)).map_err(&fail)?;
        let keys = &subscription.keys;
        let (p256dh, auth, key_id) = (keys.p256dh.to_vec(), keys.auth.to_vec(), subscription.key_id.clone());
        let own = push_subscriptions::table.filter(push_subscriptions::session_id.eq(session));
        let changes = (
            push_subscriptions::p256dh.eq(&p256dh),
            push_subscriptions::auth.eq(&auth),
            push_subscriptions::key_id.eq(&key_id),
        );
        let rows = on!(self.conn, |conn| diesel::update(own).set(changes).execute(conn)).map_err(&fail)?;
        if rows > 0 {
            return Ok(true);
        }
        let row = SubscriptionRow {
            id: Key::of(id),
            session_id: session,
            user_id: Key::of(subscription.user),
            endpoint: endpoint.to_owned(),
            p256dh,
            auth,
            key_id,
            created_at: At(now),
        };
        let stored = on!(self.conn, |conn| {
            diesel::insert_into(push_subscriptions::table)
                .values(&row)
                .on_conflict(push_subscriptions::endpoint)
                .do_nothing()
                .execute(conn)
        })
        .map_err(fail)?;
        if stored == 0 {
            // Another session stored the same endpoint at the same time: the transaction is repeated.
            return Err(StoreError::Contended("a push endpoint was stored twice at once".to_owned()));
        }
        Ok(true)
    }

    fn delete_push_subscription(&mut self, session: SessionId) -> Result<bool, StoreError> {
        let own = push_subscriptions::table.filter(push_subscriptions::session_id.eq(Key::of(session)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn))
            .map(|rows| rows > 0)
            .map_err(broken("delete a push subscription"))
    }

    fn drop_push_subscription(
        &mut self,
        id: PushSubscriptionId,
        endpoint: &PushEndpoint,
    ) -> Result<bool, StoreError> {
        let same = push_subscriptions::table
            .find(Key::of(id))
            .filter(push_subscriptions::endpoint.eq(endpoint.as_str()));
        on!(self.conn, |conn| diesel::delete(same).execute(conn))
            .map(|rows| rows > 0)
            .map_err(broken("drop a push subscription"))
    }

    fn spread_push(
        &mut self,
        now: Timestamp,
        next: Timestamp,
        limit: u32,
    ) -> Result<Option<u64>, StoreError> {
        self.spread_due_push(now, next, limit)
    }

    fn take_pushes(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PushDelivery>, StoreError> {
        self.take_due_pushes(now, until, limit)
    }

    fn settle_push(
        &mut self,
        delivery: &PushDelivery,
        settlement: PushSettlement,
    ) -> Result<bool, StoreError> {
        self.settle_taken_push(delivery, settlement)
    }

    fn erase_push(&mut self, user: UserId) -> Result<u64, StoreError> {
        let own = push_subscriptions::table.filter(push_subscriptions::user_id.eq(Key::of(user)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn))
            .map(num::to_u64)
            .map_err(broken("delete the push subscriptions of an account"))
    }

    fn sweep_push(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.sweep_expired_push(before, limit)
    }
}
