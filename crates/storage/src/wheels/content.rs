//! Wheels and their segments, as content files describe them.

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::rows::named;
use crate::schema::{wheel_segments, wheels};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use crate::wheels::{grant, price};
use diesel::prelude::*;
use diesel::sql_types::Text;
use std::collections::HashMap;
use terrace_games::{Pity, Segment, Wheel, WheelKey};
use terrace_kernel::{StoreError, num};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = wheels, treat_none_as_default_value = false, treat_none_as_null = true)]
struct WheelRow {
    id: Key,
    key: String,
    place: i32,
    name: String,
    price_kind: Option<String>,
    price_amount: Option<i64>,
    has_free_spin: bool,
    pity_after: Option<i32>,
    daily_limit: Option<i32>,
    opens_at: Option<At>,
    closes_at: Option<At>,
    is_retired: bool,
}

impl WheelRow {
    fn of(wheel: &Wheel, place: usize) -> Self {
        Self {
            id: Key::of(wheel.id),
            key: wheel.key.to_string(),
            place: num::to_i32(place),
            name: wheel.name.clone(),
            price_kind: wheel.price.map(|price| price.kind.to_string()),
            price_amount: wheel.price.map(|price| price.amount),
            has_free_spin: wheel.has_free_spin,
            pity_after: wheel.pity.as_ref().map(|pity| num::to_i32(pity.after)),
            daily_limit: wheel.daily_limit.map(num::to_i32),
            opens_at: wheel.opens_at.map(At),
            closes_at: wheel.closes_at.map(At),
            is_retired: wheel.is_retired,
        }
    }

