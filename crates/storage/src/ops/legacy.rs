//! Staged rows of an older system, which are not visible to users.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::IdRow;
use crate::schema::users;
use crate::schema::{
    imports, legacy_entries, legacy_follows, legacy_points, legacy_runs, legacy_steps, legacy_team_follows,
    legacy_users,
};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use std::collections::HashMap;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_quests::RunStatus;
use terrace_store::legacy::{
    ImportId, LegacyEntry, LegacyFollow, LegacyPoints, LegacyRow, LegacyRun, LegacyStaging,
    LegacyStagingWrite, LegacyStep, LegacyTeamFollow, LegacyUser,
};

/// The maximum number of rows in one statement, each with at most ten columns.
const ROWS: usize = 500;
/// The staging tables in the order in which they can be emptied, with the columns that identify a row within an import.
const WAITING: [(&str, &str); 7] = [
    ("legacy_users", "id"),
    ("legacy_points", "user_id, source_key"),
    ("legacy_runs", "user_id, quest_id, period"),
    ("legacy_steps", "user_id, step_id, period"),
    ("legacy_entries", "user_id, scope_id"),
    ("legacy_follows", "follower_id, followee_id"),
    ("legacy_team_follows", "user_id, team_id"),
];
/// Unfinished imports that have not been started or continued since `$1`.
const ABANDONED: &str = "finished_at IS NULL AND started_at < $1";

/// Counts the staged rows of abandoned imports, and the imports themselves.
pub(crate) fn abandoned() -> String {
    let imports = format!("(SELECT COUNT(*) FROM imports WHERE {ABANDONED})");
    let waiting = WAITING.map(|(table, _)| {
        format!(
            "(SELECT COUNT(*) FROM {table} WHERE import_id IN (SELECT id FROM imports WHERE {ABANDONED}))"
        )
    });
    format!("SELECT {imports} + {} AS count", waiting.join(" + "))
}

#[derive(Insertable)]
#[diesel(table_name = legacy_users, treat_none_as_default_value = false)]
struct UserRow<'a> {
    import_id: Key,
    id: Key,
    username: &'a str,
    username_key: &'a str,
    display_name: &'a str,
    bio: &'a str,
    favorite_team_id: Option<Key>,
    time_zone: &'a str,
    created_at: At,
}

impl<'a> UserRow<'a> {
    fn of(import_id: Key, row: &'a LegacyUser) -> Self {
        Self {
            import_id,
            id: Key::of(row.id),
            username: row.username.as_str(),
            username_key: row.username.key(),
            display_name: &row.display_name,
            bio: &row.bio,
            favorite_team_id: row.favorite_team.map(Key::of),
            time_zone: row.time_zone.name(),
            created_at: At(row.created_at),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = legacy_points, treat_none_as_default_value = false)]
struct PointsRow<'a> {
    import_id: Key,
    user_id: Key,
    source_key: String,
    id: Key,
    amount: i64,
    reason: &'a str,
    season_id: Option<Key>,
    team_id: Option<Key>,
    happened_at: At,
}

