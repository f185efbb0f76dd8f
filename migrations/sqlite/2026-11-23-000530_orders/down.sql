DROP TABLE order_lines;
DROP TABLE orders;
DROP TABLE catalogue_version;
CREATE TABLE ledger_transfers_of_houses (
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
INSERT INTO ledger_transfers_of_houses (source_key, id, unit, amount, debit_user, debit_house, debit_balance, credit_user, credit_house,
        credit_balance, reason, created_at)
    SELECT source_key, id, unit, amount, debit_user, debit_house, debit_balance, credit_user, credit_house,
        credit_balance, reason, created_at FROM ledger_transfers;
DROP TABLE ledger_transfers;
ALTER TABLE ledger_transfers_of_houses RENAME TO ledger_transfers;
CREATE INDEX ledger_transfers_out ON ledger_transfers (debit_user, created_at DESC, id DESC)
    WHERE debit_user IS NOT NULL;
CREATE INDEX ledger_transfers_in ON ledger_transfers (credit_user, created_at DESC, id DESC)
    WHERE credit_user IS NOT NULL;
