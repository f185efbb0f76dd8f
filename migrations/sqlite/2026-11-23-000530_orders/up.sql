-- The account `held` has what is held for orders that wait for their payment.
CREATE TABLE ledger_transfers_of_houses (
    source_key TEXT PRIMARY KEY NOT NULL,
    id BLOB NOT NULL,
    unit TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    debit_user BLOB,
    debit_house TEXT CHECK (debit_house IN ('issuance', 'revenue', 'payments', 'written_off', 'held')),
    debit_balance INTEGER CHECK (debit_balance >= 0),
    credit_user BLOB,
    credit_house TEXT CHECK (credit_house IN ('issuance', 'revenue', 'payments', 'written_off', 'held')),
    credit_balance INTEGER CHECK (credit_balance >= 0),
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (debit_user, unit) REFERENCES ledger_accounts (user_id, unit),
    FOREIGN KEY (credit_user, unit) REFERENCES ledger_accounts (user_id, unit),
    CHECK ((debit_user IS NULL) <> (debit_house IS NULL)),
    CHECK ((credit_user IS NULL) <> (credit_house IS NULL)),
    CHECK ((debit_user IS NULL) = (debit_balance IS NULL)),
    CHECK ((credit_user IS NULL) = (credit_balance IS NULL)),
    CHECK (debit_user <> credit_user),
    CHECK (debit_house <> credit_house)
) STRICT, WITHOUT ROWID;
INSERT INTO ledger_transfers_of_houses (source_key, id, unit, amount, debit_user, debit_house, debit_balance, credit_user, credit_house,
        credit_balance, reason, created_at)
    SELECT source_key, id, unit, amount, debit_user, debit_house, debit_balance, credit_user, credit_house,
        credit_balance, reason, created_at FROM ledger_transfers;
DROP TABLE ledger_transfers;
ALTER TABLE ledger_transfers_of_houses RENAME TO ledger_transfers;
CREATE INDEX ledger_transfers_out ON ledger_transfers (debit_user, created_at DESC, id DESC)
    WHERE debit_user IS NOT NULL;
CREATE INDEX ledger_transfers_in ON ledger_transfers (credit_user, created_at DESC, id DESC)
    WHERE credit_user IS NOT NULL;

-- Counts the changes of the catalogue, so that a checkout notices that the prices in memory are no longer current.
CREATE TABLE catalogue_version (
    id INTEGER PRIMARY KEY NOT NULL CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO catalogue_version (id, version) VALUES (1, 0);

-- Orders as they were placed: prices, names and addresses do not change with the content. `points`, `coins` and `balance` are
-- held in the ledger while the order is pending; `card` is paid at the provider.
CREATE TABLE orders (
    id BLOB PRIMARY KEY NOT NULL,
    user_id BLOB NOT NULL REFERENCES users (id),
    state TEXT NOT NULL CHECK (state IN ('pending', 'paid', 'completed', 'expired', 'cancelled', 'refunded')),
    points INTEGER NOT NULL CHECK (points >= 0),
    coins INTEGER NOT NULL CHECK (coins >= 0),
    balance INTEGER NOT NULL CHECK (balance >= 0),
    card INTEGER NOT NULL CHECK (card >= 0),
    currency TEXT,
    method TEXT,
    method_name TEXT,
    shipping_amount INTEGER NOT NULL CHECK (shipping_amount >= 0),
    shipping_tax_rate INTEGER NOT NULL,
    shipping_tax INTEGER NOT NULL,
    name TEXT,
    line1 TEXT,
    line2 TEXT,
    postal_code TEXT,
    city TEXT,
    region TEXT,
    country TEXT,
    checkout_url TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    paid_at INTEGER,
    changed_at INTEGER NOT NULL,
    CHECK (balance + card = 0 OR currency IS NOT NULL),
    CHECK ((method IS NULL) = (country IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX orders_of_user ON orders (user_id, created_at DESC, id DESC);
CREATE INDEX orders_by_state ON orders (state, created_at DESC, id DESC);

-- `points`, `coins` and `money` are the price of one unit; `granted` is the coins that all units grant. `product_id` and
-- `variant_id` name what was bought; `price_id` may name no row any more.
CREATE TABLE order_lines (
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
    UNIQUE (order_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX order_lines_of_variant ON order_lines (variant_id);
