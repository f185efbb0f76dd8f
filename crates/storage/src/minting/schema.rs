//! The tables of the area as diesel knows them.

use diesel::table;

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
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    mint_reports (event_id) {
        event_id -> Text,
        owned_id -> Uid,
        status -> Text,
        network -> Nullable<Text>,
        contract -> Nullable<Text>,
        token_id -> Nullable<Text>,
        transaction_id -> Nullable<Text>,
        received_at -> Instant,
        outcome -> Text,
    }
}
