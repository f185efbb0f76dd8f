-- What fans can spend, kept in the transaction of each transfer. `unit` is `points`, `coins` or the code of a currency.
CREATE TABLE ledger_accounts (
    user_id BLOB NOT NULL REFERENCES users (id),
    unit TEXT NOT NULL,
    balance INTEGER NOT NULL CHECK (balance >= 0),
    PRIMARY KEY (user_id, unit)
) STRICT, WITHOUT ROWID;

-- The journal: a row takes an amount from one account and gives it to another of the same unit, and is never changed.
-- Either is a fan's or one of the house's; what is left on a fan's stands beside it. The source names what a row is for,
-- so that it is paid once whoever writes it. Those of one fan stand together.
CREATE TABLE ledger_transfers (
    source_key TEXT PRIMARY KEY NOT NULL,
    id BLOB NOT NULL,
    unit TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    debit_user BLOB,
    debit_house TEXT CHECK (debit_house IN ('issuance', 'revenue', 'payments', 'written_off')),
    debit_balance INTEGER CHECK (debit_balance >= 0),
    credit_user BLOB,
    credit_house TEXT CHECK (credit_house IN ('issuance', 'revenue', 'payments', 'written_off')),
    credit_balance INTEGER CHECK (credit_balance >= 0),
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (debit_user, unit) REFERENCES ledger_accounts (user_id, unit),
    FOREIGN KEY (credit_user, unit) REFERENCES ledger_accounts (user_id, unit),
    CHECK ((debit_user IS NULL) <> (debit_house IS NULL)),
    CHECK ((credit_user IS NULL) <> (credit_house IS NULL)),
    CHECK ((debit_user IS NULL) = (debit_balance IS NULL)),
    CHECK ((credit_user IS NULL) = (credit_balance IS NULL)),
    CHECK (debit_user <> credit_user),
    CHECK (debit_house <> credit_house)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_transfers_out ON ledger_transfers (debit_user, created_at DESC, id DESC)
    WHERE debit_user IS NOT NULL;
CREATE INDEX ledger_transfers_in ON ledger_transfers (credit_user, created_at DESC, id DESC)
    WHERE credit_user IS NOT NULL;

-- Whoever has points begins with as many to spend, whatever their seasons; what maintenance took beyond that is written
-- off.
INSERT INTO ledger_accounts (user_id, unit, balance)
SELECT user_id, 'points', sum(amount) FROM points_history GROUP BY user_id HAVING sum(amount) > 0;
INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_house, credit_user, credit_balance, reason, created_at)
SELECT 'opening:' || lower(hex(user_id)), user_id, 'points', balance, 'issuance', user_id, balance, 'Points so far',
    unixepoch() * 1000000
FROM ledger_accounts;
INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_house, credit_house, reason, created_at)
SELECT 'forgiven:' || lower(hex(user_id)) || ':opening', user_id, 'points', -sum(amount), 'written_off', 'issuance',
    'Points so far', unixepoch() * 1000000
FROM points_history GROUP BY user_id HAVING sum(amount) < 0;
