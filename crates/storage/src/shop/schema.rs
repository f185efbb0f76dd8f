//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::types::Uid;

    product_categories (id) {
        id -> Uid,
        key -> Text,
        place -> Integer,
        name -> Text,
        parent_id -> Nullable<Uid>,
        is_retired -> Bool,
    }
}

table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    products (id) {
        id -> Uid,
        key -> Text,
        place -> Integer,
        name -> Text,
        description -> Text,
        image_urls -> Text,
        kind -> Text,
        team_id -> Nullable<Uid>,
        category_id -> Nullable<Uid>,
        per_user_limit -> Nullable<Integer>,
        opens_at -> Nullable<Instant>,
        closes_at -> Nullable<Instant>,
        tax_class -> Text,
        is_retired -> Bool,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::Uid;

    product_grants (product_id, place) {
        product_id -> Uid,
        place -> Integer,
        kind -> Text,
        amount -> BigInt,
        item_id -> Nullable<Uid>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::Uid;

    order_line_grants (line_id, place) {
        line_id -> Uid,
        place -> Integer,
        kind -> Text,
        amount -> BigInt,
        item_id -> Nullable<Uid>,
    }
}

table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::types::Uid;

    product_variants (id) {
        id -> Uid,
        product_id -> Uid,
        key -> Text,
        place -> Integer,
        name -> Text,
        options -> Text,
        stock -> Nullable<Integer>,
        is_retired -> Bool,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::Uid;

    variant_prices (id) {
        id -> Uid,
        variant_id -> Uid,
        place -> Integer,
        points -> Nullable<BigInt>,
        coins -> Nullable<BigInt>,
        money -> Nullable<BigInt>,
        currency -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::Integer;
    use crate::types::Uid;

    variant_stock (variant_id) {
        variant_id -> Uid,
        supply -> Integer,
        taken -> Integer,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};

    shipping_methods (key) {
        key -> Text,
        place -> Integer,
        name -> Text,
        price_amount -> Nullable<BigInt>,
        price_currency -> Nullable<Text>,
        countries -> Text,
        days -> Integer,
    }
}

table! {
    use diesel::sql_types::{Integer, Text};

    tax_rates (class, country) {
        class -> Text,
        country -> Text,
        place -> Integer,
        basis_points -> Integer,
    }
}

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    carts (user_id) {
        user_id -> Uid,
        method -> Nullable<Text>,
        name -> Nullable<Text>,
        line1 -> Nullable<Text>,
        line2 -> Nullable<Text>,
        postal_code -> Nullable<Text>,
        city -> Nullable<Text>,
        region -> Nullable<Text>,
        country -> Nullable<Text>,
        updated_at -> Instant,
    }
}

table! {
    use diesel::sql_types::Integer;
    use crate::types::{Instant, Uid};

    cart_lines (user_id, variant_id) {
        user_id -> Uid,
        variant_id -> Uid,
        price_id -> Uid,
        quantity -> Integer,
        added_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer};

    catalogue_version (id) {
        id -> Integer,
        version -> BigInt,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    orders (id) {
        id -> Uid,
        user_id -> Uid,
        state -> Text,
        points -> BigInt,
        coins -> BigInt,
        balance -> BigInt,
        card -> BigInt,
        currency -> Nullable<Text>,
        method -> Nullable<Text>,
        method_name -> Nullable<Text>,
        shipping_amount -> BigInt,
        shipping_tax_rate -> Integer,
        shipping_tax -> BigInt,
        name -> Nullable<Text>,
        line1 -> Nullable<Text>,
        line2 -> Nullable<Text>,
        postal_code -> Nullable<Text>,
        city -> Nullable<Text>,
        region -> Nullable<Text>,
        country -> Nullable<Text>,
        checkout_url -> Nullable<Text>,
        created_at -> Instant,
        expires_at -> Nullable<Instant>,
        paid_at -> Nullable<Instant>,
        changed_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    order_lines (id) {
        id -> Uid,
        order_id -> Uid,
        place -> Integer,
        product_id -> Uid,
        variant_id -> Uid,
        price_id -> Uid,
        name -> Text,
        kind -> Text,
        quantity -> Integer,
        points -> Nullable<BigInt>,
        coins -> Nullable<BigInt>,
        money -> Nullable<BigInt>,
        currency -> Nullable<Text>,
        tax_rate -> Integer,
        tax -> BigInt,
        state -> Text,
        carrier -> Nullable<Text>,
        tracking -> Nullable<Text>,
        shipped_at -> Nullable<Instant>,
        refund_id -> Nullable<Uid>,
    }
}

allow_tables_to_appear_in_same_query!(carts, cart_lines, variant_stock);
