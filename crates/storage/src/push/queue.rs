//! The queue of push messages.

use super::SubscriptionRow;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::schema::{push_broadcasts, push_deliveries, push_subscriptions, sessions};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use std::collections::HashMap;
use terrace_identity::{PushDelivery, PushSettlement};
use terrace_kernel::{StoreError, Timestamp, UserId, Uuid, num};

const TABLE: &str = "push_deliveries";

/// The columns of a message that is enqueued for subscriptions of live sessions.
const ENQUEUE: &str = "INSERT INTO push_deliveries \
        (subscription_id, group_id, user_id, due_at, expires_at, version, attempts, failures) \
    SELECT s.id, $1, s.user_id, $2, $3, 1, 0, 0 \
    FROM push_subscriptions s JOIN sessions ON sessions.id = s.session_id \
    WHERE sessions.ended_at IS NULL AND sessions.expires_at > $2 ";

/// Subscriptions (`s`) that a shared message about a notification (`$1`) goes to: all, but of a round those of the fans who had
/// joined it by then.
macro_rules! concerned {
    () => {
        "(NOT EXISTS (SELECT 1 FROM shared_notifications n WHERE n.id = $1 AND n.kind = 'trivia_soon') \
            OR EXISTS (SELECT 1 FROM shared_notifications n JOIN trivia_players j ON j.round_id = n.subject_id \
                WHERE n.id = $1 AND j.user_id = s.user_id AND j.joined_at <= n.created_at)) "
    };
}

/// The next subscriptions of a shared message. SQLite numbers parameters by their first appearance.
const PORTION: &str = concat!(
    "SELECT s.id FROM push_subscriptions s WHERE ",
    concerned!(),
    "AND s.id > $2 AND s.created_at <= $3 ORDER BY s.id LIMIT $4"
);

/// Enqueues a shared message for a portion.
const SPREAD: &str = concat!(
    "AND s.id > $4 AND s.id <= $5 AND s.created_at <= $6 AND ",
    concerned!(),
    "ORDER BY s.id ON CONFLICT (subscription_id, group_id) DO NOTHING"
);

/// A message that waits already is joined. One that was sent waits until the next may be sent.
const JOIN: &str = "ORDER BY s.id ON CONFLICT (subscription_id, group_id) DO UPDATE SET \
    version = push_deliveries.version + 1, expires_at = excluded.expires_at, \
    due_at = CASE WHEN push_deliveries.due_at IS NOT NULL THEN push_deliveries.due_at \
        WHEN push_deliveries.free_at > excluded.due_at THEN push_deliveries.free_at \
        ELSE excluded.due_at END";

/// Counts the rows that [`SWEEPS`] delete.
pub(crate) const EXPIRED_PUSHES: &str = "SELECT \
    (SELECT count(*) FROM push_deliveries WHERE expires_at < $1) \
    + (SELECT count(*) FROM push_broadcasts WHERE expires_at < $1) \
    + (SELECT count(*) FROM push_subscriptions s JOIN sessions ON sessions.id = s.session_id \
        WHERE sessions.expires_at < $1) AS count";

/// A subscription of a session that was ended is gone already.
const SWEEPS: [&str; 3] = [
    "DELETE FROM push_deliveries WHERE (subscription_id, group_id) IN \
        (SELECT subscription_id, group_id FROM push_deliveries WHERE expires_at < $1 LIMIT $2)",
    "DELETE FROM push_broadcasts WHERE group_id IN \
        (SELECT group_id FROM push_broadcasts WHERE expires_at < $1 LIMIT $2)",
    "DELETE FROM push_subscriptions WHERE id IN \
        (SELECT s.id FROM push_subscriptions s JOIN sessions ON sessions.id = s.session_id \
         WHERE sessions.expires_at < $1 LIMIT $2)",
];

/// A shared message: its notification, the last subscription that has it, and when it was made and expires.
type Broadcast = (Key, Option<Key>, At, At);

#[derive(QueryableByName)]
struct TakenRow {
    #[diesel(sql_type = Uid)]
    subscription_id: Key,
    #[diesel(sql_type = Uid)]
    group_id: Key,
    #[diesel(sql_type = Instant)]
    expires_at: At,
    #[diesel(sql_type = Integer)]
    version: i32,
    #[diesel(sql_type = Integer)]
    attempts: i32,
    #[diesel(sql_type = Integer)]
    failures: i32,
}

