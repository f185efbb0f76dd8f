//! Store maintenance: leases of jobs, rows past their retention, and verification of counters.

use std::time::Duration;
use terrace_kernel::{StoreError, Timestamp};
use uuid::Uuid;

/// The holder of a job's lease, and the time at which the lease expires unless it is prolonged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Process that holds the lease.
    pub holder: Uuid,
    /// Time from which others may take it.
    pub expires_at: Timestamp,
}

pub trait LeaseRead {
    /// Returns the lease `name`; `None` if it was released or never taken.
    fn lease(&mut self, name: &str) -> Result<Option<Lease>, StoreError>;
}

/// Maximum clock error that is assumed. A stored time that is later than possible by more than this was written by a
/// process with a wrong clock; waiting for it would be in vain.
pub const MAX_CLOCK_SKEW: Duration = Duration::from_hours(1);

/// Grants leases, so that only one of several processes runs a job.
pub trait LeaseWrite {
    /// Takes or prolongs the lease `name` for `holder` until `until`, if it is free, expired at `now`, or already
    /// held by `holder`; returns `false` if another process holds it. A lease that expires more than
    /// [`MAX_CLOCK_SKEW`] after `until` counts as free, because the clock of its holder was wrong.
    fn take_lease(
        &mut self,
        name: &str,
        holder: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Prolongs the lease until `until`, even if it has expired, provided that `holder` still holds it; returns
    /// `false` if it was taken by another process or released.
    fn prolong_lease(&mut self, name: &str, holder: Uuid, until: Timestamp) -> Result<bool, StoreError>;

    /// Releases the lease if `holder` holds it.
    fn release_lease(&mut self, name: &str, holder: Uuid) -> Result<(), StoreError>;
}

/// Reads the clock of the database.
pub trait ServerClockRead {
    /// The time of the server at this moment; `None` for an embedded database.
    fn server_time(&mut self) -> Result<Option<Timestamp>, StoreError>;
}

/// Kinds of rows with a limited retention, and unreferenced pictures. Each is evaluated at a given instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Idempotency keys created at or before the instant.
    IdempotencyKeys,
    /// Sessions and tokens that ended before the instant.
    Sessions,
    /// The oldest events, from before the instant, that every durable consumer has processed.
    Events,
    /// Messages to the minter that were delivered before the instant.
    Minting,
    /// Notices of payment providers from before the instant, except those of payments that are still open.
    Notices,
    /// Imports that were last started or resumed before the instant, with their staged rows.
    Imports,
    /// Maintenance runs that started before the instant, except each task's last such run and its last successful
    /// one.
    Runs,
    /// Carts that were last changed before the instant.
    Carts,
    /// Undecided reports that were made at or before the instant.
    Reports,
    /// Notifications that expired by the instant, with counts of days that are over.
    Notifications,
    /// Push messages that expired before the instant, and subscriptions of sessions that expired before it.
    Push,
    /// Uploads that expired, unused, by the instant.
    Uploads,
    /// Pictures that were marked as unused at or before the instant and that nothing references.
    Pictures,
}

/// Counts rows past their retention.
pub trait SweepRead {
    /// Returns how many rows of this kind a complete sweep at this instant would remove.
    fn past_its_time(&mut self, what: Retention, before: Timestamp) -> Result<u64, StoreError>;
}

/// Removes rows past their retention, in bounded batches.
pub trait SweepWrite {
    /// Removes up to `limit` idempotency records created at or before `before`; returns how many.
    fn sweep_idempotency(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` of the oldest events from before `before` that every durable consumer has processed;
    /// returns how many.
    fn sweep_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Checks the store as a whole.
pub trait Audit {
    /// Returns whether any account exists, deleted ones included.
    fn any_account(&mut self) -> Result<bool, StoreError>;

    /// Compares every counter with the rows that it counts, and [`Audit::audit_held`].
    fn audit_counters(&mut self) -> Result<Vec<CounterCheck>, StoreError>;

    /// Compares what the account of holds has in each unit with what pending orders hold, in one statement. The rows of
    /// the check are the units.
    fn audit_held(&mut self) -> Result<CounterCheck, StoreError>;
}

/// Result of comparing one counter with the rows that it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterCheck {
    /// The counter, as `table.column`.
    pub counter: &'static str,
    /// Number of rows that carry the counter.
    pub checked: u64,
    /// Number of these rows whose counter is wrong.
    pub wrong: u64,
    /// Up to ten rows whose counter is wrong.
    pub examples: Vec<CounterMismatch>,
}

/// One counter that disagrees with the rows that it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterMismatch {
    /// Row that carries the counter.
    pub row: Uuid,
    /// Stored value of the counter.
    pub stored: i64,
    /// Number of rows counted.
    pub counted: i64,
}
