-- Addresses that a provider keeps for users. `due_at` is when the provider is asked next for a requested wallet. `attempts`
-- grows with each question and identifies it; `failures` and `refusals` count since the user last asked for the wallet.
CREATE TABLE wallets (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    network text NOT NULL,
    status text NOT NULL CHECK (status IN ('requested', 'ready', 'failed')),
    address text,
    custody text CHECK (custody IN ('provider', 'fan')),
    due_at timestamptz,
    attempts integer NOT NULL CHECK (attempts >= 0),
    failures integer NOT NULL CHECK (failures >= 0),
    refusals integer NOT NULL CHECK (refusals >= 0),
    fault text,
    balances_at timestamptz,
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    UNIQUE (user_id, network),
    CHECK ((status = 'ready') = (address IS NOT NULL)),
    CHECK ((status = 'ready') = (custody IS NOT NULL)),
    CHECK ((status = 'requested') = (due_at IS NOT NULL))
);
CREATE INDEX wallets_due ON wallets (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX wallets_failed ON wallets (id) WHERE status = 'failed';

-- What the provider last reported of a wallet, in its order. Amounts are decimal numbers.
CREATE TABLE wallet_balances (
    wallet_id uuid NOT NULL REFERENCES wallets (id),
    place integer NOT NULL,
    token_key text NOT NULL,
    symbol text NOT NULL,
    decimals integer NOT NULL CHECK (decimals BETWEEN 0 AND 36),
    amount text NOT NULL,
    PRIMARY KEY (wallet_id, place)
);
