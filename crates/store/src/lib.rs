//! The store as use cases see it: transactions that offer every port, and a way to hand work to them.
//!
//! A command is a function of `(tx, ctx, command)`. [`Store::submit`] runs it in one transaction and commits
//! it, or rolls it back, whole. Its body may run more than once (after a deadlock, or because the group that
//! it shared a commit with failed), so it does nothing that a rollback does not undo.
//!
//! The ports of a domain lie in its crate; those that span domains or belong to none lie here.

mod backfill;
mod command;
mod events;
mod follow_import;
mod idempotency;
mod jobs;
pub mod legacy;
pub mod maintenance;
pub mod media;
pub mod minting;
mod objects;
pub mod payments;
pub mod repair;
mod tx;
mod upkeep;
mod work;

pub use backfill::{Backfill, BackfillRead, BackfillWrite};
pub use command::{Command, Query, into_infallible};
pub use events::{ConsumerWrite, EventRead, SecretMarks};
pub use follow_import::FollowImportWrite;
pub use idempotency::{
    IdempotencyRead, IdempotencyScope, IdempotencyWrite, KeptKey, KeyClaim, KeyPlace, StoredAnswer,
};
pub use jobs::{JobRead, JobRecord, JobWrite};
pub use objects::{ByteStream, MediaStore, ObjectKey};
pub use tx::{ReadTx, Tx};
pub use upkeep::{
    Audit, CounterCheck, CounterMismatch, Lease, LeaseRead, LeaseWrite, MAX_CLOCK_SKEW, Retention, SweepRead,
    SweepWrite,
};
pub use work::{BoxFuture, ReadJob, Store, Verdict, WriteJob};
