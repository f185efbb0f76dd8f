//! Quests and how far fans are.

mod book;
mod progress;
mod visits;
