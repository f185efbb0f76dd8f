//! Quests and the progress of fans.

mod book;
mod mend;
mod own;
mod progress;
pub(crate) mod schema;
mod unrecorded;
mod visits;
