//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    seasons (id) {
        id -> Uid,
        key -> Text,
        name -> Text,
        starts_at -> Instant,
        ends_at -> Nullable<Instant>,
        status -> Text,
    }
}

table! {
    use diesel::sql_types::Nullable;
    use crate::types::{Instant, Uid};

    leaderboards (id) {
        id -> Uid,
        season_id -> Nullable<Uid>,
        team_id -> Nullable<Uid>,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    points_history (user_id, source_key) {
        id -> Uid,
        user_id -> Uid,
        amount -> BigInt,
        reason -> Text,
        source_key -> Text,
        season_id -> Nullable<Uid>,
        leaderboard_id -> Nullable<Uid>,
        happened_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool};
    use crate::types::{Instant, Uid};

    board_totals (season_id, leaderboard_id, user_id) {
        season_id -> Uid,
        leaderboard_id -> Uid,
        user_id -> Uid,
        points -> BigInt,
        reached_at -> Instant,
        version -> BigInt,
        listed -> Bool,
    }
}

table! {
    use diesel::sql_types::{BigInt, SmallInt};
    use crate::types::Uid;

    board_counts (season_id, leaderboard_id, part) {
        season_id -> Uid,
        leaderboard_id -> Uid,
        part -> SmallInt,
        listed -> BigInt,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::types::{Instant, Uid};

    leaderboard_entries (leaderboard_id, user_id) {
        leaderboard_id -> Uid,
        user_id -> Uid,
        points -> BigInt,
        season_id -> Nullable<Uid>,
        created_at -> Instant,
        left_at -> Nullable<Instant>,
    }
}

allow_tables_to_appear_in_same_query!(seasons, board_totals, leaderboard_entries);
