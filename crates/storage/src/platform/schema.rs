//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    outbox (seq) {
        seq -> BigInt,
        topic -> Text,
        kind -> Text,
        actor_id -> Nullable<Uid>,
        team_id -> Nullable<Uid>,
        subject_id -> Uid,
        object_id -> Nullable<Uid>,
        created_at -> Instant,
        detail -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    events (position) {
        position -> BigInt,
        topic -> Text,
        kind -> Text,
        actor_id -> Nullable<Uid>,
        team_id -> Nullable<Uid>,
        subject_id -> Uid,
        object_id -> Nullable<Uid>,
        created_at -> Instant,
        detail -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool};

    event_head (only_row) {
        only_row -> Bool,
        position -> BigInt,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};

    event_consumers (name) {
        name -> Text,
        position -> BigInt,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    leases (name) {
        name -> Text,
        holder -> Uid,
        expires_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::Instant;

    job_runs (name) {
        name -> Text,
        due_at -> Instant,
        started_at -> Nullable<Instant>,
        finished_at -> Nullable<Instant>,
        succeeded_at -> Nullable<Instant>,
        failures -> Integer,
    }
}

table! {
    use diesel::sql_types::{Binary, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    idempotency_keys (scope, idempotency_key) {
        scope -> Text,
        idempotency_key -> Text,
        account_id -> Nullable<Uid>,
        fingerprint -> Binary,
        status -> Nullable<Integer>,
        location -> Nullable<Text>,
        body -> Nullable<Text>,
        created_at -> Instant,
    }
}
