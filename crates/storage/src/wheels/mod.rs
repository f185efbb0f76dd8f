//! Wheels, their segments, and the spins of fans.

mod content;
pub(crate) mod schema;

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::packs::count;
use crate::rows::{corrupt, digest, keyset, limited, named};
use crate::schema::{spin_states, spin_tables, spins, wheel_segments};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use chrono::NaiveDate;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use terrace_draws::Digest;
use terrace_games::{
    FreeSpin, SegmentKey, Spin, SpinPrice, SpinState, SpinTable, Wheel, WheelId, WheelRead, WheelWrite,
};
use terrace_kernel::{Grant, GrantKind, Limit, Page, StoreError, TimeKey, UserId, num};

/// Spins, and the standings after them.
const SPINS: &str = ") AS given (id, user_id, wheel_id, nonce, client_seed, pity_count, segment, is_substituted, grant_kind, \
    grant_amount, grant_id, paid_kind, paid_amount, table_hash, created_at, count, pity_after, last_free, last_day, \
    day_spins)), states AS ( \
    INSERT INTO spin_states (user_id, wheel_id, count, pity_count, last_free, last_day, day_spins) \
    SELECT user_id, wheel_id, count, pity_after, last_free, last_day, day_spins FROM given \
    ON CONFLICT (user_id, wheel_id) DO UPDATE SET count = excluded.count, pity_count = excluded.pity_count, \
        last_free = excluded.last_free, last_day = excluded.last_day, day_spins = excluded.day_spins) \
    INSERT INTO spins (id, user_id, wheel_id, nonce, client_seed, pity_count, segment, is_substituted, grant_kind, \
        grant_amount, grant_id, paid_kind, paid_amount, table_hash, created_at) \
    SELECT id, user_id, wheel_id, nonce, client_seed, pity_count, segment, is_substituted, grant_kind, \
        grant_amount, grant_id, paid_kind, paid_amount, table_hash, created_at FROM given";

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = spin_states, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct StateRow {
    user_id: Key,
    wheel_id: Key,
    count: i32,
    pity_count: i32,
    last_free: Option<String>,
    last_day: String,
    day_spins: i32,
}

impl StateRow {
    fn of(spin: &Spin, after: &SpinState) -> Result<Self, StoreError> {
        let (day, day_spins) = after
            .spins
            .last_day
            .ok_or_else(|| StoreError::defect("write a standing at a wheel", "it has no spins"))?;
        Ok(Self {
            user_id: Key::of(spin.user),
            wheel_id: Key::of(spin.wheel),
            count: num::to_i32(after.count),
            pity_count: num::to_i32(after.pity_count),
            last_free: after.spins.last_free.map(|date| date.to_string()),
            last_day: day.to_string(),
            day_spins: num::to_i32(day_spins),
        })
    }

    pub(crate) fn into_standing(self) -> Result<(WheelId, SpinState), StoreError> {
        Ok((self.wheel_id.id(), self.into_state()?))
    }

    fn into_state(self) -> Result<SpinState, StoreError> {
        const TABLE: &str = "spin_states";
        let last_day: NaiveDate = named(TABLE, "last_day", &self.last_day)?;
        Ok(SpinState {
            spins: FreeSpin {
                last_free: self.last_free.map(|date| named(TABLE, "last_free", &date)).transpose()?,
                last_day: Some((last_day, count(TABLE, "day_spins", self.day_spins)?)),
            },
            count: count(TABLE, "count", self.count)?,
            pity_count: count(TABLE, "pity_count", self.pity_count)?,
        })
    }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = spins, treat_none_as_default_value = false)]
struct SpinRow {
    id: Key,
    user_id: Key,
    wheel_id: Key,
    nonce: i32,
    client_seed: Option<String>,
    pity_count: i32,
    segment: String,
    is_substituted: bool,
    grant_kind: String,
    grant_amount: i64,
    grant_id: Option<Key>,
    paid_kind: Option<String>,
    paid_amount: Option<i64>,
    table_hash: Vec<u8>,
    created_at: At,
}

