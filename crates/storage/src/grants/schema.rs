//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    grants (id) {
        id -> Uid,
        user_id -> Uid,
        giver -> Text,
        source_id -> Uid,
        place -> Integer,
        kind -> Text,
        amount -> BigInt,
        item_id -> Nullable<Uid>,
        given_at -> Instant,
        taken_back_at -> Nullable<Instant>,
    }
}
