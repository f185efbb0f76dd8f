-- What was given for a line of an order, a claim, a spin or a round, once for each user, source and place. `item_id` is the
-- pack, the collectible or the product, which have no common table. Transfers of coins have the id of the grant in their
-- source; copies of packs and collectibles refer to it.
CREATE TABLE grants (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    giver text NOT NULL CHECK (giver IN ('order', 'claim', 'spin', 'round')),
    source_id uuid NOT NULL,
    place integer NOT NULL CHECK (place >= 0),
    kind text NOT NULL CHECK (kind IN ('points', 'coins', 'pack', 'collectible', 'code', 'product')),
    amount bigint NOT NULL CHECK (amount >= 1),
    item_id uuid,
    given_at timestamptz NOT NULL,
    taken_back_at timestamptz,
    UNIQUE (giver, source_id, user_id, place),
    CHECK ((kind IN ('pack', 'collectible', 'product')) = (item_id IS NOT NULL))
);
CREATE INDEX grants_of_user ON grants (user_id, given_at DESC, id DESC);

-- What each unit of a product grants.
CREATE TABLE product_grants (
    product_id uuid NOT NULL REFERENCES products (id),
    place integer NOT NULL CHECK (place >= 0),
    kind text NOT NULL CHECK (kind IN ('coins', 'pack', 'collectible')),
    amount bigint NOT NULL CHECK (amount >= 1),
    item_id uuid,
    PRIMARY KEY (product_id, place),
    CHECK ((kind = 'coins') = (item_id IS NULL))
);

-- What all units of a line grant together.
CREATE TABLE order_line_grants (
    line_id uuid NOT NULL REFERENCES order_lines (id),
    place integer NOT NULL CHECK (place >= 0),
    kind text NOT NULL CHECK (kind IN ('coins', 'pack', 'collectible')),
    amount bigint NOT NULL CHECK (amount >= 1),
    item_id uuid,
    PRIMARY KEY (line_id, place),
    CHECK ((kind = 'coins') = (item_id IS NULL))
);
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
    JOIN ledger_transfers t ON t.source_key = 'grant:' || replace(l.id::text, '-', '')
    LEFT JOIN refunds r ON r.id = l.refund_id
    WHERE l.granted > 0;
ALTER TABLE order_lines DROP COLUMN granted;
ALTER TABLE products DROP COLUMN coins;

-- Copies and collectibles come from a purchase or from a grant. Those of a grant are numbered as well.
ALTER TABLE user_packs
    ALTER COLUMN purchase_id DROP NOT NULL,
    ADD COLUMN grant_id uuid REFERENCES grants (id),
    ADD UNIQUE (grant_id, nonce),
    ADD CHECK ((purchase_id IS NULL) <> (grant_id IS NULL));
ALTER TABLE owned_collectibles
    ALTER COLUMN copy_id DROP NOT NULL,
    ADD COLUMN grant_id uuid REFERENCES grants (id),
    ADD UNIQUE (grant_id, slot),
    ADD CHECK ((copy_id IS NULL) <> (grant_id IS NULL));
