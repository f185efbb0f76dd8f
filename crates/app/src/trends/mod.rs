//! TODO-DOC

pub(crate) mod backfill;
mod queries;
pub(crate) mod refresh;

pub use backfill::{Backfill, BackfillRead, BackfillWrite};
pub use queries::{TrendingPage, TrendingRefusal, TrendingScope, Trends};
pub use refresh::Synced;
