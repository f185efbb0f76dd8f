//! The tables of the area as diesel knows them.

use crate::packs::schema::pack_purchases;
use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

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

joinable!(payments -> pack_purchases (purchase_id));
allow_tables_to_appear_in_same_query!(payments, pack_purchases);
