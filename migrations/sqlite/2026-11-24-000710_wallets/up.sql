-- Addresses that a provider keeps for users. `due_at` is when the provider is asked next for a requested wallet. `attempts`
-- grows with each question and identifies it; `failures` and `refusals` count since the user last asked for the wallet.
CREATE TABLE wallets (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    network TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('requested', 'ready', 'failed')),
    address TEXT,
    custody TEXT CHECK (custody IN ('provider', 'fan')),
    due_at INTEGER,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    failures INTEGER NOT NULL CHECK (failures >= 0),
    refusals INTEGER NOT NULL CHECK (refusals >= 0),
    fault TEXT,
    balances_at INTEGER,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    UNIQUE (user_id, network),
    CHECK ((status = 'ready') = (address IS NOT NULL)),
    CHECK ((status = 'ready') = (custody IS NOT NULL)),
    CHECK ((status = 'requested') = (due_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX wallets_due ON wallets (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX wallets_failed ON wallets (id) WHERE status = 'failed';

-- What the provider last reported of a wallet, in its order. Amounts are decimal numbers.
CREATE TABLE wallet_balances (
    wallet_id BLOB NOT NULL REFERENCES wallets (id),
    place INTEGER NOT NULL,
    token_key TEXT NOT NULL,
    symbol TEXT NOT NULL,
    decimals INTEGER NOT NULL CHECK (decimals BETWEEN 0 AND 36),
    amount TEXT NOT NULL,
    PRIMARY KEY (wallet_id, place)
) STRICT, WITHOUT ROWID;
