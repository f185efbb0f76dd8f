//! Shared by all areas: event consumers, jobs, in-memory models, sealed cursors and bounded workers.

mod consumers;
mod count_expired;
mod follower;
mod jobs;
mod live;
mod overview;
mod sealed;
mod secret;
mod verify;
pub mod webhooks;
mod workers;

pub(crate) use consumers::PORTION;
pub use consumers::{Consumer, Handle, Progress};
pub(crate) use count_expired::CountExpired;
pub(crate) use follower::Follower;
pub use jobs::{AtOnce, Job, Turn};
pub(crate) use live::{EventEffects, Live, LiveModel, Loading};
pub use overview::{Overview, OverviewOf};
pub use sealed::CursorSeal;
pub(crate) use secret::keyed;
pub use secret::{MalformedSecretKey, SecretKey};
pub use verify::Verify;
pub(crate) use workers::{NotDone, Workers};
