WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
        AS given (user_id, id, amount, reason, source_key, season_id, board_id, team_id, happened_at)
), record AS (
    INSERT INTO points_history (id, user_id, amount, reason, source_key, season_id, leaderboard_id, happened_at)
    SELECT given.id, given.user_id, amount, reason, source_key, season_id, board_id, happened_at
    FROM given JOIN users ON users.id = given.user_id AND users.status IN ('active', 'suspended')
    WHERE amount >= 0 AND season_id IS NOT DISTINCT FROM (SELECT season.id FROM seasons AS season
        WHERE season.status <> 'legacy' AND season.starts_at <= happened_at
            AND (season.ends_at IS NULL OR season.ends_at > happened_at))
    ON CONFLICT (user_id, source_key) DO NOTHING
    RETURNING id, user_id, amount, reason
), purse AS (
    INSERT INTO ledger_accounts AS a (user_id, unit, balance)
    SELECT user_id, 'points', CAST(sum(amount) AS bigint) FROM record WHERE amount > 0 GROUP BY user_id
    ON CONFLICT (user_id, unit) DO UPDATE SET balance = a.balance + excluded.balance
    RETURNING user_id, balance
), journal AS (
    INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_house, credit_user, credit_balance, reason, created_at)
    SELECT concat('award:', replace(CAST(id AS text), '-', '')), id, 'points', amount, 'issuance', user_id,
        balance - sum(amount) OVER all_of_it + sum(amount) OVER so_far, reason, $10
    FROM record JOIN purse USING (user_id)
    WHERE amount > 0
    WINDOW all_of_it AS (PARTITION BY user_id), so_far AS (PARTITION BY user_id ORDER BY id)
), event AS (
    INSERT INTO outbox (topic, kind, actor_id, team_id, subject_id, created_at, detail)
    SELECT 'leaderboard', 'points.awarded', record.user_id, given.team_id, record.id, $10, ''
    FROM record JOIN given ON given.id = record.id ORDER BY record.id
)
SELECT id FROM record
