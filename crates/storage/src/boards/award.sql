), place AS MATERIALIZED (
    SELECT given.*, fan.shown, board.team_id AS board_team,
        CASE WHEN finds_board THEN (SELECT id FROM leaderboards WHERE team_id = board.team_id)
            ELSE recorded_board END AS board_id,
        season.starts_at, season.status = 'active' AS season_active,
        given.season_id IS NOT DISTINCT FROM season.id
            AND (by_maintenance OR coalesce(season.status IN ('planned', 'active'), TRUE)) AS fresh
    FROM given
    JOIN fan ON fan.id = given.user_id AND (fan.status = 'active' OR by_maintenance)
    LEFT JOIN seasons AS season ON CASE
        WHEN by_time THEN season.status <> 'legacy' AND season.starts_at <= happened_at
            AND (season.ends_at IS NULL OR season.ends_at > happened_at)
        ELSE season.id = given.season_id END
    CROSS JOIN LATERAL (SELECT CASE WHEN finds_board THEN coalesce(given.team_id, favorite_team_id) END AS team_id)
        AS board
), written AS (
    INSERT INTO points_history (id, user_id, amount, reason, source_key, season_id, leaderboard_id, happened_at)
    SELECT id, user_id, amount, reason, source_key, season_id, board_id, happened_at FROM place
    WHERE fresh AND (board_team IS NULL OR board_id IS NOT NULL)
    ON CONFLICT (user_id, source_key) DO NOTHING
    RETURNING id
), record AS MATERIALIZED (
    SELECT place.* FROM written JOIN place USING (id)
), purse AS (
    INSERT INTO ledger_accounts AS a (user_id, unit, balance)
    SELECT user_id, 'points', amount FROM record WHERE amount > 0
    ON CONFLICT (user_id, unit) DO UPDATE SET balance = a.balance + excluded.balance
    RETURNING a.user_id, a.balance
), held AS MATERIALIZED (
    SELECT a.user_id, a.balance FROM ledger_accounts AS a JOIN record ON record.user_id = a.user_id
    WHERE record.amount < 0 AND a.unit = 'points'
    FOR UPDATE OF a
), taken AS (
    UPDATE ledger_accounts AS a SET balance = a.balance - least(a.balance, -record.amount)
    FROM held JOIN record USING (user_id)
    WHERE a.user_id = held.user_id AND a.unit = 'points'
), moves (kind, record_id, amount, debit_user, debit_house, debit_balance, credit_user, credit_house, credit_balance) AS (
    SELECT 'award:', id, amount, NULL, 'issuance', NULL, user_id, NULL, balance FROM record JOIN purse USING (user_id)
    UNION ALL
    SELECT 'award:', id, least(balance, -amount), user_id, NULL, greatest(balance + amount, 0), NULL, 'issuance', NULL
    FROM record JOIN held USING (user_id) WHERE balance > 0
    UNION ALL
    SELECT concat('forgiven:', replace(CAST(user_id AS text), '-', ''), ':'), id, -amount - coalesce(balance, 0),
        NULL, 'written_off', NULL, NULL, 'issuance', NULL
    FROM record LEFT JOIN held USING (user_id) WHERE amount < 0 AND -amount > coalesce(balance, 0)
), journal AS (
    INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_user, debit_house, debit_balance, credit_user,
        credit_house, credit_balance, reason, created_at)
    SELECT concat(kind, replace(CAST(id AS text), '-', '')), id, 'points', moves.amount, debit_user, debit_house,
        debit_balance, credit_user, credit_house, credit_balance, reason, now
    FROM moves JOIN record ON record.id = moves.record_id
), scope AS (
    SELECT record.*, leaderboards.id AS target, 0 AS turn FROM record JOIN leaderboards USING (season_id)
    UNION ALL
    SELECT record.*, board_id, 1 FROM record WHERE season_id IS NOT NULL AND board_id IS NOT NULL
), totals AS (
    INSERT INTO board_totals AS t (season_id, leaderboard_id, user_id, points, reached_at, version, listed)
    SELECT season_id, target, user_id, amount,
        CASE WHEN amount = 0 THEN starts_at ELSE greatest(starts_at, happened_at) END, 1,
        shown AND NOT EXISTS (SELECT 1 FROM leaderboard_entries e
            WHERE e.leaderboard_id = target AND e.user_id = scope.user_id AND e.left_at IS NOT NULL)
    FROM scope ORDER BY user_id, turn
    ON CONFLICT (season_id, leaderboard_id, user_id) DO UPDATE SET
        points = t.points + excluded.points,
        reached_at = CASE WHEN excluded.points = 0 THEN t.reached_at
            ELSE greatest(t.reached_at, excluded.reached_at) END,
        version = t.version + 1
    RETURNING t.season_id, t.leaderboard_id, t.user_id, t.points, t.reached_at, t.version, t.listed
), entries AS (
    INSERT INTO leaderboard_entries AS e (leaderboard_id, user_id, points, season_id, created_at)
    SELECT leaderboard_id, user_id, CASE WHEN season_active THEN points ELSE 0 END,
        CASE WHEN season_active THEN totals.season_id END, now
    FROM totals JOIN record USING (user_id)
    ON CONFLICT (leaderboard_id, user_id) DO UPDATE SET points = excluded.points, season_id = excluded.season_id
        WHERE excluded.season_id IS NOT NULL
), published AS MATERIALIZED (
    SELECT user_id, string_agg(concat_ws('/', replace(CAST(season_id AS text), '-', ''),
        replace(CAST(leaderboard_id AS text), '-', ''), points,
        CAST(extract(epoch FROM reached_at) * 1000000 AS bigint), version, CAST(listed AS int)), ' ') AS detail
    FROM totals GROUP BY user_id
), event AS (
    INSERT INTO outbox (topic, kind, actor_id, team_id, subject_id, created_at, detail)
    SELECT 'leaderboard', 'points.awarded', user_id, board_team, id, now, coalesce(detail, '')
    FROM record LEFT JOIN published USING (user_id) ORDER BY id
)
SELECT place.id, fresh, board_team, place.board_id, written.id IS NOT NULL, coalesce(detail, '')
FROM place LEFT JOIN written ON written.id = place.id LEFT JOIN published ON published.user_id = place.user_id
