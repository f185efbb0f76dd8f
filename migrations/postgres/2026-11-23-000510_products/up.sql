-- The shop, as content files describe it. What was removed from the content is retired and keeps its rows.
CREATE TABLE product_categories (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    place integer NOT NULL,
    name text NOT NULL,
    parent_id uuid REFERENCES product_categories (id),
    is_retired boolean NOT NULL
);

-- `image_urls` is a JSON array of texts. `coins` is what each unit of a digital product grants.
CREATE TABLE products (
    id uuid PRIMARY KEY,
    key text NOT NULL UNIQUE,
    place integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    image_urls text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('digital', 'physical')),
    team_id uuid REFERENCES teams (id),
    category_id uuid REFERENCES product_categories (id),
    per_user_limit integer CHECK (per_user_limit >= 1),
    opens_at timestamptz,
    closes_at timestamptz,
    coins bigint CHECK (coins >= 1),
    tax_class text NOT NULL,
    is_retired boolean NOT NULL,
    CHECK (coins IS NULL OR kind = 'digital')
);

-- `options` is a JSON array of pairs of texts.
CREATE TABLE product_variants (
    id uuid PRIMARY KEY,
    product_id uuid NOT NULL REFERENCES products (id),
    key text NOT NULL,
    place integer NOT NULL,
    name text NOT NULL,
    options text NOT NULL,
    stock integer CHECK (stock >= 0),
    is_retired boolean NOT NULL,
    UNIQUE (product_id, key)
);

-- The alternative prices of a variant; the parts of one are due together. A price whose parts change is another row.
CREATE TABLE variant_prices (
    id uuid PRIMARY KEY,
    variant_id uuid NOT NULL REFERENCES product_variants (id),
    place integer NOT NULL,
    points bigint CHECK (points >= 1),
    coins bigint CHECK (coins >= 1),
    money bigint CHECK (money >= 1),
    currency text,
    CHECK ((money IS NULL) = (currency IS NULL)),
    CHECK (points IS NOT NULL OR coins IS NOT NULL OR money IS NOT NULL)
);
CREATE INDEX variant_prices_of_variant ON variant_prices (variant_id, place);

-- The stock of limited variants; others have no row. No more are taken than there are, except where an operator lowers the
-- supply below what is taken.
CREATE TABLE variant_stock (
    variant_id uuid PRIMARY KEY REFERENCES product_variants (id),
    supply integer NOT NULL CHECK (supply >= 0),
    taken integer NOT NULL CHECK (taken >= 0)
);

-- `countries` is a JSON array of codes; an empty one stands for all countries.
CREATE TABLE shipping_methods (
    key text PRIMARY KEY,
    place integer NOT NULL,
    name text NOT NULL,
    price_amount bigint CHECK (price_amount >= 1),
    price_currency text,
    countries text NOT NULL,
    days integer NOT NULL CHECK (days >= 1),
    CHECK ((price_amount IS NULL) = (price_currency IS NULL))
);

-- `country` is empty for all countries without a row of their own.
CREATE TABLE tax_rates (
    class text NOT NULL,
    country text NOT NULL,
    place integer NOT NULL,
    basis_points integer NOT NULL CHECK (basis_points BETWEEN 0 AND 10000),
    PRIMARY KEY (class, country)
);
