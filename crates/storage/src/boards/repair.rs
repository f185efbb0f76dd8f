//! Repair of points: totals, entries and counts of boards.

use crate::boards::membership::score_changed;
use crate::boards::version;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::schema::{board_counts, board_totals, leaderboard_entries, users};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::upsert::excluded;
use terrace_kernel::{StoreError, TeamId, Timestamp, UserId};
use terrace_scoring::{
    BoardCount, BoardId, Points, PointsRecord, PointsRepair, RecordId, SeasonId, TotalChanges, TotalsRepair,
};

/// The maximum number of rows that one statement writes, which amounts to some thousands of arguments.
const ROWS: usize = 500;

#[derive(Insertable)]
#[diesel(table_name = board_totals, treat_none_as_default_value = false)]
struct NewTotal {
    season_id: Key,
    leaderboard_id: Key,
    user_id: Key,
    points: i64,
    reached_at: At,
    version: i64,
    listed: bool,
}

#[derive(Insertable)]
#[diesel(table_name = leaderboard_entries, treat_none_as_default_value = false)]
struct NewEntry {
    leaderboard_id: Key,
    user_id: Key,
    points: i64,
    season_id: Option<Key>,
    created_at: At,
}

impl PointsRepair for DieselTx<'_> {
    fn hold_fans(&mut self, fans: &[UserId]) -> Result<(), StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => {
                let keys: Vec<Key> = fans.iter().map(|fan| Key::of(*fan)).collect();
                let held = users::table.filter(users::id.eq_any(keys)).order(users::id).select(users::id);
                held.for_no_key_update().load::<Key>(*conn).map(drop)
            }
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(_) => Ok(()),
        }
        .map_err(broken("hold the accounts"))
    }

    fn record_held(
        &mut self,
        records: &[(PointsRecord, Option<TeamId>)],
        at: Timestamp,
    ) -> Result<Vec<RecordId>, StoreError> {
        self.write_records(records, at)
    }

    fn write_points_repairs(&mut self, repairs: &[TotalsRepair], at: Timestamp) -> Result<(), StoreError> {
        let new_total = |repair: &TotalsRepair| {
            let user_id = Key::of(repair.user);
            let row = move |change: &terrace_scoring::TotalChange| NewTotal {
                season_id: Key::of(change.season),
                leaderboard_id: Key::of(change.board),
                user_id,
                points: change.total.points.get(),
                reached_at: At(change.total.reached_at),
                version: version(&change.total),
                listed: change.is_listed,
            };
            repair.totals.iter().map(row).collect::<Vec<_>>()
        };
        let totals: Vec<NewTotal> = repairs.iter().flat_map(new_total).collect();
        for rows in totals.chunks(ROWS) {
            self.put_totals(rows)?;
        }
        let new_entry = |repair: &TotalsRepair| {
            let user_id = Key::of(repair.user);
            let row = move |(board, points, season): &(BoardId, Points, Option<SeasonId>)| NewEntry {
                leaderboard_id: Key::of(*board),
                user_id,
                points: points.get(),
                season_id: season.map(Key::of),
                created_at: At(at),
            };
            repair.entries.iter().map(row).collect::<Vec<_>>()
        };
        let entries: Vec<NewEntry> = repairs.iter().flat_map(new_entry).collect();
        for rows in entries.chunks(ROWS) {
            self.put_entries(rows)?;
        }
        let changed = repairs.iter().filter(|repair| !repair.totals.is_empty());
        let events: Vec<_> = changed
            .map(|repair| (score_changed(repair.user), TotalChanges(repair.totals.clone()).to_string()))
            .collect();
        let events: Vec<_> =
            events.iter().map(|(event, totals)| (*event, Some(totals.as_str()), at)).collect();
        for events in events.chunks(ROWS) {
            self.append_rows(events)?;
        }
        Ok(())
    }

    fn hold_counts(&mut self) -> Result<(), StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => conn.batch_execute("LOCK TABLE board_counts IN SHARE ROW EXCLUSIVE MODE"),
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(_) => Ok(()),
        }
        .map_err(broken("hold the counts of boards"))
    }

    fn put_count(&mut self, count: &BoardCount) -> Result<(), StoreError> {
        let place = (
            board_counts::season_id.eq(Key::of(count.season)),
            board_counts::leaderboard_id.eq(Key::of(count.board)),
        );
        let old = board_counts::table.filter(place.0).filter(place.1);
        let new = (place.0, place.1, board_counts::part.eq(0), board_counts::listed.eq(count.listed));
        on!(self.conn, |conn| diesel::delete(old).execute(conn))
            .and_then(|_| {
                on!(self.conn, |conn| diesel::insert_into(board_counts::table).values(new).execute(conn))
            })
            .map(drop)
            .map_err(broken("repair the count of a board"))
    }
}

impl DieselTx<'_> {
    fn put_totals(&mut self, rows: &[NewTotal]) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            diesel::insert_into(board_totals::table)
                .values(rows)
                .on_conflict((board_totals::season_id, board_totals::leaderboard_id, board_totals::user_id))
                .do_update()
                .set((
                    board_totals::points.eq(excluded(board_totals::points)),
                    board_totals::reached_at.eq(excluded(board_totals::reached_at)),
                    board_totals::version.eq(excluded(board_totals::version)),
                    board_totals::listed.eq(excluded(board_totals::listed)),
                ))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("repair totals"))
    }

    fn put_entries(&mut self, rows: &[NewEntry]) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            diesel::insert_into(leaderboard_entries::table)
                .values(rows)
                .on_conflict((leaderboard_entries::leaderboard_id, leaderboard_entries::user_id))
                .do_update()
                .set((
                    leaderboard_entries::points.eq(excluded(leaderboard_entries::points)),
                    leaderboard_entries::season_id.eq(excluded(leaderboard_entries::season_id)),
                ))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("repair entries"))
    }
}
