//! The use cases of Terrace, one folder per feature area. Each command and query is a function of a transaction, a
//! context and its parameters. [`App`] runs them on a [`store::Store`]; the web layer and the binary call only it.

mod account_data;
pub mod accounts;
pub mod balances;
pub mod boards;
pub mod content;
pub mod dashboard;
pub mod demo;
mod execute;
pub mod grants;
pub mod graph;
#[cfg(test)]
mod hostile;
pub mod media;
pub mod minting;
pub mod notifications;
mod once;
pub mod packs;
pub mod payments;
pub mod platform;
pub mod push;
pub mod quests;
pub mod rewards;
pub mod room;
mod schedule;
pub mod search;
pub mod shop;
pub mod streams;
pub mod teams;
pub mod trends;
pub mod trivia;
pub mod wallets;
pub mod wheels;

pub use accounts::{
    ChangePasswordRefusal, DeleteAccountRefusal, Grant, LoginRefusal, PasswordCost, RefreshRefusal,
    RegisterRefusal, Registration, ResetPasswordRefusal, SignedUp,
};
pub use boards::{
    AwardPointsRefusal, AwardResult, BoardLine, BoardPage, BoardRefusal, BoardSnapshot, BoardStamp,
    ReadBoard, ReversePointsRefusal, ShownBoard,
};
pub use demo::{DEMO_FAN, DEMO_PASSWORD, DemoOutcome};
pub use graph::{RecommendRefusal, Suggestion, SuggestionReason};
pub use once::{Answered, KeyedRequest, OnceRefusal};
pub use packs::{PackBook, PackContent, PackSummary, SeedCipher};
pub use platform::{
    BoardsSynced, Consumer, CursorSeal, Handle, Job, OnDemand, Progress, PurchasesReconciled, QuestSweep,
    QuestsSynced, ReconcileReport, SecretKey, Turn,
};
pub use quests::{Checked, NotActive, QuestBook, QuestContent};
pub use schedule::jobs;
pub use teams::Catalogue;
/// Types for operators' commands, re-exported so that the binary need not depend on the domain crates.
pub use terrace_identity::{Password, Role};
pub use terrace_ledger::{Amount, LedgerCheck, TransferSource, reason as transfer_reason};
pub use terrace_scoring::{PointsCheck, Season, SeasonKey, SeasonRefusal, season_name};
pub use terrace_store as store;
pub use terrace_store::{Command, JobRecord, Query, into_infallible};
pub use trends::Synced;

use crate::accounts::{Passwords, Viewers};
use crate::boards::{Awards, BoardChoice, Ranks, StaleAccounts};
use crate::graph::Graph;
use crate::media::{MediaStore, NoMediaStore};
use crate::minting::Minter;
use crate::platform::{LastOffset, Live, Workers};
use crate::store::{Changes, Store};
use moka::sync::Cache;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Clock, CtxSeed, Entropy, Position, StoreError, Timestamp};
use terrace_scoring::SeasonId;

/// Capacity of the cache of resolved boards, which is keyed by the requested board and the season.
const FOUND_BOARDS: u64 = 10_000;
/// Lifetime of cached boards and of cached quest and pack books. A renamed team, which is rare, appears at most this
/// much later.
const BOARD_MEMORY: Duration = Duration::from_secs(1);

/// The steps of all areas in the erasure of an account, in order.
const ERASURE: &[&[account_data::ErasureStep]] = &[
    // First what other users could see.
    room::ERASURE,
    graph::ERASURE,
    accounts::ERASURE,
    platform::ERASURE,
    shop::ERASURE,
    rewards::ERASURE,
    wallets::ERASURE,
    notifications::ERASURE,
    push::ERASURE,
    wheels::ERASURE,
    trivia::ERASURE,
    media::ERASURE,
];

