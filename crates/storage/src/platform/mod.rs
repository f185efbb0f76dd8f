//! Events, idempotency keys, jobs, leases and retention.

mod account_selector;
mod events;
mod export;
mod idempotency;
mod jobs;
mod leases;
pub(crate) mod schema;
mod server_clock;
mod sweep;

pub(crate) use account_selector::AccountSelector;
