//! Quests and the progress of fans.

mod book;
mod export;
mod repair;
mod progress;
pub(crate) mod schema;
mod standings;
mod unrecorded;
mod visits;
