-- Rewards, as content files describe them. What was removed from the content is retired and keeps its rows. A claim gives
-- either a code, of the source that `codes` names, or goods.
CREATE TABLE rewards (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    place integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    image_url text,
    codes text CHECK (codes IN ('pool', 'generated')),
    grant_kind text,
    grant_amount bigint CHECK (grant_amount >= 1),
    grant_id uuid,
    cost_kind text CHECK (cost_kind IN ('points', 'coins')),
    cost_amount bigint CHECK (cost_amount >= 1),
    stock integer CHECK (stock >= 0),
    per_user_limit integer CHECK (per_user_limit >= 1),
    period text NOT NULL CHECK (period IN ('ever', 'day', 'season')),
    valid_seconds bigint CHECK (valid_seconds >= 1),
    opens_at timestamptz,
    closes_at timestamptz,
    is_retired boolean NOT NULL,
    CHECK ((codes IS NULL) = (grant_kind IS NOT NULL)),
    CHECK ((grant_kind IS NULL) = (grant_amount IS NULL)),
    CHECK (grant_id IS NULL OR grant_kind IS NOT NULL),
    CHECK ((cost_kind IS NULL) = (cost_amount IS NULL))
);

-- What a fan must have reached to claim a reward. `value` is a number, the id of a quest or the key of an achievement.
CREATE TABLE reward_requirements (
    reward_id uuid NOT NULL REFERENCES rewards (id),
    place integer NOT NULL,
    kind text NOT NULL CHECK (kind IN ('level', 'quest', 'achievement', 'rank', 'points')),
    value text NOT NULL,
    PRIMARY KEY (reward_id, place)
);

-- The stock of limited rewards; others have no row. `supply` is the stock of the content, or the number of codes of a pool.
-- No more are taken than there are, except where content lowers the supply below what was claimed.
CREATE TABLE reward_stock (
    reward_id uuid PRIMARY KEY REFERENCES rewards (id),
    supply integer NOT NULL CHECK (supply >= 0),
    taken integer NOT NULL CHECK (taken >= 0)
);

-- Devices that redeem codes. Of a token, only the SHA-256 is stored.
CREATE TABLE tills (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    token_hash bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    created_at timestamptz NOT NULL,
    revoked_at timestamptz
);
CREATE UNIQUE INDEX tills_in_use ON tills (name) WHERE revoked_at IS NULL;

-- Claims with what they gave and cost at that time. `day` is the date of the fan's zone. `is_returned`: the fan has the cost
-- back, and the claim does not count towards the fan's limit.
CREATE TABLE reward_claims (
    id uuid PRIMARY KEY,
    reward_id uuid NOT NULL REFERENCES rewards (id),
    user_id uuid NOT NULL REFERENCES users (id),
    status text NOT NULL CHECK (status IN ('issued', 'used', 'expired', 'revoked')),
    codes text CHECK (codes IN ('pool', 'generated')),
    grant_kind text,
    grant_amount bigint CHECK (grant_amount >= 1),
    grant_id uuid,
    cost_kind text CHECK (cost_kind IN ('points', 'coins')),
    cost_amount bigint CHECK (cost_amount >= 1),
    day text NOT NULL,
    season_id uuid,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    used_at timestamptz,
    till_id uuid REFERENCES tills (id),
    is_returned boolean NOT NULL,
    CHECK ((codes IS NULL) = (grant_kind IS NOT NULL)),
    CHECK ((grant_kind IS NULL) = (grant_amount IS NULL)),
    CHECK (grant_id IS NULL OR grant_kind IS NOT NULL),
    CHECK ((cost_kind IS NULL) = (cost_amount IS NULL)),
    CHECK ((status = 'used') = (used_at IS NOT NULL)),
    CHECK (till_id IS NULL OR status = 'used'),
    CHECK (NOT is_returned OR status = 'revoked')
);
CREATE INDEX reward_claims_of_user ON reward_claims (user_id, created_at DESC, id DESC);
CREATE INDEX reward_claims_in_order ON reward_claims (created_at DESC, id DESC);
CREATE INDEX reward_claims_of_reward ON reward_claims (reward_id, created_at DESC, id DESC);
CREATE INDEX reward_claims_due ON reward_claims (expires_at, id) WHERE status = 'issued' AND expires_at IS NOT NULL;

-- Codes: encrypted, and found by a keyed digest, which stays when the encrypted text is erased with its account. A code
-- without a claim is free.
CREATE TABLE reward_codes (
    id uuid PRIMARY KEY,
    reward_id uuid NOT NULL REFERENCES rewards (id),
    claim_id uuid UNIQUE REFERENCES reward_claims (id),
    digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
    sealed bytea,
    CHECK (claim_id IS NOT NULL OR sealed IS NOT NULL)
);
CREATE INDEX reward_codes_free ON reward_codes (reward_id, id) WHERE claim_id IS NULL;
