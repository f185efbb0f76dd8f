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

pub(crate) use progress::{
    AchievementRow, DoneRow, RunRow, achievement, achievements, by_run, completed_quests, done_step,
    into_achievement,
};
pub(crate) use visits::VisitsRow;
