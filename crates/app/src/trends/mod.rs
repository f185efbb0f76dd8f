//! Trending topics and posts: the periodic scoring and the queries that page through it.

pub(crate) mod backfill;
mod queries;
pub(crate) mod refresh;

pub use queries::{TrendingPage, TrendingRefusal, TrendingScope, Trends};
pub use refresh::Synced;
