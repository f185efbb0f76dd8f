//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    payments (payable_id) {
        payable_id -> Uid,
        provider -> Text,
        reference -> Nullable<Text>,
        due_at -> Nullable<Instant>,
        attempts -> Integer,
        payable_kind -> Text,
        checkout_attempt -> Integer,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    payment_notices (provider, event_id) {
        provider -> Text,
        event_id -> Text,
        payable_id -> Uid,
        kind -> Text,
        amount -> BigInt,
        currency -> Text,
        reference -> Text,
        occurred_at -> Instant,
        received_at -> Instant,
        outcome -> Text,
        payable_kind -> Text,
        detail -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::types::{Instant, Uid};

    sandbox_checkouts (payable_id) {
        payable_id -> Uid,
        amount -> BigInt,
        currency -> Text,
        description -> Text,
        expires_at -> Instant,
        state -> Text,
        changed_at -> Instant,
        payable_kind -> Text,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    refunds (id) {
        id -> Uid,
        payable_id -> Uid,
        payable_kind -> Text,
        points -> BigInt,
        coins -> BigInt,
        balance -> BigInt,
        card -> BigInt,
        currency -> Nullable<Text>,
        with_shipping -> Bool,
        state -> Text,
        reference -> Nullable<Text>,
        attempt -> Integer,
        asked_at -> Nullable<Instant>,
        due_at -> Nullable<Instant>,
        tries -> Integer,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::types::{Instant, Uid};

    payment_disputes (provider, reference) {
        provider -> Text,
        reference -> Text,
        payable_id -> Uid,
        payable_kind -> Text,
        state -> Text,
        amount -> BigInt,
        currency -> Text,
        opened_at -> Instant,
        changed_at -> Instant,
    }
}
