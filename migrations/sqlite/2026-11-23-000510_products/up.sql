-- The shop, as content files describe it. What was removed from the content is retired and keeps its rows.
CREATE TABLE product_categories (
    id BLOB PRIMARY KEY NOT NULL,
    key TEXT NOT NULL UNIQUE,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    parent_id BLOB REFERENCES product_categories (id),
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1))
) STRICT, WITHOUT ROWID;

-- `image_urls` is a JSON array of texts. `coins` is what each unit of a digital product grants.
CREATE TABLE products (
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

-- `options` is a JSON array of pairs of texts.
CREATE TABLE product_variants (
    id BLOB PRIMARY KEY NOT NULL,
    product_id BLOB NOT NULL REFERENCES products (id),
    key TEXT NOT NULL,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    options TEXT NOT NULL,
    stock INTEGER CHECK (stock >= 0),
    is_retired INTEGER NOT NULL CHECK (is_retired IN (0, 1)),
    UNIQUE (product_id, key)
) STRICT, WITHOUT ROWID;

-- The alternative prices of a variant; the parts of one are due together. A price whose parts change is another row.
CREATE TABLE variant_prices (
    id BLOB PRIMARY KEY NOT NULL,
    variant_id BLOB NOT NULL REFERENCES product_variants (id),
    place INTEGER NOT NULL,
    points INTEGER CHECK (points >= 1),
    coins INTEGER CHECK (coins >= 1),
    money INTEGER CHECK (money >= 1),
    currency TEXT,
    CHECK ((money IS NULL) = (currency IS NULL)),
    CHECK (points IS NOT NULL OR coins IS NOT NULL OR money IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX variant_prices_of_variant ON variant_prices (variant_id, place);

-- The stock of limited variants; others have no row. No more are taken than there are, except where an operator lowers the
-- supply below what is taken.
CREATE TABLE variant_stock (
    variant_id BLOB PRIMARY KEY NOT NULL REFERENCES product_variants (id),
    supply INTEGER NOT NULL CHECK (supply >= 0),
    taken INTEGER NOT NULL CHECK (taken >= 0)
) STRICT, WITHOUT ROWID;

-- `countries` is a JSON array of codes; an empty one stands for all countries.
CREATE TABLE shipping_methods (
    key TEXT PRIMARY KEY NOT NULL,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    price_amount INTEGER CHECK (price_amount >= 1),
    price_currency TEXT,
    countries TEXT NOT NULL,
    days INTEGER NOT NULL CHECK (days >= 1),
    CHECK ((price_amount IS NULL) = (price_currency IS NULL))
) STRICT, WITHOUT ROWID;

-- `country` is empty for all countries without a row of their own.
CREATE TABLE tax_rates (
    class TEXT NOT NULL,
    country TEXT NOT NULL,
    place INTEGER NOT NULL,
    basis_points INTEGER NOT NULL CHECK (basis_points BETWEEN 0 AND 10000),
    PRIMARY KEY (class, country)
) STRICT, WITHOUT ROWID;
