-- Wheels, as content files describe them. What was removed from the content is retired and keeps its rows.
CREATE TABLE wheels (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    place integer NOT NULL,
    name text NOT NULL,
    price_kind text CHECK (price_kind IN ('points', 'coins')),
    price_amount bigint CHECK (price_amount >= 1),
    has_free_spin boolean NOT NULL,
    pity_after integer CHECK (pity_after >= 1),
    daily_limit integer CHECK (daily_limit >= 1),
    opens_at timestamptz,
    closes_at timestamptz,
    is_retired boolean NOT NULL,
    CHECK ((price_kind IS NULL) = (price_amount IS NULL))
);

-- A segment that the content no longer contains is not current any more; its row keeps what it gave. `given` counts the grants of
-- limited segments.
CREATE TABLE wheel_segments (
    wheel_id uuid NOT NULL REFERENCES wheels (id),
    key text NOT NULL,
    place integer NOT NULL,
    label text NOT NULL,
    grant_kind text NOT NULL,
    grant_amount bigint NOT NULL CHECK (grant_amount >= 0),
    grant_id uuid,
    weight integer NOT NULL CHECK (weight >= 1),
    stock integer CHECK (stock >= 1),
    given integer NOT NULL CHECK (given >= 0),
    substitute_kind text CHECK (substitute_kind IN ('coins', 'nothing')),
    substitute_amount bigint CHECK (substitute_amount >= 0),
    is_lucky boolean NOT NULL,
    is_current boolean NOT NULL,
    PRIMARY KEY (wheel_id, key),
    CHECK ((substitute_kind IS NULL) = (substitute_amount IS NULL))
);

-- Tables of spins, as the text that is hashed, one row for each that was used.
CREATE TABLE spin_tables (
    hash bytea PRIMARY KEY,
    text text NOT NULL
);

-- The standing of a fan at a wheel. Dates are local dates of the fan.
CREATE TABLE spin_states (
    user_id uuid NOT NULL REFERENCES users (id),
    wheel_id uuid NOT NULL REFERENCES wheels (id),
    count integer NOT NULL CHECK (count >= 1),
    pity_count integer NOT NULL CHECK (pity_count >= 0),
    last_free text,
    last_day text NOT NULL,
    day_spins integer NOT NULL CHECK (day_spins >= 1),
    PRIMARY KEY (user_id, wheel_id)
);

-- `client_seed` is null once the account was deleted.
CREATE TABLE spins (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    wheel_id uuid NOT NULL REFERENCES wheels (id),
    nonce integer NOT NULL CHECK (nonce >= 1),
    client_seed text,
    pity_count integer NOT NULL CHECK (pity_count >= 0),
    segment text NOT NULL,
    is_substituted boolean NOT NULL,
    grant_kind text NOT NULL,
    grant_amount bigint NOT NULL CHECK (grant_amount >= 0),
    grant_id uuid,
    paid_kind text CHECK (paid_kind IN ('points', 'coins')),
    paid_amount bigint CHECK (paid_amount >= 1),
    table_hash bytea NOT NULL REFERENCES spin_tables (hash),
    created_at timestamptz NOT NULL,
    UNIQUE (user_id, wheel_id, nonce),
    CHECK ((paid_kind IS NULL) = (paid_amount IS NULL))
);
CREATE INDEX spins_of_user ON spins (user_id, created_at, id);
