//! Trending topics and posts: the periodic scoring and the queries that page through it.

mod backfill;
mod queries;
mod refresh;

pub(crate) use backfill::job as backfill_job;
pub use queries::{TrendingPage, TrendingRefusal, TrendingScope, Trends};
pub use refresh::Synced;
pub(crate) use refresh::job as refresh_job;
