-- Rewards, as content files describe them. What was removed from the content is retired and keeps its rows. A claim gives
-- either a code, of the source that `codes` names, or goods.
CREATE TABLE rewards (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    image_url TEXT,
    codes TEXT CHECK (codes IN ('pool', 'generated')),
    grant_kind TEXT,
    grant_amount INTEGER CHECK (grant_amount >= 1),
    grant_id BLOB,
    cost_kind TEXT CHECK (cost_kind IN ('points', 'coins')),
    cost_amount INTEGER CHECK (cost_amount >= 1),
    stock INTEGER CHECK (stock >= 0),
    per_user_limit INTEGER CHECK (per_user_limit >= 1),
    period TEXT NOT NULL CHECK (period IN ('ever', 'day', 'season')),
    valid_seconds INTEGER CHECK (valid_seconds >= 1),
    opens_at INTEGER,
    closes_at INTEGER,
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1)),
    CHECK ((codes IS NULL) = (grant_kind IS NOT NULL)),
    CHECK ((grant_kind IS NULL) = (grant_amount IS NULL)),
    CHECK (grant_id IS NULL OR grant_kind IS NOT NULL),
    CHECK ((cost_kind IS NULL) = (cost_amount IS NULL))
) STRICT, WITHOUT ROWID;

-- What a fan must have reached to claim a reward. `value` is a number, the id of a quest or the key of an achievement.
CREATE TABLE reward_requirements (
    reward_id BLOB NOT NULL REFERENCES rewards (id),
    place INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('level', 'quest', 'achievement', 'rank', 'points')),
    value TEXT NOT NULL,
    PRIMARY KEY (reward_id, place)
) STRICT, WITHOUT ROWID;

-- The stock of limited rewards; others have no row. `supply` is the stock of the content, or the number of codes of a pool.
-- No more are taken than there are, except where content lowers the supply below what was claimed.
CREATE TABLE reward_stock (
    reward_id BLOB PRIMARY KEY NOT NULL REFERENCES rewards (id),
    supply INTEGER NOT NULL CHECK (supply >= 0),
    taken INTEGER NOT NULL CHECK (taken >= 0)
) STRICT, WITHOUT ROWID;

-- Devices that redeem codes. Of a token, only the SHA-256 is stored.
CREATE TABLE tills (
    id BLOB PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tills_in_use ON tills (name) WHERE revoked_at IS NULL;

-- Claims with what they gave and cost at that time. `day` is the date of the fan's zone. `is_returned`: the fan has the cost
-- back, and the claim does not count towards the fan's limit.
CREATE TABLE reward_claims (
    id BLOB PRIMARY KEY NOT NULL,
    reward_id BLOB NOT NULL REFERENCES rewards (id),
    user_id BLOB NOT NULL REFERENCES users (id),
    status TEXT NOT NULL CHECK (status IN ('issued', 'used', 'expired', 'revoked')),
    codes TEXT CHECK (codes IN ('pool', 'generated')),
    grant_kind TEXT,
    grant_amount INTEGER CHECK (grant_amount >= 1),
    grant_id BLOB,
    cost_kind TEXT CHECK (cost_kind IN ('points', 'coins')),
    cost_amount INTEGER CHECK (cost_amount >= 1),
    day TEXT NOT NULL,
    season_id BLOB,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    used_at INTEGER,
    till_id BLOB REFERENCES tills (id),
    is_returned INTEGER NOT NULL CHECK (is_returned IN (0, 1)),
    CHECK ((codes IS NULL) = (grant_kind IS NOT NULL)),
    CHECK ((grant_kind IS NULL) = (grant_amount IS NULL)),
    CHECK (grant_id IS NULL OR grant_kind IS NOT NULL),
    CHECK ((cost_kind IS NULL) = (cost_amount IS NULL)),
    CHECK ((status = 'used') = (used_at IS NOT NULL)),
    CHECK (till_id IS NULL OR status = 'used'),
    CHECK (NOT is_returned OR status = 'revoked')
) STRICT, WITHOUT ROWID;
CREATE INDEX reward_claims_of_user ON reward_claims (user_id, created_at DESC, id DESC);
CREATE INDEX reward_claims_in_order ON reward_claims (created_at DESC, id DESC);
CREATE INDEX reward_claims_of_reward ON reward_claims (reward_id, created_at DESC, id DESC);
CREATE INDEX reward_claims_due ON reward_claims (expires_at, id) WHERE status = 'issued' AND expires_at IS NOT NULL;

-- Codes: encrypted, and found by a keyed digest, which stays when the encrypted text is erased with its account. A code
-- without a claim is free.
CREATE TABLE reward_codes (
    id BLOB PRIMARY KEY NOT NULL,
    reward_id BLOB NOT NULL REFERENCES rewards (id),
    claim_id BLOB UNIQUE REFERENCES reward_claims (id),
    digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
    sealed BLOB,
    CHECK (claim_id IS NOT NULL OR sealed IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX reward_codes_free ON reward_codes (reward_id, id) WHERE claim_id IS NULL;
