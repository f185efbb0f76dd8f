//! Store interface for use cases: transactions that expose every port, and a way to submit work to them.
//!
//! A command is a function of `(tx, ctx, command)`. [`Store::submit`] runs it in one transaction, which is committed
//! or rolled back as a whole. The body may run more than once (after a deadlock, or because the group that it shared
//! a commit with failed), so it must have no effect that a rollback does not undo.
//!
//! The ports of a domain are in its crate; ports that span domains or belong to none are in this crate.

mod backfill;
mod changes;
mod command;
pub mod content;
pub mod dashboard;
mod events;
mod follow_import;
mod future;
pub mod grants;
mod idempotency;
mod jobs;
pub mod legacy;
pub mod maintenance;
pub mod media;
pub mod minting;
mod objects;
pub mod operator_report;
pub mod payments;
mod ports;
pub mod repair;
mod tx;
mod upkeep;
mod work;

pub use backfill::{Backfill, BackfillRead, BackfillWrite};
pub use changes::Changes;
pub use command::{Batched, Command, Query, into_infallible};
pub use events::{ConsumerWrite, EventRead, SecretMarks};
pub use follow_import::FollowImportWrite;
pub use future::BoxFuture;
pub use idempotency::{
    IdempotencyRead, IdempotencyScope, IdempotencyWrite, KeptKey, KeyClaim, KeyPlace, KeyUse, StoredAnswer,
};
pub use jobs::{JobRead, JobRecord, JobWrite};
pub use objects::{ByteStream, MediaStore, ObjectKey};
pub use ports::{Ports, ReadPorts};
pub use tx::*;
pub use upkeep::{
    Audit, CounterCheck, CounterMismatch, Lease, LeaseRead, LeaseWrite, MAX_CLOCK_SKEW, Retention,
    ServerClockRead, SweepRead, SweepWrite,
};
pub use work::{ReadJob, RunBatch, Store, Verdict, WriteJob};
