-- Collectibles come from content files and are identified by stable keys; none is ever removed. `edition` is the greatest
-- number of copies, null for an open edition, whose copies are not counted.
CREATE TABLE collectibles (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    rarity TEXT NOT NULL CHECK (rarity IN ('common', 'uncommon', 'rare', 'epic', 'legendary')),
    team_id BLOB REFERENCES teams (id),
    image_url TEXT,
    edition INTEGER CHECK (edition >= 1),
    minted INTEGER NOT NULL DEFAULT 0 CHECK (minted >= 0),
    CHECK (minted = 0 OR (edition IS NOT NULL AND minted <= edition))
) STRICT, WITHOUT ROWID;

-- A pack that was removed from the content is retired and keeps its rows.
CREATE TABLE packs (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    image_url TEXT,
    price_kind TEXT NOT NULL CHECK (price_kind IN ('points', 'coins', 'money')),
    price_amount INTEGER NOT NULL CHECK (price_amount >= 1),
    price_currency TEXT,
    per_user_limit INTEGER CHECK (per_user_limit >= 1),
    supply INTEGER CHECK (supply >= 1),
    opens_at INTEGER,
    closes_at INTEGER,
    guarantee TEXT CHECK (guarantee IN ('common', 'uncommon', 'rare', 'epic', 'legendary')),
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1)),
    CHECK ((price_kind = 'money') = (price_currency IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE pack_slots (
    pack_id BLOB NOT NULL REFERENCES packs (id),
    slot INTEGER NOT NULL CHECK (slot >= 0),
    rarity TEXT NOT NULL CHECK (rarity IN ('common', 'uncommon', 'rare', 'epic', 'legendary')),
    weight INTEGER NOT NULL CHECK (weight >= 1),
    PRIMARY KEY (pack_id, slot, rarity)
) STRICT, WITHOUT ROWID;

CREATE TABLE pack_contents (
    pack_id BLOB NOT NULL REFERENCES packs (id),
    collectible_id BLOB NOT NULL REFERENCES collectibles (id),
    weight INTEGER NOT NULL CHECK (weight >= 1),
    PRIMARY KEY (pack_id, collectible_id)
) STRICT, WITHOUT ROWID;

-- Stock of packs that can sell out; other packs have no row. `sealed` counts sold copies that were not opened yet.
CREATE TABLE pack_stock (
    pack_id BLOB PRIMARY KEY NOT NULL REFERENCES packs (id),
    sold INTEGER NOT NULL CHECK (sold >= 0),
    sealed INTEGER NOT NULL CHECK (sealed >= 0)
) STRICT, WITHOUT ROWID;

-- The price is the price of one copy at the time of the purchase.
CREATE TABLE pack_purchases (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    pack_id BLOB NOT NULL REFERENCES packs (id),
    quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    price_kind TEXT NOT NULL CHECK (price_kind IN ('points', 'coins', 'money')),
    price_amount INTEGER NOT NULL CHECK (price_amount >= 1),
    price_currency TEXT,
    state TEXT NOT NULL CHECK (state IN ('pending', 'completed', 'expired', 'cancelled', 'refunded')),
    checkout_url TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    changed_at INTEGER NOT NULL,
    CHECK ((price_kind = 'money') = (price_currency IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX pack_purchases_by_user ON pack_purchases (user_id, created_at DESC, id DESC);
CREATE INDEX pack_purchases_that_count ON pack_purchases (user_id, pack_id, quantity)
    WHERE state IN ('pending', 'completed');
CREATE INDEX pack_purchases_pending ON pack_purchases (user_id) WHERE state = 'pending';
-- Unpaid purchases of a pack, for the limit on the share of its stock that new accounts may hold.
CREATE INDEX pack_purchases_unpaid_of_pack ON pack_purchases (pack_id, user_id, quantity) WHERE state = 'pending';

-- A copy of a pack. The encrypted seed is stored while the copy is sealed; its hash was published at the purchase.
CREATE TABLE user_packs (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    pack_id BLOB NOT NULL REFERENCES packs (id),
    purchase_id BLOB NOT NULL REFERENCES pack_purchases (id),
    nonce INTEGER NOT NULL CHECK (nonce >= 1),
    state TEXT NOT NULL CHECK (state IN ('sealed', 'opened', 'revoked')),
    seed_hash BLOB NOT NULL CHECK (length(seed_hash) = 32),
    sealed_seed BLOB,
    bought_at INTEGER NOT NULL,
    opened_at INTEGER,
    changed_at INTEGER NOT NULL,
    UNIQUE (purchase_id, nonce),
    CHECK ((state = 'sealed') = (sealed_seed IS NOT NULL)),
    CHECK (state <> 'sealed' OR opened_at IS NULL),
    CHECK (state <> 'opened' OR opened_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_packs_bought ON user_packs (user_id, bought_at DESC, id DESC);
CREATE INDEX user_packs_opened ON user_packs (user_id, opened_at DESC, id DESC) WHERE opened_at IS NOT NULL;
CREATE INDEX user_packs_sealed ON user_packs (user_id, pack_id, bought_at, nonce, id) WHERE state = 'sealed';

-- How a copy was drawn: together with its nonce and the hash of its seed, the proof. `tables` is the text that `table_hash`
-- is the hash of.
CREATE TABLE pack_openings (
    copy_id BLOB PRIMARY KEY NOT NULL REFERENCES user_packs (id),
    algorithm TEXT NOT NULL,
    server_seed BLOB NOT NULL CHECK (length(server_seed) = 32),
    client_seed TEXT NOT NULL,
    client_seed_source TEXT NOT NULL CHECK (client_seed_source IN ('client', 'server')),
    tables TEXT NOT NULL,
    table_hash BLOB NOT NULL CHECK (length(table_hash) = 32)
) STRICT, WITHOUT ROWID;

-- Copies of collectibles that users own. A serial number is assigned once, even when its copy was revoked. `is_told` is
-- whether the minter receives messages about the copy: it receives a revocation only of a copy that it was notified of.
CREATE TABLE owned_collectibles (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    collectible_id BLOB NOT NULL REFERENCES collectibles (id),
    serial INTEGER CHECK (serial >= 1),
    acquired_at INTEGER NOT NULL,
    copy_id BLOB NOT NULL REFERENCES pack_openings (copy_id),
    slot INTEGER NOT NULL CHECK (slot >= 0),
    revoked_at INTEGER,
    is_told INTEGER NOT NULL DEFAULT 0 CHECK (is_told IN (0, 1)),
    UNIQUE (copy_id, slot),
    UNIQUE (collectible_id, serial)
) STRICT, WITHOUT ROWID;
CREATE INDEX owned_collectibles_by_user ON owned_collectibles (user_id, acquired_at DESC, id DESC)
    WHERE revoked_at IS NULL;
