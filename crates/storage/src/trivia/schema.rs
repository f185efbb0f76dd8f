//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    trivia_rounds (id) {
        id -> Uid,
        key -> Text,
        title -> Text,
        mode -> Text,
        team_id -> Nullable<Uid>,
        starts_at -> Instant,
        closes_at -> Instant,
        seconds -> Integer,
        reveal -> Integer,
        max_points -> Integer,
        question_count -> Integer,
        award -> Integer,
        script -> Text,
        is_cancelled -> Bool,
        published -> Integer,
        is_finished -> Bool,
        is_announced -> Bool,
    }
}

table! {
    use diesel::sql_types::{Integer, Nullable};
    use crate::types::{Instant, Uid};

    trivia_players (round_id, user_id) {
        round_id -> Uid,
        user_id -> Uid,
        joined_at -> Instant,
        paid -> Nullable<Integer>,
        paid_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{Integer, Nullable};
    use crate::types::{Instant, Uid};

    trivia_answers (round_id, user_id, place) {
        round_id -> Uid,
        user_id -> Uid,
        place -> Integer,
        question_id -> Uid,
        served_at -> Instant,
        ends_at -> Instant,
        option_id -> Nullable<Uid>,
        arrived_at -> Nullable<Instant>,
        taken -> Nullable<Integer>,
        points -> Nullable<Integer>,
    }
}

allow_tables_to_appear_in_same_query!(trivia_rounds, trivia_players, trivia_answers);
