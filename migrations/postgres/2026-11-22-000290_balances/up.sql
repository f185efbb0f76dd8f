-- Spendable balances of users, updated in the transaction of each transfer. `unit` is `points`, `coins` or a currency code.
CREATE TABLE ledger_accounts (
    user_id uuid NOT NULL REFERENCES users (id),
    unit text NOT NULL,
    balance bigint NOT NULL CHECK (balance >= 0),
    PRIMARY KEY (user_id, unit)
);

-- The ledger's journal: a row debits one account and credits another of the same unit, and is never updated. Each of the two
-- is a user's account or one of the house accounts; for a user, the balance after the transfer is stored beside it. The
-- source key names what a row is for, so that it is transferred once, whichever process writes it. Its collation compares
-- bytes: keys with the same prefix and user form one range.
CREATE TABLE ledger_transfers (
    source_key text COLLATE "C" PRIMARY KEY,
    id uuid NOT NULL,
    unit text NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    debit_user uuid,
    debit_house text CHECK (debit_house IN ('issuance', 'revenue', 'payments', 'written_off')),
    debit_balance bigint CHECK (debit_balance >= 0),
    credit_user uuid,
    credit_house text CHECK (credit_house IN ('issuance', 'revenue', 'payments', 'written_off')),
    credit_balance bigint CHECK (credit_balance >= 0),
    reason text NOT NULL,
    created_at timestamptz NOT NULL,
    FOREIGN KEY (debit_user, unit) REFERENCES ledger_accounts (user_id, unit),
    FOREIGN KEY (credit_user, unit) REFERENCES ledger_accounts (user_id, unit),
    CHECK ((debit_user IS NULL) <> (debit_house IS NULL)),
    CHECK ((credit_user IS NULL) <> (credit_house IS NULL)),
    CHECK ((debit_user IS NULL) = (debit_balance IS NULL)),
    CHECK ((credit_user IS NULL) = (credit_balance IS NULL)),
    CHECK (debit_user <> credit_user),
    CHECK (debit_house <> credit_house)
);
CREATE INDEX ledger_transfers_out ON ledger_transfers (debit_user, created_at DESC, id DESC)
    WHERE debit_user IS NOT NULL;
CREATE INDEX ledger_transfers_in ON ledger_transfers (credit_user, created_at DESC, id DESC)
    WHERE credit_user IS NOT NULL;
