-- What was given for a line of an order, a claim, a spin or a round, once for each user, source and place. `item_id` is the
-- pack, the collectible or the product, which have no common table. Transfers of coins have the id of the grant in their
-- source; copies of packs and collectibles refer to it.
CREATE TABLE grants (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    giver TEXT NOT NULL CHECK (giver IN ('order', 'claim', 'spin', 'round')),
    source_id BLOB NOT NULL,
    place INTEGER NOT NULL CHECK (place >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('points', 'coins', 'pack', 'collectible', 'code', 'product')),
    amount INTEGER NOT NULL CHECK (amount >= 1),
    item_id BLOB,
    given_at INTEGER NOT NULL,
    taken_back_at INTEGER,
    UNIQUE (giver, source_id, user_id, place),
    CHECK ((kind IN ('pack', 'collectible', 'product')) = (item_id IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_of_user ON grants (user_id, given_at DESC, id DESC);

-- What each unit of a product grants.
CREATE TABLE product_grants (
    product_id BLOB NOT NULL REFERENCES products (id),
    place INTEGER NOT NULL CHECK (place >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('coins', 'pack', 'collectible')),
    amount INTEGER NOT NULL CHECK (amount >= 1),
    item_id BLOB,
    PRIMARY KEY (product_id, place),
    CHECK ((kind = 'coins') = (item_id IS NULL))
) STRICT, WITHOUT ROWID;

-- What all units of a line grant together.
CREATE TABLE order_line_grants (
    line_id BLOB NOT NULL REFERENCES order_lines (id),
    place INTEGER NOT NULL CHECK (place >= 0),
    kind TEXT NOT NULL CHECK (kind IN ('coins', 'pack', 'collectible')),
    amount INTEGER NOT NULL CHECK (amount >= 1),
    item_id BLOB,
    PRIMARY KEY (line_id, place),
    CHECK ((kind = 'coins') = (item_id IS NULL))
) STRICT, WITHOUT ROWID;
-- Packs of unpaid orders, which are part of the stock of packs.
CREATE INDEX order_line_grants_of_packs ON order_line_grants (item_id) WHERE kind = 'pack';

-- Until now lines granted coins only, under a transfer with the id of the line.
INSERT INTO product_grants (product_id, place, kind, amount, item_id)
    SELECT id, 0, 'coins', coins, NULL FROM products WHERE coins IS NOT NULL;
INSERT INTO order_line_grants (line_id, place, kind, amount, item_id)
    SELECT id, 0, 'coins', granted, NULL FROM order_lines WHERE granted > 0;
INSERT INTO grants (id, user_id, giver, source_id, place, kind, amount, item_id, given_at, taken_back_at)
    SELECT l.id, o.user_id, 'order', l.id, 0, 'coins', l.granted, NULL, t.created_at,
        CASE WHEN l.state = 'revoked' THEN coalesce(r.created_at, o.changed_at) END
    FROM order_lines l JOIN orders o ON o.id = l.order_id
    JOIN ledger_transfers t ON t.source_key = 'grant:' || lower(hex(l.id))
    LEFT JOIN refunds r ON r.id = l.refund_id
    WHERE l.granted > 0;
CREATE TABLE order_lines_of_grants (
    id BLOB PRIMARY KEY NOT NULL,
    order_id BLOB NOT NULL REFERENCES orders (id),
    place INTEGER NOT NULL,
    product_id BLOB NOT NULL REFERENCES products (id),
    variant_id BLOB NOT NULL REFERENCES product_variants (id),
    price_id BLOB NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('digital', 'physical')),
    quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    points INTEGER CHECK (points >= 1),
    coins INTEGER CHECK (coins >= 1),
    money INTEGER CHECK (money >= 1),
    currency TEXT,
    tax_rate INTEGER NOT NULL,
    tax INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'shipped', 'delivered', 'revoked')),
    carrier TEXT,
    tracking TEXT,
    shipped_at INTEGER,
    refund_id BLOB REFERENCES refunds (id),
    UNIQUE (order_id, place)
) STRICT, WITHOUT ROWID;
INSERT INTO order_lines_of_grants (id, order_id, place, product_id, variant_id, price_id, name, kind, quantity, points, coins, money, currency, tax_rate, tax,
        state, carrier, tracking, shipped_at, refund_id)
    SELECT id, order_id, place, product_id, variant_id, price_id, name, kind, quantity, points, coins, money, currency, tax_rate, tax,
        state, carrier, tracking, shipped_at, refund_id FROM order_lines;
