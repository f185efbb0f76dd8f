//! Writes awards: for each the record, the totals to which it counts, the legacy entries, the same number of spendable
//! points and the event, or none of them.
//!
//! On PostgreSQL this is one statement for all of them and therefore one round trip. SQLite does not support writes inside a statement,
//! but its writer has exclusive access, so there the award is written in single steps that use the rule of the total
//! ([`Total::add`]) directly.

use crate::balances::Issue;
use crate::boards::{TotalRow, total, version};
use crate::conn::Conn;
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::rows::corrupt;
use crate::schema::{board_totals, leaderboard_entries, leaderboards, points_history, seasons, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};
use std::collections::HashMap;
use terrace_identity::AccountStatus;
use terrace_kernel::{Appended, EventKind, EventLog, NewEvent, StoreError, TeamId, Topic};
use terrace_ledger::TransferSource;
use terrace_scoring::{
    AwardOrder, Awarding, BoardOrder, Points, SeasonStatus, SourceKind, TeamBoardId, Total, TotalChange,
    TotalChanges, Writer,
};

/// The SQL after the arguments, which are one array for each column of [`Award`]. `season` is the season that currently
/// contains the event's time or, for a reversal, the season of the reversed record; the record is written only if that is
/// still the season with which it was stamped. The accounts are locked, so that visibility and
/// favourite team are those at the moment at which the award takes effect. A fan's global total precedes the team's total
/// in the single statement that writes both: awards of the same fan wait for each other there and nowhere else. Spendable
/// points are moved once the record is new: `purse` adds points, and `taken` takes back those that are left; points
/// already spent are written off.
const AWARD: &str = concat!(include_str!("award_fans.sql"), include_str!("award.sql"));
/// The same, without the fans whose accounts other transactions hold: one of them would delay all others.
const AWARD_UNLOCKED: &str =
    concat!(include_str!("award_fans.sql"), "    SKIP LOCKED\n", include_str!("award.sql"));

/// One award, as the values of columns.
#[derive(Clone, Copy)]
struct Award<'a> {
    user: Key,
    id: Key,
    amount: i64,
    reason: &'a str,
    source: &'a str,
    season: Option<Key>,
    at: At,
    team: Option<Key>,
    recorded_board: Option<Key>,
    finds_board: bool,
    by_maintenance: bool,
    by_time: bool,
    now: At,
}

impl<'a> Award<'a> {
    fn new(order: &'a AwardOrder<'_>, source: &'a str) -> Self {
        let (finds_board, team) = match order.board {
            BoardOrder::AsRecorded => (false, None),
            BoardOrder::Of(team) => (true, team),
        };
        let record = order.record;
        Self {
            user: Key::of(record.user),
            id: Key::of(record.id),
            amount: record.amount.get(),
            reason: &record.reason,
            source,
            season: record.season.map(Key::of),
            at: At(record.at),
            team: team.map(Key::of),
            recorded_board: record.board.map(Key::of),
            finds_board,
            by_maintenance: order.by == Writer::Maintenance,
            by_time: record.source.kind() != SourceKind::Reversal,
            now: At(order.now),
        }
    }
}