impl SpinRow {
    fn of(spin: &Spin) -> Self {
        Self {
            id: Key::of(spin.id),
            user_id: Key::of(spin.user),
            wheel_id: Key::of(spin.wheel),
            nonce: num::to_i32(spin.nonce),
            client_seed: spin.client_seed.as_ref().map(ToString::to_string),
            pity_count: num::to_i32(spin.pity_count),
            segment: spin.segment.to_string(),
            is_substituted: spin.is_substituted,
            grant_kind: spin.grant.kind().to_string(),
            grant_amount: spin.grant.amount(),
            grant_id: spin.grant.id().map(Key),
            paid_kind: spin.paid.map(|paid| paid.kind.to_string()),
            paid_amount: spin.paid.map(|paid| paid.amount),
            table_hash: spin.table.as_bytes().to_vec(),
            created_at: At(spin.created_at),
        }
    }

    fn into_spin(self) -> Result<Spin, StoreError> {
        const TABLE: &str = "spins";
        Ok(Spin {
            id: self.id.id(),
            user: self.user_id.id(),
            wheel: self.wheel_id.id(),
            nonce: count(TABLE, "nonce", self.nonce)?,
            client_seed: self.client_seed.map(|seed| named(TABLE, "client_seed", &seed)).transpose()?,
            pity_count: count(TABLE, "pity_count", self.pity_count)?,
            segment: named(TABLE, "segment", &self.segment)?,
            is_substituted: self.is_substituted,
            grant: grant(TABLE, &self.grant_kind, self.grant_amount, self.grant_id)?,
            paid: price(TABLE, self.paid_kind.as_deref(), self.paid_amount)?,
            table: Digest::from_bytes(digest(TABLE, "table_hash", self.table_hash)?),
            created_at: self.created_at.0,
        })
    }
}

/// The columns of a grant.
fn grant(table: &'static str, kind: &str, amount: i64, id: Option<Key>) -> Result<Grant, StoreError> {
    let kind: GrantKind = named(table, "grant_kind", kind)?;
    Grant::new(kind, amount, id.map(|id| id.0)).map_err(|error| corrupt(table, "grant_amount", &error))
}

/// The columns of a price.
fn price(
    table: &'static str,
    kind: Option<&str>,
    amount: Option<i64>,
) -> Result<Option<SpinPrice>, StoreError> {
    let (Some(kind), Some(amount)) = (kind, amount) else { return Ok(None) };
    Ok(Some(SpinPrice { kind: named(table, "price_kind", kind)?, amount }))
}

