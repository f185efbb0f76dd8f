//! The store as use cases see it: transactions that offer every port, and a way to hand work to them.
//!
//! A command is a function of `(tx, ctx, command)`. [`Store::submit`] runs it in one transaction and commits
//! it, or rolls it back, whole. Its body may run more than once (after a deadlock, or because the group that
//! it shared a commit with failed), so it does nothing that a rollback does not undo.

mod idempotency;
mod upkeep;

pub use idempotency::{
    IdempotencyRead, IdempotencyScope, IdempotencyWrite, KeptKey, KeyClaim, KeyPlace, StoredAnswer,
};
pub use upkeep::{
    ASTRAY, Audit, CounterCheck, CounterMismatch, Lease, LeaseRead, LeaseWrite, Past, SweepRead, SweepWrite,
};

use crate::import::FollowImportWrite;
use crate::import::legacy::{LegacyMove, LegacyStaging, LegacyStagingWrite};
use crate::maintenance::{MaintenanceRead, MaintenanceWrite, MendingRead, MendingWrite};
use crate::media::{MediaRead, MediaWrite};
use crate::minting::{MintingDelivery, MintingRead, MintingUpkeep, MintingWrite};
use crate::payments::{PaymentRead, PaymentWrite, SandboxWrite};
use crate::platform::{JobRead, JobWrite};
use crate::trends::{BackfillRead, BackfillWrite};
use std::future::Future;
use std::pin::Pin;
use terrace_identity::{
    AccountRead, AccountWrite, AuthorCard, CardRead, PresenceWrite, SessionRead, SessionWrite, Team,
    TeamRead, TeamWrite,
};
use terrace_kernel::{Event, EventLog, Position, StoreError};
use terrace_ledger::{LedgerAudit, LedgerMendWrite, LedgerRead, LedgerWrite};
use terrace_packs::{CatalogueRead, CatalogueWrite, OpeningWrite, SaleRead, SaleWrite};
use terrace_quests::{OwnQuestRead, QuestRead, QuestWrite, StandingsRead};
use terrace_scoring::{BoardRead, BoardWrite, PointsAudit, PointsMend, PointsRead, PointsWrite};
use terrace_social::{
    AuthoredRead, CommentRead, CommentWrite, DismissalWrite, ErasureWrite, FeedRead, FollowGraphRead,
    GraphErasure, GraphRead, GraphWrite, OwnGraphRead, PostRead, PostWrite, ReactionWrite, ReportWrite,
    SuggestionRead, TeamFollowRead, TeamFollowWrite, TopicWrite, TrendRead, TrendWrite,
};
use tokio::sync::watch;

/// A future that can be sent between threads and named in a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Reads events in their public order.
pub trait EventRead {
    /// The position of the newest public event; [`Position::START`] when there never was one. Read before a
    /// list in the same query, it is the list's `streamPosition`: what is not in the list comes after it.
    fn head(&mut self) -> Result<Position, StoreError>;

    /// Up to `limit` events after `after`, in order.
    fn events_after(&mut self, after: Position, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// The last that was appended and committed and has no public position yet; nothing where everything has one.
    fn unpublished(&mut self) -> Result<Option<i64>, StoreError>;

    /// Whether something up to what [`EventRead::unpublished`] said still has none.
    fn is_unpublished(&mut self, up_to: i64) -> Result<bool, StoreError>;

    /// Where the durable consumer `name` stands: it has dealt with every event up to here.
    fn consumer_position(&mut self, name: &str) -> Result<Position, StoreError>;
}

/// Moves the stored offsets of durable consumers.
pub trait ConsumerWrite: EventRead {
    /// Where the consumer stands, locked until the transaction ends, so that two processes do each event once.
    fn lock_consumer(&mut self, name: &str) -> Result<Position, StoreError>;