impl DieselTx<'_> {
    /// Writes awards of different fans; see [`terrace_scoring::PointsWrite::award_all`]. With `waits`, waits for fans
    /// whose accounts other transactions hold; `None` then means that the account is not active.
    pub(crate) fn write_awards(
        &mut self,
        orders: &[AwardOrder<'_>],
        waits: bool,
    ) -> Result<Vec<Option<Awarding>>, StoreError> {
        let sources: Vec<String> = orders.iter().map(|order| order.record.source.to_string()).collect();
        let awards: Vec<Award<'_>> =
            orders.iter().zip(&sources).map(|(order, source)| Award::new(order, source)).collect();
        let Conn::Pg(conn) = &mut self.conn else {
            return awards.iter().map(|award| self.in_steps(award).map(Some)).collect();
        };
        let written = in_one(conn, &awards, if waits { AWARD } else { AWARD_UNLOCKED })?;
        let is_new = |one: &Option<Awarding>| matches!(one, Some(Awarding::Written { .. }));
        let fresh = orders.iter().zip(&written).filter(|(_, one)| is_new(one));
        self.appended.extend(fresh.map(|(order, _)| Appended {
            kind: EventKind::PointsAwarded,
            actor: Some(order.record.user),
            subject: order.record.id.as_uuid(),
        }));
        Ok(written)
    }

    /// The same award on SQLite, in single steps.
    fn in_steps(&mut self, award: &Award<'_>) -> Result<Awarding, StoreError> {
        let Conn::Sqlite(conn) = &mut self.conn else {
            return Err(StoreError::defect("award", "these steps are SQLite's"));
        };
        let place = match place(conn, award).map_err(broken("find the place of an award"))? {
            AwardTarget::Found(place) => place,
            AwardTarget::Stale => return Ok(Awarding::Stale),
            AwardTarget::NoBoard(team) => return Ok(Awarding::NoBoard(team)),
            AwardTarget::NotActive => return Ok(Awarding::NotActive),
        };
        if !insert_record(conn, award, place.board).map_err(broken("write a record of points"))? {
            return Ok(Awarding::AlreadyThere);
        }
        let mut changes = TotalChanges::default();
        if let Some(season) = &place.season {
            for board in season.global.iter().chain(place.board.iter()) {
                let change = add(conn, award, season, *board, place.is_shown)?;
                changes.0.push(change);
            }
        }
        self.issue_points(&Issue {
            user: award.user.id(),
            points: award.amount,
            id: award.id.id(),
            source: TransferSource::award(award.id.0),
            reason: award.reason,
            at: award.now.0,
        })?;
        let event = NewEvent {
            topic: Topic::Leaderboard,
            kind: EventKind::PointsAwarded,
            actor: Some(award.user.id()),
            team: place.team,
            subject: award.id.0,
            object: None,
        };
        self.append_with_detail(&event, &changes.to_string(), award.now.0)?;
        Ok(Awarding::Written { board: place.board.map(|board| TeamBoardId::from_uuid(board.0)), changes })
    }
}