impl WheelRead for DieselTx<'_> {
    fn wheels(&mut self) -> Result<Vec<Wheel>, StoreError> {
        self.read_wheels()
    }

    fn segments_given(&mut self) -> Result<Vec<(WheelId, SegmentKey, u32)>, StoreError> {
        const TABLE: &str = "wheel_segments";
        let rows: Vec<(Key, String, i32)> = on!(self.conn, |conn| {
            wheel_segments::table
                .filter(wheel_segments::stock.is_not_null())
                .select((wheel_segments::wheel_id, wheel_segments::key, wheel_segments::given))
                .load(conn)
        })
        .map_err(broken("count what segments gave"))?;
        rows.into_iter()
            .map(|(wheel, key, given)| {
                Ok((wheel.id(), named(TABLE, "key", &key)?, count(TABLE, "given", given)?))
            })
            .collect()
    }

    fn spin_states(&mut self, user: UserId) -> Result<Vec<(WheelId, SpinState)>, StoreError> {
        let rows: Vec<StateRow> = on!(self.conn, |conn| {
            spin_states::table
                .filter(spin_states::user_id.eq(Key::of(user)))
                .order(spin_states::wheel_id)
                .select(StateRow::as_select())
                .load(conn)
        })
        .map_err(broken("read a fan's standings at wheels"))?;
        rows.into_iter().map(StateRow::into_standing).collect()
    }

    fn spin_states_of(&mut self, of: &[(UserId, WheelId)]) -> Result<HashMap<UserId, SpinState>, StoreError> {
        let fans: Vec<Key> = of.iter().map(|(fan, _)| Key::of(*fan)).collect();
        let wheels: BTreeSet<Key> = of.iter().map(|(_, wheel)| Key::of(*wheel)).collect();
        let rows: Vec<StateRow> = on!(self.conn, |conn| {
            spin_states::table
                .filter(spin_states::user_id.eq_any(fans))
                .filter(spin_states::wheel_id.eq_any(wheels))
                .select(StateRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the standings of fans at wheels"))?;
        let wanted: HashSet<(UserId, WheelId)> = of.iter().copied().collect();
        rows.into_iter()
            .filter(|row| wanted.contains(&(row.user_id.id(), row.wheel_id.id())))
            .map(|row| Ok((row.user_id.id(), row.into_state()?)))
            .collect()
    }

    fn spins(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<(Spin, SpinTable), TimeKey>, StoreError> {
        let rows: Vec<(SpinRow, String)> = on!(self.conn, |conn| {
            let mut query = spins::table
                .inner_join(spin_tables::table.on(spin_tables::hash.eq(spins::table_hash)))
                .filter(spins::user_id.eq(Key::of(user)))
                .select((SpinRow::as_select(), spin_tables::text))
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, spins::created_at < At(at), spins::id < Key(id));
            }
            limited(query.order((spins::created_at.desc(), spins::id.desc())), limit).load(conn)
        })
        .map_err(broken("list spins"))?;
        let read = |(row, table): (SpinRow, String)| {
            Ok((row.into_spin()?, named::<SpinTable>("spin_tables", "text", &table)?))
        };
        let found = rows.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Page::from_overfull(found, limit, |(spin, _)| TimeKey {
            at: spin.created_at,
            id: spin.id.as_uuid(),
        }))
    }
}

impl WheelWrite for DieselTx<'_> {
    fn put_wheels(&mut self, wheels: &[Wheel]) -> Result<(), StoreError> {
        self.write_wheels(wheels)
    }

    fn retire_wheels(&mut self, keep: &[terrace_games::WheelKey]) -> Result<u64, StoreError> {
        self.retire_other_wheels(keep)
    }

    fn take_segment(&mut self, wheel: WheelId, segment: &SegmentKey) -> Result<bool, StoreError> {
        let left = wheel_segments::table.find((Key::of(wheel), segment.as_str())).filter(
            wheel_segments::stock.is_null().or(wheel_segments::stock.gt(wheel_segments::given.nullable())),
        );
        on!(self.conn, |conn| {
            diesel::update(left).set(wheel_segments::given.eq(wheel_segments::given + 1)).execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("count what a segment gives"))
    }

    fn return_segment(&mut self, wheel: WheelId, segment: &SegmentKey) -> Result<(), StoreError> {
        let own = wheel_segments::table.find((Key::of(wheel), segment.as_str()));
        on!(self.conn, |conn| {
            diesel::update(own).set(wheel_segments::given.eq(wheel_segments::given - 1)).execute(conn)
        })
        .map(drop)
        .map_err(broken("take back what a segment gave"))
    }

    fn insert_spins(&mut self, spins: &[(Spin, SpinTable, SpinState)]) -> Result<(), StoreError> {
        if spins.is_empty() {
            return Ok(());
        }
        let tables: BTreeMap<&[u8], &SpinTable> =
            spins.iter().map(|(spin, table, _)| (spin.table.as_bytes().as_slice(), table)).collect();
        for (hash, table) in tables {
            on!(self.conn, |conn| {
                diesel::insert_into(spin_tables::table)
                    .values((spin_tables::hash.eq(hash), spin_tables::text.eq(table.canonical())))
                    .on_conflict_do_nothing()
                    .execute(conn)
            })
            .map_err(broken("write the table of a spin"))?;
        }
        let rows = spins
            .iter()
            .map(|(spin, _, after)| Ok((SpinRow::of(spin), StateRow::of(spin, after)?)))
            .collect::<Result<Vec<_>, StoreError>>()?;
        self.write_spins(rows)
    }

    fn erase_spins(&mut self, user: UserId) -> Result<(), StoreError> {
        let own = spins::table.filter(spins::user_id.eq(Key::of(user)));
        on!(self.conn, |conn| {
            diesel::update(own).set(spins::client_seed.eq(None::<String>)).execute(conn)
        })
        .map(drop)
        .map_err(broken("erase the seeds of a fan's spins"))
    }
}

