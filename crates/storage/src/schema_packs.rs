//! The tables of packs and collectibles, a part of [`crate::schema`].

use diesel::table;

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
        purchase_id -> Uid,
        nonce -> Integer,
        state -> Text,
        seed_hash -> Binary,
        sealed_seed -> Nullable<Binary>,
        bought_at -> Instant,
        opened_at -> Nullable<Instant>,
        changed_at -> Instant,
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
    use diesel::sql_types::{Bool, Integer, Nullable};
    use crate::types::{Instant, Uid};

    owned_collectibles (id) {
        id -> Uid,
        user_id -> Uid,
        collectible_id -> Uid,
        serial -> Nullable<Integer>,
        acquired_at -> Instant,
        copy_id -> Uid,
        slot -> Integer,
        revoked_at -> Nullable<Instant>,
        is_told -> Bool,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    mint_messages (seq) {
        seq -> BigInt,
        user_id -> Uid,
        kind -> Text,
        owned_id -> Uid,
        happened_at -> Instant,
        state -> Text,
        attempts -> Integer,
        refusals -> Integer,
        fault -> Nullable<Text>,
        ended_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::Nullable;
    use crate::types::{Instant, Uid};

    mint_lanes (user_id) {
        user_id -> Uid,
        ready_at -> Instant,
        holder -> Nullable<Uid>,
    }
}

table! {
    use diesel::sql_types::{Binary, Text};

    secret_marks (name) {
        name -> Text,
        mark -> Binary,
    }
}

table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    payments (purchase_id) {
        purchase_id -> Uid,
        provider -> Text,
        reference -> Nullable<Text>,
        refund -> Nullable<Text>,
        due_at -> Nullable<Instant>,
        attempts -> Integer,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::types::{Instant, Uid};

    payment_notices (provider, event_id) {
        provider -> Text,
        event_id -> Text,
        purchase_id -> Uid,
        kind -> Text,
        amount -> BigInt,
        currency -> Text,
        reference -> Text,
        occurred_at -> Instant,
        received_at -> Instant,
        outcome -> Text,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::types::{Instant, Uid};

    sandbox_checkouts (purchase_id) {
        purchase_id -> Uid,
        amount -> BigInt,
        currency -> Text,
        description -> Text,
        expires_at -> Instant,
        state -> Text,
        changed_at -> Instant,
    }
}