    /// Notes that the consumer has dealt with every event up to `position`.
    fn set_consumer_position(&mut self, name: &str, position: Position) -> Result<(), StoreError>;
}

/// Keeps marks of secrets, which say nothing of them: by these processes find out that they hold the same ones.
pub trait SecretMarks {
    /// The mark that is kept under this name: the one that is given, unless another came first.
    fn keep_mark(&mut self, name: &str, mark: &[u8]) -> Result<Vec<u8>, StoreError>;
}

/// Everything that a query may ask.
pub trait ReadTx:
    AccountRead
    + SessionRead
    + TeamRead
    + PostRead<AuthorCard>
    + FeedRead<AuthorCard>
    + CommentRead<AuthorCard>
    + GraphRead<AuthorCard>
    + TeamFollowRead<Team>
    + OwnGraphRead
    + MediaRead
    + AuthoredRead
    + FollowGraphRead
    + SuggestionRead<AuthorCard>
    + IdempotencyRead
    + EventRead
    + Audit
    + SweepRead
    + JobRead
    + MaintenanceRead
    + LeaseRead
    + BackfillRead
    + TrendRead<AuthorCard>
    + CardRead
    + PointsRead
    + PointsAudit
    + BoardRead
    + QuestRead
    + OwnQuestRead
    + StandingsRead
    + LedgerRead
    + LedgerAudit
    + CatalogueRead
    + SaleRead
    + MintingRead
    + PaymentRead
    + MendingRead
    + LegacyStaging
{
}

impl<T> ReadTx for T where
    T: AccountRead
        + SessionRead
        + TeamRead
        + PostRead<AuthorCard>
        + FeedRead<AuthorCard>
        + CommentRead<AuthorCard>
        + GraphRead<AuthorCard>
        + TeamFollowRead<Team>
        + OwnGraphRead
        + MediaRead
        + AuthoredRead
        + FollowGraphRead
        + SuggestionRead<AuthorCard>
        + IdempotencyRead
        + EventRead
        + Audit
        + SweepRead
        + JobRead
        + MaintenanceRead
        + LeaseRead
        + BackfillRead
        + TrendRead<AuthorCard>
        + CardRead
        + PointsRead
        + PointsAudit
        + BoardRead
        + QuestRead
        + OwnQuestRead
        + StandingsRead
        + LedgerRead
        + LedgerAudit
        + CatalogueRead
        + SaleRead
        + MintingRead
        + PaymentRead
        + MendingRead
        + LegacyStaging
{
}

/// Everything that a command may do. It commits whole or not at all.
pub trait Tx:
    ReadTx
    + AccountWrite
    + SessionWrite
    + PresenceWrite
    + TeamWrite
    + PostWrite<AuthorCard>
    + CommentWrite<AuthorCard>
    + ReactionWrite
    + ReportWrite
    + DismissalWrite
    + FollowImportWrite
    + LegacyStagingWrite
    + LegacyMove
    + GraphWrite<AuthorCard>
    + TeamFollowWrite
    + GraphErasure
    + MediaWrite
    + ErasureWrite
    + EventLog
    + ConsumerWrite
    + IdempotencyWrite
    + LeaseWrite
    + SweepWrite
    + JobWrite
    + MaintenanceWrite
    + BackfillWrite
    + TopicWrite
    + TrendWrite
    + PointsWrite
    + PointsMend
    + BoardWrite
    + QuestWrite
    + LedgerWrite
    + LedgerMendWrite
    + CatalogueWrite
    + SaleWrite
    + OpeningWrite
    + MintingWrite
    + MintingDelivery
    + MintingUpkeep
    + PaymentWrite
    + SandboxWrite
    + SecretMarks
    + MendingWrite
{
}

impl<T> Tx for T where
    T: ReadTx
        + AccountWrite
        + SessionWrite
        + PresenceWrite
        + TeamWrite
        + PostWrite<AuthorCard>
        + CommentWrite<AuthorCard>
        + ReactionWrite
        + ReportWrite
        + DismissalWrite
        + FollowImportWrite
        + LegacyStagingWrite
        + LegacyMove
        + GraphWrite<AuthorCard>
        + TeamFollowWrite
        + GraphErasure
        + MediaWrite
        + ErasureWrite
        + EventLog
        + ConsumerWrite
        + IdempotencyWrite
        + LeaseWrite
        + SweepWrite
        + JobWrite
        + MaintenanceWrite
        + BackfillWrite
        + TopicWrite
        + TrendWrite
        + PointsWrite
        + PointsMend
        + BoardWrite
        + QuestWrite
        + LedgerWrite
        + LedgerMendWrite
        + CatalogueWrite
        + SaleWrite
        + OpeningWrite
        + MintingWrite
        + MintingDelivery
        + MintingUpkeep
        + PaymentWrite
        + SandboxWrite
        + SecretMarks
        + MendingWrite
{
}

/// What a command's body wants to become of its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Keep everything.
    Commit,
    /// Keep nothing: a rule said no.
    Rollback,
}

/// A command on its way through the store. The store calls [`WriteJob::run`] in a transaction, as often as it
/// must, each time after rolling back what the run before did, and [`WriteJob::finish`] exactly once.
pub trait WriteJob: Send {
    /// What it is called in metrics and logs.
    fn name(&self) -> &'static str;

    /// Runs the command's body once, keeping its result for [`WriteJob::finish`].
    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError>;

    /// Answers whoever waits: `Ok` after the commit (or after the rollback that the body wanted), else why
    /// nothing was kept. A commit whose outcome is unknown is an error too.
    fn finish(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// A query on its way through the store. It runs at most once, in one snapshot on SQLite and statement by
/// statement on PostgreSQL.
pub trait ReadJob: Send {
    /// What it is called in metrics and logs.
    fn name(&self) -> &'static str;

    /// Whether the answer may be old, as a replica's is. Never what carries a stream's position, one's own data or
    /// a session: a client that has just written would miss it.
    fn may_be_old(&self) -> bool {
        false
    }

    /// Whether all its statements have to see one state of the database.
    fn in_one_state(&self) -> bool {
        false
    }

    /// Whether every event that its rows follow from must have its public position when it reads them.
    fn publishes(&self) -> bool {
        false
    }

    /// Answers whoever waits. `tx` is an error when no connection could be had.
    fn run(self: Box<Self>, tx: Result<&mut dyn ReadTx, StoreError>);

    /// Answers whoever waits from a replica, or gives the query back unanswered when that breaks, so that the
    /// primary can be asked.
    fn run_on_replica(self: Box<Self>, tx: &mut dyn ReadTx) -> Option<Box<dyn ReadJob>>;
}

/// Where commands and queries go. Neither call blocks.
pub trait Store: Send + Sync + 'static {
    /// Hands in a command.
    fn submit(&self, job: Box<dyn WriteJob>);

    /// Hands in a query.
    fn query(&self, job: Box<dyn ReadJob>);

    /// Fails when the database cannot be reached or its schema is not the one that this program knows.
    fn ready(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Grows before anybody is told that a command of this process which appended an event was committed, and
    /// when events of other processes become public here. What was read when it stood lower may be stale.
    fn changes(&self) -> u64;

    /// Waits until whatever this process has committed has its public positions, and says the last of them: who has
    /// read the log up to there knows of everything that somebody was told of here. Nothing where that takes too long.
    fn settled(&self) -> BoxFuture<'_, Option<Position>>;

    /// Rings after events became public. The value is a hint: whoever wakes reads the log.
    fn bell(&self) -> watch::Receiver<Position>;
}
