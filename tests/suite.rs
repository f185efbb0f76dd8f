//! The tests that span crates, one module per concern.

mod disk;

/// The real program under faults, on data that must survive them.
mod crash {
    mod command_line;
    mod crowd;
    mod deeds;
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
    mod stop;
    mod together;
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
    mod spec;
    mod tidy;
    mod words;
}

/// The use cases on both databases, without a network.
mod contract {
    mod accounts;
    mod balances;
    mod boards;
    mod clock;
    mod completions;
    mod cost;
    mod counters;
    mod deletion;
    mod edits;
    mod events;
    mod feeds;
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
    mod maintenance_load;
    mod maintenance_packs;
    mod maintenance_rows;
    pub(crate) mod media;
    mod mentions;
    pub(crate) mod migrations;
    mod minting;
    mod once;
    mod operators;
    mod order;
    mod packs;
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
    pub(crate) mod published_totals;
    mod purchase_holds;
    mod quests;
    mod quests_kept_up;
    mod quests_locked;
    mod recommended;
    pub(crate) mod repairs;
    mod replica;
    mod replies;
    mod reports;
    mod room_crowd;
    mod schema;
    mod search;
    mod sessions;
    mod trends;
    mod trends_runs;
    mod upkeep;
    mod upload_quota;
    mod watched;
    mod work;
}

/// The service over HTTP, as its clients use it.
mod http {
    mod accounts;
    mod album;
    mod bad_bodies;
    mod bad_targets;
    mod catalogue;
    mod club;
    mod conditional;
    mod cron;
    mod cross_site;
    mod demo;
    mod document;
    mod document_rules;
    mod dress;
    mod edge;
    mod edits;
    mod encoded_paths;
    mod feeds;
    mod first_visit;
    mod forged;
    mod garbage;
    mod graph;
    mod hosts;
    mod idempotency;
    mod leaderboard;
    mod leaderboard_pages;
    mod lists;
    mod locker_room;
    pub(crate) mod media;
    mod mentions;
    mod optional_bodies;
    mod own_account;
    mod packs;
    mod payment_messages;
    mod payments;
    mod pictures;
    mod problems;
    mod profiles;
    mod quests;
    mod quests_noticed;
    mod quests_required;
    mod recommended;
    mod replies;
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
    mod stream_channels;
    mod stream_channels_crowd;
    mod stream_crowd;
    mod stream_ends;
    mod stream_ids;
    mod stream_readers;
    mod streams;
    mod trends;
    mod uploads;
    mod visits;
    mod wallets;
    mod watching;
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
    mod hindered;
    mod legacy;
    mod maintain;
    mod maintenance;
    mod minting;
    mod payments;
    #[cfg(unix)]
    mod permissions;
    mod receiver;
    mod refused;
    mod reports;
    mod verify;
}
