-- The account `held` has what is held for orders that wait for their payment.
ALTER TABLE ledger_transfers
    DROP CONSTRAINT ledger_transfers_debit_house_check,
    DROP CONSTRAINT ledger_transfers_credit_house_check,
    ADD CONSTRAINT ledger_transfers_debit_house_check CHECK (debit_house IN ('issuance', 'revenue', 'payments', 'written_off', 'held')),
    ADD CONSTRAINT ledger_transfers_credit_house_check CHECK (credit_house IN ('issuance', 'revenue', 'payments', 'written_off', 'held'));

-- Counts the changes of the catalogue, so that a checkout notices that the prices in memory are no longer current.
CREATE TABLE catalogue_version (
    id integer PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO catalogue_version (id, version) VALUES (1, 0);

-- Orders as they were placed: prices, names and addresses do not change with the content. `points`, `coins` and `balance` are
-- held in the ledger while the order is pending; `card` is paid at the provider.
CREATE TABLE orders (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users (id),
    state text NOT NULL CHECK (state IN ('pending', 'paid', 'completed', 'expired', 'cancelled', 'refunded')),
    points bigint NOT NULL CHECK (points >= 0),
    coins bigint NOT NULL CHECK (coins >= 0),
    balance bigint NOT NULL CHECK (balance >= 0),
    card bigint NOT NULL CHECK (card >= 0),
    currency text,
    method text,
    method_name text,
    shipping_amount bigint NOT NULL CHECK (shipping_amount >= 0),
    shipping_tax_rate integer NOT NULL,
    shipping_tax bigint NOT NULL,
    name text,
    line1 text,
    line2 text,
    postal_code text,
    city text,
    region text,
    country text,
    checkout_url text,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    paid_at timestamptz,
    changed_at timestamptz NOT NULL,
    CHECK (balance + card = 0 OR currency IS NOT NULL),
    CHECK ((method IS NULL) = (country IS NULL))
);
CREATE INDEX orders_of_user ON orders (user_id, created_at DESC, id DESC);
CREATE INDEX orders_by_state ON orders (state, created_at DESC, id DESC);

-- `points`, `coins` and `money` are the price of one unit; `granted` is the coins that all units grant. `product_id` and
-- `variant_id` name what was bought; `price_id` may name no row any more.
CREATE TABLE order_lines (
    id uuid PRIMARY KEY,
    order_id uuid NOT NULL REFERENCES orders (id),
    place integer NOT NULL,
    product_id uuid NOT NULL REFERENCES products (id),
    variant_id uuid NOT NULL REFERENCES product_variants (id),
    price_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('digital', 'physical')),
    quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    points bigint CHECK (points >= 1),
    coins bigint CHECK (coins >= 1),
    money bigint CHECK (money >= 1),
    currency text,
    tax_rate integer NOT NULL,
    tax bigint NOT NULL,
    granted bigint NOT NULL CHECK (granted >= 0),
    state text NOT NULL CHECK (state IN ('waiting', 'shipped', 'delivered', 'revoked')),
    carrier text,
    tracking text,
    shipped_at timestamptz,
    UNIQUE (order_id, place)
);
CREATE INDEX order_lines_of_variant ON order_lines (variant_id);
