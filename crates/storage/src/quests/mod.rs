//! Quests and how far fans are.

mod book;
mod mend;
mod own;
mod progress;
mod unrecorded;
mod visits;
