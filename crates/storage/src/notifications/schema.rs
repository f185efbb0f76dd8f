//! The tables of the area as diesel knows them.

use crate::accounts::schema::users;
use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::types::Uid;

    notification_inboxes (user_id) {
        user_id -> Uid,
        listed -> BigInt,
        unread -> BigInt,
        level -> Nullable<Integer>,
        quiet_from -> Nullable<Integer>,
        quiet_to -> Nullable<Integer>,
        streak_warned_on -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{Bool, Text};
    use crate::types::Uid;

    notification_preferences (user_id, kind) {
        user_id -> Uid,
        kind -> Text,
        in_app -> Bool,
        push -> Bool,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::types::{Instant, Uid};

    notifications (id) {
        id -> Uid,
        user_id -> Uid,
        kind -> Text,
        subject_id -> Uid,
        object_id -> Nullable<Uid>,
        detail -> Nullable<Text>,
        actor_count -> BigInt,
        in_app -> Bool,
        listed -> Bool,
        position -> BigInt,
        read_at -> Nullable<Instant>,
        created_at -> Instant,
        expires_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::types::Uid;

    notification_actors (actor_id, user_id, notification_id) {
        actor_id -> Uid,
        user_id -> Uid,
        notification_id -> Uid,
        source_id -> Nullable<Uid>,
        position -> BigInt,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::types::{Instant, Uid};

    shared_notifications (id) {
        id -> Uid,
        kind -> Text,
        subject_id -> Uid,
        detail -> Text,
        position -> BigInt,
        created_at -> Instant,
        expires_at -> Instant,
    }
}

table! {
    use crate::types::{Instant, Uid};

    shared_notification_reads (user_id, notification_id) {
        user_id -> Uid,
        notification_id -> Uid,
        read_at -> Instant,
    }
}

table! {
    use crate::types::Uid;

    first_hundreds (leaderboard_id, user_id) {
        leaderboard_id -> Uid,
        user_id -> Uid,
        season_id -> Uid,
    }
}

table! {
    use diesel::sql_types::{BigInt, Integer};
    use crate::types::Uid;

    notification_quotas (user_id, actor_id, day) {
        user_id -> Uid,
        actor_id -> Uid,
        day -> BigInt,
        used -> Integer,
    }
}

allow_tables_to_appear_in_same_query!(notification_inboxes, notifications, notification_actors, users);
