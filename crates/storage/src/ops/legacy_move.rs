//! Moves staged rows of an older system to their final tables, with statements over a whole import.

use crate::balances::Issue;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::{CountRow, IdRow};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use std::collections::BTreeMap;
use terrace_identity::PasswordHash;
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_ledger::{TransferId, TransferSource};
use terrace_store::legacy::{ImportId, LegacyMove, LegacyTally, RowSum};

const USERS: &str = "\
    INSERT INTO users (id, username, username_key, display_name, bio, favorite_team_id, time_zone, role, status, \
        created_at, updated_at) \
    SELECT id, username, username_key, display_name, bio, favorite_team_id, time_zone, 'fan', 'active', created_at, \
        created_at \
    FROM legacy_users WHERE import_id = $1 ON CONFLICT (id) DO NOTHING";
/// Accounts without credentials were created by the previous statement.
const CREDENTIALS: &str = "\
    INSERT INTO credentials (user_id, password_hash, updated_at) \
    SELECT u.id, $1, u.created_at FROM legacy_users l JOIN users u ON u.id = l.id AND u.status = 'active' \
    WHERE l.import_id = $2 ON CONFLICT (user_id) DO NOTHING";
const PRESENCE: &str = "\
    INSERT INTO presence (user_id, last_seen_at) \
    SELECT u.id, u.created_at FROM legacy_users l JOIN users u ON u.id = l.id AND u.status = 'active' \
    WHERE l.import_id = $1 ON CONFLICT (user_id) DO NOTHING";
const IN_THE_WAY: &str = "\
    SELECT l.username AS name FROM legacy_users l JOIN users u ON u.username_key = l.username_key \
    WHERE l.import_id = $1 AND u.id <> l.id ORDER BY l.username LIMIT 20";
const HELD: &str = "\
    SELECT u.id FROM users u \
    WHERE u.status <> 'deleted' AND u.id IN (SELECT l.id FROM legacy_users l WHERE l.import_id = $1) \
    ORDER BY u.id";

/// New follows between existing fans, unless one of them blocks the other.
const NEW_FOLLOWS: &str = "\
    FROM legacy_follows l \
    JOIN users one ON one.id = l.follower_id AND one.status <> 'deleted' \
    JOIN users other ON other.id = l.followee_id AND other.status <> 'deleted' \
    WHERE l.import_id = $1 \
        AND NOT EXISTS (SELECT 1 FROM follows f \
            WHERE f.follower_id = l.follower_id AND f.followee_id = l.followee_id) \
        AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.blocker_id = l.follower_id AND b.blocked_id = l.followee_id) \
        AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.blocker_id = l.followee_id AND b.blocked_id = l.follower_id)";
const NEW_TEAM_FOLLOWS: &str = "\
    FROM legacy_team_follows l JOIN users u ON u.id = l.user_id AND u.status <> 'deleted' \
    WHERE l.import_id = $1 \
        AND NOT EXISTS (SELECT 1 FROM team_follows f WHERE f.user_id = l.user_id AND f.team_id = l.team_id)";

const POINTS: &str = "\
    INSERT INTO points_history (id, user_id, amount, reason, source_key, season_id, leaderboard_id, happened_at) \
    SELECT l.id, l.user_id, l.amount, l.reason, l.source_key, l.season_id, b.id, l.happened_at \
    FROM legacy_points l JOIN users u ON u.id = l.user_id AND u.status <> 'deleted' \
    LEFT JOIN leaderboards b ON b.team_id = l.team_id \
    WHERE l.import_id = $1 ON CONFLICT (user_id, source_key) DO NOTHING";
const RUNS: &str = "\
    INSERT INTO user_quest_status (user_id, quest_id, period, status, started_at, completed_at) \
    SELECT l.user_id, l.quest_id, l.period, l.status, l.started_at, l.completed_at \
    FROM legacy_runs l JOIN users u ON u.id = l.user_id AND u.status <> 'deleted' \
    WHERE l.import_id = $1 ON CONFLICT (user_id, quest_id, period) DO NOTHING";