impl DieselTx<'_> {
    pub(super) fn enqueue_for_fan(
        &mut self,
        user: UserId,
        group: Uuid,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            Numbered::new(
                format!("{ENQUEUE}AND s.user_id = $4 {JOIN}"),
                (
                    Key(group).into_sql::<Uid>(),
                    At(now).into_sql::<Instant>(),
                    At(expires_at).into_sql::<Instant>(),
                    Key::of(user).into_sql::<Uid>(),
                ),
            )
            .execute(conn)
        })
        .map(drop)
        .map_err(broken("enqueue a push message"))
    }

    pub(super) fn spread_due_push(
        &mut self,
        now: Timestamp,
        next: Timestamp,
        limit: u32,
    ) -> Result<Option<u64>, StoreError> {
        let fail = broken("spread a shared push message");
        let due = push_broadcasts::table
            .filter(push_broadcasts::next_at.is_not_null())
            .filter(push_broadcasts::next_at.le(At(now)))
            .order((push_broadcasts::next_at, push_broadcasts::group_id))
            .select((
                push_broadcasts::group_id,
                push_broadcasts::after_id,
                push_broadcasts::created_at,
                push_broadcasts::expires_at,
            ))
            .limit(1);
        let found: Option<Broadcast> = match &mut self.conn {
            Conn::Pg(conn) => due.for_update().skip_locked().first(*conn).optional(),
            Conn::Sqlite(conn) => due.first(*conn).optional(),
        }
        .map_err(&fail)?;
        let Some((group, after, created_at, expires_at)) = found else { return Ok(None) };
        let mut portion: Vec<Key> = Vec::new();
        let after = after.unwrap_or(Key(Uuid::nil()));
        if !expires_at.0.is_over(now) {
            portion = on!(self.conn, |conn| {
                Numbered::<_, Uid>::typed(
                    PORTION,
                    (
                        group.into_sql::<Uid>(),
                        after.into_sql::<Uid>(),
                        created_at.into_sql::<Instant>(),
                        i64::from(limit).into_sql::<BigInt>(),
                    ),
                )
                .load(conn)
            })
            .map_err(&fail)?;
        }
        let mut enqueued = 0;
        if let Some(last) = portion.last() {
            let insert = format!("{ENQUEUE}{SPREAD}");
            enqueued = on!(self.conn, |conn| {
                Numbered::new(
                    insert,
                    (
                        group.into_sql::<Uid>(),
                        At(now).into_sql::<Instant>(),
                        expires_at.into_sql::<Instant>(),
                        after.into_sql::<Uid>(),
                        (*last).into_sql::<Uid>(),
                        created_at.into_sql::<Instant>(),
                    ),
                )
                .execute(conn)
            })
            .map_err(&fail)?;
        }
        let is_last = num::to_u32(portion.len()) < limit;
        let progress = (
            push_broadcasts::after_id.eq(portion.last().copied().or(Some(after))),
            push_broadcasts::next_at.eq((!is_last).then_some(At(next))),
        );
        on!(self.conn, |conn| {
            diesel::update(push_broadcasts::table.find(group)).set(progress).execute(conn)
        })
        .map_err(fail)?;
        Ok(Some(num::to_u64(enqueued)))
    }

    pub(super) fn take_due_pushes(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PushDelivery>, StoreError> {
        let fail = broken("take push messages to send");
        let skip_locked = match self.conn {
            Conn::Pg(_) => " FOR UPDATE SKIP LOCKED",
            // It has a single writer.
            Conn::Sqlite(_) => "",
        };
        let take = format!(
            "WITH due AS MATERIALIZED (SELECT subscription_id, group_id FROM push_deliveries \
                WHERE due_at IS NOT NULL AND due_at <= $1 \
                ORDER BY due_at, subscription_id, group_id LIMIT $2{skip_locked}) \
             UPDATE push_deliveries SET due_at = $3, attempts = attempts + 1 \
             WHERE (subscription_id, group_id) IN (SELECT subscription_id, group_id FROM due) \
             RETURNING subscription_id, group_id, expires_at, version, attempts, failures"
        );
        let mut taken: Vec<TakenRow> = on!(self.conn, |conn| {
            Numbered::new(
                take,
                (
                    At(now).into_sql::<Instant>(),
                    i64::from(limit).into_sql::<BigInt>(),
                    At(until).into_sql::<Instant>(),
                ),
            )
            .load(conn)
        })
        .map_err(&fail)?;
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Key> = taken.iter().map(|row| row.subscription_id).collect();
        let rows: Vec<SubscriptionRow> = on!(self.conn, |conn| {
            push_subscriptions::table
                .inner_join(sessions::table.on(sessions::id.eq(push_subscriptions::session_id)))
                .filter(push_subscriptions::id.eq_any(&ids))
                .filter(sessions::ended_at.is_null())
                .filter(sessions::expires_at.gt(At(now)))
                .select(SubscriptionRow::as_select())
                .load(conn)
        })
        .map_err(&fail)?;
        let mut live = HashMap::with_capacity(rows.len());
        for row in rows {
            live.insert(row.id, row.into_subscription()?);
        }
        let dead: Vec<Key> = ids.into_iter().filter(|id| !live.contains_key(id)).collect();
        if !dead.is_empty() {
            let dead = push_subscriptions::table.filter(push_subscriptions::id.eq_any(dead));
            on!(self.conn, |conn| diesel::delete(dead).execute(conn)).map_err(fail)?;
        }
        taken.sort_by_key(|row| (row.subscription_id, row.group_id));
        let delivery = |row: TakenRow| {
            let subscription = live.get(&row.subscription_id)?.clone();
            Some(delivery(&row, subscription))
        };
        taken.into_iter().filter_map(delivery).collect()
    }

    pub(super) fn settle_taken_push(
        &mut self,
        delivery: &PushDelivery,
        settlement: PushSettlement,
    ) -> Result<bool, StoreError> {
        let fail = broken("settle a push message");
        let attempt = push_deliveries::table
            .find((Key::of(delivery.id), Key(delivery.group)))
            .filter(push_deliveries::attempts.eq(num::to_i32(delivery.attempt)));
        let version = num::to_i32(delivery.version);
        let same = attempt.filter(push_deliveries::version.eq(version));
        let rows = match settlement {
            PushSettlement::Sent(free_at) => {
                let done = (
                    push_deliveries::due_at.eq(None::<At>),
                    push_deliveries::free_at.eq(Some(At(free_at))),
                    push_deliveries::expires_at.eq(At(free_at)),
                    push_deliveries::failures.eq(0),
                );
                // What was enqueued during the attempt may be of later news.
                let again = (
                    push_deliveries::due_at.eq(Some(At(free_at))),
                    push_deliveries::free_at.eq(Some(At(free_at))),
                    push_deliveries::failures.eq(0),
                );
                let newer = attempt.filter(push_deliveries::version.gt(version));
                match on!(self.conn, |conn| diesel::update(same).set(done).execute(conn)).map_err(&fail)? {
                    0 => on!(self.conn, |conn| diesel::update(newer).set(again).execute(conn)),
                    rows => Ok(rows),
                }
            }
            PushSettlement::Dropped => {
                let done = push_deliveries::due_at.eq(None::<At>);
                on!(self.conn, |conn| diesel::update(same).set(done).execute(conn))
            }
            PushSettlement::Held(due_at) => {
                let later = push_deliveries::due_at.eq(Some(At(due_at)));
                on!(self.conn, |conn| diesel::update(attempt).set(later).execute(conn))
            }
            PushSettlement::Failed(due_at) => {
                let later = (
                    push_deliveries::due_at.eq(Some(At(due_at))),
                    push_deliveries::failures.eq(push_deliveries::failures + 1),
                );
                on!(self.conn, |conn| diesel::update(attempt).set(later).execute(conn))
            }
        };
        rows.map(|rows| rows > 0).map_err(fail)
    }

    pub(super) fn sweep_expired_push(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let mut removed = 0;
        for sweep in SWEEPS {
            let left = limit.saturating_sub(num::to_u32(removed));
            if left > 0 {
                removed += self.sweep("sweep push messages", sweep, before, left)?;
            }
        }
        Ok(removed)
    }
}