/// Limits and durations of all use cases.
#[derive(Debug, Clone)]
pub struct AppConfig {
    /// Lifetime of a browser session.
    pub session_life: Duration,
    /// Lifetime of an access token.
    pub access_life: Duration,
    /// Lifetime of a refresh token; each exchange issues a new one.
    pub refresh_life: Duration,
    /// Absolute lifetime of a session, counted from its sign-in, however often it is used or refreshed.
    pub session_longest: Duration,
    /// How long the viewer of a token is cached. A session that ends in this process is evicted immediately; one
    /// that ends in another process stays valid here for at most this long.
    pub session_memory: Duration,
    /// Minimum interval between two updates of a session's `lastSeenAt`.
    pub touch_after: Duration,
    /// How long an idempotency key and its stored answer are kept.
    pub idempotency_life: Duration,
    /// Retention of events in the event log.
    pub event_life: Duration,
    /// How long a process that runs a job may go without renewing its lease before another process takes the job
    /// over.
    pub job_lease: Duration,
    /// Cost parameters of password hashing.
    pub password_cost: PasswordCost,
    /// Maximum number of passwords hashed concurrently.
    pub password_workers: usize,
    /// Maximum number of queued password hashes; beyond it the service reports that it is overloaded.
    pub password_queue: usize,
    /// Maximum number of pictures rendered concurrently.
    pub media_workers: usize,
    /// Maximum number of queued renderings; beyond it the service reports that it is overloaded.
    pub media_queue: usize,
    /// How long an uploaded picture is kept while no post refers to it.
    pub upload_life: Duration,
    /// Limits for one account's uploads that no post refers to yet.
    pub upload_quota: media::UploadQuota,
    /// Maximum size of a stored picture in bytes; a larger one is encoded again with fewer pixels.
    pub stored_picture_limit: usize,
    /// How long an account counts as new after its registration. The number of unpaid copies of limited packs that
    /// a new account may hold is restricted.
    pub new_account_age: Duration,
    /// Maximum number of recommendation requests computed concurrently.
    pub recommend_workers: usize,
    /// Maximum number of queued recommendation requests; beyond it the service reports that it is overloaded.
    pub recommend_queue: usize,
    /// Interval between two refreshes of the trends.
    pub trend_period: Duration,
    /// Maximum age of a trending post.
    pub trend_window: Duration,
    /// Half-life of a post's trend score.
    pub trend_half_life: Duration,
    /// How long a superseded ranking stays available for paging.
    pub trend_keep: Duration,
}

impl Default for AppConfig {
    fn default() -> Self {
        const DAY: Duration = Duration::from_hours(24);
        Self {
            session_life: DAY * 90,
            access_life: Duration::from_mins(15),
            refresh_life: DAY * 60,
            session_longest: DAY * 365,
            session_memory: Duration::from_millis(500),
            touch_after: Duration::from_mins(10),
            idempotency_life: DAY,
            event_life: DAY * 7,
            job_lease: Duration::from_mins(1),
            password_cost: PasswordCost::default(),
            password_workers: 2,
            password_queue: 64,
            media_workers: 2,
            media_queue: 16,
            upload_life: DAY,
            upload_quota: media::UploadQuota { count: 10, bytes: 25 * 1024 * 1024 },
            stored_picture_limit: 5 * 1024 * 1024,
            new_account_age: DAY,
            recommend_workers: 4,
            recommend_queue: 256,
            trend_period: Duration::from_mins(2),
            trend_window: DAY * 7,
            trend_half_life: Duration::from_hours(6),
            trend_keep: Duration::from_mins(15),
        }
    }
}

