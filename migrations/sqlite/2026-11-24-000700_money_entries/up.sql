-- The entries of money accounts, numbered from 1 without gaps in the order in which they were booked. `entry_count` is the
-- number of the last entry of an account, and `booked_at` its time; both stay 0 and null for points and coins.
ALTER TABLE ledger_accounts ADD COLUMN entry_count INTEGER NOT NULL DEFAULT 0 CHECK (entry_count >= 0);
ALTER TABLE ledger_accounts ADD COLUMN booked_at INTEGER;

-- A row repeats what a statement shows of its transfer, so that a page is one range of the primary key. `booked_at` never
-- decreases with `seq`, also if clocks differ, so that a period is a range of numbers.
CREATE TABLE money_entries (
    user_id BLOB NOT NULL,
    unit TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    transfer_id BLOB NOT NULL,
    change INTEGER NOT NULL CHECK (change <> 0),
    balance_after INTEGER NOT NULL,
    reason TEXT NOT NULL,
    booked_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, unit, seq),
    FOREIGN KEY (user_id, unit) REFERENCES ledger_accounts (user_id, unit)
) STRICT, WITHOUT ROWID;
CREATE INDEX money_entries_by_time ON money_entries (user_id, unit, booked_at, seq);

INSERT INTO money_entries (user_id, unit, seq, transfer_id, change, balance_after, reason, booked_at)
    SELECT user_id, unit, row_number() OVER account, id, change, sum(change) OVER account, reason, created_at
    FROM (
        SELECT credit_user AS user_id, unit, id, amount AS change, reason, created_at
        FROM ledger_transfers WHERE credit_user IS NOT NULL AND unit NOT IN ('points', 'coins')
        UNION ALL
        SELECT debit_user, unit, id, -amount, reason, created_at
        FROM ledger_transfers WHERE debit_user IS NOT NULL AND unit NOT IN ('points', 'coins')
    ) AS moved
    WINDOW account AS (PARTITION BY user_id, unit ORDER BY created_at, id ROWS UNBOUNDED PRECEDING);
UPDATE ledger_accounts SET (entry_count, booked_at) = (
        SELECT count(*), max(booked_at) FROM money_entries
        WHERE money_entries.user_id = ledger_accounts.user_id AND money_entries.unit = ledger_accounts.unit
    ) WHERE unit NOT IN ('points', 'coins');

-- What a fan's pending orders hold.
CREATE INDEX orders_pending ON orders (user_id) WHERE state = 'pending';
