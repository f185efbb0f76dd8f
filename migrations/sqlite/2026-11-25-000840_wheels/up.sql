-- Wheels, as content files describe them. What was removed from the content is retired and keeps its rows.
CREATE TABLE wheels (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    price_kind TEXT CHECK (price_kind IN ('points', 'coins')),
    price_amount INTEGER CHECK (price_amount >= 1),
    has_free_spin INTEGER NOT NULL CHECK (has_free_spin IN (0, 1)),
    pity_after INTEGER CHECK (pity_after >= 1),
    daily_limit INTEGER CHECK (daily_limit >= 1),
    opens_at INTEGER,
    closes_at INTEGER,
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1)),
    CHECK ((price_kind IS NULL) = (price_amount IS NULL))
) STRICT, WITHOUT ROWID;

-- A segment that the content no longer contains is not current any more; its row keeps what it gave. `given` counts the grants of
-- limited segments.
CREATE TABLE wheel_segments (
    wheel_id BLOB NOT NULL REFERENCES wheels (id),
    key TEXT NOT NULL,
    place INTEGER NOT NULL,
    label TEXT NOT NULL,
    grant_kind TEXT NOT NULL,
    grant_amount INTEGER NOT NULL CHECK (grant_amount >= 0),
    grant_id BLOB,
    weight INTEGER NOT NULL CHECK (weight >= 1),
    stock INTEGER CHECK (stock >= 1),
    given INTEGER NOT NULL CHECK (given >= 0),
    substitute_kind TEXT CHECK (substitute_kind IN ('coins', 'nothing')),
    substitute_amount INTEGER CHECK (substitute_amount >= 0),
    is_lucky INTEGER NOT NULL CHECK (is_lucky IN (0, 1)),
    is_current INTEGER NOT NULL CHECK (is_current IN (0, 1)),
    PRIMARY KEY (wheel_id, key),
    CHECK ((substitute_kind IS NULL) = (substitute_amount IS NULL))
) STRICT, WITHOUT ROWID;

-- Tables of spins, as the text that is hashed, one row for each that was used.
CREATE TABLE spin_tables (
    hash BLOB PRIMARY KEY NOT NULL,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The standing of a fan at a wheel. Dates are local dates of the fan.
CREATE TABLE spin_states (
    user_id BLOB NOT NULL REFERENCES users (id),
    wheel_id BLOB NOT NULL REFERENCES wheels (id),
    count INTEGER NOT NULL CHECK (count >= 1),
    pity_count INTEGER NOT NULL CHECK (pity_count >= 0),
    last_free TEXT,
    last_day TEXT NOT NULL,
    day_spins INTEGER NOT NULL CHECK (day_spins >= 1),
    PRIMARY KEY (user_id, wheel_id)
) STRICT, WITHOUT ROWID;

-- `client_seed` is null once the account was deleted.
CREATE TABLE spins (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    wheel_id BLOB NOT NULL REFERENCES wheels (id),
    nonce INTEGER NOT NULL CHECK (nonce >= 1),
    client_seed TEXT,
    pity_count INTEGER NOT NULL CHECK (pity_count >= 0),
    segment TEXT NOT NULL,
    is_substituted INTEGER NOT NULL CHECK (is_substituted IN (0, 1)),
    grant_kind TEXT NOT NULL,
    grant_amount INTEGER NOT NULL CHECK (grant_amount >= 0),
    grant_id BLOB,
    paid_kind TEXT CHECK (paid_kind IN ('points', 'coins')),
    paid_amount INTEGER CHECK (paid_amount >= 1),
    table_hash BLOB NOT NULL REFERENCES spin_tables (hash),
    created_at INTEGER NOT NULL,
    UNIQUE (user_id, wheel_id, nonce),
    CHECK ((paid_kind IS NULL) = (paid_amount IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX spins_of_user ON spins (user_id, created_at, id);
