WITH fan AS MATERIALIZED (
    SELECT id FROM users WHERE id = $1 AND status <> 'deleted' FOR NO KEY UPDATE
), held AS MATERIALIZED (
    SELECT user_id, balance FROM ledger_accounts
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
), moved AS (
    UPDATE ledger_accounts AS a
    SET balance = CASE WHEN a.user_id = $1 THEN written.credit_balance ELSE written.debit_balance END
    FROM written WHERE a.user_id IN ($1, $2) AND a.unit = $3
)
SELECT is_there, pays, gets, EXISTS (SELECT FROM written) AS is_written FROM due
