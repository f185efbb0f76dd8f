//! The tables of the area as diesel knows them.

use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    leagues (id) {
        id -> Uid,
        key -> Text,
        name -> Text,
        country -> Text,
        sport -> Text,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::types::{Instant, Uid};

    teams (id) {
        id -> Uid,
        key -> Text,
        name -> Text,
        short_name -> Text,
        league_id -> Uid,
        primary_color -> Text,
        secondary_color -> Text,
        crest_url -> Nullable<Text>,
        follower_count -> BigInt,
        created_at -> Instant,
        is_retired -> Bool,
    }
}

allow_tables_to_appear_in_same_query!(leagues, teams);
