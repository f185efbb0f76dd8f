WITH fan AS MATERIALIZED (
    SELECT id FROM users WHERE id = $1 AND status <> 'deleted' FOR NO KEY UPDATE
), held AS MATERIALIZED (
    SELECT user_id, balance, entry_count + 1 AS seq, greatest(booked_at, $10) AS booked_at, unit NOT IN ('points', 'coins') AS is_money
    FROM ledger_accounts
    WHERE user_id IN ($1, $2) AND unit = $3 AND ($1 IS NULL OR EXISTS (SELECT FROM fan))
    ORDER BY user_id FOR UPDATE
), due AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM fan) AS is_there, (SELECT balance FROM held WHERE user_id = $2) AS pays,
        (SELECT balance FROM held WHERE user_id = $1) AS gets
), written AS (
    INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_user, debit_house, debit_balance,
        credit_user, credit_house, credit_balance, reason, created_at)
    SELECT $5, $6, $3, $4, $2, $7, pays - $4, $1, $8, gets + $4, $9, $10 FROM due
    WHERE ($2 IS NULL OR pays >= $4) AND ($1 IS NULL OR gets IS NOT NULL)
    ON CONFLICT (source_key) DO NOTHING
    RETURNING credit_balance, debit_balance
), after AS MATERIALIZED (
    SELECT held.*, CASE WHEN user_id = $1 THEN credit_balance ELSE debit_balance END AS left_over
    FROM held CROSS JOIN written
), moved AS (
    UPDATE ledger_accounts AS a
    SET balance = after.left_over, entry_count = CASE WHEN is_money THEN after.seq ELSE a.entry_count END,
        booked_at = CASE WHEN is_money THEN after.booked_at ELSE a.booked_at END
    FROM after WHERE a.user_id = after.user_id AND a.unit = $3
), entered AS (
    INSERT INTO money_entries (user_id, unit, seq, transfer_id, change, balance_after, reason, booked_at)
    SELECT user_id, $3, seq, $6, CASE WHEN user_id = $1 THEN $4 ELSE -$4 END, left_over, $9, booked_at
    FROM after WHERE is_money
)
SELECT is_there, pays, gets, EXISTS (SELECT FROM written) AS is_written FROM due
