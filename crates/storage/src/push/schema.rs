//! The tables of the area as diesel knows them.

use crate::schema::sessions;
use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{Binary, Text};
    use crate::types::{Instant, Uid};

    push_subscriptions (id) {
        id -> Uid,
        session_id -> Uid,
        user_id -> Uid,
        endpoint -> Text,
        p256dh -> Binary,
        auth -> Binary,
        key_id -> Text,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Integer, Nullable};
    use crate::types::{Instant, Uid};

    push_deliveries (subscription_id, group_id) {
        subscription_id -> Uid,
        group_id -> Uid,
        user_id -> Uid,
        due_at -> Nullable<Instant>,
        free_at -> Nullable<Instant>,
        expires_at -> Instant,
        version -> Integer,
        attempts -> Integer,
        failures -> Integer,
    }
}

table! {
    use diesel::sql_types::Nullable;
    use crate::types::{Instant, Uid};

    push_broadcasts (group_id) {
        group_id -> Uid,
        after_id -> Nullable<Uid>,
        next_at -> Nullable<Instant>,
        created_at -> Instant,
        expires_at -> Instant,
    }
}

allow_tables_to_appear_in_same_query!(push_subscriptions, sessions);
