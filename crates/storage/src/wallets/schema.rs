//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    wallets (id) {
        id -> Uid,
        user_id -> Uid,
        network -> Text,
        status -> Text,
        address -> Nullable<Text>,
        custody -> Nullable<Text>,
        due_at -> Nullable<Instant>,
        attempts -> Integer,
        failures -> Integer,
        refusals -> Integer,
        fault -> Nullable<Text>,
        balances_at -> Nullable<Instant>,
        created_at -> Instant,
        changed_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Integer, Text};
    use crate::types::Uid;

    wallet_balances (wallet_id, place) {
        wallet_id -> Uid,
        place -> Integer,
        token_key -> Text,
        symbol -> Text,
        decimals -> Integer,
        amount -> Text,
    }
}