fn in_one(
    conn: &mut PgConnection,
    awards: &[Award<'_>],
    sql: &'static str,
) -> Result<Vec<Option<Awarding>>, StoreError> {
    let values = (
        column(awards, |award| award.user).into_sql::<Array<Uid>>(),
        column(awards, |award| award.id).into_sql::<Array<Uid>>(),
        column(awards, |award| award.amount).into_sql::<Array<BigInt>>(),
        column(awards, |award| award.reason).into_sql::<Array<Text>>(),
        column(awards, |award| award.source).into_sql::<Array<Text>>(),
        column(awards, |award| award.season).into_sql::<Array<Nullable<Uid>>>(),
        column(awards, |award| award.at).into_sql::<Array<Instant>>(),
        column(awards, |award| award.team).into_sql::<Array<Nullable<Uid>>>(),
        column(awards, |award| award.recorded_board).into_sql::<Array<Nullable<Uid>>>(),
        column(awards, |award| award.finds_board).into_sql::<Array<Bool>>(),
        column(awards, |award| award.by_maintenance).into_sql::<Array<Bool>>(),
        column(awards, |award| award.by_time).into_sql::<Array<Bool>>(),
        column(awards, |award| award.now).into_sql::<Array<Instant>>(),
    );
    let statement =
        Fixed::<_, (Uid, Bool, Nullable<Uid>, Nullable<Uid>, Bool, Text)>::new(GIVEN, values, sql);
    let rows: Vec<Answer> = statement.load(conn).map_err(broken("write awards"))?;
    let mut answers: HashMap<Key, Answer> = rows.into_iter().map(|row| (row.0, row)).collect();
    awards.iter().map(|award| answers.remove(&award.id).map(awarding).transpose()).collect()
}

/// Id of the record, whether the season is current, team, board, whether the record is new, and the new totals.
type Answer = (Key, bool, Option<Key>, Option<Key>, bool, String);

fn awarding((_, fresh, team, board, written, detail): Answer) -> Result<Awarding, StoreError> {
    match (fresh, team, board) {
        (false, _, _) => Ok(Awarding::Stale),
        (true, Some(team), None) => Ok(Awarding::NoBoard(team.id())),
        (true, _, _) if !written => Ok(Awarding::AlreadyThere),
        (true, _, board) => {
            let changes = detail.parse().map_err(|error| corrupt("outbox", "detail", &error))?;
            Ok(Awarding::Written { board: board.map(|board| TeamBoardId::from_uuid(board.0)), changes })
        }
    }
}

/// The destination of an award.
enum AwardTarget {
    Found(Found),
    Stale,
    NoBoard(TeamId),
    NotActive,
}

struct Found {
    is_shown: bool,
    team: Option<TeamId>,
    board: Option<Key>,
    season: Option<SeasonPlace>,
}

/// The season in which an award counts.
struct SeasonPlace {
    id: Key,
    starts_at: At,
    is_active: bool,
    global: Option<Key>,
}

fn place(conn: &mut SqliteConnection, award: &Award<'_>) -> QueryResult<AwardTarget> {
    let fan: Option<(Option<Key>, String, bool)> = users::table
        .find(award.user)
        .select((users::favorite_team_id, users::status, users::leaderboard_visible))
        .first(conn)
        .optional()?;
    let active = AccountStatus::Active.as_str();
    let may = |status: &str| {
        status == active || (award.by_maintenance && status == AccountStatus::Suspended.as_str())
    };
    let Some((favorite, status, is_visible)) = fan.filter(|(_, status, _)| may(status)) else {
        return Ok(AwardTarget::NotActive);
    };
    let season = season(conn, award)?;
    let is_open =
        |status: &str| status == SeasonStatus::Planned.as_str() || status == SeasonStatus::Active.as_str();
    if season.as_ref().map(|(id, ..)| *id) != award.season
        || season.as_ref().is_some_and(|(_, status, _)| !award.by_maintenance && !is_open(status))
    {
        return Ok(AwardTarget::Stale);
    }
    let team = if award.finds_board { award.team.or(favorite) } else { None };
    let board = match team {
        None => award.recorded_board.filter(|_| !award.finds_board),
        Some(team) => {
            let own = leaderboards::table.filter(leaderboards::team_id.eq(team)).select(leaderboards::id);
            let Some(board) = own.first(conn).optional()? else { return Ok(AwardTarget::NoBoard(team.id())) };
            Some(board)
        }
    };
    let season = match season {
        None => None,
        Some((id, status, starts_at)) => {
            let global = leaderboards::table.filter(leaderboards::season_id.eq(id)).select(leaderboards::id);
            let is_active = status == SeasonStatus::Active.as_str();
            Some(SeasonPlace { id, starts_at, is_active, global: global.first(conn).optional()? })
        }
    };
    let is_shown = is_visible && status == active;
    Ok(AwardTarget::Found(Found { is_shown, team: team.map(Key::id), board, season }))
}

/// The season of the award, according to the current tables.
fn season(conn: &mut SqliteConnection, award: &Award<'_>) -> QueryResult<Option<(Key, String, At)>> {
    let columns = (seasons::id, seasons::status, seasons::starts_at);
    if !award.by_time {
        let Some(id) = award.season else { return Ok(None) };
        return seasons::table.find(id).select(columns).first(conn).optional();
    }
    seasons::table
        .filter(seasons::status.ne(SeasonStatus::Legacy.as_str()))
        .filter(seasons::starts_at.le(award.at))
        .filter(seasons::ends_at.is_null().or(seasons::ends_at.gt(award.at)))
        .select(columns)
        .first(conn)
        .optional()
}

fn insert_record(conn: &mut SqliteConnection, award: &Award<'_>, board: Option<Key>) -> QueryResult<bool> {
    let row = (
        points_history::id.eq(award.id),
        points_history::user_id.eq(award.user),
        points_history::amount.eq(award.amount),
        points_history::reason.eq(award.reason),
        points_history::source_key.eq(award.source),
        points_history::season_id.eq(award.season),
        points_history::leaderboard_id.eq(board),
        points_history::happened_at.eq(award.at),
    );
    diesel::insert_into(points_history::table)
        .values(row)
        .on_conflict((points_history::user_id, points_history::source_key))
        .do_nothing()
        .execute(conn)
        .map(|rows| rows == 1)
}

/// Adds the award to one total, and updates its mirrored entry.
fn add(
    conn: &mut SqliteConnection,
    award: &Award<'_>,
    season: &SeasonPlace,
    board: Key,
    is_shown: bool,
) -> Result<TotalChange, StoreError> {
    let fail = broken("add an award to a total");
    let stored: Option<TotalRow> = board_totals::table
        .find((season.id, board, award.user))
        .select(TotalRow::as_select())
        .first(conn)
        .optional()
        .map_err(&fail)?;
    let mut change = match stored {
        Some(row) => row.into_change()?,
        None => TotalChange {
            season: season.id.id(),
            board: board.id(),
            total: total(0, season.starts_at, 0)?,
            is_listed: is_shown && !has_left(conn, board, award.user).map_err(&fail)?,
        },
    };
    change.total.count(Points::new(award.amount), award.at.0);
    write_total(conn, award.user, &change).map_err(&fail)?;
    mirror(conn, award, season, board, &change.total).map_err(&fail)?;
    Ok(change)
}

fn has_left(conn: &mut SqliteConnection, board: Key, user: Key) -> QueryResult<bool> {
    let left_at: Option<Option<At>> = leaderboard_entries::table
        .find((board, user))
        .select(leaderboard_entries::left_at)
        .first(conn)
        .optional()?;
    Ok(left_at.flatten().is_some())
}

/// The columns are in the order of the values in [`write_total`].
const WRITE_TOTAL: &str = "\
    INSERT INTO board_totals (season_id, leaderboard_id, user_id, points, reached_at, version, listed) VALUES (";
const OVER_TOTAL: &str = "\
    ) ON CONFLICT (season_id, leaderboard_id, user_id) DO UPDATE SET points = excluded.points, \
    reached_at = excluded.reached_at, version = excluded.version, listed = excluded.listed";

fn write_total(conn: &mut SqliteConnection, user: Key, change: &TotalChange) -> QueryResult<()> {
    let values = (
        Key::of(change.season).into_sql::<Uid>(),
        Key::of(change.board).into_sql::<Uid>(),
        user.into_sql::<Uid>(),
        change.total.points.get().into_sql::<BigInt>(),
        At(change.total.reached_at).into_sql::<Instant>(),
        version(&change.total).into_sql::<BigInt>(),
        change.is_listed.into_sql::<Bool>(),
    );
    Fixed::<_>::new(WRITE_TOTAL, values, OVER_TOTAL).execute(conn).map(drop)
}

/// The columns are in the order of the values in [`mirror`].
const WRITE_ENTRY: &str = "\
    INSERT INTO leaderboard_entries (leaderboard_id, user_id, points, season_id, created_at) VALUES (";
const OVER_ENTRY: &str = "\
    ) ON CONFLICT (leaderboard_id, user_id) DO UPDATE SET points = excluded.points, season_id = excluded.season_id";
const LEAVE_ENTRY: &str = ") ON CONFLICT (leaderboard_id, user_id) DO NOTHING";

/// Updates the legacy entry. It holds the total of the active season; for any other season it only records that the fan
/// has an entry.
fn mirror(
    conn: &mut SqliteConnection,
    award: &Award<'_>,
    season: &SeasonPlace,
    board: Key,
    total: &Total,
) -> QueryResult<()> {
    let points = if season.is_active { total.points } else { Points::ZERO };
    let values = (
        board.into_sql::<Uid>(),
        award.user.into_sql::<Uid>(),
        points.get().into_sql::<BigInt>(),
        season.is_active.then_some(season.id).into_sql::<Nullable<Uid>>(),
        award.now.into_sql::<Instant>(),
    );
    let over = if season.is_active { OVER_ENTRY } else { LEAVE_ENTRY };
    Fixed::<_>::new(WRITE_ENTRY, values, over).execute(conn).map(drop)
}
