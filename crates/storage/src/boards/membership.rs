//! Visibility of fans on boards.

use crate::boards::TotalRow;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::schema::{board_totals, leaderboard_entries, seasons, users};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use terrace_identity::AccountStatus;
use terrace_kernel::{EventKind, EventLog, NewEvent, StoreError, Timestamp, Topic, UserId};
use terrace_scoring::{AwardOrder, Awarding, BoardId, Membership, PointsWrite, SeasonId, TotalChanges};

impl PointsWrite for DieselTx<'_> {
    fn award(&mut self, order: &AwardOrder<'_>) -> Result<Awarding, StoreError> {
        let written = self.write_awards(std::slice::from_ref(order), true)?;
        Ok(written.into_iter().next().flatten().unwrap_or(Awarding::NotActive))
    }

    fn award_all(&mut self, orders: &[AwardOrder<'_>]) -> Result<Vec<Option<Awarding>>, StoreError> {
        self.write_awards(orders, false)
    }

    fn relist(&mut self, user: UserId, at: Timestamp) -> Result<TotalChanges, StoreError> {
        let is_shown = self.is_shown(user, false)?.unwrap_or(false);
        let key = Key::of(user);
        let rows: Vec<TotalRow> = on!(self.conn, |conn| {
            // All boards of the fan, in all seasons, which selects few rows by their keys. A fan who becomes hidden is
            // also removed from boards that they have left, because these still list the fan in earlier seasons.
            let boards = leaderboard_entries::table
                .filter(leaderboard_entries::user_id.eq(key))
                .filter(leaderboard_entries::left_at.is_null().or(is_shown.into_sql::<Bool>().eq(false)))
                .select(leaderboard_entries::leaderboard_id);
            let theirs = board_totals::table
                .filter(board_totals::season_id.eq_any(seasons::table.select(seasons::id)))
                .filter(board_totals::leaderboard_id.eq_any(boards))
                .filter(board_totals::user_id.eq(key))
                .filter(board_totals::listed.ne(is_shown));
            diesel::update(theirs)
                .set((board_totals::listed.eq(is_shown), board_totals::version.eq(board_totals::version + 1)))
                .returning(TotalRow::as_returning())
                .load(conn)
        })
        .map_err(broken("list a fan on their boards"))?;
        let changes = rows.into_iter().map(TotalRow::into_change).collect::<Result<Vec<_>, _>>()?;
        self.append_score_changed(user, TotalChanges(changes), at)
    }

    fn set_membership(&mut self, change: &Membership) -> Result<Option<TotalChanges>, StoreError> {
        let Membership { user, board, season, joins, at } = change;
        let Some(is_shown) = self.is_shown(*user, true)? else { return Ok(None) };
        let left_at = (!joins).then_some(At(*at));
        let row = (
            leaderboard_entries::leaderboard_id.eq(Key::of(*board)),
            leaderboard_entries::user_id.eq(Key::of(*user)),
            leaderboard_entries::points.eq(0),
            leaderboard_entries::season_id.eq(season.is_active().then_some(Key::of(season.id))),
            leaderboard_entries::created_at.eq(At(*at)),
            leaderboard_entries::left_at.eq(left_at),
        );
        on!(self.conn, |conn| {
            diesel::insert_into(leaderboard_entries::table)
                .values(row)
                .on_conflict((leaderboard_entries::leaderboard_id, leaderboard_entries::user_id))
                .do_update()
                .set(leaderboard_entries::left_at.eq(left_at))
                .execute(conn)
        })
        .map_err(broken("join or leave a board"))?;
        let listed = *joins && is_shown;
        let total = (
            board_totals::season_id.eq(Key::of(season.id)),
            board_totals::leaderboard_id.eq(Key::of(*board)),
            board_totals::user_id.eq(Key::of(*user)),
        );
        // An existing total of the season is kept. Otherwise the new total is zero since the beginning of the season.
        let made: Option<TotalRow> = on!(self.conn, |conn| {
            diesel::insert_into(board_totals::table)
                .values((
                    total,
                    board_totals::points.eq(0),
                    board_totals::reached_at.eq(At(season.starts_at)),
                    board_totals::version.eq(1),
                    board_totals::listed.eq(listed),
                ))
                .on_conflict((board_totals::season_id, board_totals::leaderboard_id, board_totals::user_id))
                .do_nothing()
                .returning(TotalRow::as_returning())
                .get_result(conn)
                .optional()
        })
        .map_err(broken("make a total"))?;
        let rows: Vec<TotalRow> = match made {
            Some(made) => {
                // The entry mirrors the active season, from the first total of that season on.
                if season.is_active() {
                    self.mirror_nothing(*board, *user, season.id)?;
                }
                vec![made]
            }
            None => on!(self.conn, |conn| {
                let other = board_totals::table
                    .find((Key::of(season.id), Key::of(*board), Key::of(*user)))
                    .filter(board_totals::listed.ne(listed));
                diesel::update(other)
                    .set((
                        board_totals::listed.eq(listed),
                        board_totals::version.eq(board_totals::version + 1),
                    ))
                    .returning(TotalRow::as_returning())
                    .load(conn)
            })
            .map_err(broken("list a fan on a board"))?,
        };
        let changes = rows.into_iter().map(TotalRow::into_change).collect::<Result<Vec<_>, _>>()?;
        self.append_score_changed(*user, TotalChanges(changes), *at).map(Some)
    }
}

impl DieselTx<'_> {
    /// Returns whether boards list the account; `None` if it is deleted, or if `only_active` is set and it is not
    /// active. Locks the account, so that the result remains valid until the transaction ends.
    fn is_shown(&mut self, user: UserId, only_active: bool) -> Result<Option<bool>, StoreError> {
        let account = users::table.find(Key::of(user)).select((users::status, users::leaderboard_visible));
        let row: Option<(String, bool)> = match &mut self.conn {
            Conn::Pg(conn) => account.for_no_key_update().first(*conn).optional(),
            Conn::Sqlite(conn) => account.first(*conn).optional(),
        }
        .map_err(broken("read whether a fan is shown"))?;
        Ok(row.and_then(|(status, is_visible)| {
            let is_active = status == AccountStatus::Active.as_str();
            (is_active || !only_active).then_some(is_active && is_visible)
        }))
    }

    /// Sets an entry to zero points in a season.
    fn mirror_nothing(&mut self, board: BoardId, user: UserId, season: SeasonId) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            diesel::update(leaderboard_entries::table.find((Key::of(board), Key::of(user))))
                .set((
                    leaderboard_entries::points.eq(0),
                    leaderboard_entries::season_id.eq(Some(Key::of(season))),
                ))
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("mirror a new total"))
    }

    /// Appends an event for totals that changed without a record of points.
    pub(crate) fn append_score_changed(
        &mut self,
        user: UserId,
        changes: TotalChanges,
        at: Timestamp,
    ) -> Result<TotalChanges, StoreError> {
        if !changes.0.is_empty() {
            self.append_with_detail(&score_changed(user), &changes.to_string(), at)?;
        }
        Ok(changes)
    }
}

/// The event for changed totals of a fan.
pub(crate) fn score_changed(user: UserId) -> NewEvent {
    NewEvent {
        topic: Topic::Leaderboard,
        kind: EventKind::ScoreChanged,
        actor: Some(user),
        team: None,
        subject: user.as_uuid(),
        object: None,
    }
}
