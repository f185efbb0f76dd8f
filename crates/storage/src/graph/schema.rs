//! The tables of the area as diesel knows them.

use crate::accounts::schema::users;
use crate::teams::schema::teams;
use diesel::{allow_tables_to_appear_in_same_query, table};

table! {
    use crate::types::{Instant, Uid};

    follows (follower_id, followee_id) {
        follower_id -> Uid,
        followee_id -> Uid,
        created_at -> Instant,
    }
}

table! {
    use crate::types::{Instant, Uid};

    team_follows (user_id, team_id) {
        user_id -> Uid,
        team_id -> Uid,
        created_at -> Instant,
    }
}

table! {
    use crate::types::{Instant, Uid};

    blocks (blocker_id, blocked_id) {
        blocker_id -> Uid,
        blocked_id -> Uid,
        created_at -> Instant,
    }
}

table! {
    use crate::types::{Instant, Uid};

    dismissals (user_id, dismissed_id) {
        user_id -> Uid,
        dismissed_id -> Uid,
        created_at -> Instant,
    }
}

allow_tables_to_appear_in_same_query!(blocks, users);
allow_tables_to_appear_in_same_query!(dismissals, users);
allow_tables_to_appear_in_same_query!(follows, users);
allow_tables_to_appear_in_same_query!(team_follows, teams);
