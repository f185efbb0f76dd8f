//! Seasons and boards, and boards as read from the tables.

use crate::boards::total;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::plan::inert;
use crate::rows::{corrupt, named};
use crate::schema::{board_counts, board_totals, leaderboard_entries, leaderboards, outbox, seasons, teams};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::connection::SimpleConnection;
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use terrace_kernel::{EventKind, EventLog, NewEvent, StoreError, TeamId, Timestamp, Topic, UserId, num};
use terrace_scoring::{
    Board, BoardId, BoardRead, BoardScope, BoardWrite, Points, RankKey, Season, SeasonId, Seasons, Total,
    TotalsSpan,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = seasons)]
struct SeasonRow {
    id: Key,
    key: String,
    name: String,
    starts_at: At,
    ends_at: Option<At>,
    status: String,
}

impl SeasonRow {
    fn into_season(self) -> Result<Season, StoreError> {
        Ok(Season {
            id: self.id.id(),
            key: named("seasons", "key", &self.key)?,
            name: self.name,
            starts_at: self.starts_at.0,
            ends_at: self.ends_at.map(|at| at.0),
            status: named("seasons", "status", &self.status)?,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = leaderboards)]
pub(crate) struct BoardRow {
    id: Key,
    season_id: Option<Key>,
    team_id: Option<Key>,
    created_at: At,
}

impl BoardRow {
    pub(crate) fn into_board(self) -> Result<Board, StoreError> {
        let scope = match (self.season_id, self.team_id) {
            (Some(season), None) => BoardScope::Global(season.id()),
            (None, Some(team)) => BoardScope::Team(team.id()),
            (Some(_), Some(_)) | (None, None) => {
                return Err(corrupt("leaderboards", "team_id", &"a board is a season's or a team's"));
            }
        };
        Ok(Board { id: self.id.id(), scope, created_at: self.created_at.0 })
    }
}

/// The sort key of a fan, as stored in the index of a board.
type KeyRow = (i64, At, Key);

fn into_key((points, reached_at, user): KeyRow) -> RankKey {
    RankKey { points: Points::new(points), reached_at: reached_at.0, user: user.id() }
}

/// The rows that are listed on a board in a season, in a form that matches the partial index.
macro_rules! listed_on {
    ($season:expr, $board:expr) => {
        board_totals::table
            .filter(board_totals::season_id.eq(Key::of($season)))
            .filter(board_totals::leaderboard_id.eq(Key::of($board)))
            .filter(board_totals::listed)
    };
}

/// The rows that are listed on a board in a season and sort before a key.
macro_rules! listed_before {
    ($season:expr, $board:expr, $key:expr) => {{
        let RankKey { points, reached_at, user } = $key;
        let (points, reached_at, user) = (points.get(), At(*reached_at), Key::of(*user));
        let same_time = board_totals::reached_at.eq(reached_at).and(board_totals::user_id.lt(user));
        listed_on!($season, $board)
            .filter(board_totals::points.ge(points))
            .filter(board_totals::points.gt(points).or(board_totals::reached_at.lt(reached_at).or(same_time)))
    }};
}

/// Compares the key of a total with a place among the totals of a season. `$comparison` is the SQL of the comparison up
/// to its first value.
macro_rules! beyond {
    ($comparison:literal, $place:expr) => {{
        let (board, user) = $place;
        sql::<Bool>($comparison)
            .bind::<Uid, _>(Key::of(board))
            .sql(", ")
            .bind::<Uid, _>(Key::of(user))
            .sql(")")
    }};
}

impl BoardRead for DieselTx<'_> {
    fn seasons(&mut self) -> Result<Seasons, StoreError> {
        let rows: Vec<SeasonRow> =
            on!(self.conn, |conn| seasons::table.select(SeasonRow::as_select()).load(conn))
                .map_err(broken("read the seasons"))?;
        let all = rows.into_iter().map(SeasonRow::into_season).collect::<Result<Vec<_>, _>>()?;
        Seasons::new(all).map_err(|error| corrupt("seasons", "starts_at", &error))
    }

    fn board(&mut self, id: BoardId) -> Result<Option<Board>, StoreError> {
        let row: Option<BoardRow> = on!(self.conn, |conn| {
            leaderboards::table.find(Key::of(id)).select(BoardRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a board"))?;
        row.map(BoardRow::into_board).transpose()
    }

    fn board_of_team(&mut self, team: TeamId) -> Result<Option<Board>, StoreError> {
        let row: Option<BoardRow> = on!(self.conn, |conn| {
            let own = leaderboards::table.filter(leaderboards::team_id.eq(Key::of(team)));
            own.select(BoardRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a team's board"))?;
        row.map(BoardRow::into_board).transpose()
    }

    fn global_board(&mut self, season: SeasonId) -> Result<Option<Board>, StoreError> {
        let row: Option<BoardRow> = on!(self.conn, |conn| {
            let own = leaderboards::table.filter(leaderboards::season_id.eq(Key::of(season)));
            own.select(BoardRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a season's board"))?;
        row.map(BoardRow::into_board).transpose()
    }

    fn boards(&mut self, season: SeasonId) -> Result<Vec<Board>, StoreError> {
        let rows: Vec<BoardRow> = on!(self.conn, |conn| {
            leaderboards::table
                .filter(leaderboards::team_id.is_not_null().or(leaderboards::season_id.eq(Key::of(season))))
                .order(leaderboards::id)
                .select(BoardRow::as_select())
                .load(conn)
        })
        .map_err(broken("list boards"))?;
        rows.into_iter().map(BoardRow::into_board).collect()
    }

    fn boards_joined(&mut self, user: UserId) -> Result<Vec<BoardId>, StoreError> {
        let rows: Vec<Key> = on!(self.conn, |conn| {
            leaderboard_entries::table
                .filter(leaderboard_entries::user_id.eq(Key::of(user)))
                .filter(leaderboard_entries::left_at.is_null())
                .order(leaderboard_entries::leaderboard_id)
                .select(leaderboard_entries::leaderboard_id)
                .load(conn)
        })
        .map_err(broken("list a fan's boards"))?;
        Ok(rows.into_iter().map(Key::id).collect())
    }

    fn ranked(
        &mut self,
        season: SeasonId,
        board: BoardId,
        limit: u32,
        after: Option<&RankKey>,
    ) -> Result<Vec<RankKey>, StoreError> {
        let rows: Vec<KeyRow> = on!(self.conn, |conn| {
            let mut query = listed_on!(season, board)
                .select((board_totals::points, board_totals::reached_at, board_totals::user_id))
                .into_boxed();
            if let Some(RankKey { points, reached_at, user }) = after {
                let later = board_totals::reached_at.gt(At(*reached_at)).or(board_totals::reached_at
                    .eq(At(*reached_at))
                    .and(board_totals::user_id.gt(Key::of(*user))));
                query = query
                    .filter(board_totals::points.le(points.get()))
                    .filter(board_totals::points.lt(points.get()).or(later));
            }
            query
                .order((board_totals::points.desc(), board_totals::reached_at, board_totals::user_id))
                .limit(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("read a board"))?;
        Ok(rows.into_iter().map(into_key).collect())
    }

    fn ranked_before(
        &mut self,
        season: SeasonId,
        board: BoardId,
        limit: u32,
        before: &RankKey,
    ) -> Result<Vec<RankKey>, StoreError> {
        let rows: Vec<KeyRow> = on!(self.conn, |conn| {
            listed_before!(season, board, before)
                .order((
                    board_totals::points.asc(),
                    board_totals::reached_at.desc(),
                    board_totals::user_id.desc(),
                ))
                .limit(i64::from(limit))
                .select((board_totals::points, board_totals::reached_at, board_totals::user_id))
                .load(conn)
        })
        .map_err(broken("read a board upwards"))?;
        Ok(rows.into_iter().map(into_key).collect())
    }

    fn is_published(&mut self, season: SeasonId, board: BoardId) -> Result<bool, StoreError> {
        let Conn::Pg(conn) = &mut self.conn else {
            // On SQLite, committed events are public.
            return Ok(true);
        };
        // The format is that of `TotalChanges`. The outbox is empty or nearly empty, so the scan is cheap.
        let place = format!("%{}/{}/%", season.as_uuid().simple(), board.as_uuid().simple());
        diesel::select(exists(outbox::table.filter(outbox::detail.like(place))))
            .get_result(*conn)
            .map(|waits: bool| !waits)
            .map_err(broken("look for a board in the outbox"))
    }

    fn count_listed(&mut self, season: SeasonId, board: BoardId) -> Result<u64, StoreError> {
        let parts: Vec<i64> = on!(self.conn, |conn| {
            board_counts::table
                .filter(board_counts::season_id.eq(Key::of(season)))
                .filter(board_counts::leaderboard_id.eq(Key::of(board)))
                .select(board_counts::listed)
                .load(conn)
        })
        .map_err(broken("read how many fans a board has"))?;
        Ok(num::to_u64(parts.into_iter().sum::<i64>()))
    }

    fn count_above(&mut self, season: SeasonId, board: BoardId, points: Points) -> Result<u64, StoreError> {
        on!(self.conn, |conn| {
            listed_on!(season, board)
                .filter(board_totals::points.gt(points.get()))
                .count()
                .get_result::<i64>(conn)
        })
        .map(num::to_u64)
        .map_err(broken("count fans with more points"))
    }

    fn count_between(
        &mut self,
        season: SeasonId,
        board: BoardId,
        low: Points,
        high: Points,
    ) -> Result<u64, StoreError> {
        on!(self.conn, |conn| {
            listed_on!(season, board)
                .filter(board_totals::points.gt(low.get()))
                .filter(board_totals::points.le(high.get()))
                .count()
                .get_result::<i64>(conn)
        })
        .map(num::to_u64)
        .map_err(broken("count fans with points in a range"))
    }

    fn count_above_within(
        &mut self,
        season: SeasonId,
        board: BoardId,
        points: Points,
        most: u32,
    ) -> Result<u64, StoreError> {
        let above: Vec<i64> = on!(self.conn, |conn| {
            listed_on!(season, board)
                .filter(board_totals::points.gt(points.get()))
                .order(board_totals::points.desc())
                .limit(i64::from(most))
                .select(board_totals::points)
                .load(conn)
        })
        .map_err(broken("count fans with more points"))?;
        Ok(num::to_u64(above.len()))
    }

    fn count_before(&mut self, season: SeasonId, board: BoardId, key: &RankKey) -> Result<u64, StoreError> {
        on!(self.conn, |conn| listed_before!(season, board, key).count().get_result::<i64>(conn))
            .map(num::to_u64)
            .map_err(broken("count fans before a fan"))
    }

    fn next_above(
        &mut self,
        season: SeasonId,
        board: BoardId,
        points: Points,
    ) -> Result<Option<Points>, StoreError> {
        let next: Option<i64> = on!(self.conn, |conn| {
            listed_on!(season, board)
                .filter(board_totals::points.gt(points.get()))
                .order(board_totals::points.asc())
                .select(board_totals::points)
                .first(conn)
                .optional()
        })
        .map_err(broken("read the next fan"))?;
        Ok(next.map(Points::new))
    }

    fn listed(
        &mut self,
        season: SeasonId,
        board: BoardId,
        user: UserId,
    ) -> Result<Option<RankKey>, StoreError> {
        let row: Option<KeyRow> = on!(self.conn, |conn| {
            board_totals::table
                .find((Key::of(season), Key::of(board), Key::of(user)))
                .filter(board_totals::listed)
                .select((board_totals::points, board_totals::reached_at, board_totals::user_id))
                .first(conn)
                .optional()
        })
        .map_err(broken("read a fan's line"))?;
        Ok(row.map(into_key))
    }

    fn listed_totals(
        &mut self,
        season: SeasonId,
        limit: u32,
        span: &TotalsSpan,
    ) -> Result<Vec<(BoardId, UserId, Total)>, StoreError> {
        let rows: Vec<(Key, Key, i64, At, i64)> = on!(self.conn, |conn| {
            let mut query = board_totals::table
                .filter(board_totals::season_id.eq(Key::of(season)))
                // Written so that it does not match the ranked index, from which SQLite would have to sort the rows for
                // each batch.
                .filter(inert(board_totals::listed))
                .select((
                    board_totals::leaderboard_id,
                    board_totals::user_id,
                    board_totals::points,
                    board_totals::reached_at,
                    board_totals::version,
                ))
                .into_boxed();
            // A form with which both databases seek in the primary key.
            if let Some(place) = span.after {
                query = query.filter(beyond!("(leaderboard_id, user_id) > (", place));
            }
            if let Some(place) = span.before {
                query = query.filter(beyond!("(leaderboard_id, user_id) < (", place));
            }
            let query = if span.backwards {
                query.order((board_totals::leaderboard_id.desc(), board_totals::user_id.desc()))
            } else {
                query.order((board_totals::leaderboard_id.asc(), board_totals::user_id.asc()))
            };
            query.limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("read the totals of a season"))?;
        rows.into_iter()
            .map(|(board, user, points, reached_at, version)| {
                Ok((board.id(), user.id(), total(points, reached_at, version)?))
            })
            .collect()
    }
}

impl DieselTx<'_> {
    fn write_season(&mut self, season: &Season, replaces: bool) -> Result<bool, StoreError> {
        let changing = (
            seasons::name.eq(&season.name),
            seasons::starts_at.eq(At(season.starts_at)),
            seasons::ends_at.eq(season.ends_at.map(At)),
            seasons::status.eq(season.status.as_str()),
        );
        let values = (seasons::id.eq(Key::of(season.id)), seasons::key.eq(season.key.as_str()), changing);
        let rows = on!(self.conn, |conn| {
            let insert = diesel::insert_into(seasons::table).values(values);
            if replaces {
                insert.on_conflict(seasons::id).do_update().set(changing).execute(conn)
            } else {
                insert.on_conflict(seasons::key).do_nothing().execute(conn)
            }
        })
        .map_err(broken("write a season"))?;
        Ok(rows == 1)
    }

    fn write_global_board(&mut self, season: &Season, id: BoardId, at: Timestamp) -> Result<(), StoreError> {
        if !season.is_counted() {
            return Ok(());
        }
        on!(self.conn, |conn| {
            diesel::insert_into(leaderboards::table)
                .values((
                    leaderboards::id.eq(Key::of(id)),
                    leaderboards::season_id.eq(Key::of(season.id)),
                    leaderboards::created_at.eq(At(at)),
                ))
                .on_conflict(leaderboards::season_id)
                .do_nothing()
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("make a season's board"))
    }

    fn append_season_changed(&mut self, season: &Season, at: Timestamp) -> Result<(), StoreError> {
        let event = NewEvent {
            topic: Topic::Leaderboard,
            kind: EventKind::SeasonChanged,
            actor: None,
            team: None,
            subject: season.id.as_uuid(),
            object: None,
        };
        self.append(&event, at)
    }
}

impl BoardWrite for DieselTx<'_> {
    fn put_seasons(&mut self, seasons: &[(Season, BoardId)], at: Timestamp) -> Result<(), StoreError> {
        for (season, board) in seasons {
            self.write_season(season, true)?;
            self.write_global_board(season, *board, at)?;
            self.append_season_changed(season, at)?;
        }
        Ok(())
    }

    fn add_season(&mut self, season: &Season, board: BoardId, at: Timestamp) -> Result<bool, StoreError> {
        let added = self.write_season(season, false)?;
        if added {
            self.write_global_board(season, board, at)?;
            self.append_season_changed(season, at)?;
        }
        Ok(added)
    }

    fn ensure_board(&mut self, team: TeamId, id: BoardId, at: Timestamp) -> Result<bool, StoreError> {
        let known: Option<Key> = on!(self.conn, |conn| {
            teams::table.find(Key::of(team)).select(teams::id).first(conn).optional()
        })
        .map_err(broken("find a team"))?;
        if known.is_none() {
            return Ok(false);
        }
        on!(self.conn, |conn| {
            diesel::insert_into(leaderboards::table)
                .values((
                    leaderboards::id.eq(Key::of(id)),
                    leaderboards::team_id.eq(Key::of(team)),
                    leaderboards::created_at.eq(At(at)),
                ))
                .on_conflict(leaderboards::team_id)
                .do_nothing()
                .execute(conn)
        })
        .map(|_| true)
        .map_err(broken("make a team's board"))
    }

    fn lock_seasons(&mut self) -> Result<(), StoreError> {
        match &mut self.conn {
            // Reads and awards continue; only changes to seasons wait.
            Conn::Pg(conn) => conn.batch_execute("LOCK TABLE seasons IN SHARE ROW EXCLUSIVE MODE"),
            Conn::Sqlite(_) => Ok(()),
        }
        .map_err(broken("lock the seasons"))
    }
}
