//! The tests that span crates, one module per concern.

/// The rules of the house: who may depend on whom, and what no file may hold.
mod house {
    mod files;
    mod layers;
    mod tidy;
}

/// The use cases on both databases, without a network.
mod contract {
    mod accounts;
    mod cost;
    mod counters;
    mod deletion;
    mod events;
    mod locker_room;
    mod once;
    mod operators;
    mod order;
    mod paging;
    mod schema;
    mod work;
}

/// The service over HTTP, as its clients meet it.
mod http {
    mod accounts;
    mod bad_bodies;
    mod bad_targets;
    mod catalogue;
    mod conditional;
    mod cross_site;
    mod document;
    mod dress;
    mod first_visit;
    mod idempotency;
    mod locker_room;
    mod own_account;
    mod problems;
    mod sample;
    mod sessions;
    mod shape;
    mod watching;
}

/// The program, as its operators meet it.
mod program {
    mod account;
}