DROP TABLE order_lines;
ALTER TABLE order_lines_of_grants RENAME TO order_lines;
CREATE INDEX order_lines_of_variant ON order_lines (variant_id);
CREATE TABLE products_of_grants (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    image_urls TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('digital', 'physical')),
    team_id BLOB REFERENCES teams (id),
    category_id BLOB REFERENCES product_categories (id),
    per_user_limit INTEGER CHECK (per_user_limit >= 1),
    opens_at INTEGER,
    closes_at INTEGER,
    tax_class TEXT NOT NULL,
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1))
) STRICT, WITHOUT ROWID;
INSERT INTO products_of_grants (id, key, place, name, description, image_urls, kind, team_id, category_id, per_user_limit, opens_at, closes_at, tax_class, is_retired)
    SELECT id, key, place, name, description, image_urls, kind, team_id, category_id, per_user_limit, opens_at, closes_at, tax_class, is_retired
    FROM products;
DROP TABLE products;
ALTER TABLE products_of_grants RENAME TO products;

-- Copies and collectibles come from a purchase or from a grant. Those of a grant are numbered as well.
CREATE TABLE user_packs_of_grants (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    pack_id BLOB NOT NULL REFERENCES packs (id),
    purchase_id BLOB REFERENCES pack_purchases (id),
    nonce INTEGER NOT NULL CHECK (nonce >= 1),
    state TEXT NOT NULL CHECK (state IN ('sealed', 'opened', 'revoked')),
    seed_hash BLOB NOT NULL CHECK (length(seed_hash) = 32),
    sealed_seed BLOB,
    bought_at INTEGER NOT NULL,
    opened_at INTEGER,
    changed_at INTEGER NOT NULL,
    grant_id BLOB REFERENCES grants (id),
    UNIQUE (purchase_id, nonce),
    UNIQUE (grant_id, nonce),
    CHECK ((state = 'sealed') = (sealed_seed IS NOT NULL)),
    CHECK (state <> 'sealed' OR opened_at IS NULL),
    CHECK (state <> 'opened' OR opened_at IS NOT NULL),
    CHECK ((purchase_id IS NULL) <> (grant_id IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO user_packs_of_grants (id, user_id, pack_id, purchase_id, nonce, state, seed_hash, sealed_seed, bought_at, opened_at, changed_at)
    SELECT id, user_id, pack_id, purchase_id, nonce, state, seed_hash, sealed_seed, bought_at, opened_at, changed_at FROM user_packs;
DROP TABLE user_packs;
ALTER TABLE user_packs_of_grants RENAME TO user_packs;
CREATE INDEX user_packs_bought ON user_packs (user_id, bought_at DESC, id DESC);
CREATE INDEX user_packs_opened ON user_packs (user_id, opened_at DESC, id DESC) WHERE opened_at IS NOT NULL;
CREATE INDEX user_packs_sealed ON user_packs (user_id, pack_id, bought_at, nonce, id) WHERE state = 'sealed';
CREATE INDEX user_packs_held ON user_packs (user_id, pack_id) WHERE state <> 'revoked';

CREATE TABLE owned_collectibles_of_grants (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    collectible_id BLOB NOT NULL REFERENCES collectibles (id),
    serial INTEGER CHECK (serial >= 1),
    acquired_at INTEGER NOT NULL,
    copy_id BLOB REFERENCES pack_openings (copy_id),
    slot INTEGER NOT NULL CHECK (slot >= 0),
    revoked_at INTEGER,
    is_told INTEGER NOT NULL DEFAULT 0 CHECK (is_told IN (0, 1)),
    token_state TEXT CHECK (token_state IN ('minted', 'burned')),
    token_network TEXT,
    token_contract TEXT,
    token_id TEXT,
    token_transaction TEXT,
    grant_id BLOB REFERENCES grants (id),
    UNIQUE (copy_id, slot),
    UNIQUE (grant_id, slot),
    UNIQUE (collectible_id, serial),
    CHECK ((copy_id IS NULL) <> (grant_id IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO owned_collectibles_of_grants (id, user_id, collectible_id, serial, acquired_at, copy_id, slot, revoked_at, is_told,
        token_state, token_network, token_contract, token_id, token_transaction)
    SELECT id, user_id, collectible_id, serial, acquired_at, copy_id, slot, revoked_at, is_told, token_state, token_network,
        token_contract, token_id, token_transaction FROM owned_collectibles;
DROP TABLE owned_collectibles;
ALTER TABLE owned_collectibles_of_grants RENAME TO owned_collectibles;
CREATE INDEX owned_collectibles_by_user ON owned_collectibles (user_id, acquired_at DESC, id DESC)
    WHERE revoked_at IS NULL;
CREATE INDEX owned_collectibles_album ON owned_collectibles (user_id, collectible_id, acquired_at)
    WHERE revoked_at IS NULL;
