//! Removal of expired rows.

use crate::conn::on;
use crate::error::broken;
use crate::media::{EXPIRED_UPLOADS, UNUSED_PICTURES};
use crate::notifications::EXPIRED_NOTIFICATIONS;
use crate::ops::{OLD_NOTICES, OLD_RUNS, abandoned};
use crate::push::EXPIRED_PUSHES;
use crate::room::OLD_REPORTS;
use crate::rows::CountRow;
use crate::schema::{event_consumers, events};
use crate::tx::DieselTx;
use crate::types::{At, Instant};
use diesel::dsl::min;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use terrace_kernel::{StoreError, Timestamp, num};
use terrace_store::{Retention, SweepRead, SweepWrite};

const OLDEST_KEYS: &str = "DELETE FROM idempotency_keys WHERE (scope, idempotency_key) IN \
    (SELECT scope, idempotency_key FROM idempotency_keys WHERE created_at <= $1 \
     ORDER BY created_at LIMIT $2)";

/// The tokens and sessions that `remove_ended_sessions` deletes.
const ENDED_SESSIONS: &str = "SELECT \
    (SELECT COUNT(*) FROM tokens WHERE expires_at < $1 OR session_id IN \
        (SELECT id FROM sessions WHERE ended_at < $1 OR expires_at < $1)) \
    + (SELECT COUNT(*) FROM sessions WHERE ended_at < $1 OR expires_at < $1) AS count";

/// The beginning of the log, up to the first event that must be kept.
const OLDEST_EVENTS: &str = "SELECT COUNT(*) AS count FROM events \
    WHERE position <= COALESCE((SELECT MIN(position) FROM event_consumers), 9223372036854775807) \
    AND position < COALESCE((SELECT MIN(position) FROM events WHERE created_at >= $1), 9223372036854775807)";

const OLD_KEYS: &str = "SELECT COUNT(*) AS count FROM idempotency_keys WHERE created_at <= $1";

const DELIVERED: &str =
    "SELECT COUNT(*) AS count FROM mint_messages WHERE state = 'delivered' AND ended_at < $1";

impl SweepRead for DieselTx<'_> {
    fn past_its_time(&mut self, what: Retention, before: Timestamp) -> Result<u64, StoreError> {
        let counted = |rows: &str| format!("SELECT COUNT(*) AS count FROM {rows}");
        let statement = match what {
            Retention::IdempotencyKeys => OLD_KEYS.to_owned(),
            Retention::Sessions => ENDED_SESSIONS.to_owned(),
            Retention::Events => OLDEST_EVENTS.to_owned(),
            Retention::Minting => DELIVERED.to_owned(),
            Retention::Notices => counted(&format!("payment_notices WHERE {OLD_NOTICES}")),
            Retention::Imports => abandoned(),
            Retention::Runs => counted(&format!("maintenance_runs r WHERE {OLD_RUNS}")),
            Retention::Reports => counted(OLD_REPORTS),
            Retention::Carts => counted("carts WHERE updated_at < $1"),
            Retention::Notifications => EXPIRED_NOTIFICATIONS.to_owned(),
            Retention::Push => EXPIRED_PUSHES.to_owned(),
            Retention::Uploads => EXPIRED_UPLOADS.to_owned(),
            Retention::Pictures => UNUSED_PICTURES.to_owned(),
        };
        let row: CountRow = on!(self.conn, |conn| {
            diesel::sql_query(statement).bind::<Instant, _>(At(before)).get_result(conn)
        })
        .map_err(broken("count what is past its time"))?;
        Ok(num::to_u64(row.count))
    }
}

impl DieselTx<'_> {
    /// Runs a statement whose parameters are an instant (`$1`) and a maximum number of rows (`$2`); returns the number
    /// of rows.
    pub(crate) fn sweep(
        &mut self,
        what: &'static str,
        sql: &str,
        at: Timestamp,
        limit: u32,
    ) -> Result<u64, StoreError> {
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Instant, _>(At(at))
                .bind::<BigInt, _>(i64::from(limit))
                .execute(conn)
        })
        .map(num::to_u64)
        .map_err(broken(what))
    }
}

