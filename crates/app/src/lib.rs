//! The use cases of Terrace: one file per command and per query, each a function of a transaction, a context
//! and what was asked. [`App`] runs them on a [`store::Store`]; the web shell and the binary call only it.

pub mod accounts;
pub mod balances;
pub mod boards;
mod content;
#[cfg(test)]
mod content_tests;
pub mod demo;
mod execute;
pub mod graph;
#[cfg(test)]
mod hostile;
mod housekeeping;
mod import;
mod ledger_upkeep;
pub mod maintenance;
pub mod media;
pub mod minting;
pub mod packs;
pub mod payments;
pub mod platform;
pub mod quests;
pub mod room;
mod schedule;
pub mod streams;
pub mod teams;
pub mod trends;
mod upkeep;
mod walked;

pub use accounts::{
    ChangePasswordRefusal, DeleteAccountRefusal, Grant, LoginRefusal, PasswordCost, Passwords, PasswordsBusy,
    RefreshRefusal, RegisterRefusal, Registration, ResetPasswordRefusal, SignedUp,
};
pub use boards::{
    AwardPointsRefusal, AwardResult, Awards, BoardLine, BoardPage, BoardRefusal, BoardSnapshot, BoardStamp,
    ReadBoard, ReversePointsRefusal, ShownBoard,
};
pub use demo::{DEMO_FAN, DEMO_PASSWORD, DemoOutcome};
pub use execute::{Answered, KeyedRequest, OnceRefusal};
pub use graph::{RecommendRefusal, Suggestion, SuggestionReason};
pub use housekeeping::Swept;
pub use import::{
    BadLine, COMPLETIONS_BATCH, Completion, CompletionLine, CompletionList, CompletionsImported, EdgeList,
    EdgeListError, IMPORT_BATCH, Imported, Line, NotMatched, WhyNotMatched, legacy,
};
pub use ledger_upkeep::LedgerReport;
pub use packs::{PackBook, PackContent, PackContentError, PackSummary, SeedCipher};
pub use platform::{
    AtOnce, Consumer, CursorSeal, Handle, Job, MalformedSecretKey, Progress, SecretKey, Turn,
};
pub use quests::{
    Checked, NotActive, QuestBook, QuestContent, QuestContentError, QuestSummary, QuestSweep, QuestsSynced,
};
pub use schedule::jobs;
pub use teams::{Catalogue, CatalogueError, CatalogueSummary};
/// The words of operators, for a program that names no domain.
pub use terrace_identity::{Password, Role};
pub use terrace_ledger::{Amount, LedgerCheck, TransferSource, reason as transfer_reason};
pub use terrace_scoring::{
    MalformedSeasonKey, PointsCheck, Season, SeasonKey, SeasonRefusal, SeasonStatus, Seasons, season_name,
};
pub use terrace_store as store;
pub use terrace_store::{
    Backfill, BackfillRead, BackfillWrite, Command, FollowImportWrite, JobRead, JobRecord, JobWrite, Query,
    into_infallible,
};
pub use trends::Synced;
pub use upkeep::{BoardsSynced, PointsReport};
pub use walked::{CheckReport, WalkReport};

use crate::accounts::Viewers;
use crate::boards::{BoardChoice, Ranks, Unshown};
use crate::graph::Graph;
use crate::media::{MediaStore, NoMediaStore};
use crate::minting::Minter;
use crate::platform::{Live, Workers};
use crate::store::Store;
use moka::sync::Cache;
use std::sync::Arc;
use std::time::Duration;
use terrace_kernel::{Clock, CtxSeed, Entropy, StoreError, Timestamp};
use terrace_scoring::SeasonId;

/// How many boards are remembered by what they were asked for.
const FOUND_BOARDS: u64 = 10_000;
/// How long: boards stay, and their teams' names change seldom.
const BOARD_MEMORY: Duration = Duration::from_secs(1);

