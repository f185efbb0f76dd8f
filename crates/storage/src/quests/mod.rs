//! Quests and the progress of fans.

mod batch;
mod book;
mod export;
mod progress;
mod progress_writes;
mod repair;
pub(crate) mod schema;
mod standings;
mod unrecorded;
mod visits;

pub(crate) use progress::{DoneRow, RunRow, by_run, season_points};
pub(crate) use visits::VisitsRow;
