//! The statements that an award executes on SQLite, in the order of the service.

use super::{connect, in_groups, now};
use crate::rows::boards;
use anyhow::{Context, Result};
use diesel::prelude::*;
use diesel::upsert::excluded;
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

diesel::table! {
    users (id) {
        id -> Binary,
        favorite_team_id -> Nullable<Binary>,
        status -> Text,
        leaderboard_visible -> Bool,
    }
}

diesel::table! {
    seasons (id) {
        id -> Binary,
        starts_at -> BigInt,
        ends_at -> Nullable<BigInt>,
        status -> Text,
    }
}

diesel::table! {
    leaderboards (id) {
        id -> Binary,
        season_id -> Nullable<Binary>,
    }
}

diesel::table! {
    points_history (user_id, source_key) {
        id -> Binary,
        user_id -> Binary,
        amount -> BigInt,
        reason -> Text,
        source_key -> Text,
        season_id -> Nullable<Binary>,
        leaderboard_id -> Nullable<Binary>,
        happened_at -> BigInt,
    }
}

diesel::table! {
    board_totals (season_id, leaderboard_id, user_id) {
        season_id -> Binary,
        leaderboard_id -> Binary,
        user_id -> Binary,
        points -> BigInt,
        reached_at -> BigInt,
        version -> BigInt,
        listed -> Bool,
    }
}

diesel::table! {
    leaderboard_entries (leaderboard_id, user_id) {
        leaderboard_id -> Binary,
        user_id -> Binary,
        points -> BigInt,
        season_id -> Nullable<Binary>,
        created_at -> BigInt,
    }
}

diesel::table! {
    ledger_accounts (user_id, unit) {
        user_id -> Binary,
        unit -> Text,
        balance -> BigInt,
    }
}

diesel::table! {
    ledger_transfers (source_key) {
        source_key -> Text,
        id -> Binary,
        unit -> Text,
        amount -> BigInt,
        debit_user -> Nullable<Binary>,
        debit_house -> Nullable<Text>,
        debit_balance -> Nullable<BigInt>,
        credit_user -> Nullable<Binary>,
        credit_house -> Nullable<Text>,
        credit_balance -> Nullable<BigInt>,
        reason -> Text,
        created_at -> BigInt,
    }
}

diesel::table! {
    events (position) {
        position -> BigInt,
        topic -> Text,
        kind -> Text,
        actor_id -> Nullable<Binary>,
        team_id -> Nullable<Binary>,
        subject_id -> Binary,
        object_id -> Nullable<Binary>,
        created_at -> BigInt,
        detail -> Nullable<Text>,
    }
}

#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
struct NewEvent<'a> {
    topic: &'a str,
    kind: &'a str,
    actor_id: Option<&'a [u8]>,
    team_id: Option<&'a [u8]>,
    subject_id: &'a [u8],
    object_id: Option<&'a [u8]>,
    created_at: i64,
    detail: Option<&'a str>,
}

/// Season, board, points, time reached, version, whether it is listed.
type TotalRow = (Vec<u8>, Vec<u8>, i64, i64, i64, bool);

/// The loop on one database. Numbers continue from run to run, so that no fact is repeated.
pub(crate) struct AwardLoop {
    conn: SqliteConnection,
    next: u64,
    fans: u64,
    season: Vec<u8>,
}

impl AwardLoop {
    /// Opens the database with the pragmas of the service's writer; `fans` is the number of bulk fans.
    pub(crate) fn open(file: &Path, fans: u64) -> Result<Self> {
        let mut conn = connect(file)?;
        let season = active_season(&mut conn)?;
        Ok(Self { conn, next: 0, fans, season })
    }

    /// Awards per second over `duration`, after `warm_up`, with `group` awards per commit on average.
    pub(crate) fn run(&mut self, group: f64, warm_up: Duration, duration: Duration) -> Result<f64> {
        let Self { conn, next, fans, season } = self;
        in_groups(conn, group, warm_up, duration, |conn| {
            *next += 1;
            award(conn, *next, *fans, season)
        })
    }
}

fn award(conn: &mut SqliteConnection, number: u64, fans: u64, stamped: &[u8]) -> Result<()> {
    let user = Uuid::from_u128(boards::fan(number.wrapping_mul(boards::STEP), fans));
    let record = Uuid::from_u128(boards::record(number));
    let source = format!("import:raw/{number:012}");
    give(conn, &Given { user, record, source: &source, amount: AMOUNT, reason: REASON }, stamped)
}

/// The data of an award.
pub(super) struct Given<'a> {
    pub(super) user: Uuid,
    pub(super) record: Uuid,
    pub(super) source: &'a str,
    pub(super) amount: i64,
    pub(super) reason: &'a str,
}

/// Finds the active season.
pub(super) fn active_season(conn: &mut SqliteConnection) -> Result<Vec<u8>> {
    let active = seasons::table.filter(seasons::status.eq("active")).select(seasons::id);
    active.first(conn).context("no season is active")
}

