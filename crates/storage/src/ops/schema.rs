//! The tables of the area as diesel knows them.

use diesel::table;

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    maintenance_runs (id) {
        id -> Uid,
        holder -> Uid,
        task -> Text,
        started_by -> Text,
        arguments -> Text,
        started_at -> Instant,
        finished_at -> Nullable<Instant>,
        outcome -> Text,
        counts -> Text,
        failure -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable};
    use crate::types::{Instant, Uid};

    imports (id) {
        id -> Uid,
        staged -> BigInt,
        started_at -> Instant,
        finished_at -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    legacy_users (import_id, id) {
        import_id -> Uid,
        id -> Uid,
        username -> Text,
        username_key -> Text,
        display_name -> Text,
        bio -> Text,
        favorite_team_id -> Nullable<Uid>,
        time_zone -> Text,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    legacy_points (import_id, user_id, source_key) {
        import_id -> Uid,
        user_id -> Uid,
        source_key -> Text,
        id -> Uid,
        amount -> BigInt,
        reason -> Text,
        season_id -> Nullable<Uid>,
        team_id -> Nullable<Uid>,
        happened_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{Nullable, Text};
    use crate::types::{Instant, Uid};

    legacy_runs (import_id, user_id, quest_id, period) {
        import_id -> Uid,
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

    legacy_steps (import_id, user_id, step_id, period) {
        import_id -> Uid,
        user_id -> Uid,
        step_id -> Uid,
        period -> Text,
        quest_id -> Uid,
        completed_at -> Instant,
    }
}

table! {
    use diesel::sql_types::BigInt;
    use crate::types::{Instant, Uid};

    legacy_entries (import_id, user_id, scope_id) {
        import_id -> Uid,
        user_id -> Uid,
        scope_id -> Uid,
        points -> BigInt,
        created_at -> Instant,
    }
}

table! {
    use crate::types::{Instant, Uid};

    legacy_follows (import_id, follower_id, followee_id) {
        import_id -> Uid,
        follower_id -> Uid,
        followee_id -> Uid,
        created_at -> Instant,
    }
}

table! {
    use crate::types::{Instant, Uid};

    legacy_team_follows (import_id, user_id, team_id) {
        import_id -> Uid,
        user_id -> Uid,
        team_id -> Uid,
        created_at -> Instant,
    }
}
