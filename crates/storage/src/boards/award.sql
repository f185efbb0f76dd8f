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
), purse AS (
    INSERT INTO ledger_accounts AS a (user_id, unit, balance)
    SELECT $1, 'points', $3 FROM record WHERE $3 > 0
    ON CONFLICT (user_id, unit) DO UPDATE SET balance = a.balance + excluded.balance
    RETURNING a.balance
), held AS MATERIALIZED (
    SELECT balance FROM ledger_accounts
    WHERE $3 < 0 AND user_id = $1 AND unit = 'points' AND EXISTS (SELECT FROM record)
    FOR UPDATE
), taken AS (
    UPDATE ledger_accounts AS a SET balance = a.balance - least(a.balance, -$3) FROM held
    WHERE a.user_id = $1 AND a.unit = 'points'
), moves (kind, amount, debit_user, debit_house, debit_balance, credit_user, credit_house, credit_balance) AS (
    SELECT 'award:', $3, NULL, 'issuance', NULL, $1, NULL, balance FROM purse
    UNION ALL
    SELECT 'award:', least(balance, -$3), $1, NULL, greatest(balance + $3, 0), NULL, 'issuance', NULL
    FROM held WHERE balance > 0
    UNION ALL
    SELECT concat('forgiven:', replace(CAST($1 AS text), '-', ''), ':'), -$3 - coalesce((SELECT balance FROM held), 0),
        NULL, 'written_off', NULL, NULL, 'issuance', NULL
    FROM record WHERE $3 < 0 AND -$3 > coalesce((SELECT balance FROM held), 0)
), journal AS (
    INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_user, debit_house, debit_balance, credit_user,
        credit_house, credit_balance, reason, created_at)
    SELECT concat(kind, replace(CAST($2 AS text), '-', '')), $2, 'points', amount, debit_user, debit_house,
        debit_balance, credit_user, credit_house, credit_balance, $4, $13
    FROM moves
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
), published AS (
    SELECT coalesce(string_agg(concat_ws('/', replace(CAST($6 AS text), '-', ''),
        replace(CAST(leaderboard_id AS text), '-', ''), points,
        CAST(extract(epoch FROM reached_at) * 1000000 AS bigint), version, CAST(listed AS int)), ' '), '') AS detail
    FROM totals
), event AS (
    INSERT INTO outbox (topic, kind, actor_id, team_id, subject_id, created_at, detail)
    SELECT 'leaderboard', 'points.awarded', $1, place.team_id, $2, $13, published.detail FROM record, place, published
)
SELECT fresh, team_id, board_id, EXISTS (SELECT 1 FROM record), (SELECT detail FROM published) FROM place
