-- The cart of a fan, with how and where it is to be sent. A cart reserves nothing.
CREATE TABLE carts (
    user_id BLOB PRIMARY KEY NOT NULL REFERENCES users (id),
    method TEXT,
    name TEXT,
    line1 TEXT,
    line2 TEXT,
    postal_code TEXT,
    city TEXT,
    region TEXT,
    country TEXT,
    updated_at INTEGER NOT NULL,
    CHECK ((method IS NULL) = (country IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX carts_by_age ON carts (updated_at);

-- `price_id` names no row once the price has changed: then the fan chooses again.
CREATE TABLE cart_lines (
    user_id BLOB NOT NULL REFERENCES carts (user_id),
    variant_id BLOB NOT NULL REFERENCES product_variants (id),
    price_id BLOB NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    added_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, variant_id)
) STRICT, WITHOUT ROWID;
