//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    rewards (id) {
        id -> Uid,
        key -> Text,
        place -> Integer,
        name -> Text,
        description -> Text,
        image_url -> Nullable<Text>,
        codes -> Nullable<Text>,
        grant_kind -> Nullable<Text>,
        grant_amount -> Nullable<BigInt>,
        grant_id -> Nullable<Uid>,
        cost_kind -> Nullable<Text>,
        cost_amount -> Nullable<BigInt>,
        stock -> Nullable<Integer>,
        per_user_limit -> Nullable<Integer>,
        period -> Text,
        valid_seconds -> Nullable<BigInt>,
        opens_at -> Nullable<Instant>,
        closes_at -> Nullable<Instant>,
        is_retired -> Bool,
    }
}

table! {
    use diesel::sql_types::{Integer, Text};
    use crate::types::Uid;

    reward_requirements (reward_id, place) {
        reward_id -> Uid,
        place -> Integer,
        kind -> Text,
        value -> Text,
    }
}

table! {
    use diesel::sql_types::Integer;
    use crate::types::Uid;

    reward_stock (reward_id) {
        reward_id -> Uid,
        supply -> Integer,
        taken -> Integer,
    }
}

table! {
    use diesel::sql_types::{Binary, Nullable, Text};
    use crate::types::{Instant, Uid};

    tills (id) {
        id -> Uid,
        name -> Text,
        token_hash -> Binary,
        created_at -> Instant,
        revoked_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::types::{Instant, Uid};

    reward_claims (id) {
        id -> Uid,
        reward_id -> Uid,
        user_id -> Uid,
        status -> Text,
        codes -> Nullable<Text>,
        grant_kind -> Nullable<Text>,
        grant_amount -> Nullable<BigInt>,
        grant_id -> Nullable<Uid>,
        cost_kind -> Nullable<Text>,
        cost_amount -> Nullable<BigInt>,
        day -> Text,
        season_id -> Nullable<Uid>,
        created_at -> Instant,
        expires_at -> Nullable<Instant>,
        used_at -> Nullable<Instant>,
        till_id -> Nullable<Uid>,
        is_returned -> Bool,
    }
}

table! {
    use diesel::sql_types::{Binary, Nullable};
    use crate::types::Uid;

    reward_codes (id) {
        id -> Uid,
        reward_id -> Uid,
        claim_id -> Nullable<Uid>,
        digest -> Binary,
        sealed -> Nullable<Binary>,
    }
}

allow_tables_to_appear_in_same_query!(reward_claims, reward_codes);
