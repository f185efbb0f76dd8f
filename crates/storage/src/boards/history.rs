//! Reads of the ledger of points.

use crate::boards::TotalRow;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::column;
use crate::numbered::Numbered;
use crate::rows::{keyset, limited, named};
use crate::schema::{board_totals, points_history};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt};
use std::collections::HashMap;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_scoring::{
    Points, PointsRead, PointsRecord, RecordId, SeasonId, SourceKey, SourceKind, TotalChange,
};

/// The sum of all records of a fan, as SQL. Records of seasons are taken from the totals of the global boards, so that the
/// statement does not read each of them. SQLite keeps the order of a `CROSS JOIN`; it would begin with all totals.
pub(crate) fn all_points(fan: &str) -> String {
    format!(
        "CAST(coalesce((SELECT sum(t.points) FROM leaderboards b CROSS JOIN board_totals t WHERE b.season_id IS NOT NULL \
                AND t.season_id = b.season_id AND t.leaderboard_id = b.id AND t.user_id = {fan}), 0) \
            + coalesce((SELECT sum(h.amount) FROM points_history h WHERE h.user_id = {fan} AND h.season_id IS NULL), 0) \
            AS bigint)"
    )
}

/// The points of a fan in the active season, as SQL.
pub(crate) fn season_points(fan: &str) -> String {
    format!(
        "coalesce((SELECT t.points FROM seasons s JOIN leaderboards b ON b.season_id = s.id \
            JOIN board_totals t ON t.season_id = s.id AND t.leaderboard_id = b.id AND t.user_id = {fan} \
            WHERE s.status = 'active'), 0)"
    )
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = points_history)]
struct RecordRow {
    id: Key,
    user_id: Key,
    amount: i64,
    reason: String,
    source_key: String,
    season_id: Option<Key>,
    leaderboard_id: Option<Key>,
    happened_at: At,
}

impl RecordRow {
    fn into_record(self) -> Result<PointsRecord, StoreError> {
        Ok(PointsRecord {
            id: self.id.id(),
            user: self.user_id.id(),
            amount: Points::new(self.amount),
            reason: self.reason,
            source: named("points_history", "source_key", &self.source_key)?,
            season: self.season_id.map(Key::id),
            board: self.leaderboard_id.map(Key::id),
            at: self.happened_at.0,
        })
    }
}

impl PointsRead for DieselTx<'_> {
    fn record(&mut self, user: UserId, source: &SourceKey) -> Result<Option<PointsRecord>, StoreError> {
        let row: Option<RecordRow> = on!(self.conn, |conn| {
            points_history::table
                .find((Key::of(user), source.to_string()))
                .select(RecordRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a record of points"))?;
        row.map(RecordRow::into_record).transpose()
    }

    fn records(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PointsRecord, TimeKey>, StoreError> {
        self.records_of_kind(user, None, limit, after)
    }

    fn quest_records(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PointsRecord, TimeKey>, StoreError> {
        self.records_of_kind(user, Some(SourceKind::Quest), limit, after)
    }

    fn records_among(&mut self, user: UserId, facts: &[SourceKey]) -> Result<Vec<PointsRecord>, StoreError> {
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let facts = facts.iter().map(SourceKey::to_string);
        let rows: Vec<RecordRow> = on!(self.conn, |conn| {
            points_history::table
                .filter(points_history::user_id.eq(Key::of(user)))
                .filter(points_history::source_key.eq_any(facts))
                .select(RecordRow::as_select())
                .load(conn)
        })
        .map_err(broken("read records of points"))?;
        rows.into_iter().map(RecordRow::into_record).collect()
    }

    fn records_with(&mut self, fans: &[UserId], ids: &[RecordId]) -> Result<Vec<PointsRecord>, StoreError> {
        let fans = fans.iter().copied().map(Key::of);
        let ids = ids.iter().copied().map(Key::of);
        let rows: Vec<RecordRow> = on!(self.conn, |conn| {
            points_history::table
                .filter(points_history::user_id.eq_any(fans))
                .filter(points_history::id.eq_any(ids))
                .select(RecordRow::as_select())
                .load(conn)
        })
        .map_err(broken("read records of points by their ids"))?;
        rows.into_iter().map(RecordRow::into_record).collect()
    }

    fn points_of(&mut self, user: UserId) -> Result<Points, StoreError> {
        let sum: i64 = on!(self.conn, |conn| {
            Numbered::<_, BigInt>::typed(
                format!("SELECT {}", all_points("$1")),
                (Key::of(user).into_sql::<Uid>(),),
            )
            .get_result(conn)
        })
        .map_err(broken("sum a fan's points"))?;
        Ok(Points::new(sum))
    }

    fn points_of_all(&mut self, fans: &[UserId]) -> Result<HashMap<UserId, Points>, StoreError> {
        let Conn::Pg(conn) = &mut self.conn else {
            return fans.iter().map(|fan| Ok((*fan, self.points_of(*fan)?))).collect();
        };
        let each = format!("SELECT fan, {} FROM unnest($1) AS given (fan)", all_points("fan"));
        let sums: Vec<(Key, i64)> = Numbered::<_, (Uid, BigInt)>::typed(
            each,
            (column(fans, |fan| Key::of(*fan)).into_sql::<Array<Uid>>(),),
        )
        .load(*conn)
        .map_err(broken("sum the points of fans"))?;
        Ok(sums.into_iter().map(|(fan, points)| (fan.id(), Points::new(points))).collect())
    }

    fn totals_of(&mut self, user: UserId, season: SeasonId) -> Result<Vec<TotalChange>, StoreError> {
        use crate::schema::leaderboard_entries as entries;
        let rows: Vec<TotalRow> = on!(self.conn, |conn| {
            let boards =
                entries::table.filter(entries::user_id.eq(Key::of(user))).select(entries::leaderboard_id);
            board_totals::table
                .filter(board_totals::season_id.eq(Key::of(season)))
                .filter(board_totals::leaderboard_id.eq_any(boards))
                .filter(board_totals::user_id.eq(Key::of(user)))
                .select(TotalRow::as_select())
                .load(conn)
        })
        .map_err(broken("read a fan's totals"))?;
        rows.into_iter().map(TotalRow::into_change).collect()
    }
}

impl DieselTx<'_> {
    /// A page of a fan's records, newest first: all records, or those whose keys begin with a kind.
    fn records_of_kind(
        &mut self,
        user: UserId,
        kind: Option<SourceKind>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PointsRecord, TimeKey>, StoreError> {
        let rows: Vec<RecordRow> = on!(self.conn, |conn| {
            let mut query = points_history::table
                .filter(points_history::user_id.eq(Key::of(user)))
                .select(RecordRow::as_select())
                .into_boxed();
            if let Some(kind) = kind {
                // The character after the colon bounds the keys of the kind.
                query = query
                    .filter(points_history::source_key.ge(format!("{kind}:")))
                    .filter(points_history::source_key.lt(format!("{kind};")));
            }
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, points_history::happened_at < At(at), points_history::id < Key(id));
            }
            limited(query.order((points_history::happened_at.desc(), points_history::id.desc())), limit)
                .load(conn)
        })
        .map_err(broken("list records of points"))?;
        let records = rows.into_iter().map(RecordRow::into_record).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(records, limit, |record| TimeKey { at: record.at, id: record.id.as_uuid() }))
    }
}
