//! The event log and its durable consumers.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional reference")]

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, column};
use crate::numbered::Numbered;
use crate::rows::{corrupt, named};
use crate::schema::{event_consumers, event_head, events, outbox};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use terrace_kernel::{Appended, Event, EventKind, EventLog, NewEvent, Position, StoreError, Timestamp};
use terrace_store::{ConsumerWrite, EventRead};

diesel::table! {
    use diesel::sql_types::{BigInt, Text};

    /// SQLite's own record of the highest key that an `AUTOINCREMENT` table has ever had.
    sqlite_sequence (name) {
        name -> Text,
        seq -> BigInt,
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = events)]
struct EventRow {
    position: i64,
    topic: String,
    kind: String,
    actor_id: Option<Key>,
    team_id: Option<Key>,
    subject_id: Key,
    object_id: Option<Key>,
    created_at: At,
    detail: Option<String>,
}

impl EventRow {
    fn into_event(self) -> Result<Event, StoreError> {
        let what = NewEvent {
            topic: named("events", "topic", &self.topic)?,
            kind: named("events", "kind", &self.kind)?,
            actor: self.actor_id.map(Key::id),
            team: self.team_id.map(Key::id),
            subject: self.subject_id.0,
            object: self.object_id.map(|key| key.0),
        };
        let detail = self.detail.map(String::into_boxed_str);
        Ok(Event { position: position("events", self.position)?, at: self.created_at.0, what, detail })
    }
}

/// A row of `events` or `outbox`. On SQLite, which has a single writer, events are inserted directly into the public
/// log; on PostgreSQL they go through the outbox.
#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
struct NewEventRow<'a> {
    topic: &'static str,
    kind: &'static str,
    actor_id: Option<Key>,
    team_id: Option<Key>,
    subject_id: Key,
    object_id: Option<Key>,
    created_at: At,
    detail: Option<&'a str>,
}

impl<'a> NewEventRow<'a> {
    fn new(event: &NewEvent, detail: Option<&'a str>, at: Timestamp) -> Self {
        Self {
            topic: event.topic.as_str(),
            kind: event.kind.as_str(),
            actor_id: event.actor.map(Key::of),
            team_id: event.team.map(Key::of),
            subject_id: Key(event.subject),
            object_id: event.object.map(Key),
            created_at: At(at),
            detail,
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = outbox, treat_none_as_default_value = false)]
struct OutboxRow<'a> {
    topic: &'static str,
    kind: &'static str,
    actor_id: Option<Key>,
    team_id: Option<Key>,
    subject_id: Key,
    object_id: Option<Key>,
    created_at: At,
    detail: Option<&'a str>,
}

impl<'a> OutboxRow<'a> {
    fn new(event: &NewEvent, detail: Option<&'a str>, at: Timestamp) -> Self {
        Self {
            topic: event.topic.as_str(),
            kind: event.kind.as_str(),
            actor_id: event.actor.map(Key::of),
            team_id: event.team.map(Key::of),
            subject_id: Key(event.subject),
            object_id: event.object.map(Key),
            created_at: At(at),
            detail,
        }
    }
}

/// Appends events in the order of the arrays.
const APPEND: &str = "INSERT INTO outbox (topic, kind, actor_id, team_id, subject_id, object_id, created_at, detail) \
    SELECT topic, kind, actor_id, team_id, subject_id, object_id, created_at, detail FROM unnest(";
const APPEND_END: &str = ") WITH ORDINALITY AS given (topic, kind, actor_id, team_id, subject_id, object_id, created_at, \
    detail, place) ORDER BY place";

const OFFSET_AND_HEAD_IN_PG: &str = "SELECT (SELECT position FROM event_consumers WHERE name = $1), \
    (SELECT position FROM event_head)";
const OFFSET_AND_HEAD_IN_SQLITE: &str = "SELECT (SELECT position FROM event_consumers WHERE name = $1), \
    (SELECT seq FROM sqlite_sequence WHERE name = 'events')";

