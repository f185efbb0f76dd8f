//! The tables of both databases. Column types are native to each: see [`crate::types`].

pub(crate) use crate::schema_packs::{
    collectibles, mint_lanes, mint_messages, owned_collectibles, pack_contents, pack_openings,
    pack_purchases, pack_slots, pack_stock, packs, payment_notices, payments, sandbox_checkouts,
    secret_marks, user_packs,
};
use diesel::{allow_tables_to_appear_in_same_query, joinable, table};

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    outbox (seq) {
        seq -> BigInt,
        topic -> Text,
        kind -> Text,
        actor_id -> Nullable<Uid>,
        team_id -> Nullable<Uid>,
        subject_id -> Uid,
        object_id -> Nullable<Uid>,
        created_at -> Instant,
        detail -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    events (position) {
        position -> BigInt,
        topic -> Text,
        kind -> Text,
        actor_id -> Nullable<Uid>,
        team_id -> Nullable<Uid>,
        subject_id -> Uid,
        object_id -> Nullable<Uid>,
        created_at -> Instant,
        detail -> Nullable<Text>,
    }
}

table! {
    use diesel::sql_types::{BigInt, Bool};

    event_head (only_row) {
        only_row -> Bool,
        position -> BigInt,
    }
}

table! {
    use diesel::sql_types::{BigInt, Text};

    event_consumers (name) {
        name -> Text,
        position -> BigInt,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    leases (name) {
        name -> Text,
        holder -> Uid,
        expires_at -> Instant,
    }
}

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
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::types::Instant;

    job_runs (name) {
        name -> Text,
        due_at -> Instant,
        started_at -> Nullable<Instant>,
        finished_at -> Nullable<Instant>,
        succeeded_at -> Nullable<Instant>,
        failures -> Integer,
    }
}

table! {
    use diesel::sql_types::{Binary, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    idempotency_keys (scope, idempotency_key) {
        scope -> Text,
        idempotency_key -> Text,
        account_id -> Nullable<Uid>,
        fingerprint -> Binary,
        status -> Nullable<Integer>,
        location -> Nullable<Text>,
        body -> Nullable<Text>,
        created_at -> Instant,
    }
}

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
    use diesel::sql_types::{BigInt, Nullable, Text};
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
    }
}

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
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::{Instant, Uid};

    comments (id) {
        id -> Uid,
        post_id -> Uid,
        author_id -> Uid,
        body -> Text,
        created_at -> Instant,
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

    reports (post_id, user_id) {
        post_id -> Uid,
        user_id -> Uid,
        reason -> Text,
        created_at -> Instant,
    }
}

table! {
    use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
    use crate::types::{Instant, Uid};

    media (hash) {
        hash -> Binary,
        object_id -> Uid,
        content_type -> Text,
        byte_size -> BigInt,
        width -> Integer,
        height -> Integer,
        uploader_id -> Uid,
        created_at -> Instant,
        unused_since -> Nullable<Instant>,
    }
}

table! {
    use diesel::sql_types::Binary;
    use crate::types::{Instant, Uid};

    media_uploads (id) {
        id -> Uid,
        hash -> Binary,
        uploader_id -> Uid,
        created_at -> Instant,
        expires_at -> Instant,
    }
}

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

table! {
    use crate::types::{Instant, Uid};

    presence (user_id) {
        user_id -> Uid,
        last_seen_at -> Instant,
    }
}

table! {
    use diesel::sql_types::Text;
    use crate::types::Uid;

    post_topics (post_id, tag) {
        post_id -> Uid,
        tag -> Text,
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

table! {
    use diesel::sql_types::{BigInt, Text};
    use crate::types::Uid;

    ledger_accounts (user_id, unit) {
        user_id -> Uid,
        unit -> Text,
        balance -> BigInt,
    }
}

table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::types::{Instant, Uid};

    ledger_transfers (source_key) {
        source_key -> Text,
        id -> Uid,
        unit -> Text,
        amount -> BigInt,
        debit_user -> Nullable<Uid>,
        debit_house -> Nullable<Text>,
        debit_balance -> Nullable<BigInt>,
        credit_user -> Nullable<Uid>,
        credit_house -> Nullable<Text>,
        credit_balance -> Nullable<BigInt>,
        reason -> Text,
        created_at -> Instant,
    }
}

joinable!(teams -> leagues (league_id));
joinable!(credentials -> users (user_id));
joinable!(sessions -> users (user_id));
joinable!(tokens -> sessions (session_id));
joinable!(posts -> users (author_id));
joinable!(comments -> posts (post_id));
joinable!(comments -> users (author_id));
joinable!(pack_contents -> collectibles (collectible_id));
joinable!(owned_collectibles -> collectibles (collectible_id));
joinable!(pack_openings -> user_packs (copy_id));
joinable!(mint_messages -> owned_collectibles (owned_id));
joinable!(payments -> pack_purchases (purchase_id));
allow_tables_to_appear_in_same_query!(
    leagues,
    teams,
    users,
    credentials,
    sessions,
    tokens,
    posts,
    comments,
    reactions,
    reports,
    follows,
    team_follows,
    blocks,
    dismissals,
    presence,
    post_topics,
    trend_posts,
    seasons,
    leaderboards,
    points_history,
    board_totals,
    board_counts,
    leaderboard_entries,
    quests,
    quest_prerequisites,
    quest_steps,
    user_quest_status,
    user_step_status,
    daily_visits,
    user_achievements,
    ledger_accounts,
    ledger_transfers,
    collectibles,
    packs,
    pack_slots,
    pack_contents,
    pack_stock,
    pack_purchases,
    user_packs,
    pack_openings,
    owned_collectibles,
    mint_messages,
    payments,
);
