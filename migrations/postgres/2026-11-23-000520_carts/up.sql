-- The cart of a fan, with how and where it is to be sent. A cart reserves nothing.
CREATE TABLE carts (
    user_id uuid PRIMARY KEY REFERENCES users (id),
    method text,
    name text,
    line1 text,
    line2 text,
    postal_code text,
    city text,
    region text,
    country text,
    updated_at timestamptz NOT NULL,
    CHECK ((method IS NULL) = (country IS NULL))
);
CREATE INDEX carts_by_age ON carts (updated_at);

-- `price_id` names no row once the price has changed: then the fan chooses again.
CREATE TABLE cart_lines (
    user_id uuid NOT NULL REFERENCES carts (user_id),
    variant_id uuid NOT NULL REFERENCES product_variants (id),
    price_id uuid NOT NULL,
    quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 20),
    added_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, variant_id)
);
