//! An award on PostgreSQL: the one statement that the service executes, between `BEGIN` and `COMMIT`.

use super::PgBench;
use crate::raw::awards::{AMOUNT, REASON};
use crate::rows::boards;
use anyhow::Result;
use std::path::Path;

/// The words after the arguments, as `terrace-storage` has them; a test says when they are no longer the same.
const AWARD: &str = "\
), season AS (
    SELECT id, status, starts_at FROM seasons
    WHERE CASE WHEN $12 THEN status <> 'legacy' AND starts_at <= $7 AND (ends_at IS NULL OR ends_at > $7)
        ELSE id = $6 END
), fan AS MATERIALIZED (
    SELECT id, favorite_team_id, status = 'active' AND leaderboard_visible AS shown FROM users
    WHERE id = $1 AND (status = 'active' OR ($11 AND status = 'suspended'))
    FOR NO KEY UPDATE
), place AS MATERIALIZED (
    SELECT shown, CASE WHEN $10 THEN coalesce($8, favorite_team_id) END AS team_id,
        CASE WHEN $10 THEN (SELECT b.id FROM leaderboards b WHERE b.team_id = coalesce($8, fan.favorite_team_id))
            ELSE $9 END AS board_id,
        $6 IS NOT DISTINCT FROM (SELECT id FROM season)
            AND ($11 OR coalesce((SELECT status IN ('planned', 'active') FROM season), TRUE)) AS fresh
    FROM fan
), record AS (
    INSERT INTO points_history (id, user_id, amount, reason, source_key, season_id, leaderboard_id, happened_at)
    SELECT $2, $1, $3, $4, $5, $6, board_id, $7 FROM place
    WHERE fresh AND (team_id IS NULL OR board_id IS NOT NULL)
    ON CONFLICT (user_id, source_key) DO NOTHING
    RETURNING season_id, leaderboard_id
), scope AS (
    SELECT b.id AS board_id, 0 AS turn FROM record JOIN leaderboards b ON b.season_id = record.season_id
    UNION ALL
    SELECT leaderboard_id, 1 FROM record WHERE season_id IS NOT NULL AND leaderboard_id IS NOT NULL
), totals AS (
    INSERT INTO board_totals AS t (season_id, leaderboard_id, user_id, points, reached_at, version, listed)
    SELECT season.id, scope.board_id, $1, $3,
        CASE WHEN $3 = 0 THEN season.starts_at ELSE greatest(season.starts_at, $7) END, 1,
        place.shown AND NOT EXISTS (SELECT 1 FROM leaderboard_entries e
            WHERE e.leaderboard_id = scope.board_id AND e.user_id = $1 AND e.left_at IS NOT NULL)
    FROM scope, place, season ORDER BY scope.turn
    ON CONFLICT (season_id, leaderboard_id, user_id) DO UPDATE SET
        points = t.points + excluded.points,
        reached_at = CASE WHEN excluded.points = 0 THEN t.reached_at
            ELSE greatest(t.reached_at, excluded.reached_at) END,
        version = t.version + 1
    RETURNING t.leaderboard_id, t.points, t.reached_at, t.version, t.listed
), entries AS (
    INSERT INTO leaderboard_entries AS e (leaderboard_id, user_id, points, season_id, created_at)
    SELECT leaderboard_id, $1, CASE WHEN season.status = 'active' THEN points ELSE 0 END,
        CASE WHEN season.status = 'active' THEN season.id END, $13
    FROM totals, season
    ON CONFLICT (leaderboard_id, user_id) DO UPDATE SET points = excluded.points, season_id = excluded.season_id
        WHERE excluded.season_id IS NOT NULL
), told AS (
    SELECT coalesce(string_agg(concat_ws('/', replace(CAST($6 AS text), '-', ''),
        replace(CAST(leaderboard_id AS text), '-', ''), points,
        CAST(extract(epoch FROM reached_at) * 1000000 AS bigint), version, CAST(listed AS int)), ' '), '') AS detail
    FROM totals
), event AS (
    INSERT INTO outbox (topic, kind, actor_id, team_id, subject_id, created_at, detail)
    SELECT 'leaderboard', 'points.awarded', $1, place.team_id, $2, $13, told.detail FROM record, place, told
)
SELECT fresh, team_id, board_id, EXISTS (SELECT 1 FROM record), (SELECT detail FROM told) FROM place";

impl PgBench {
    /// Finds the program and writes the script that gives points to `fans` fans who are there in bulk, in the season
    /// with this identifier.
    pub(crate) fn of_awards(folder: &Path, url: &str, fans: u64, season: &str) -> Result<Self> {
        let names = vec![
            format!("season={season}"),
            format!("reason={REASON}"),
            format!("amount={AMOUNT}"),
            "source=import:raw/".to_owned(),
            "yes=true".to_owned(),
            "no=false".to_owned(),
        ];
        Self::with(folder, url, &script(fans), names)
    }
}

/// What each argument is; what the service binds, a variable of the script is.
fn arguments() -> [String; 13] {
    let (fan, record) = (boards::fan_prefix(), boards::record_prefix());
    let id = |prefix: &str, number: &str| format!("CAST('{prefix}' || CAST(:{number} AS text) AS uuid)");
    [
        id(&fan, "fan"),
        id(&record, "id"),
        "CAST(:amount AS bigint)".to_owned(),
        "CAST(:reason AS text)".to_owned(),
        "CAST(:source AS text) || CAST(:id AS text)".to_owned(),
        "CAST(:season AS uuid)".to_owned(),
        "now()".to_owned(),
        "CAST(NULL AS uuid)".to_owned(),
        "CAST(NULL AS uuid)".to_owned(),
        "CAST(:yes AS boolean)".to_owned(),
        "CAST(:no AS boolean)".to_owned(),
        "CAST(:yes AS boolean)".to_owned(),
        "now()".to_owned(),
    ]
}

fn script(fans: u64) -> String {
    let arguments = arguments();
    let mut statement = format!("WITH given AS (SELECT {}{AWARD}", arguments.join(", "));
    // From the last, so that `$1` is not found in `$13`.
    for (place, argument) in arguments.iter().enumerate().rev() {
        statement = statement.replace(&format!("${}", place + 1), argument);
    }
    let (first, step, connections) = (boards::FIRST_FAN, boards::STEP, crate::world::FANS);
    format!(
        "\\set seq :seq + 1\n\
         \\set id :base + :seq * {connections} + :client_id\n\
         \\set fan {first} + (:id * {step}) % {fans}\n\
         BEGIN ISOLATION LEVEL READ COMMITTED;\n\
         {};\n\
         COMMIT;\n",
        statement.replace('\n', " ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statement_is_that_of_the_service() {
        let service = include_str!("../../../storage/src/ports/points/award.rs");
        assert!(service.contains(AWARD), "the service awards otherwise by now");
    }

    #[test]
    fn the_script_holds_one_statement_and_no_argument_is_left() {
        let script = script(1000);
        assert_eq!(script.lines().count(), 6);
        assert!(!script.contains('$'), "{script}");
        assert_eq!(script.lines().filter(|line| line.ends_with(';')).count(), 3);
    }
}
