//! Quests and how far fans are.

mod book;
mod own;
mod progress;
mod visits;
