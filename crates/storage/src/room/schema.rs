//! The tables of the area as diesel knows them.

use crate::accounts::schema::users;
use crate::media::schema::media;
use crate::teams::schema::teams;
use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

table! {
    use diesel::sql_types::{BigInt, Binary, Nullable, Text};
    use crate::types::{Instant, Uid};

    posts (id) {
        id -> Uid,
        author_id -> Uid,
        team_id -> Nullable<Uid>,
        body -> Text,
        image -> Nullable<Binary>,
        comment_count -> BigInt,
        like_count -> BigInt,
        love_count -> BigInt,
        fire_count -> BigInt,
        clap_count -> BigInt,
        laugh_count -> BigInt,
        sad_count -> BigInt,
        created_at -> Instant,
        deleted_at -> Nullable<Instant>,
        mentions -> Nullable<Text>,
        image_alt -> Nullable<Text>,
        edited_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    comments (id) {
        id -> Uid,
        post_id -> Uid,
        author_id -> Uid,
        body -> Text,
        created_at -> Instant,
        reply_to -> Nullable<Uid>,
        mentions -> Nullable<Text>,
        like_count -> BigInt,
        edited_at -> Nullable<Instant>,
    }
}

table! {
    use crate::types::{Instant, Uid};

    comment_likes (comment_id, user_id) {
        comment_id -> Uid,
        user_id -> Uid,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Binary, Nullable, Text};
    use crate::types::{Instant, Uid};

    content_reports (subject_id, reporter_id) {
        subject_id -> Uid,
        reporter_id -> Uid,
        kind -> Text,
        post_id -> Uid,
        author_id -> Uid,
        reason -> Text,
        body -> Nullable<Text>,
        image -> Nullable<Binary>,
        image_alt -> Nullable<Text>,
        created_at -> Instant,
        decided_at -> Nullable<Instant>,
        decision -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    reactions (post_id, user_id) {
        post_id -> Uid,
        user_id -> Uid,
        kind -> Text,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    post_topics (post_id, tag) {
        post_id -> Uid,
        tag -> Text,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    backfills (name) {
        name -> Text,
        reached_at -> Nullable<Instant>,
        reached_id -> Nullable<Uid>,
        finished_at -> Nullable<Instant>,
    }
}

joinable!(posts -> users (author_id));
joinable!(comments -> posts (post_id));
joinable!(comments -> users (author_id));
joinable!(comment_likes -> comments (comment_id));
allow_tables_to_appear_in_same_query!(posts, comments, reactions);
allow_tables_to_appear_in_same_query!(comments, users);
allow_tables_to_appear_in_same_query!(comment_likes, comments);
allow_tables_to_appear_in_same_query!(comment_likes, posts);
allow_tables_to_appear_in_same_query!(comment_likes, users);
allow_tables_to_appear_in_same_query!(posts, users);
allow_tables_to_appear_in_same_query!(reactions, users);
allow_tables_to_appear_in_same_query!(posts, teams, media);
allow_tables_to_appear_in_same_query!(post_topics, posts);
allow_tables_to_appear_in_same_query!(post_topics, users);
allow_tables_to_appear_in_same_query!(post_topics, teams);
allow_tables_to_appear_in_same_query!(post_topics, media);
allow_tables_to_appear_in_same_query!(post_topics, reactions);
allow_tables_to_appear_in_same_query!(users, teams);
allow_tables_to_appear_in_same_query!(users, media);
allow_tables_to_appear_in_same_query!(reactions, teams);
allow_tables_to_appear_in_same_query!(reactions, media);
