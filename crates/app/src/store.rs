//! The store as use cases see it: transactions that offer every port, and a way to hand work to them.
//!
//! A command is a function of `(tx, ctx, command)`. [`Store::submit`] runs it in one transaction and commits
//! it, or rolls it back, whole. Its body may run more than once (after a deadlock, or because the group that
//! it shared a commit with failed), so it does nothing that a rollback does not undo.

use crate::backfill::{BackfillRead, BackfillWrite};
use crate::import::FollowImportWrite;
use crate::import::legacy::{LegacyMove, LegacyStaging, LegacyStagingWrite};
use crate::jobs::{JobRead, JobWrite};
use crate::maintenance::{MaintenanceRead, MaintenanceWrite, MendingRead, MendingWrite};
use crate::media::{MediaRead, MediaWrite};
use crate::minting::{MintingDelivery, MintingRead, MintingUpkeep, MintingWrite};
use crate::payments::{PaymentRead, PaymentWrite, SandboxWrite};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use terrace_identity::{
    AccountRead, AccountWrite, AuthorCard, CardRead, PresenceWrite, SessionRead, SessionWrite, Team,
    TeamRead, TeamWrite,
};
use terrace_kernel::{Event, EventLog, Position, StoreError, Timestamp, UserId};
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
use uuid::Uuid;

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

/// Whose idempotency key it is, and what it was sent to. Two accounts, or two routes, never share one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyScope {
    /// The account; none where there is no session yet (registration).
    pub account: Option<UserId>,
    /// The route's template, with its method: `POST /api/locker-room`.
    pub route: &'static str,
}

/// An answer as it was given, so that it can be given again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAnswer {
    /// The HTTP status, 200 to 299.
    pub status: u16,
    /// The `Location` header, when there was one.
    pub location: Option<String>,
    /// The body.
    pub body: String,
}

/// An idempotency key that an account used, without the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptKey {
    /// What tells it from the account's others: where it was used, then the key itself.
    pub place: KeyPlace,
    /// When it was used.
    pub created_at: Timestamp,
}

/// What tells an idempotency key from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPlace {
    /// Account and route, as the store writes them.
    pub scope: String,
    /// The key.
    pub key: String,
}

impl KeyPlace {
    /// The route's template, with its method.
    pub fn route(&self) -> &str {
        self.scope.split_once(' ').map_or(&self.scope, |(_, route)| route)
    }
}

/// Reads idempotency keys.
pub trait IdempotencyRead {
    /// Up to `limit` of the keys whose answers concern the account, in an order that never changes, after `after`.
    fn keys_of(
        &mut self,
        account: UserId,
        limit: u32,
        after: Option<&KeyPlace>,
    ) -> Result<Vec<KeptKey>, StoreError>;
}

/// What became of the attempt to claim a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyClaim {
    /// It was free, or its record was too old: it is ours now, until the transaction ends.
    Fresh,
    /// It was used before.
    Used {
        /// What it was used for.
        fingerprint: [u8; 32],
        /// What was answered then.
        answer: StoredAnswer,
    },
}

/// Keeps idempotency keys with their answers, in the transaction of their effect.
pub trait IdempotencyWrite {
    /// Claims `key` in `scope`, waiting for a transaction that claims it at the same time. A record made at or
    /// before `expired` counts as free.
    fn claim_key(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        fingerprint: &[u8; 32],
        now: Timestamp,
        expired: Timestamp,
    ) -> Result<KeyClaim, StoreError>;

    /// Stores the answer under a key that this transaction claimed. `account` is whom the answer concerns, so
    /// that it goes when the account goes.
    fn store_answer(
        &mut self,
        scope: &IdempotencyScope,
        key: &str,
        account: Option<UserId>,
        answer: &StoredAnswer,
    ) -> Result<(), StoreError>;

    /// Removes up to `limit` keys whose answers concern the account; says how many.
    fn remove_keys_of(&mut self, account: UserId, limit: u32) -> Result<u64, StoreError>;
}

/// Keeps marks of secrets, which say nothing of them: by these processes find out that they hold the same ones.
pub trait SecretMarks {
    /// The mark that is kept under this name: the one that is given, unless another came first.
    fn keep_mark(&mut self, name: &str, mark: &[u8]) -> Result<Vec<u8>, StoreError>;
}

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
pub const ASTRAY: Duration = Duration::from_hours(1);

/// Gives out leases, so that of many processes one does a job.
pub trait LeaseWrite {
    /// Takes or prolongs the lease `name` for `holder` until `until`, if it is free, over at `now`, or
    /// already theirs; `false` when another holds it. One that lasts for more than [`ASTRAY`] beyond `until` counts as
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
pub enum Past {
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
    fn past_its_time(&mut self, what: Past, before: Timestamp) -> Result<u64, StoreError>;
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
