//! What keeps a store in order: leases on jobs, what is past its time, and counters that are counted again.

use std::time::Duration;
use terrace_kernel::{StoreError, Timestamp};
use uuid::Uuid;

/// Who does a job, and until when it is theirs if they say nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Whoever has it.
    pub holder: Uuid,
    /// From when on others may take it.
    pub expires_at: Timestamp,
}

/// Reads leases.
pub trait LeaseRead {
    /// The lease `name`; none when it was given back, or never taken.
    fn lease(&mut self, name: &str) -> Result<Option<Lease>, StoreError>;
}

/// By how much no clock is thought to be wrong: what was to end or to come later than it could by this much was written
/// by one that was, and would be waited for in vain.
pub const MAX_CLOCK_SKEW: Duration = Duration::from_hours(1);

/// Gives out leases, so that of many processes one does a job.
pub trait LeaseWrite {
    /// Takes or prolongs the lease `name` for `holder` until `until`, if it is free, over at `now`, or
    /// already theirs; `false` when another holds it. One that lasts for more than [`MAX_CLOCK_SKEW`] beyond `until` counts as
    /// free: whoever took it had a clock that was wrong.
    fn take_lease(
        &mut self,
        name: &str,
        holder: Uuid,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Prolongs the lease until `until`, over or not, if `holder` still has it; `false` when another took it since,
    /// or it was given back.
    fn prolong_lease(&mut self, name: &str, holder: Uuid, until: Timestamp) -> Result<bool, StoreError>;

    /// Gives the lease back if `holder` has it.
    fn release_lease(&mut self, name: &str, holder: Uuid) -> Result<(), StoreError>;
}

/// Rows that end by themselves, and pictures that nothing shows any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// Idempotency keys made at or before an instant.
    IdempotencyKeys,
    /// Sessions and tokens that ended before it.
    Sessions,
    /// The oldest events, from before it, that every durable consumer has dealt with.
    Events,
    /// Messages to the minter whose receipt is from before it.
    Minting,
    /// What payment providers told before it, but for payments of which something is open.
    Notices,
    /// What waits of imports that nobody has begun or gone on with since before it, and those imports.
    Imports,
    /// Runs of maintenance that began before it, but of each task the last of those, and the last that did its work.
    Runs,
    /// Uploads that no post took until it.
    Uploads,
    /// Pictures that were noted as unused at or before it and that nothing refers to.
    Pictures,
}

/// Counts what is past its time.
pub trait SweepRead {
    /// How many rows of this kind would be removed, in as many portions as that takes, with this instant.
    fn past_its_time(&mut self, what: Retention, before: Timestamp) -> Result<u64, StoreError>;
}

/// Removes what is past its time, in bounded portions.
pub trait SweepWrite {
    /// Removes up to `limit` idempotency records made at or before `before`; says how many.
    fn sweep_idempotency(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` of the oldest events from before `before` that every durable consumer has dealt
    /// with; says how many.
    fn sweep_events(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Looks at the store as a whole.
pub trait Audit {
    /// Whether any account exists, deleted ones included.
    fn any_account(&mut self) -> Result<bool, StoreError>;

    /// Compares every counter with the rows that it counts.
    fn audit_counters(&mut self) -> Result<Vec<CounterCheck>, StoreError>;
}

/// What one comparison of counters with rows found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterCheck {
    /// The counter, as `table.column`.
    pub counter: &'static str,
    /// How many rows carry it.
    pub checked: u64,
    /// How many of them disagree with what they count.
    pub wrong: u64,
    /// Up to ten that disagree.
    pub examples: Vec<CounterMismatch>,
}

/// One counter that disagrees with the rows that it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterMismatch {
    /// The row that carries the counter.
    pub row: Uuid,
    /// What the counter says.
    pub stored: i64,
    /// What there is.
    pub counted: i64,
}
