//! Progress of backfills of existing rows.

use terrace_kernel::{StoreError, TimeKey, Timestamp};

/// Progress of a backfill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backfill {
    /// Last row that was processed; `None` at the beginning.
    pub reached: Option<TimeKey>,
    /// Time at which the backfill finished.
    pub finished_at: Option<Timestamp>,
}

/// Reads the progress of backfills.
pub trait BackfillRead {
    /// Returns the progress of the backfill `name`; `None` before it was started.
    fn backfill(&mut self, name: &str) -> Result<Option<Backfill>, StoreError>;
}

/// Advances backfills.
pub trait BackfillWrite: BackfillRead {
    /// Returns the progress of the backfill `name` and locks it until the transaction ends, so that no portion is
    /// processed twice.
    fn lock_backfill(&mut self, name: &str) -> Result<Backfill, StoreError>;

    /// Stores the progress of a locked backfill.
    fn set_backfill(&mut self, name: &str, backfill: &Backfill) -> Result<(), StoreError>;
}