impl SweepWrite for DieselTx<'_> {
    fn sweep_idempotency(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.sweep("sweep idempotency keys", OLDEST_KEYS, before, limit)
    }

    /// Removes the beginning of the log up to the first event that must be kept, never an event from the middle: a
    /// reader uses the oldest remaining position to detect whether it missed events. Times follow positions only
    /// approximately, because a command that waits commits later than the time at which it was submitted.
    fn sweep_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let slowest: Option<i64> = on!(self.conn, |conn| {
            event_consumers::table.select(min(event_consumers::position)).first(conn)
        })
        .map_err(broken("find the slowest consumer"))?;
        let oldest: Vec<(i64, At)> = on!(self.conn, |conn| {
            events::table
                .filter(events::position.le(slowest.unwrap_or(i64::MAX)))
                .order(events::position)
                .limit(i64::from(limit))
                .select((events::position, events::created_at))
                .load(conn)
        })
        .map_err(broken("find the oldest events"))?;
        let Some((last, _)) = oldest.into_iter().take_while(|(_, at)| at.0 < before).last() else {
            return Ok(0);
        };
        on!(self.conn, |conn| {
            diesel::delete(events::table.filter(events::position.le(last))).execute(conn)
        })
        .map(num::to_u64)
        .map_err(broken("sweep events"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, event, on_each_database, publish};
    use terrace_kernel::{EventLog, Position};
    use terrace_store::{ConsumerWrite, EventRead};

    on_each_database! {
        events_go_oldest_first_and_never_before_their_consumers_had_them,
        the_log_loses_its_beginning_only_and_keeps_its_head,
    }

    fn left(tx: &mut DieselTx<'_>) -> Vec<i64> {
        let events = tx.events_after(Position::START, 100).unwrap();
        events.iter().map(|event| event.position.get()).collect()
    }

    fn events_go_oldest_first_and_never_before_their_consumers_had_them(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        for micros in 1..=6 {
            tx.append(&event(1), at(micros)).unwrap();
        }
        publish(tx);
        tx.set_consumer_position("fast", Position::new(6).unwrap()).unwrap();
        tx.set_consumer_position("slow", Position::new(3).unwrap()).unwrap();
        assert_eq!(tx.past_its_time(Retention::Events, at(1)).unwrap(), 0);
        assert_eq!(tx.sweep_events(at(1), 10).unwrap(), 0);
        assert_eq!(tx.past_its_time(Retention::Events, at(6)).unwrap(), 3);
        assert_eq!(tx.sweep_events(at(6), 2).unwrap(), 2);
        assert_eq!(left(tx), [3, 4, 5, 6]);
        assert_eq!(tx.sweep_events(at(6), 10).unwrap(), 1);
        assert_eq!(left(tx), [4, 5, 6]);
        tx.set_consumer_position("slow", Position::new(6).unwrap()).unwrap();
        assert_eq!(tx.sweep_events(at(6), 10).unwrap(), 2);
        assert_eq!(left(tx), [6]);
    }

    fn the_log_loses_its_beginning_only_and_keeps_its_head(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        for micros in [1, 9, 2] {
            tx.append(&event(1), at(micros)).unwrap();
        }
        publish(tx);
        assert_eq!(tx.past_its_time(Retention::Events, at(5)).unwrap(), 1);
        assert_eq!(tx.sweep_events(at(5), 10).unwrap(), 1);
        assert_eq!(left(tx), [2, 3]);
        assert_eq!(tx.sweep_events(at(10), 10).unwrap(), 2);
        assert_eq!(tx.head().unwrap(), Position::new(3).unwrap());
        tx.append(&event(2), at(11)).unwrap();
        publish(tx);
        assert_eq!(left(tx), [4]);
    }
}