fn delivery(
    row: &TakenRow,
    subscription: terrace_identity::NewPushSubscription,
) -> Result<PushDelivery, StoreError> {
    Ok(PushDelivery {
        id: row.subscription_id.id(),
        subscription,
        group: row.group_id.0,
        attempt: count(TABLE, "attempts", row.attempts)?,
        failures: count(TABLE, "failures", row.failures)?,
        version: count(TABLE, "version", row.version)?,
        expires_at: row.expires_at.0,
    })
}

#[cfg(test)]
mod tests {
    use crate::harness::{Database, at, plans_of, uuid};
    use terrace_identity::{PushQueue, PushRead, PushWrite};
    use terrace_kernel::UserId;

    /// What is due is found among the messages that were sent, whatever their number.
    #[test]
    fn messages_that_are_due_are_found_by_an_index_of_their_own() {
        let mut database = Database::sqlite();
        let plans = plans_of(&mut database, |tx| {
            let fan = UserId::from(uuid(1));
            tx.is_push_due(at(0)).unwrap();
            tx.take_pushes(at(0), at(1), 8).unwrap();
            tx.spread_push(at(0), at(1), 8).unwrap();
            tx.enqueue_push(fan, uuid(2), at(0), at(1)).unwrap();
            tx.push_subscriptions(fan).unwrap();
            tx.erase_push(fan).unwrap();
        });
        for plan in plans {
            let scans = plan.split(" | ").filter(|step| step.starts_with("SCAN push_"));
            let found: Vec<_> = scans.filter(|step| !step.contains("INDEX push_")).collect();
            assert!(found.is_empty(), "{found:?} in {plan}");
        }
    }
}