/// Every bound that use cases go by.
#[derive(Debug, Clone)]
pub struct AppConfig {
    /// How long a browser stays signed in.
    pub session_life: Duration,
    /// How long an access token is good for.
    pub access_life: Duration,
    /// How long a refresh token is good for; each exchange gives a fresh one.
    pub refresh_life: Duration,
    /// How long after its sign-in any session ends, however it is used.
    pub session_longest: Duration,
    /// How long who presents a token is remembered without asking the store again. A session that is ended in
    /// this process is forgotten at once; one that is ended in another is good for this long at most.
    pub session_memory: Duration,
    /// How exactly `lastSeenAt` of a session is kept.
    pub touch_after: Duration,
    /// How long an idempotency key and its answer are kept.
    pub idempotency_life: Duration,
    /// How long events stay readable.
    pub event_life: Duration,
    /// How long a process that runs a job may be silent before another takes the job over.
    pub job_lease: Duration,
    /// What hashing a password costs.
    pub password_cost: PasswordCost,
    /// How many passwords are hashed at once.
    pub password_workers: usize,
    /// How many more may wait for their turn before the service says that it is overloaded.
    pub password_queue: usize,
    /// How many pictures are rendered at once.
    pub media_workers: usize,
    /// How many more may wait for their turn before the service says that it is overloaded.
    pub media_queue: usize,
    /// How long an uploaded picture waits for its post.
    pub upload_life: Duration,
    /// How much may wait of one account.
    pub upload_quota: media::UploadQuota,
    /// How many bytes a stored picture has at most; a larger one is encoded anew with fewer pixels.
    pub stored_picture_limit: usize,
    /// How long after its registration an account is new, and may hold little of limited packs without paying.
    pub new_account_age: Duration,
    /// How many recommendations are made at once.
    pub recommend_workers: usize,
    /// How many more may wait for their turn before the service says that it is overloaded.
    pub recommend_queue: usize,
    /// How often trends are refreshed.
    pub trend_period: Duration,
    /// How old a post may be to be trending.
    pub trend_window: Duration,
    /// How long it takes until a post is worth half.
    pub trend_half_life: Duration,
    /// How long a ranking can be paged through after a newer one took its place.
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

/// The service without a network: share one per process in an `Arc`.
pub struct App {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    passwords: Passwords,
    viewers: Viewers,
    media: Arc<dyn MediaStore>,
    renderers: Workers,
    graph: Arc<Live<Graph>>,
    recommenders: Workers,
    ranks: Arc<Live<Ranks>>,
    /// Whose writes the boards in memory may not show yet.
    unshown: Unshown,
    awards: Awards,
    found_boards: Cache<(BoardChoice, SeasonId), Arc<ShownBoard>>,
    quest_books: Cache<(), Arc<QuestBook>>,
    pack_books: Cache<(), Arc<PackBook>>,
    /// What seals the cursors of lists.
    cursors: CursorSeal,
    /// What encrypts seeds, and the mark of the secret behind it.
    seed_cipher: Option<(Arc<SeedCipher>, [u8; 32])>,
    /// Who is told of what fans come to own; without one nobody is.
    minter: Option<Arc<dyn Minter>>,
    payments: Option<payments::Payments>,
    sandbox: Option<Arc<payments::Sandbox>>,
    config: AppConfig,
}

impl App {
    /// Puts the use cases on a store. They have no place for pictures until [`App::with_media`] gives them one.
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
        // Of this process alone, until it is given the secret that processes share.
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
            recommenders,
            ranks: Arc::default(),
            unshown: Unshown::default(),
            awards: Awards::default(),
            found_boards,
            quest_books: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            pack_books: Cache::builder().max_capacity(1).time_to_live(BOARD_MEMORY).build(),
            cursors,
            seed_cipher: None,
            minter: None,
            payments: None,
            sandbox: None,
            config,
        }
    }

    /// The bounds that it goes by.
    pub fn config(&self) -> &AppConfig {
        &self.config
    }

    /// What seals the cursors of lists.
    pub fn cursors(&self) -> &CursorSeal {
        &self.cursors
    }

    /// What time it is for the service.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Fails when the database cannot be reached or its schema is not the one that this program knows.
    pub async fn ready(&self) -> Result<(), StoreError> {
        self.store.ready().await
    }

    /// Grows before anybody is told of a change that events tell of: what was read when it stood lower may be
    /// stale.
    pub fn changes(&self) -> u64 {
        self.store.changes()
    }

    fn seed(&self) -> CtxSeed {
        CtxSeed::draw(&*self.clock, &*self.entropy)
    }
}
