//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    wheels (id) {
        id -> Uid,
        key -> Text,
        place -> Integer,
        name -> Text,
        price_kind -> Nullable<Text>,
        price_amount -> Nullable<BigInt>,
        has_free_spin -> Bool,
        pity_after -> Nullable<Integer>,
        daily_limit -> Nullable<Integer>,
        opens_at -> Nullable<Instant>,
        closes_at -> Nullable<Instant>,
        is_retired -> Bool,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::types::Uid;

    wheel_segments (wheel_id, key) {
        wheel_id -> Uid,
        key -> Text,
        place -> Integer,
        label -> Text,
        grant_kind -> Text,
        grant_amount -> BigInt,
        grant_id -> Nullable<Uid>,
        weight -> Integer,
        stock -> Nullable<Integer>,
        given -> Integer,
        substitute_kind -> Nullable<Text>,
        substitute_amount -> Nullable<BigInt>,
        is_lucky -> Bool,
        is_current -> Bool,
    }
}

table! {
    use diesel::sql_types::{Binary, Text};

    spin_tables (hash) {
        hash -> Binary,
        text -> Text,
    }
}

table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::Uid;

    spin_states (user_id, wheel_id) {
        user_id -> Uid,
        wheel_id -> Uid,
        count -> Integer,
        pity_count -> Integer,
        last_free -> Nullable<Text>,
        last_day -> Text,
        day_spins -> Integer,
    }
}

table! {
    use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    spins (id) {
        id -> Uid,
        user_id -> Uid,
        wheel_id -> Uid,
        nonce -> Integer,
        client_seed -> Nullable<Text>,
        pity_count -> Integer,
        segment -> Text,
        is_substituted -> Bool,
        grant_kind -> Text,
        grant_amount -> BigInt,
        grant_id -> Nullable<Uid>,
        paid_kind -> Nullable<Text>,
        paid_amount -> Nullable<BigInt>,
        table_hash -> Binary,
        created_at -> Instant,
    }
}

allow_tables_to_appear_in_same_query!(spins, spin_tables);