fn position(table: &'static str, stored: i64) -> Result<Position, StoreError> {
    Position::new(stored).ok_or_else(|| corrupt(table, "position", &stored))
}

impl EventLog for DieselTx<'_> {
    fn append(&mut self, event: &NewEvent, at: Timestamp) -> Result<(), StoreError> {
        self.append_one(event, None, at)
    }

    fn append_with_detail(
        &mut self,
        event: &NewEvent,
        detail: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.append_one(event, Some(detail), at)
    }

    fn append_all(&mut self, appended: &[(NewEvent, Timestamp)]) -> Result<(), StoreError> {
        let rows: Vec<_> = appended.iter().map(|(event, at)| (*event, None::<&str>, *at)).collect();
        self.append_rows(&rows)
    }

    fn append_all_with_details(
        &mut self,
        appended: &[(NewEvent, String, Timestamp)],
    ) -> Result<(), StoreError> {
        let rows: Vec<_> =
            appended.iter().map(|(event, detail, at)| (*event, Some(detail.as_str()), *at)).collect();
        self.append_rows(&rows)
    }

    fn appended(&self) -> &[Appended] {
        &self.appended
    }
}

impl EventRead for DieselTx<'_> {
    fn head(&mut self) -> Result<Position, StoreError> {
        let newest: Option<i64> = match &mut self.conn {
            Conn::Pg(conn) => event_head::table.select(event_head::position).first(*conn).optional(),
            // Not the highest existing row: retention may have removed it, and the head must never move backwards.
            Conn::Sqlite(conn) => {
                sqlite_sequence::table.find("events").select(sqlite_sequence::seq).first(*conn).optional()
            }
        }
        .map_err(broken("read the head of the events"))?;
        newest.map_or(Ok(Position::START), |newest| position("event_head", newest))
    }

    fn events_after(&mut self, after: Position, limit: u32) -> Result<Vec<Event>, StoreError> {
        let rows: Vec<EventRow> = on!(self.conn, |conn| {
            events::table
                .filter(events::position.gt(after.get()))
                .order(events::position)
                .limit(i64::from(limit))
                .select(EventRow::as_select())
                .load(conn)
        })
        .map_err(broken("read events"))?;
        rows.into_iter().map(EventRow::into_event).collect()
    }

    fn events_of(
        &mut self,
        kinds: &[EventKind],
        after: Position,
        up_to: Position,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let kinds = kinds.iter().map(|kind| kind.as_str());
        let rows: Vec<EventRow> = on!(self.conn, |conn| {
            events::table
                .filter(events::position.gt(after.get()).and(events::position.le(up_to.get())))
                .filter(events::kind.eq_any(kinds))
                .order(events::position)
                .limit(i64::from(limit))
                .select(EventRow::as_select())
                .load(conn)
        })
        .map_err(broken("read events of some kinds"))?;
        rows.into_iter().map(EventRow::into_event).collect()
    }

    fn unpublished(&mut self) -> Result<Option<i64>, StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => outbox::table
                .select(outbox::seq)
                .order(outbox::seq.desc())
                .first(*conn)
                .optional()
                .map_err(broken("look into the outbox")),
            // On SQLite, committed events are public.
            Conn::Sqlite(_) => Ok(None),
        }
    }

    fn is_unpublished(&mut self, up_to: i64) -> Result<bool, StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => {
                diesel::select(diesel::dsl::exists(outbox::table.filter(outbox::seq.le(up_to))))
                    .get_result(*conn)
                    .map_err(broken("look into the outbox"))
            }
            Conn::Sqlite(_) => Ok(false),
        }
    }

    fn consumer_position(&mut self, name: &str) -> Result<Position, StoreError> {
        let stored: Option<i64> = on!(self.conn, |conn| {
            event_consumers::table.find(name).select(event_consumers::position).first(conn).optional()
        })
        .map_err(broken("read where a consumer stands"))?;
        stored.map_or(Ok(Position::START), |stored| position("event_consumers", stored))
    }

    fn consumer_position_and_head(&mut self, name: &str) -> Result<(Position, Position), StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => OFFSET_AND_HEAD_IN_PG,
            Conn::Sqlite(_) => OFFSET_AND_HEAD_IN_SQLITE,
        };
        let (offset, head): (Option<i64>, Option<i64>) = on!(self.conn, |conn| {
            let name = (name.into_sql::<Text>(),);
            Numbered::<_, (Nullable<BigInt>, Nullable<BigInt>)>::typed(sql, name).get_result(conn)
        })
        .map_err(broken("read where a consumer and the log stand"))?;
        let offset = offset.map_or(Ok(Position::START), |offset| position("event_consumers", offset))?;
        Ok((offset, head.map_or(Ok(Position::START), |head| position("event_head", head))?))
    }
}