/// The service without its network layer. Share one instance per process in an `Arc`.
pub struct App {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    passwords: Passwords,
    viewers: Viewers,
    media: Arc<dyn MediaStore>,
    renderers: Workers,
    graph: Arc<Live<Graph>>,
    newest_posts: Arc<Live<search::Newest>>,
    recommenders: Workers,
    ranks: Arc<Live<Ranks>>,
    /// Accounts with committed writes that the boards in memory may not show yet.
    stale: StaleAccounts,
    awards: Awards,
    found_boards: Cache<(BoardChoice, SeasonId), Arc<ShownBoard>>,
    quest_books: Cache<(), Arc<QuestBook>>,
    pack_books: Cache<(), Arc<PackBook>>,
    product_books: Cache<(), Arc<shop::ProductBook>>,
    reward_books: Cache<(), Arc<rewards::RewardBook>>,
    wheel_books: Cache<(), Arc<wheels::WheelBook>>,
    clubs: Cache<(), Arc<crate::content::CurrentClub>>,
    /// Seals the cursors of list pages.
    cursors: CursorSeal,
    /// Encrypts server seeds, with the fingerprint of its secret key.
    seed_cipher: Option<(Arc<SeedCipher>, [u8; 32])>,
    /// Encrypts the codes of claims.
    code_cipher: Option<Arc<rewards::CodeCipher>>,
    /// Computes the seeds of spins.
    wheel_seeds: Option<Arc<wheels::WheelSeeds>>,
    /// Computes the seeds of solo rounds of trivia.
    trivia_seeds: Option<Arc<trivia::TriviaSeeds>>,
    /// Receives mint notices; without a minter none are written.
    minter: Option<Arc<dyn Minter>>,
    payments: Option<payments::Payments>,
    sandbox: Option<Arc<payments::Sandbox>>,
    /// Makes wallets for fans; without a provider none can be requested.
    wallets: Option<wallets::WalletCalls>,
    /// Sends push messages; without it browsers cannot subscribe.
    push: Option<push::PushCalls>,
    /// How far this process's clock was from the database's.
    clock_offset: LastOffset,
    config: AppConfig,
}

impl App {
    /// Creates the use cases on a store. Pictures cannot be stored until [`App::with_media`] sets a media store.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        config: AppConfig,
    ) -> Self {
        let mut ctx = CtxSeed::draw(&*clock, &*entropy).open();
        let passwords = Passwords::new(
            config.password_cost,
            config.password_workers,
            config.password_queue,
            ctx.random_bytes(),
        );
        let viewers = Viewers::new(config.session_memory);
        let renderers = Workers::new("terrace_media_queue", config.media_workers, config.media_queue);
        let media = Arc::new(NoMediaStore);
        let recommenders =
            Workers::new("terrace_recommend_queue", config.recommend_workers, config.recommend_queue);
        let graph = Arc::default();
        // Random per process until the secret that all processes share is set.
        let cursors = CursorSeal::new(&SecretKey::from_bytes(ctx.random_bytes()));
        let found_boards = Cache::builder().max_capacity(FOUND_BOARDS).time_to_live(BOARD_MEMORY).build();
        Self {
            store,
            clock,
            entropy,
            passwords,
            viewers,
            media,
            renderers,
            graph,
            newest_posts: Arc::default(),
            recommenders,
            ranks: Arc::default(),
            stale: StaleAccounts::default(),
            awards: Awards::default(),
            found_boards,
            quest_books: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            pack_books: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            product_books: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            reward_books: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            clubs: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            cursors,
            seed_cipher: None,
            code_cipher: None,
            wheel_books: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            wheel_seeds: None,
            trivia_seeds: None,
            minter: None,
            payments: None,
            sandbox: None,
            wallets: None,
            push: None,
            clock_offset: LastOffset::default(),
            config,
        }
    }

    /// The limits and durations in use.
    pub fn config(&self) -> &AppConfig {
        &self.config
    }

    /// The seal for cursors of list pages.
    pub fn cursors(&self) -> &CursorSeal {
        &self.cursors
    }

    /// The object storage of pictures.
    pub fn media_store(&self) -> &Arc<dyn MediaStore> {
        &self.media
    }

    /// The current time by the service's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns an error if the database cannot be reached, its schema version is not the one this program expects, or the
    /// clock was too far from the database's when they were last compared.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.store.ready().await?;
        self.clock_offset.check()
    }

    /// The changes that this process knows of, for data that is cached.
    pub fn changes(&self) -> &Changes {
        self.store.changes()
    }

    /// Position of the newest event that this process knows to be public; [`Position::START`] until it has looked. Its
    /// changes, and those of all events before it, are among [`App::changes`].
    pub fn known_position(&self) -> Position {
        *self.store.bell().borrow()
    }

    /// Randomness and the current time for one command.
    pub fn seed(&self) -> CtxSeed {
        CtxSeed::draw(&*self.clock, &*self.entropy)
    }
}
