//! Quests and the progress of fans.

mod batch;
mod book;
mod export;
pub(crate) mod progress;
mod progress_writes;
mod repair;
pub(crate) mod schema;
mod standings;
mod unrecorded;
pub(crate) mod visits;
