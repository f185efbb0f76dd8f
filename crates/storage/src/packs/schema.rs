//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::Uid;

    collectibles (id) {
        id -> Uid,
        key -> Text,
        place -> Integer,
        name -> Text,
        rarity -> Text,
        team_id -> Nullable<Uid>,
        image_url -> Nullable<Text>,
        edition -> Nullable<Integer>,
        minted -> Integer,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    packs (id) {
        id -> Uid,
        key -> Text,
        place -> Integer,
        name -> Text,
        description -> Text,
        image_url -> Nullable<Text>,
        price_kind -> Text,
        price_amount -> BigInt,
        price_currency -> Nullable<Text>,
        per_user_limit -> Nullable<Integer>,
        supply -> Nullable<Integer>,
        opens_at -> Nullable<Instant>,
        closes_at -> Nullable<Instant>,
        guarantee -> Nullable<Text>,
        is_retired -> Bool,
    }
}

table! {
    use diesel::sql_types::{Integer, Text};
    use crate::types::Uid;

    pack_slots (pack_id, slot, rarity) {
        pack_id -> Uid,
        slot -> Integer,
        rarity -> Text,
        weight -> Integer,
    }
}

table! {
    use diesel::sql_types::Integer;
    use crate::types::Uid;

    pack_contents (pack_id, collectible_id) {
        pack_id -> Uid,
        collectible_id -> Uid,
        weight -> Integer,
    }
}

table! {
    use diesel::sql_types::Integer;
    use crate::types::Uid;

    pack_stock (pack_id) {
        pack_id -> Uid,
        sold -> Integer,
        sealed -> Integer,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    pack_purchases (id) {
        id -> Uid,
        user_id -> Uid,
        pack_id -> Uid,
        quantity -> Integer,
        price_kind -> Text,
        price_amount -> BigInt,
        price_currency -> Nullable<Text>,
        state -> Text,
        checkout_url -> Nullable<Text>,
        created_at -> Instant,
        expires_at -> Nullable<Instant>,
        changed_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Binary, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    user_packs (id) {
        id -> Uid,
        user_id -> Uid,
        pack_id -> Uid,
        purchase_id -> Nullable<Uid>,
        nonce -> Integer,
        state -> Text,
        seed_hash -> Binary,
        sealed_seed -> Nullable<Binary>,
        bought_at -> Instant,
        opened_at -> Nullable<Instant>,
        changed_at -> Instant,
        grant_id -> Nullable<Uid>,
    }
}

table! {
    use diesel::sql_types::{Binary, Text};
    use crate::types::Uid;

    pack_openings (copy_id) {
        copy_id -> Uid,
        algorithm -> Text,
        server_seed -> Binary,
        client_seed -> Text,
        client_seed_source -> Text,
        tables -> Text,
        table_hash -> Binary,
    }
}

table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    owned_collectibles (id) {
        id -> Uid,
        user_id -> Uid,
        collectible_id -> Uid,
        serial -> Nullable<Integer>,
        acquired_at -> Instant,
        copy_id -> Nullable<Uid>,
        slot -> Integer,
        revoked_at -> Nullable<Instant>,
        is_told -> Bool,
        token_state -> Nullable<Text>,
        token_network -> Nullable<Text>,
        token_contract -> Nullable<Text>,
        token_id -> Nullable<Text>,
        token_transaction -> Nullable<Text>,
        grant_id -> Nullable<Uid>,
    }
}

table! {
    use diesel::sql_types::{Binary, Text};

    secret_marks (name) {
        name -> Text,
        mark -> Binary,
    }
}

joinable!(pack_contents -> collectibles (collectible_id));
joinable!(owned_collectibles -> collectibles (collectible_id));
joinable!(pack_openings -> user_packs (copy_id));
allow_tables_to_appear_in_same_query!(
    collectibles,
    pack_contents,
    user_packs,
    pack_openings,
    owned_collectibles
);