impl DieselTx<'_> {
    fn append_one(
        &mut self,
        event: &NewEvent,
        detail: Option<&str>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.appended.push(Appended::from(event));
        match &mut self.conn {
            Conn::Pg(conn) => {
                diesel::insert_into(outbox::table).values(&OutboxRow::new(event, detail, at)).execute(*conn)
            }
            Conn::Sqlite(conn) => {
                diesel::insert_into(events::table).values(&NewEventRow::new(event, detail, at)).execute(*conn)
            }
        }
        .map(drop)
        .map_err(broken("append an event"))
    }

    /// Appends events with their details and times, in the given order, in one statement.
    pub(crate) fn append_rows(
        &mut self,
        appended: &[(NewEvent, Option<&str>, Timestamp)],
    ) -> Result<(), StoreError> {
        if appended.is_empty() {
            return Ok(());
        }
        self.appended.extend(appended.iter().map(|(event, ..)| Appended::from(event)));
        match &mut self.conn {
            Conn::Pg(conn) => {
                let rows: Vec<_> =
                    appended.iter().map(|(event, detail, at)| OutboxRow::new(event, *detail, *at)).collect();
                let values = (
                    column(&rows, |row| row.topic).into_sql::<Array<Text>>(),
                    column(&rows, |row| row.kind).into_sql::<Array<Text>>(),
                    column(&rows, |row| row.actor_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |row| row.team_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |row| row.subject_id).into_sql::<Array<Uid>>(),
                    column(&rows, |row| row.object_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |row| row.created_at).into_sql::<Array<Instant>>(),
                    column(&rows, |row| row.detail).into_sql::<Array<Nullable<Text>>>(),
                );
                Fixed::<_>::new(APPEND, values, APPEND_END).execute(*conn)
            }
            Conn::Sqlite(conn) => {
                let rows: Vec<_> = appended
                    .iter()
                    .map(|(event, detail, at)| NewEventRow::new(event, *detail, *at))
                    .collect();
                diesel::insert_into(events::table).values(&rows).execute(*conn)
            }
        }
        .map(drop)
        .map_err(broken("append events"))
    }

    /// Reads the row of a consumer. On PostgreSQL the row is locked; the SQLite writer has exclusive access to the
    /// database.
    fn locked_consumer(&mut self, name: &str) -> Result<Option<i64>, StoreError> {
        let query = event_consumers::table.find(name).select(event_consumers::position);
        match &mut self.conn {
            Conn::Pg(conn) => query.for_update().first(*conn).optional(),
            Conn::Sqlite(conn) => query.first(*conn).optional(),
        }
        .map_err(broken("lock a consumer"))
    }
}