impl<'a> PointsRow<'a> {
    fn of(import_id: Key, row: &'a LegacyPoints) -> Self {
        Self {
            import_id,
            user_id: Key::of(row.user),
            source_key: row.source.to_string(),
            id: Key::of(row.id),
            amount: row.amount.get(),
            reason: &row.reason,
            season_id: row.season.map(Key::of),
            team_id: row.team.map(Key::of),
            happened_at: At(row.at),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = legacy_runs, treat_none_as_default_value = false)]
struct RunRow {
    import_id: Key,
    user_id: Key,
    quest_id: Key,
    period: String,
    status: &'static str,
    started_at: At,
    completed_at: Option<At>,
}

impl RunRow {
    fn of(import_id: Key, row: &LegacyRun) -> Self {
        let status = if row.completed_at.is_some() { RunStatus::Completed } else { RunStatus::Active };
        Self {
            import_id,
            user_id: Key::of(row.user),
            quest_id: Key::of(row.quest),
            period: row.period.to_string(),
            status: status.as_str(),
            started_at: At(row.started_at),
            completed_at: row.completed_at.map(At),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = legacy_steps, treat_none_as_default_value = false)]
struct StepRow {
    import_id: Key,
    user_id: Key,
    step_id: Key,
    period: String,
    quest_id: Key,
    completed_at: At,
}

impl StepRow {
    fn of(import_id: Key, row: &LegacyStep) -> Self {
        Self {
            import_id,
            user_id: Key::of(row.user),
            step_id: Key::of(row.step),
            period: row.period.to_string(),
            quest_id: Key::of(row.quest),
            completed_at: At(row.at),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = legacy_entries, treat_none_as_default_value = false)]
struct EntryRow {
    import_id: Key,
    user_id: Key,
    scope_id: Key,
    points: i64,
    created_at: At,
}

impl EntryRow {
    fn of(import_id: Key, row: &LegacyEntry) -> Self {
        let (user_id, scope_id) = (Key::of(row.user), Key::of(row.scope));
        Self { import_id, user_id, scope_id, points: row.points.get(), created_at: At(row.at) }
    }
}

#[derive(Insertable)]
#[diesel(table_name = legacy_follows, treat_none_as_default_value = false)]
struct FollowRow {
    import_id: Key,
    follower_id: Key,
    followee_id: Key,
    created_at: At,
}

impl FollowRow {
    fn of(import_id: Key, row: &LegacyFollow) -> Self {
        Self {
            import_id,
            follower_id: Key::of(row.follower),
            followee_id: Key::of(row.followee),
            created_at: At(row.at),
        }
    }
}

#[derive(Insertable)]
#[diesel(table_name = legacy_team_follows, treat_none_as_default_value = false)]
struct TeamFollowRow {
    import_id: Key,
    user_id: Key,
    team_id: Key,
    created_at: At,
}

impl TeamFollowRow {
    fn of(import_id: Key, row: &LegacyTeamFollow) -> Self {
        Self { import_id, user_id: Key::of(row.user), team_id: Key::of(row.team), created_at: At(row.at) }
    }
}

#[derive(QueryableByName)]
struct Staged {
    #[diesel(sql_type = BigInt)]
    staged: i64,
}

impl LegacyStaging for DieselTx<'_> {
    fn names_taken(&mut self, names: &[(UserId, String)]) -> Result<Vec<String>, StoreError> {
        let own: HashMap<&str, UserId> = names.iter().map(|(id, name)| (name.as_str(), *id)).collect();
        let keys: Vec<&str> = own.keys().copied().collect();
        let mut taken = Vec::new();
        for keys in keys.chunks(ROWS) {
            let found: Vec<(String, Key)> = on!(self.conn, |conn| {
                users::table
                    .filter(users::username_key.eq_any(keys.iter().copied()))
                    .select((users::username_key, users::id))
                    .load(conn)
            })
            .map_err(broken("look for usernames"))?;
            let others = found.into_iter().filter(|(name, id)| own.get(name.as_str()) != Some(&id.id()));
            taken.extend(others.map(|(name, _)| name));
        }
        Ok(taken)
    }
}

/// Inserts the rows of one kind in batches; rows that are already staged are skipped.
macro_rules! put {
    ($conn:expr, $table:ident, $rows:expr) => {
        for rows in $rows.chunks(ROWS) {
            on!($conn, |conn| {
                diesel::insert_into($table::table).values(rows).on_conflict_do_nothing().execute(conn)
            })
            .map_err(broken("keep rows of an import"))?;
        }
    };
}

impl LegacyStagingWrite for DieselTx<'_> {
    fn begin_import(&mut self, import: ImportId, at: Timestamp) -> Result<u64, StoreError> {
        const BEGIN: &str = "INSERT INTO imports (id, staged, started_at) VALUES ($1, 0, $2) \
            ON CONFLICT (id) DO UPDATE SET \
                staged = CASE WHEN imports.finished_at IS NULL THEN imports.staged ELSE 0 END, \
                started_at = excluded.started_at, finished_at = NULL \
            RETURNING staged";
        let fail = broken("begin an import");
        let key = Key::of(import);
        for (table, _) in WAITING {
            let sql = format!("DELETE FROM {table} WHERE import_id <> $1");
            on!(self.conn, |conn| diesel::sql_query(&sql).bind::<Uid, _>(key).execute(conn))
                .map_err(&fail)?;
        }
        let given_up = imports::table.filter(imports::id.ne(key)).filter(imports::finished_at.is_null());
        on!(self.conn, |conn| diesel::delete(given_up).execute(conn)).map_err(&fail)?;
        let begun: Staged = on!(self.conn, |conn| {
            diesel::sql_query(BEGIN).bind::<Uid, _>(key).bind::<Instant, _>(At(at)).get_result(conn)
        })
        .map_err(&fail)?;
        Ok(num::to_u64(begun.staged))
    }

