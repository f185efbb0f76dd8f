//! How far backfills of existing rows are.

use terrace_kernel::{StoreError, TimeKey, Timestamp};

/// How far a backfill is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backfill {
    /// The last row that it has dealt with; none at its beginning.
    pub reached: Option<TimeKey>,
    /// When it came to its end.
    pub finished_at: Option<Timestamp>,
}

/// Reads how far backfills are.
pub trait BackfillRead {
    /// How far the backfill `name` is; nothing before it was begun.
    fn backfill(&mut self, name: &str) -> Result<Option<Backfill>, StoreError>;
}

/// Moves backfills on.
pub trait BackfillWrite: BackfillRead {
    /// How far the backfill `name` is, locked until the transaction ends, so that nobody does a portion twice.
    fn lock_backfill(&mut self, name: &str) -> Result<Backfill, StoreError>;

    /// Notes how far a backfill that is locked has come.
    fn set_backfill(&mut self, name: &str, backfill: &Backfill) -> Result<(), StoreError>;
}
