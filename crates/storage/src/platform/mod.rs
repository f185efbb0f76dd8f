//! Events, idempotency keys, jobs, leases and retention.

mod events;
mod export;
mod idempotency;
mod jobs;
mod leases;
pub(crate) mod schema;
mod sweep;
mod whose;

pub(crate) use whose::AccountSelector;
