//! Events, idempotency keys, jobs, leases and retention.

mod events;
mod idempotency;
mod jobs;
mod kept_keys;
mod leases;
pub(crate) mod schema;
mod sweep;
mod whose;

pub(crate) use whose::AccountSelector;