    fn into_wheel(self, rows: Vec<SegmentRow>) -> Result<Wheel, StoreError> {
        const TABLE: &str = "wheels";
        let mut lucky = Vec::new();
        let mut segments = Vec::new();
        for row in rows {
            let is_lucky = row.is_lucky;
            let segment = row.into_segment()?;
            if is_lucky {
                lucky.push(segment.key.clone());
            }
            segments.push(segment);
        }
        let after = self.pity_after.map(|after| count(TABLE, "pity_after", after)).transpose()?;
        Ok(Wheel {
            id: self.id.id(),
            key: named(TABLE, "key", &self.key)?,
            name: self.name,
            segments,
            price: price(TABLE, self.price_kind.as_deref(), self.price_amount)?,
            has_free_spin: self.has_free_spin,
            pity: after.map(|after| Pity { after, segments: lucky }),
            daily_limit: self.daily_limit.map(|limit| count(TABLE, "daily_limit", limit)).transpose()?,
            opens_at: self.opens_at.map(|at| at.0),
            closes_at: self.closes_at.map(|at| at.0),
            is_retired: self.is_retired,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = wheel_segments)]
struct SegmentRow {
    wheel_id: Key,
    key: String,
    label: String,
    grant_kind: String,
    grant_amount: i64,
    grant_id: Option<Key>,
    weight: i32,
    stock: Option<i32>,
    substitute_kind: Option<String>,
    substitute_amount: Option<i64>,
    is_lucky: bool,
}

impl SegmentRow {
    fn into_segment(self) -> Result<Segment, StoreError> {
        const TABLE: &str = "wheel_segments";
        let substitute = self.substitute_kind.as_deref().zip(self.substitute_amount);
        Ok(Segment {
            key: named(TABLE, "key", &self.key)?,
            label: self.label,
            grant: grant(TABLE, &self.grant_kind, self.grant_amount, self.grant_id)?,
            weight: count(TABLE, "weight", self.weight)?,
            stock: self.stock.map(|stock| count(TABLE, "stock", stock)).transpose()?,
            substitute: substitute.map(|(kind, amount)| grant(TABLE, kind, amount, None)).transpose()?,
        })
    }
}

impl DieselTx<'_> {
    pub(super) fn read_wheels(&mut self) -> Result<Vec<Wheel>, StoreError> {
        let rows: Vec<WheelRow> = on!(self.conn, |conn| {
            wheels::table.order((wheels::place, wheels::key)).select(WheelRow::as_select()).load(conn)
        })
        .map_err(broken("read the wheels"))?;
        let segments: Vec<SegmentRow> = on!(self.conn, |conn| {
            wheel_segments::table
                .filter(wheel_segments::is_current.eq(true))
                .order((wheel_segments::wheel_id, wheel_segments::place))
                .select(SegmentRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the segments of wheels"))?;
        let mut of_wheels: HashMap<Key, Vec<SegmentRow>> = HashMap::new();
        for segment in segments {
            of_wheels.entry(segment.wheel_id).or_default().push(segment);
        }
        rows.into_iter()
            .map(|row| {
                let segments = of_wheels.remove(&row.id).unwrap_or_default();
                row.into_wheel(segments)
            })
            .collect()
    }

    pub(super) fn write_wheels(&mut self, all: &[Wheel]) -> Result<(), StoreError> {
        for (place, wheel) in all.iter().enumerate() {
            let row = WheelRow::of(wheel, place);
            on!(self.conn, |conn| {
                diesel::insert_into(wheels::table)
                    .values(&row)
                    .on_conflict(wheels::id)
                    .do_update()
                    .set(&row)
                    .execute(conn)
            })
            .map_err(broken("write a wheel"))?;
            self.write_segments(wheel)?;
        }
        Ok(())
    }

    fn write_segments(&mut self, wheel: &Wheel) -> Result<(), StoreError> {
        let fail = broken("replace the segments of a wheel");
        let stored = wheel_segments::table.filter(wheel_segments::wheel_id.eq(Key::of(wheel.id)));
        let counted: Vec<String> = on!(self.conn, |conn| {
            stored.filter(wheel_segments::stock.is_not_null()).select(wheel_segments::key).load(conn)
        })
        .map_err(&fail)?;
        on!(self.conn, |conn| {
            diesel::update(stored).set(wheel_segments::is_current.eq(false)).execute(conn)
        })
        .map_err(&fail)?;
        for (place, segment) in wheel.segments.iter().enumerate() {
            self.write_segment(wheel, segment, place)?;
            if segment.stock.is_some() && !counted.contains(&segment.key.to_string()) {
                self.count_given(wheel, segment)?;
            }
        }
        Ok(())
    }

    /// Counts what a segment gave while it was not limited.
    fn count_given(&mut self, wheel: &Wheel, segment: &Segment) -> Result<(), StoreError> {
        const COUNT: &str = "\
            UPDATE wheel_segments SET given = (SELECT COUNT(*) FROM spins \
                WHERE spins.wheel_id = $1 AND spins.segment = $2 AND NOT spins.is_substituted) \
            WHERE wheel_id = $1 AND key = $2";
        on!(self.conn, |conn| {
            Numbered::new(
                COUNT,
                (Key::of(wheel.id).into_sql::<Uid>(), segment.key.as_str().into_sql::<Text>()),
            )
            .execute(conn)
        })
        .map(drop)
        .map_err(broken("count what a segment gave"))
    }

    /// What a segment gave stays counted.
    fn write_segment(&mut self, wheel: &Wheel, segment: &Segment, place: usize) -> Result<(), StoreError> {
        let is_lucky = wheel.pity.as_ref().is_some_and(|pity| pity.segments.contains(&segment.key));
        let values = (
            wheel_segments::place.eq(num::to_i32(place)),
            wheel_segments::label.eq(segment.label.clone()),
            wheel_segments::grant_kind.eq(segment.grant.kind().as_str()),
            wheel_segments::grant_amount.eq(segment.grant.amount()),
            wheel_segments::grant_id.eq(segment.grant.id().map(Key)),
            wheel_segments::weight.eq(num::to_i32(segment.weight)),
            wheel_segments::stock.eq(segment.stock.map(num::to_i32)),
            wheel_segments::substitute_kind.eq(segment.substitute.map(|grant| grant.kind().as_str())),
            wheel_segments::substitute_amount.eq(segment.substitute.map(terrace_kernel::Grant::amount)),
            wheel_segments::is_lucky.eq(is_lucky),
            wheel_segments::is_current.eq(true),
        );
        let key =
            (wheel_segments::wheel_id.eq(Key::of(wheel.id)), wheel_segments::key.eq(segment.key.as_str()));
        on!(self.conn, |conn| {
            diesel::insert_into(wheel_segments::table)
                .values((key, wheel_segments::given.eq(0), values.clone()))
                .on_conflict((wheel_segments::wheel_id, wheel_segments::key))
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("write a segment of a wheel"))
    }

    pub(super) fn retire_other_wheels(&mut self, keep: &[WheelKey]) -> Result<u64, StoreError> {
        let keep: Vec<&str> = keep.iter().map(WheelKey::as_str).collect();
        let others = wheels::table.filter(wheels::key.ne_all(keep)).filter(wheels::is_retired.eq(false));
        on!(self.conn, |conn| diesel::update(others).set(wheels::is_retired.eq(true)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("retire wheels"))
    }
}
