//! Shared by all areas: event consumers, jobs, in-memory models, sealed cursors and bounded workers.

mod consumers;
mod follower;
mod jobs;
mod live;
mod overview;
mod sealed;
mod verify;
mod workers;

pub(crate) use consumers::PORTION;
pub use consumers::{Consumer, Handle, Progress};
pub(crate) use follower::Follower;
pub use jobs::{AtOnce, Job, Turn, registry};
pub(crate) use live::{Live, LiveModel, Loading, Looked};
pub use overview::{Overview, OverviewOf};
pub use sealed::CursorSeal;
pub use verify::Verify;
pub(crate) use workers::{NotDone, Workers};
