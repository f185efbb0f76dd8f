//! Wheels, their segments, and the spins of fans.

mod content;
pub(crate) mod schema;

use crate::conn::on;
use crate::error::broken;
use crate::packs::count;
use crate::rows::{corrupt, digest, keyset, limited, named};
use crate::schema::{spin_states, spin_tables, spins, wheel_segments};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use chrono::NaiveDate;
use diesel::prelude::*;
use terrace_draws::Digest;
use terrace_games::{
    FreeSpin, SegmentKey, Spin, SpinPrice, SpinState, SpinTable, Wheel, WheelId, WheelRead, WheelWrite,
};
use terrace_kernel::{Grant, GrantKind, Limit, Page, StoreError, TimeKey, UserId, num};

#[derive(Queryable, Selectable)]
#[diesel(table_name = spin_states)]
struct StateRow {
    wheel_id: Key,
    count: i32,
    pity_count: i32,
    last_free: Option<String>,
    last_day: String,
    day_spins: i32,
}

impl StateRow {
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
        rows.into_iter().map(|row| Ok((row.wheel_id.id(), row.into_state()?))).collect()
    }

    fn spin_state(&mut self, user: UserId, wheel: WheelId) -> Result<SpinState, StoreError> {
        let row: Option<StateRow> = on!(self.conn, |conn| {
            spin_states::table
                .find((Key::of(user), Key::of(wheel)))
                .select(StateRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a fan's standing at a wheel"))?;
        row.map_or(Ok(SpinState::default()), StateRow::into_state)
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

    fn insert_spin(&mut self, spin: &Spin, table: &SpinTable, after: &SpinState) -> Result<(), StoreError> {
        let fail = broken("write a spin");
        let hash = spin.table.as_bytes().to_vec();
        let known = spin_tables::table.find(hash.clone()).select(spin_tables::hash);
        let known: Option<Vec<u8>> = on!(self.conn, |conn| known.first(conn).optional()).map_err(&fail)?;
        if known.is_none() {
            on!(self.conn, |conn| {
                diesel::insert_into(spin_tables::table)
                    .values((spin_tables::hash.eq(hash), spin_tables::text.eq(table.canonical())))
                    .on_conflict_do_nothing()
                    .execute(conn)
            })
            .map_err(&fail)?;
        }
        let row = SpinRow::of(spin);
        on!(self.conn, |conn| diesel::insert_into(spins::table).values(row).execute(conn)).map_err(&fail)?;
        self.write_spin_state(spin.user, spin.wheel, after)
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
    fn write_spin_state(
        &mut self,
        user: UserId,
        wheel: WheelId,
        state: &SpinState,
    ) -> Result<(), StoreError> {
        let (day, day_spins) = state
            .spins
            .last_day
            .ok_or_else(|| StoreError::defect("write a standing at a wheel", "it has no spins"))?;
        let values = (
            spin_states::count.eq(num::to_i32(state.count)),
            spin_states::pity_count.eq(num::to_i32(state.pity_count)),
            spin_states::last_free.eq(state.spins.last_free.map(|date| date.to_string())),
            spin_states::last_day.eq(day.to_string()),
            spin_states::day_spins.eq(num::to_i32(day_spins)),
        );
        let key = (spin_states::user_id.eq(Key::of(user)), spin_states::wheel_id.eq(Key::of(wheel)));
        on!(self.conn, |conn| {
            diesel::insert_into(spin_states::table)
                .values((key, values.clone()))
                .on_conflict((spin_states::user_id, spin_states::wheel_id))
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a standing at a wheel"))
    }
}
