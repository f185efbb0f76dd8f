//! Shared by all areas: event consumers, jobs, in-memory models, sealed cursors and bounded workers.

mod clocks;
mod consumers;
mod erasure;
pub mod export;
mod follower;
mod jobs;
mod live;
mod live_reads;
mod on_demand;
mod overview;
mod sealed;
mod secret;
mod seeds;
pub mod webhooks;
mod workers;

pub(crate) use clocks::LastOffset;
pub use clocks::{ClockOffset, MAX_CLOCK_OFFSET};
pub(crate) use consumers::PORTION;
pub use consumers::{Consumer, Handle, Progress};
pub(crate) use erasure::ERASURE;
pub(crate) use follower::Follower;
pub use jobs::{Job, RequestedRun, Turn};
pub(crate) use live::{EventEffects, Live, LiveModel, Loading};
pub use on_demand::{BoardsSynced, OnDemand, PurchasesReconciled, QuestSweep, QuestsSynced, ReconcileReport};
pub use overview::{Overview, OverviewOf};
pub use sealed::CursorSeal;
pub(crate) use secret::keyed;
pub use secret::{MalformedSecretKey, SecretKey};
pub(crate) use seeds::SeedKey;
pub(crate) use workers::{NotDone, Workers};
