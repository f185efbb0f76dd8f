-- Spendable balances of users, updated in the transaction of each transfer. `unit` is `points`, `coins` or a currency code.
CREATE TABLE ledger_accounts (
    user_id BLOB NOT NULL REFERENCES users (id),
    unit TEXT NOT NULL,
    balance INTEGER NOT NULL CHECK (balance >= 0),
    PRIMARY KEY (user_id, unit)
) STRICT, WITHOUT ROWID;

-- The ledger's journal: a row debits one account and credits another of the same unit, and is never updated. Each of the two
-- is a user's account or one of the house accounts; for a user, the balance after the transfer is stored beside it. The
-- source key names what a row is for, so that it is transferred once, whichever process writes it. Keys with the same prefix
-- and user form one range.
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
