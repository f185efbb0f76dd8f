-- What was granted without a purchase has no place in the older schema.
DELETE FROM mint_messages WHERE owned_id IN (SELECT id FROM owned_collectibles WHERE grant_id IS NOT NULL
    OR copy_id IN (SELECT id FROM user_packs WHERE grant_id IS NOT NULL));
DELETE FROM owned_collectibles WHERE grant_id IS NOT NULL
    OR copy_id IN (SELECT id FROM user_packs WHERE grant_id IS NOT NULL);
DELETE FROM pack_openings WHERE copy_id IN (SELECT id FROM user_packs WHERE grant_id IS NOT NULL);
DELETE FROM user_packs WHERE grant_id IS NOT NULL;
CREATE TABLE owned_collectibles_of_packs (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    collectible_id BLOB NOT NULL REFERENCES collectibles (id),
    serial INTEGER CHECK (serial >= 1),
    acquired_at INTEGER NOT NULL,
    copy_id BLOB NOT NULL REFERENCES pack_openings (copy_id),
    slot INTEGER NOT NULL CHECK (slot >= 0),
    revoked_at INTEGER,
    is_told INTEGER NOT NULL DEFAULT 0 CHECK (is_told IN (0, 1)),
    token_state TEXT CHECK (token_state IN ('minted', 'burned')),
    token_network TEXT,
    token_contract TEXT,
    token_id TEXT,
    token_transaction TEXT,
    UNIQUE (copy_id, slot),
    UNIQUE (collectible_id, serial)
) STRICT, WITHOUT ROWID;
INSERT INTO owned_collectibles_of_packs (id, user_id, collectible_id, serial, acquired_at, copy_id, slot, revoked_at, is_told,
        token_state, token_network, token_contract, token_id, token_transaction)
    SELECT id, user_id, collectible_id, serial, acquired_at, copy_id, slot, revoked_at, is_told, token_state, token_network,
        token_contract, token_id, token_transaction FROM owned_collectibles;
DROP TABLE owned_collectibles;
ALTER TABLE owned_collectibles_of_packs RENAME TO owned_collectibles;
CREATE INDEX owned_collectibles_by_user ON owned_collectibles (user_id, acquired_at DESC, id DESC)
    WHERE revoked_at IS NULL;
CREATE INDEX owned_collectibles_album ON owned_collectibles (user_id, collectible_id, acquired_at)
    WHERE revoked_at IS NULL;
CREATE TABLE user_packs_of_purchases (
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
INSERT INTO user_packs_of_purchases (id, user_id, pack_id, purchase_id, nonce, state, seed_hash, sealed_seed, bought_at, opened_at, changed_at)
    SELECT id, user_id, pack_id, purchase_id, nonce, state, seed_hash, sealed_seed, bought_at, opened_at, changed_at FROM user_packs;
DROP TABLE user_packs;
ALTER TABLE user_packs_of_purchases RENAME TO user_packs;
CREATE INDEX user_packs_bought ON user_packs (user_id, bought_at DESC, id DESC);
CREATE INDEX user_packs_opened ON user_packs (user_id, opened_at DESC, id DESC) WHERE opened_at IS NOT NULL;
CREATE INDEX user_packs_sealed ON user_packs (user_id, pack_id, bought_at, nonce, id) WHERE state = 'sealed';
CREATE INDEX user_packs_held ON user_packs (user_id, pack_id) WHERE state <> 'revoked';
CREATE TABLE products_of_coins (
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
    coins INTEGER CHECK (coins >= 1),
    tax_class TEXT NOT NULL,
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1)),
    CHECK (coins IS NULL OR kind = 'digital')
) STRICT, WITHOUT ROWID;
INSERT INTO products_of_coins (id, key, place, name, description, image_urls, kind, team_id, category_id, per_user_limit, opens_at, closes_at, coins, tax_class, is_retired)
    SELECT id, key, place, name, description, image_urls, kind, team_id, category_id, per_user_limit, opens_at, closes_at,
        (SELECT sum(amount) FROM product_grants g WHERE g.product_id = products.id AND g.kind = 'coins'),
        tax_class, is_retired FROM products;
DROP TABLE products;
ALTER TABLE products_of_coins RENAME TO products;
CREATE TABLE order_lines_of_coins (
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
    granted INTEGER NOT NULL CHECK (granted >= 0),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'shipped', 'delivered', 'revoked')),
    carrier TEXT,
    tracking TEXT,
    shipped_at INTEGER,
    refund_id BLOB REFERENCES refunds (id),
    UNIQUE (order_id, place)
) STRICT, WITHOUT ROWID;
INSERT INTO order_lines_of_coins (id, order_id, place, product_id, variant_id, price_id, name, kind, quantity, points, coins, money, currency, tax_rate, tax, granted,
        state, carrier, tracking, shipped_at, refund_id)
    SELECT id, order_id, place, product_id, variant_id, price_id, name, kind, quantity, points, coins, money, currency, tax_rate, tax,
        (SELECT coalesce(sum(amount), 0) FROM order_line_grants g WHERE g.line_id = order_lines.id AND g.kind = 'coins'),
        state, carrier, tracking, shipped_at, refund_id FROM order_lines;
DROP TABLE order_lines;
ALTER TABLE order_lines_of_coins RENAME TO order_lines;
CREATE INDEX order_lines_of_variant ON order_lines (variant_id);
DROP TABLE order_line_grants;
DROP TABLE product_grants;
DROP TABLE grants;
