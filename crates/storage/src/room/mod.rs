//! Posts, comments, reactions, reports and feeds.

mod batch;
mod comments;
mod erasure;
mod export;
mod feeds;
mod gather;
mod likes;
mod lists;
mod mentions;
pub(crate) mod pairs;
mod posts;
mod reactions;
mod reported;
mod reports;
pub(crate) mod schema;
mod topics;

pub(crate) use pairs::{Pair, PairColumns, pairs, with_pairs};
pub(crate) use posts::{NoText, PictureRow, PostRow, RoomRow, ViewRow, into_view, own, shown, view_columns};
pub(crate) use reactions::kind;
pub(crate) use reports::OLD_REPORTS;
pub(crate) use topics::NEWEST;