impl ConsumerWrite for DieselTx<'_> {
    fn lock_consumer(&mut self, name: &str) -> Result<Position, StoreError> {
        if let Some(stored) = self.locked_consumer(name)? {
            return position("event_consumers", stored);
        }
        let row = (event_consumers::name.eq(name), event_consumers::position.eq(Position::START.get()));
        on!(self.conn, |conn| {
            diesel::insert_into(event_consumers::table)
                .values(row)
                .on_conflict(event_consumers::name)
                .do_nothing()
                .execute(conn)
        })
        .map_err(broken("introduce a consumer"))?;
        // Another process may have inserted the row first, and may have advanced it since.
        match self.locked_consumer(name)? {
            Some(stored) => position("event_consumers", stored),
            None => Err(StoreError::Contended("a consumer was removed while it was introduced".to_owned())),
        }
    }

    fn set_consumer_position(&mut self, name: &str, position: Position) -> Result<(), StoreError> {
        let moved = event_consumers::position.eq(position.get());
        on!(self.conn, |conn| {
            diesel::insert_into(event_consumers::table)
                .values((event_consumers::name.eq(name), moved))
                .on_conflict(event_consumers::name)
                .do_update()
                .set(moved)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("move a consumer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, event, on_each_database, publish};

    on_each_database! {
        events_are_read_in_the_order_of_their_positions,
        events_of_some_kinds_are_read_within_their_span,
        a_consumer_begins_at_the_start_and_moves,
    }

    fn events_are_read_in_the_order_of_their_positions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        assert_eq!(tx.head().unwrap(), Position::START);
        assert!(tx.appended().is_empty());
        for subject in 1..=3 {
            tx.append(&event(subject), at(9)).unwrap();
        }
        let kinds: Vec<_> = tx.appended().iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [event(1).kind; 3]);
        publish(tx);
        let all = tx.events_after(Position::START, 10).unwrap();
        assert_eq!(all.iter().map(|event| event.position.get()).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(all.first().map(|first| (first.what, first.at)), Some((event(1), at(9))));
        tx.append_with_detail(&event(4), "what it came to", at(9)).unwrap();
        publish(tx);
        let published = tx.events_after(Position::new(3).unwrap(), 1).unwrap();
        assert_eq!(published.first().and_then(|event| event.detail.as_deref()), Some("what it came to"));
        assert_eq!(all.first().and_then(|first| first.detail.as_deref()), None);
        assert_eq!(tx.events_after(Position::new(1).unwrap(), 1).unwrap(), all[1..2]);
        assert_eq!(tx.head().unwrap(), Position::new(4).unwrap());
    }

    fn events_of_some_kinds_are_read_within_their_span(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (one, other) = (event(1).kind, EventKind::PostDeleted);
        for subject in 1..=6 {
            let kind = if subject % 2 == 0 { other } else { one };
            tx.append(&NewEvent { kind, ..event(subject) }, at(9)).unwrap();
        }
        publish(tx);
        let position = |position| Position::new(position).unwrap();
        let mut read = |kinds: &[EventKind], after, up_to, limit| {
            let events = tx.events_of(kinds, position(after), position(up_to), limit).unwrap();
            events.iter().map(|event| event.position.get()).collect::<Vec<_>>()
        };
        assert_eq!(read(&[one], 0, 6, 10), [1, 3, 5]);
        assert_eq!(read(&[one], 1, 4, 10), [3]);
        assert_eq!(read(&[other], 0, 6, 2), [2, 4]);
        assert_eq!(read(&[one, other], 2, 5, 10), [3, 4, 5]);
        assert!(read(&[EventKind::RoundSoon], 0, 6, 10).is_empty());
        assert!(read(&[], 0, 6, 10).is_empty());
    }

    fn a_consumer_begins_at_the_start_and_moves(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let seven = Position::new(7).unwrap();
        assert_eq!(tx.consumer_position("mint").unwrap(), Position::START);
        assert_eq!(tx.lock_consumer("mint").unwrap(), Position::START);
        tx.set_consumer_position("mint", seven).unwrap();
        assert_eq!(tx.lock_consumer("mint").unwrap(), seven);
        assert_eq!(tx.consumer_position("mint").unwrap(), seven);
        assert_eq!(tx.consumer_position("other").unwrap(), Position::START);
        assert_eq!(tx.consumer_position_and_head("mint").unwrap(), (seven, Position::START));
        tx.append(&event(1), at(9)).unwrap();
        publish(tx);
        let first = Position::new(1).unwrap();
        assert_eq!(tx.consumer_position_and_head("mint").unwrap(), (seven, first));
        assert_eq!(tx.consumer_position_and_head("other").unwrap(), (Position::START, first));
    }
}
