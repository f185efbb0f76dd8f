//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::Instant;

    content (id) {
        id -> Integer,
        version -> BigInt,
        digest -> Text,
        club -> Text,
        achievements -> Nullable<Text>,
        levels -> Nullable<Text>,
        logo_url -> Nullable<Text>,
        loaded_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Binary, Text};

    content_pictures (hash) {
        hash -> Binary,
        content_type -> Text,
        bytes -> Binary,
    }
}
