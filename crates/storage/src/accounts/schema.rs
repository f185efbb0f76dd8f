//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

table! {
    use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
    use crate::types::{Instant, Uid};

    users (id) {
        id -> Uid,
        username -> Text,
        username_key -> Text,
        display_name -> Text,
        bio -> Text,
        picture -> Nullable<Binary>,
        favorite_team_id -> Nullable<Uid>,
        time_zone -> Text,
        leaderboard_visible -> Bool,
        role -> Text,
        status -> Text,
        follower_count -> BigInt,
        following_count -> BigInt,
        created_at -> Instant,
        updated_at -> Instant,
        name_skeleton -> Nullable<Text>,
        collection_visible -> Bool,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    credentials (user_id) {
        user_id -> Uid,
        password_hash -> Text,
        updated_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    sessions (id) {
        id -> Uid,
        user_id -> Uid,
        kind -> Text,
        device_name -> Nullable<Text>,
        created_at -> Instant,
        last_seen_at -> Instant,
        expires_at -> Instant,
        ended_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{Binary, Nullable, Text};
    use crate::types::{Instant, Uid};

    tokens (hash) {
        hash -> Binary,
        session_id -> Uid,
        kind -> Text,
        expires_at -> Instant,
        used_at -> Nullable<Instant>,
    }
}

table! {
    use crate::types::{Instant, Uid};

    presence (user_id) {
        user_id -> Uid,
        last_seen_at -> Instant,
    }
}

joinable!(credentials -> users (user_id));
joinable!(sessions -> users (user_id));
joinable!(tokens -> sessions (session_id));
allow_tables_to_appear_in_same_query!(users, credentials, sessions, tokens, presence);
