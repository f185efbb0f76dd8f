//! Quests and the progress of fans.

mod book;
mod mend;
mod own;
mod progress;
mod unrecorded;
mod visits;
