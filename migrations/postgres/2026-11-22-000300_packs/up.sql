-- Collectibles come from content files and are identified by stable keys; none is ever removed. `edition` is the greatest
-- number of copies, null for an open edition, whose copies are not counted.
CREATE TABLE collectibles (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    place integer NOT NULL,
    name text NOT NULL,
    rarity text NOT NULL CHECK (rarity IN ('common', 'uncommon', 'rare', 'epic', 'legendary')),
    team_id uuid REFERENCES teams (id),
    image_url text,
    edition integer CHECK (edition >= 1),
    minted integer NOT NULL DEFAULT 0 CHECK (minted >= 0),
    CHECK (minted = 0 OR (edition IS NOT NULL AND minted <= edition))
);

-- A pack that was removed from the content is retired and keeps its rows.
CREATE TABLE packs (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    place integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    image_url text,
    price_kind text NOT NULL CHECK (price_kind IN ('points', 'coins', 'money')),
    price_amount bigint NOT NULL CHECK (price_amount >= 1),
    price_currency text,
    per_user_limit integer CHECK (per_user_limit >= 1),
    supply integer CHECK (supply >= 1),
    opens_at timestamptz,
    closes_at timestamptz,
    guarantee text CHECK (guarantee IN ('common', 'uncommon', 'rare', 'epic', 'legendary')),
    is_retired boolean NOT NULL,
    CHECK ((price_kind = 'money') = (price_currency IS NOT NULL))
);

CREATE TABLE pack_slots (
    pack_id uuid NOT NULL REFERENCES packs (id),
    slot integer NOT NULL CHECK (slot >= 0),
    rarity text NOT NULL CHECK (rarity IN ('common', 'uncommon', 'rare', 'epic', 'legendary')),
    weight integer NOT NULL CHECK (weight >= 1),
    PRIMARY KEY (pack_id, slot, rarity)
);

CREATE TABLE pack_contents (
    pack_id uuid NOT NULL REFERENCES packs (id),
    collectible_id uuid NOT NULL REFERENCES collectibles (id),
    weight integer NOT NULL CHECK (weight >= 1),
    PRIMARY KEY (pack_id, collectible_id)
);

-- Stock of packs that can sell out; other packs have no row. `sealed` counts sold copies that were not opened yet.
CREATE TABLE pack_stock (
    pack_id uuid PRIMARY KEY REFERENCES packs (id),
    sold integer NOT NULL CHECK (sold >= 0),
    sealed integer NOT NULL CHECK (sealed >= 0)
);

-- The price is the price of one copy at the time of the purchase.
CREATE TABLE pack_purchases (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    pack_id uuid NOT NULL REFERENCES packs (id),
    quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    price_kind text NOT NULL CHECK (price_kind IN ('points', 'coins', 'money')),
    price_amount bigint NOT NULL CHECK (price_amount >= 1),
    price_currency text,
    state text NOT NULL CHECK (state IN ('pending', 'completed', 'expired', 'cancelled', 'refunded')),
    checkout_url text,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    changed_at timestamptz NOT NULL,
    CHECK ((price_kind = 'money') = (price_currency IS NOT NULL))
);
CREATE INDEX pack_purchases_by_user ON pack_purchases (user_id, created_at DESC, id DESC);
CREATE INDEX pack_purchases_that_count ON pack_purchases (user_id, pack_id, quantity)
    WHERE state IN ('pending', 'completed');
CREATE INDEX pack_purchases_pending ON pack_purchases (user_id) WHERE state = 'pending';
-- Unpaid purchases of a pack, for the limit on the share of its stock that new accounts may hold.
CREATE INDEX pack_purchases_unpaid_of_pack ON pack_purchases (pack_id, user_id, quantity) WHERE state = 'pending';

-- A copy of a pack. The encrypted seed is stored while the copy is sealed; its hash was published at the purchase.
CREATE TABLE user_packs (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    pack_id uuid NOT NULL REFERENCES packs (id),
    purchase_id uuid NOT NULL REFERENCES pack_purchases (id),
    nonce integer NOT NULL CHECK (nonce >= 1),
    state text NOT NULL CHECK (state IN ('sealed', 'opened', 'revoked')),
    seed_hash bytea NOT NULL CHECK (length(seed_hash) = 32),
    sealed_seed bytea,
    bought_at timestamptz NOT NULL,
    opened_at timestamptz,
    changed_at timestamptz NOT NULL,
    UNIQUE (purchase_id, nonce),
    CHECK ((state = 'sealed') = (sealed_seed IS NOT NULL)),
    CHECK (state <> 'sealed' OR opened_at IS NULL),
    CHECK (state <> 'opened' OR opened_at IS NOT NULL)
);
CREATE INDEX user_packs_bought ON user_packs (user_id, bought_at DESC, id DESC);
CREATE INDEX user_packs_opened ON user_packs (user_id, opened_at DESC, id DESC) WHERE opened_at IS NOT NULL;
CREATE INDEX user_packs_sealed ON user_packs (user_id, pack_id, bought_at, nonce, id) WHERE state = 'sealed';

-- How a copy was drawn: together with its nonce and the hash of its seed, the proof. `tables` is the text that `table_hash`
-- is the hash of.
CREATE TABLE pack_openings (
    copy_id uuid PRIMARY KEY REFERENCES user_packs (id),
    algorithm text NOT NULL,
    server_seed bytea NOT NULL CHECK (length(server_seed) = 32),
    client_seed text NOT NULL,
    client_seed_source text NOT NULL CHECK (client_seed_source IN ('client', 'server')),
    tables text NOT NULL,
    table_hash bytea NOT NULL CHECK (length(table_hash) = 32)
);

-- Copies of collectibles that users own. A serial number is assigned once, even when its copy was revoked. `is_told` is
-- whether the minter receives messages about the copy: it receives a revocation only of a copy that it was notified of.
CREATE TABLE owned_collectibles (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    collectible_id uuid NOT NULL REFERENCES collectibles (id),
    serial integer CHECK (serial >= 1),
    acquired_at timestamptz NOT NULL,
    copy_id uuid NOT NULL REFERENCES pack_openings (copy_id),
    slot integer NOT NULL CHECK (slot >= 0),
    revoked_at timestamptz,
    is_told boolean NOT NULL DEFAULT false,
    UNIQUE (copy_id, slot),
    UNIQUE (collectible_id, serial)
);
CREATE INDEX owned_collectibles_by_user ON owned_collectibles (user_id, acquired_at DESC, id DESC)
    WHERE revoked_at IS NULL;
