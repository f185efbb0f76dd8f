//! The tables of the area as diesel knows them.

use crate::accounts::schema::users;
use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    quests (id) {
        id -> Uid,
        key -> Text,
        place -> Integer,
        title -> Text,
        description -> Text,
        cadence -> Text,
        team_id -> Nullable<Uid>,
        bonus -> BigInt,
        is_onboarding -> Bool,
        is_sequential -> Bool,
        opens_at -> Nullable<Instant>,
        closes_at -> Nullable<Instant>,
        is_retired -> Bool,
    }
}

table! {
    use crate::types::Uid;

    quest_prerequisites (quest_id, required_id) {
        quest_id -> Uid,
        required_id -> Uid,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::types::Uid;

    quest_steps (id) {
        id -> Uid,
        quest_id -> Uid,
        key -> Text,
        place -> Integer,
        title -> Text,
        is_required -> Bool,
        points -> BigInt,
        check_text -> Nullable<Text>,
        is_retired -> Bool,
    }
}

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    user_quest_status (user_id, quest_id, period) {
        user_id -> Uid,
        quest_id -> Uid,
        period -> Text,
        status -> Text,
        started_at -> Instant,
        completed_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    user_step_status (user_id, step_id, period) {
        user_id -> Uid,
        step_id -> Uid,
        period -> Text,
        completed_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    daily_visits (user_id) {
        user_id -> Uid,
        last_paid -> Nullable<Text>,
        zone -> Text,
        change_to -> Nullable<Text>,
        change_from -> Nullable<Instant>,
        jumped -> Text,
        streak -> Integer,
        longest -> Integer,
        freezes -> Integer,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    user_achievements (user_id, achievement_key) {
        user_id -> Uid,
        achievement_key -> Text,
        unlocked_at -> Instant,
    }
}

allow_tables_to_appear_in_same_query!(quests, quest_steps, user_quest_status, user_step_status);
allow_tables_to_appear_in_same_query!(daily_visits, users);
