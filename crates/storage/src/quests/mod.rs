//! Quests and the progress of fans.

mod book;
mod own;
mod progress;
mod repair;
mod unrecorded;
mod visits;