    fn stage(
        &mut self,
        import: ImportId,
        from: u64,
        rows: &[LegacyRow],
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = Key::of(import);
        let (from, more) = (num::to_i64(from), num::to_i64(rows.len()));
        let open = imports::table
            .filter(imports::id.eq(key))
            .filter(imports::staged.eq(from))
            .filter(imports::finished_at.is_null());
        let moved = on!(self.conn, |conn| {
            diesel::update(open)
                .set((imports::staged.eq(imports::staged + more), imports::started_at.eq(At(at))))
                .execute(conn)
        })
        .map_err(broken("count rows of an import"))?;
        if moved == 0 {
            return Ok(false);
        }
        let mut kinds = Kinds::default();
        for row in rows {
            kinds.add(key, row);
        }
        put!(self.conn, legacy_users, kinds.users);
        put!(self.conn, legacy_points, kinds.points);
        put!(self.conn, legacy_runs, kinds.runs);
        put!(self.conn, legacy_steps, kinds.steps);
        put!(self.conn, legacy_entries, kinds.entries);
        put!(self.conn, legacy_follows, kinds.follows);
        put!(self.conn, legacy_team_follows, kinds.team_follows);
        Ok(true)
    }

    fn finish_import(&mut self, import: ImportId, at: Timestamp) -> Result<(), StoreError> {
        let (fail, key) = (broken("finish an import"), Key::of(import));
        for (table, _) in WAITING {
            let sql = format!("DELETE FROM {table} WHERE import_id = $1");
            on!(self.conn, |conn| diesel::sql_query(&sql).bind::<Uid, _>(key).execute(conn))
                .map_err(&fail)?;
        }
        let import = imports::table.find(key);
        on!(self.conn, |conn| diesel::update(import).set(imports::finished_at.eq(At(at))).execute(conn))
            .map(drop)
            .map_err(&fail)
    }

    fn sweep_imports(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        // Locks the import until the transaction ends, and resets it, so that an operator who continues it must start
        // again: some of the counted rows have been removed.
        let give_up = format!(
            "UPDATE imports SET staged = 0 WHERE {ABANDONED} AND id = \
             (SELECT id FROM imports WHERE {ABANDONED} ORDER BY started_at, id LIMIT 1) RETURNING id"
        );
        let (fail, limit) = (broken("give up an import"), u64::from(limit));
        let mut removed = 0;
        while removed < limit {
            let found: Option<IdRow> = on!(self.conn, |conn| {
                diesel::sql_query(&give_up).bind::<Instant, _>(At(before)).get_result(conn).optional()
            })
            .map_err(&fail)?;
            let Some(IdRow { id }) = found else { break };
            for (table, key) in WAITING {
                let sql = format!(
                    "DELETE FROM {table} WHERE (import_id, {key}) IN \
                     (SELECT import_id, {key} FROM {table} WHERE import_id = $1 LIMIT $2)"
                );
                let left = num::to_i64(limit - removed);
                let rows = on!(self.conn, |conn| {
                    diesel::sql_query(&sql).bind::<Uid, _>(id).bind::<BigInt, _>(left).execute(conn)
                })
                .map_err(&fail)?;
                removed += num::to_u64(rows);
                if removed >= limit {
                    return Ok(removed);
                }
            }
            on!(self.conn, |conn| diesel::delete(imports::table.find(id)).execute(conn)).map_err(&fail)?;
            removed += 1;
        }
        Ok(removed)
    }
}

/// Rows grouped by their tables.
#[derive(Default)]
struct Kinds<'a> {
    users: Vec<UserRow<'a>>,
    points: Vec<PointsRow<'a>>,
    runs: Vec<RunRow>,
    steps: Vec<StepRow>,
    entries: Vec<EntryRow>,
    follows: Vec<FollowRow>,
    team_follows: Vec<TeamFollowRow>,
}

impl<'a> Kinds<'a> {
    fn add(&mut self, key: Key, row: &'a LegacyRow) {
        match row {
            LegacyRow::User(row) => self.users.push(UserRow::of(key, row)),
            LegacyRow::Points(row) => self.points.push(PointsRow::of(key, row)),
            LegacyRow::Run(row) => self.runs.push(RunRow::of(key, row)),
            LegacyRow::Step(row) => self.steps.push(StepRow::of(key, row)),
            LegacyRow::Entry(row) => self.entries.push(EntryRow::of(key, row)),
            LegacyRow::Follow(row) => self.follows.push(FollowRow::of(key, row)),
            LegacyRow::TeamFollow(row) => self.team_follows.push(TeamFollowRow::of(key, row)),
        }
    }
}

impl DieselTx<'_> {
    /// Disables the server's time limits for the statements of this transaction.
    pub(crate) fn lift_timeouts(&mut self) -> Result<(), StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => conn.batch_execute(
                "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; \
                 SET LOCAL idle_in_transaction_session_timeout = 0",
            ),
            // SQLite has no time limits.
            Conn::Sqlite(_) => Ok(()),
        }
        .map_err(broken("take time"))
    }
}