impl DieselTx<'_> {
    fn write_spins(&mut self, rows: Vec<(SpinRow, StateRow)>) -> Result<(), StoreError> {
        let fail = broken("write spins");
        match &mut self.conn {
            Conn::Pg(conn) => {
                let spin = |value: fn(&SpinRow) -> Key| column(&rows, |(spin, _)| value(spin));
                let number = |value: fn(&StateRow) -> i32| column(&rows, |(_, after)| value(after));
                let values = (
                    spin(|row| row.id).into_sql::<Array<Uid>>(),
                    spin(|row| row.user_id).into_sql::<Array<Uid>>(),
                    spin(|row| row.wheel_id).into_sql::<Array<Uid>>(),
                    column(&rows, |(row, _)| row.nonce).into_sql::<Array<Integer>>(),
                    column(&rows, |(row, _)| row.client_seed.as_deref()).into_sql::<Array<Nullable<Text>>>(),
                    column(&rows, |(row, _)| row.pity_count).into_sql::<Array<Integer>>(),
                    column(&rows, |(row, _)| row.segment.as_str()).into_sql::<Array<Text>>(),
                    column(&rows, |(row, _)| row.is_substituted).into_sql::<Array<Bool>>(),
                    column(&rows, |(row, _)| row.grant_kind.as_str()).into_sql::<Array<Text>>(),
                    column(&rows, |(row, _)| row.grant_amount).into_sql::<Array<BigInt>>(),
                    column(&rows, |(row, _)| row.grant_id).into_sql::<Array<Nullable<Uid>>>(),
                    column(&rows, |(row, _)| row.paid_kind.as_deref()).into_sql::<Array<Nullable<Text>>>(),
                    column(&rows, |(row, _)| row.paid_amount).into_sql::<Array<Nullable<BigInt>>>(),
                    column(&rows, |(row, _)| row.table_hash.as_slice()).into_sql::<Array<Binary>>(),
                    column(&rows, |(row, _)| row.created_at).into_sql::<Array<Instant>>(),
                    number(|after| after.count).into_sql::<Array<Integer>>(),
                    number(|after| after.pity_count).into_sql::<Array<Integer>>(),
                    column(&rows, |(_, after)| after.last_free.as_deref())
                        .into_sql::<Array<Nullable<Text>>>(),
                    column(&rows, |(_, after)| after.last_day.as_str()).into_sql::<Array<Text>>(),
                    number(|after| after.day_spins).into_sql::<Array<Integer>>(),
                );
                Fixed::<_>::new(GIVEN, values, SPINS).execute(*conn).map(drop).map_err(fail)
            }
            Conn::Sqlite(conn) => rows.into_iter().try_for_each(|(spin, after)| {
                diesel::insert_into(spins::table)
                    .values(spin)
                    .execute(*conn)
                    .and_then(|_| {
                        diesel::insert_into(spin_states::table)
                            .values(&after)
                            .on_conflict((spin_states::user_id, spin_states::wheel_id))
                            .do_update()
                            .set(&after)
                            .execute(*conn)
                    })
                    .map(drop)
                    .map_err(&fail)
            }),
        }
    }
}
