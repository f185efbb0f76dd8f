//! Trending topics and posts: the periodic scoring and the queries that page through it.

mod queries;
mod refresh;

pub use queries::{TrendingPage, TrendingRefusal, TrendingScope, Trends};
pub use refresh::Synced;
pub(crate) use refresh::job as refresh_job;