/// Executes the statements of one award, in the season `stamped`.
pub(super) fn give(conn: &mut SqliteConnection, given: &Given<'_>, stamped: &[u8]) -> Result<()> {
    let at = now()?;
    let (user, record) = (given.user.as_bytes().as_slice(), given.record.as_bytes().as_slice());

    let (_favorite, _status, _is_visible): (Option<Vec<u8>>, String, bool) = users::table
        .find(user)
        .select((users::favorite_team_id, users::status, users::leaderboard_visible))
        .first(conn)?;
    let (season, _status, _starts_at): (Vec<u8>, String, i64) = seasons::table
        .filter(seasons::status.ne("legacy"))
        .filter(seasons::starts_at.le(at))
        .filter(seasons::ends_at.is_null().or(seasons::ends_at.gt(at)))
        .select((seasons::id, seasons::status, seasons::starts_at))
        .first(conn)?;
    anyhow::ensure!(season == stamped, "the season changed");
    let global = leaderboards::table.filter(leaderboards::season_id.eq(&season)).select(leaderboards::id);
    let board: Vec<u8> = global.first(conn)?;
    diesel::insert_into(points_history::table)
        .values((
            points_history::id.eq(record),
            points_history::user_id.eq(user),
            points_history::amount.eq(given.amount),
            points_history::reason.eq(given.reason),
            points_history::source_key.eq(given.source),
            points_history::season_id.eq(Some(&season)),
            points_history::leaderboard_id.eq(None::<&[u8]>),
            points_history::happened_at.eq(at),
        ))
        .on_conflict((points_history::user_id, points_history::source_key))
        .do_nothing()
        .execute(conn)?;
    let total: TotalRow = board_totals::table
        .find((&season, &board, user))
        .select((
            board_totals::season_id,
            board_totals::leaderboard_id,
            board_totals::points,
            board_totals::reached_at,
            board_totals::version,
            board_totals::listed,
        ))
        .first(conn)?;
    let (_, _, points, reached_at, version, listed) = total;
    let (points, reached_at, version) = (points + given.amount, reached_at.max(at), version + 1);
    let values = (
        board_totals::points.eq(points),
        board_totals::reached_at.eq(reached_at),
        board_totals::version.eq(version),
        board_totals::listed.eq(listed),
    );
    diesel::insert_into(board_totals::table)
        .values((
            board_totals::season_id.eq(&season),
            board_totals::leaderboard_id.eq(&board),
            board_totals::user_id.eq(user),
            values,
        ))
        .on_conflict((board_totals::season_id, board_totals::leaderboard_id, board_totals::user_id))
        .do_update()
        .set(values)
        .execute(conn)?;
    let values = (leaderboard_entries::points.eq(points), leaderboard_entries::season_id.eq(Some(&season)));
    diesel::insert_into(leaderboard_entries::table)
        .values((
            leaderboard_entries::leaderboard_id.eq(&board),
            leaderboard_entries::user_id.eq(user),
            values,
            leaderboard_entries::created_at.eq(at),
        ))
        .on_conflict((leaderboard_entries::leaderboard_id, leaderboard_entries::user_id))
        .do_update()
        .set(values)
        .execute(conn)?;
    move_points(conn, user, record, at)?;
    let (season, board) = (Uuid::from_slice(&season)?, Uuid::from_slice(&board)?);
    let (season, board) = (season.simple(), board.simple());
    let event = NewEvent {
        topic: "leaderboard",
        kind: "points.awarded",
        actor_id: Some(user),
        team_id: None,
        subject_id: record,
        object_id: None,
        created_at: at,
        detail: Some(&format!("{season}/{board}/{points}/{reached_at}/{version}/{}", u8::from(listed))),
    };
    diesel::insert_into(events::table).values(&event).execute(conn)?;
    Ok(())
}

/// Credits the same number of spendable points.
fn move_points(conn: &mut SqliteConnection, user: &[u8], record: &[u8], at: i64) -> Result<()> {
    let balance: i64 = diesel::insert_into(ledger_accounts::table)
        .values((
            ledger_accounts::user_id.eq(user),
            ledger_accounts::unit.eq("points"),
            ledger_accounts::balance.eq(AMOUNT),
        ))
        .on_conflict((ledger_accounts::user_id, ledger_accounts::unit))
        .do_update()
        .set(ledger_accounts::balance.eq(ledger_accounts::balance + excluded(ledger_accounts::balance)))
        .returning(ledger_accounts::balance)
        .get_result(conn)?;
    diesel::insert_into(ledger_transfers::table)
        .values((
            ledger_transfers::source_key.eq(format!("award:{}", Uuid::from_slice(record)?.simple())),
            ledger_transfers::id.eq(record),
            ledger_transfers::unit.eq("points"),
            ledger_transfers::amount.eq(AMOUNT),
            ledger_transfers::debit_user.eq(None::<&[u8]>),
            ledger_transfers::debit_house.eq(Some("issuance")),
            ledger_transfers::debit_balance.eq(None::<i64>),
            ledger_transfers::credit_user.eq(Some(user)),
            ledger_transfers::credit_house.eq(None::<&str>),
            ledger_transfers::credit_balance.eq(Some(balance)),
            ledger_transfers::reason.eq(REASON),
            ledger_transfers::created_at.eq(at),
        ))
        .execute(conn)?;
    Ok(())
}

/// The amount of every award, here and in the service's own scenario.
pub(crate) const AMOUNT: i64 = 7;
/// The reason that fans see.
pub(crate) const REASON: &str = "A ticket that was used";
