//! The tests that span crates, one module per concern.

mod disk;

/// The real program under faults, on data that must survive them.
mod crash {
    mod actions;
    mod command_line;
    mod crowd;
    pub(crate) mod dice;
    mod exhausted;
    mod frozen;
    mod full;
    mod full_server;
    mod held;
    mod line;
    mod listener;
    mod network;
    mod outage;
    mod packs;
    mod ranks;
    mod rounds;
    mod shop;
    mod stop;
    mod stripe;
    mod together;
    mod trivia;
    mod world;
}

/// Rules of the workspace: which crate may depend on which, and what no file may contain.
mod house {
    mod areas;
    mod circles;
    mod comments;
    mod excerpts;
    mod files;
    mod layers;
    mod links;
    mod metrics;
    mod spec;
    mod tidy;
    mod words;
}

/// The use cases on both databases, without a network.
mod contract {
    mod accounts;
    mod balances;
    mod board_streams;
    mod boards;
    mod carts;
    mod clock;
    mod completions;
    mod cost;
    mod counters;
    mod dashboard;
    mod deletion;
    mod edits;
    mod events;
    mod feeds;
    mod grants;
    mod graph;
    mod graph_crowd;
    mod import;
    mod jobs;
    mod ledger;
    pub(crate) mod legacy;
    mod legacy_hostile;
    mod live;
    mod locker_room;
    mod maintenance;
    mod maintenance_cleanup;
    mod maintenance_facts;
    mod maintenance_grants;
    mod maintenance_load;
    mod maintenance_orders;
    mod maintenance_packs;
    mod maintenance_rows;
    pub(crate) mod media;
    mod mentions;
    pub(crate) mod migrations;
    mod mint_reports;
    mod minting;
    mod notification_limits;
    mod notification_sources;
    mod notifications;
    mod once;
    mod operator_report;
    mod operators;
    mod order;
    mod order_grants;
    mod orders;
    mod orders_crowd;
    mod packs;
    mod packs_batched;
    mod packs_crowd;
    mod paging;
    mod payments;
    mod payments_cancelled;
    mod payments_crowd;
    mod payments_notices;
    mod payments_reconciled;
    mod points;
    mod points_crowd;
    mod points_histories;
    mod products;
    pub(crate) mod published_totals;
    mod purchase_holds;
    mod push;
    mod quests;
    mod quests_kept_up;
    mod quests_locked;
    mod recommended;
    mod recording_store;
    mod refunds;
    pub(crate) mod repairs;
    mod replica;
    mod replies;
    mod reports;
    mod rewards;
    mod rewards_crowd;
    mod room_crowd;
    pub(crate) mod schema;
    mod search;
    mod sessions;
    mod statements;
    pub(crate) mod stripe;
    mod stripe_garbage;
    mod stripe_histories;
    mod trends;
    mod trends_runs;
    mod trivia;
    mod trivia_content;
    mod trivia_soon;
    mod upkeep;
    mod upload_quota;
    mod visits_batched;
    mod wallets;
    mod wheels;
    mod wheels_batched;
    mod work;
}

/// The service over HTTP, as its clients use it.
mod http {
    mod accounts;
    mod album;
    mod bad_bodies;
    mod bad_targets;
    pub(crate) mod cart;
    mod catalogue;
    mod club;
    mod conditional;
    mod cron;
    mod cross_site;
    mod dashboard;
    mod demo;
    mod document;
    mod document_rules;
    mod edge;
    mod edits;
    mod encoded_paths;
    mod every_area;
    mod feed_pages;
    mod feeds;
    mod first_visit;
    mod forged;
    mod security_headers;
    /// What rounds may not reveal, and the odds of spins: at the size that `cargo xtask prove games` asks for.
    mod games {
        mod bytes;
        mod odds;
        pub(crate) mod sizes;
        mod times;
    }
    mod garbage;
    mod grants;
    mod graph;
    mod hosts;
    mod idempotency;
    mod kept_dashboards;
    mod leaderboard;
    mod leaderboard_pages;
    mod lists;
    mod locker_room;
    pub(crate) mod media;
    mod mentions;
    mod mint_reports;
    mod notifications;
    mod optional_bodies;
    mod orders;
    mod own_account;
    mod packs;
    mod payment_messages;
    mod payments;
    mod pictures;
    mod previews;
    mod problems;
    mod products;
    mod profiles;
    mod push;
    mod quests;
    mod quests_noticed;
    mod quests_required;
    mod readiness;
    mod recommended;
    mod releases;
    mod replies;
    mod rewards;
    mod sample;
    mod search;
    mod seasons;
    /// What the service hides, and from which callers.
    mod security {
        mod allowances;
        mod logins;
        mod secrets;
        mod visitors;
    }
    mod sessions;
    mod shape;
    mod shop;
    mod statements;
    mod stream_channels;
    mod stream_channels_crowd;
    mod stream_crowd;
    mod stream_ends;
    mod stream_ids;
    mod stream_readers;
    mod streams;
    mod stripe;
    mod token_wallets;
    mod trends;
    mod trivia;
    mod uploads;
    mod visits;
    mod wallets;
    mod watching;
    mod wheels;
}

/// Streams of several processes.
mod streams {
    pub(crate) mod balancer;
    pub(crate) mod channels;
    mod connections;
    mod crowd;
    mod hopping;
    pub(crate) mod late;
    mod many;
    mod readers;
    mod stalls;
    mod stops;
    mod vanished;
}

/// The program, as its operators use it.
mod program {
    mod account;
    mod backup;
    mod completions;
    mod content;
    mod content_faults;
    mod content_live;
    mod doctor;
    mod follow_graph;
    mod full_disks;
    mod legacy;
    mod maintain;
    mod maintenance;
    mod minting;
    mod orders;
    mod payments;
    #[cfg(unix)]
    mod permissions;
    mod receiver;
    mod refused;
    mod report;
    mod reports;
    mod rewards;
    mod search;
    pub(crate) mod stripe;
    mod verify;
}