/// A step requires a run of its quest.
const RUNS_OF_STEPS: &str = "\
    INSERT INTO user_quest_status (user_id, quest_id, period, status, started_at) \
    SELECT l.user_id, l.quest_id, l.period, 'active', min(l.completed_at) \
    FROM legacy_steps l JOIN users u ON u.id = l.user_id AND u.status <> 'deleted' \
    WHERE l.import_id = $1 GROUP BY l.user_id, l.quest_id, l.period \
    ON CONFLICT (user_id, quest_id, period) DO NOTHING";
const STEPS: &str = "\
    INSERT INTO user_step_status (user_id, step_id, period, completed_at) \
    SELECT l.user_id, l.step_id, l.period, l.completed_at \
    FROM legacy_steps l JOIN users u ON u.id = l.user_id AND u.status <> 'deleted' \
    WHERE l.import_id = $1 ON CONFLICT (user_id, step_id, period) DO NOTHING";
const ENTRIES: &str = "\
    INSERT INTO leaderboard_entries (leaderboard_id, user_id, points, created_at) \
    SELECT coalesce(t.id, s.id), l.user_id, 0, l.created_at \
    FROM legacy_entries l JOIN users u ON u.id = l.user_id AND u.status <> 'deleted' \
    LEFT JOIN leaderboards t ON t.team_id = l.scope_id LEFT JOIN leaderboards s ON s.season_id = l.scope_id \
    WHERE l.import_id = $1 AND coalesce(t.id, s.id) IS NOT NULL \
    ON CONFLICT (leaderboard_id, user_id) DO NOTHING";

/// Imported records. Records that only identify completed quests do not come from the points file and are excluded.
const OLD: &str = "l.import_id = $1 AND l.source_key LIKE 'import:%'";
const SUM: &str = "count(*) AS count, CAST(coalesce(sum(l.amount), 0) AS bigint) AS points";
const WRITTEN: &str = "JOIN points_history h ON h.user_id = l.user_id AND h.source_key = l.source_key";

#[derive(QueryableByName)]
struct Name {
    #[diesel(sql_type = Text)]
    name: String,
}

#[derive(QueryableByName)]
struct SeasonSum {
    #[diesel(sql_type = Nullable<Uid>)]
    season: Option<Key>,
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = BigInt)]
    points: i64,
}

#[derive(QueryableByName)]
struct Sum {
    #[diesel(sql_type = BigInt)]
    count: i64,
    #[diesel(sql_type = BigInt)]
    points: i64,
}

impl DieselTx<'_> {
    /// Counts a table that this transaction has filled, for the plans of the next statements.
    ///
    /// The last count may be of a time when the table was empty. PostgreSQL then expects one row and compares each
    /// fan with each other fan.
    fn analyze(&mut self, table: &str) -> Result<(), StoreError> {
        match &mut self.conn {
            Conn::Pg(conn) => conn.batch_execute(&format!("ANALYZE {table}")),
            // SQLite finds these rows by their indexes without counts.
            Conn::Sqlite(_) => Ok(()),
        }
        .map_err(broken("analyze a table of an import"))
    }

    fn over(&mut self, sql: &str, import: ImportId) -> Result<u64, StoreError> {
        on!(self.conn, |conn| diesel::sql_query(sql).bind::<Uid, _>(Key::of(import)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("move rows of an import"))
    }

    fn found<R>(&mut self, sql: &str, import: ImportId) -> Result<Vec<R>, StoreError>
    where
        R: QueryableByName<diesel::pg::Pg> + QueryableByName<diesel::sqlite::Sqlite> + 'static,
    {
        on!(self.conn, |conn| diesel::sql_query(sql).bind::<Uid, _>(Key::of(import)).load(conn))
            .map_err(broken("count rows of an import"))
    }

    fn sum(&mut self, sql: &str, import: ImportId) -> Result<RowSum, StoreError> {
        let found: Vec<Sum> = self.found(sql, import)?;
        let sum = |sum: &Sum| RowSum { rows: num::to_u64(sum.count), points: sum.points };
        Ok(found.first().map(sum).unwrap_or_default())
    }

    fn sums<K: Ord + From<uuid::Uuid>>(
        &mut self,
        sql: &str,
        import: ImportId,
    ) -> Result<BTreeMap<Option<K>, RowSum>, StoreError> {
        let found: Vec<SeasonSum> = self.found(sql, import)?;
        let sum = |sum: SeasonSum| {
            (sum.season.map(Key::id), RowSum { rows: num::to_u64(sum.count), points: sum.points })
        };
        Ok(found.into_iter().map(sum).collect())
    }
}

