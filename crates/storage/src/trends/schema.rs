//! The tables of the area as diesel knows them.

use crate::accounts::schema::users;
use crate::media::schema::media;
use crate::room::schema::{posts, reactions};
use crate::teams::schema::teams;
use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::types::Instant;

    trend_epochs (id) {
        id -> BigInt,
        begun_at -> Instant,
        published_at -> Nullable<Instant>,
        replaced_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::types::Uid;

    trend_posts (epoch, rank) {
        epoch -> BigInt,
        rank -> BigInt,
        post_id -> Uid,
        team_id -> Nullable<Uid>,
        score -> BigInt,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};

    trend_topics (epoch, rank) {
        epoch -> BigInt,
        rank -> BigInt,
        tag -> Text,
        score -> BigInt,
        post_count -> BigInt,
    }
}

allow_tables_to_appear_in_same_query!(trend_posts, posts);
allow_tables_to_appear_in_same_query!(trend_posts, reactions);
allow_tables_to_appear_in_same_query!(trend_posts, users);
allow_tables_to_appear_in_same_query!(trend_posts, teams);
allow_tables_to_appear_in_same_query!(trend_posts, media);