impl LegacyMove for DieselTx<'_> {
    fn take_time(&mut self) -> Result<(), StoreError> {
        self.lift_timeouts()
    }

    fn names_in_the_way(&mut self, import: ImportId) -> Result<Vec<String>, StoreError> {
        let names: Vec<Name> = self.found(IN_THE_WAY, import)?;
        Ok(names.into_iter().map(|name| name.name).collect())
    }

    fn move_users(&mut self, import: ImportId, nothing: &PasswordHash) -> Result<u64, StoreError> {
        let new = self.over(USERS, import)?;
        on!(self.conn, |conn| {
            diesel::sql_query(CREDENTIALS)
                .bind::<Text, _>(nothing.as_phc())
                .bind::<Uid, _>(Key::of(import))
                .execute(conn)
        })
        .map_err(broken("write credentials of an import"))?;
        self.over(PRESENCE, import)?;
        self.analyze("users")?;
        Ok(new)
    }

    fn hold_moved(&mut self, import: ImportId) -> Result<Vec<UserId>, StoreError> {
        let lock = match &self.conn {
            Conn::Pg(_) => " FOR NO KEY UPDATE OF u",
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(_) => "",
        };
        let ids: Vec<IdRow> = self.found(&format!("{HELD}{lock}"), import)?;
        Ok(ids.into_iter().map(|id| id.id.id()).collect())
    }

    fn move_follows(&mut self, import: ImportId) -> Result<(u64, u64), StoreError> {
        for (counter, end) in [("follower_count", "followee_id"), ("following_count", "follower_id")] {
            let sql = format!(
                "UPDATE users SET {counter} = {counter} + more.follows \
                 FROM (SELECT l.{end} AS id, count(*) AS follows {NEW_FOLLOWS} GROUP BY l.{end}) AS more \
                 WHERE users.id = more.id"
            );
            self.over(&sql, import)?;
        }
        let follows = format!(
            "INSERT INTO follows (follower_id, followee_id, created_at) \
             SELECT l.follower_id, l.followee_id, l.created_at {NEW_FOLLOWS}"
        );
        let follows = self.over(&follows, import)?;
        // Before they are counted: team follows are locked before teams.
        let counts = format!(
            "SELECT l.team_id AS id, count(*) AS count {NEW_TEAM_FOLLOWS} GROUP BY l.team_id ORDER BY 1"
        );
        let counts: Vec<TeamCount> = self.found(&counts, import)?;
        let team_follows = format!(
            "INSERT INTO team_follows (user_id, team_id, created_at) \
             SELECT l.user_id, l.team_id, l.created_at {NEW_TEAM_FOLLOWS}"
        );
        let team_follows = self.over(&team_follows, import)?;
        for TeamCount { id, count } in counts {
            use crate::schema::teams;
            on!(self.conn, |conn| {
                diesel::update(teams::table.find(id))
                    .set(teams::follower_count.eq(teams::follower_count + count))
                    .execute(conn)
            })
            .map_err(broken("count followers of a team"))?;
        }
        Ok((follows, team_follows))
    }

    fn move_points(&mut self, import: ImportId) -> Result<u64, StoreError> {
        let new = self.over(POINTS, import)?;
        self.analyze("points_history")?;
        Ok(new)
    }

    fn move_progress(&mut self, import: ImportId) -> Result<(u64, u64), StoreError> {
        let runs = self.over(RUNS, import)?;
        let more = self.over(RUNS_OF_STEPS, import)?;
        Ok((runs.saturating_add(more), self.over(STEPS, import)?))
    }

    fn move_entries(&mut self, import: ImportId) -> Result<u64, StoreError> {
        self.over(ENTRIES, import)
    }

    fn issue_for_the_past(
        &mut self,
        user: UserId,
        points: i64,
        id: TransferId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let source = TransferSource::of("imported", id);
        self.issue_points(&Issue { user, points, id, source, reason: "Points so far", at })
    }

    fn legacy_tally(&mut self, import: ImportId) -> Result<LegacyTally, StoreError> {
        let mut staged = BTreeMap::new();
        for (waiting, table) in [
            ("legacy_users", "users"),
            ("legacy_points", "points_history"),
            ("legacy_runs", "user_quest_status"),
            ("legacy_steps", "user_step_status"),
            ("legacy_entries", "leaderboard_entries"),
            ("legacy_follows", "follows"),
            ("legacy_team_follows", "team_follows"),
        ] {
            let sql = format!("SELECT count(*) AS count FROM {waiting} WHERE import_id = $1");
            let count: Vec<CountRow> = self.found(&sql, import)?;
            staged.insert(table, count.first().map_or(0, |count| num::to_u64(count.count)));
        }
        let by_season = |of: &str, from: &str| {
            format!(
                "SELECT {of}.season_id AS season, {SUM} FROM legacy_points l {from} WHERE {OLD} GROUP BY {of}.season_id"
            )
        };
        let left = format!(
            "SELECT {SUM} FROM legacy_points l WHERE {OLD} AND NOT EXISTS (SELECT 1 FROM points_history h \
                WHERE h.user_id = l.user_id AND h.source_key = l.source_key)"
        );
        let differs = match &self.conn {
            Conn::Pg(_) => "IS DISTINCT FROM",
            Conn::Sqlite(_) => "IS NOT",
        };
        let changed = format!(
            "SELECT count(*) AS count FROM legacy_points l {WRITTEN} LEFT JOIN leaderboards b ON b.team_id = l.team_id \
             WHERE {OLD} AND (h.amount <> l.amount OR h.happened_at <> l.happened_at \
                OR h.season_id {differs} l.season_id OR h.leaderboard_id {differs} b.id)"
        );
        let changed: Vec<CountRow> = self.found(&changed, import)?;
        let entries = format!(
            "SELECT {} FROM legacy_entries l WHERE l.import_id = $1",
            SUM.replace("amount", "points")
        );
        let there = format!(
            "SELECT {} FROM legacy_entries l \
             LEFT JOIN leaderboards t ON t.team_id = l.scope_id LEFT JOIN leaderboards s ON s.season_id = l.scope_id \
             JOIN leaderboard_entries e ON e.leaderboard_id = coalesce(t.id, s.id) AND e.user_id = l.user_id \
             WHERE l.import_id = $1",
            SUM.replace("l.amount", "e.points")
        );
        Ok(LegacyTally {
            staged,
            points_in: self.sums(&by_season("l", ""), import)?,
            points_out: self.sums(&by_season("h", WRITTEN), import)?,
            points_left: self.sum(&left, import)?,
            points_changed: changed.first().map_or(0, |count| num::to_u64(count.count)),
            entries_in: self.sum(&entries, import)?,
            entries_out: self.sum(&there, import)?,
        })
    }
}

#[derive(QueryableByName)]
struct TeamCount {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = BigInt)]
    count: i64,
}
