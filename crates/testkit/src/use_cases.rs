//! The use cases on a fresh database, without a network: for tests of behaviour below HTTP.

use crate::closures::{TestRefusal, body, question};
use crate::database::TestDatabase;
use crate::world::{ManualClock, SeededEntropy};
use anyhow::{Context, Result};
use std::fmt::Debug;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use terrace_app::accounts::EndSessionRefusal;
use terrace_app::minting::Minter;
use terrace_app::payments::PaymentProvider;
use terrace_app::push::{PushRender, PushSender};
use terrace_app::store::{ReadTx, Store, Tx};
use terrace_app::wallets::WalletProvider;
use terrace_app::{App, AppConfig, Command, Grant, Job, PasswordCost, Query, Registration, SecretKey};
use terrace_identity::ports::NewAccount;
use terrace_identity::{
    AuthorCard, League, Password, PasswordHash, Role, SessionKind, Team, TimeZone, Token, TokenKind, Username,
};
use terrace_kernel::{
    Clock, Ctx, Event, EventKind, Failure, LeagueId, Limit, NewEvent, Outcome, Position, SessionId,
    StoreError, TeamId, Topic, UserId,
};
use terrace_storage::{DatabaseKind, MediaObjects, Storage, StorageConfig};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// How long any operation may take before a test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// One process of the service without its network: the use cases on a store. Its database is removed when the last
/// process that shares it is dropped.
pub struct TestApp {
    app: Arc<App>,
    storage: Storage,
    place: Arc<SharedState>,
}

/// Changes the configuration of a process.
type Adjust = fn(&mut StorageConfig, &mut AppConfig);

/// The state that the processes on one database share.
struct SharedState {
    runtime: Runtime,
    clock: ManualClock,
    adjust: Adjust,
    /// The payment provider; none by default.
    payments: Option<Arc<dyn PaymentProvider>>,
    /// The number of processes started so far: each uses different seeds.
    started: AtomicU64,
    /// The folder of the processes' pictures.
    pictures: TempDir,
    // Dropped last, when all connections are closed.
    database: TestDatabase,
}

/// A fan who registered in a browser.
#[derive(Debug, Clone)]
pub struct Fan {
    /// Id of the account.
    pub id: UserId,
    /// The author card that is shown with their posts.
    pub card: AuthorCard,
    /// The session cookie of the browser.
    pub cookie: Token,
}

/// Every job of the program.
pub fn jobs() -> Vec<Job> {
    terrace_app::jobs().into_iter().chain(terrace_ops::jobs()).collect()
}

impl TestApp {
    /// A process with default test settings: every command's body is run, rolled back and run again; the clock stands
    /// still; passwords are cheap; sessions are looked up on every use.
    ///
    /// # Errors
    ///
    /// Returns an error if no such database is available.
    pub fn start(kind: DatabaseKind) -> Result<Self> {
        Self::adjusted(kind, |_, _| ())
    }

    /// A process that runs every body once, for bodies that wait for one another.
    ///
    /// # Errors
    ///
    /// Returns an error if no such database is available.
    pub fn without_dry_run(kind: DatabaseKind) -> Result<Self> {
        Self::adjusted(kind, |storage, _| storage.run_twice = false)
    }

    /// A process with changed settings, which also apply to the other processes on its database.
    ///
    /// # Errors
    ///
    /// Returns an error if no such database is available.
    pub fn adjusted(kind: DatabaseKind, adjust: Adjust) -> Result<Self> {
        Self::built(kind, adjust, None)
    }

    /// A process with default test settings and this payment provider, which also applies to the other processes on its
    /// database.
    ///
    /// # Errors
    ///
    /// Returns an error if no such database is available.
    pub fn paid_to(kind: DatabaseKind, provider: Arc<dyn PaymentProvider>) -> Result<Self> {
        Self::built(kind, |_, _| (), Some(provider))
    }

    /// A process with changed settings and this payment provider, both of which also apply to the other processes on
    /// its database.
    ///
    /// # Errors
    ///
    /// Returns an error if no such database is available.
    pub fn adjusted_and_paid_to(
        kind: DatabaseKind,
        adjust: Adjust,
        provider: Arc<dyn PaymentProvider>,
    ) -> Result<Self> {
        Self::built(kind, adjust, Some(provider))
    }

    fn built(kind: DatabaseKind, adjust: Adjust, payments: Option<Arc<dyn PaymentProvider>>) -> Result<Self> {
        let database = TestDatabase::migrated(kind, |url| {
            let storage = open(StorageConfig::new(url), &ManualClock::default(), 0)?;
            storage.migrate()?;
            storage.close();
            Ok(())
        })?;
        let place = SharedState {
            runtime: Builder::new_multi_thread().worker_threads(2).enable_all().build()?,
            clock: ManualClock::default(),
            adjust,
            payments,
            started: AtomicU64::new(0),
            pictures: tempfile::Builder::new().prefix("terrace-media-").tempdir()?,
            database,
        };
        Self::on(Arc::new(place))
    }

    /// Another process on the same database and clock.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be reached.
    pub fn another(&self) -> Result<Self> {
        Self::on(Arc::clone(&self.place))
    }

    /// Another process on the same database and clock, with a minter.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be reached.
    pub fn with_minter(&self, minter: Arc<dyn Minter>) -> Result<Self> {
        Self::on_with(Arc::clone(&self.place), |app| app.with_minter(minter))
    }

    /// Another process on the same database and clock, with a wallet provider.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be reached.
    pub fn with_wallets(&self, provider: Arc<dyn WalletProvider>) -> Result<Self> {
        Self::on_with(Arc::clone(&self.place), |app| app.with_wallets(provider))
    }

    /// Another process on the same data with a sender of push messages, which `render` renders.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be reached.
    pub fn with_push(&self, sender: Arc<dyn PushSender>, render: PushRender) -> Result<Self> {
        Self::on_with(Arc::clone(&self.place), |app| app.with_push(sender, render))
    }

    fn on(place: Arc<SharedState>) -> Result<Self> {
        Self::on_with(place, |app| app)
    }

    fn on_with(place: Arc<SharedState>, change: impl FnOnce(App) -> App) -> Result<Self> {
        let number = place.started.fetch_add(1, Ordering::SeqCst);
        let mut storage = StorageConfig {
            read_connections: 3,
            write_connections: 4,
            // Two processes on one SQLite file take turns, on a machine that runs other tests as well.
            checkout_timeout: PATIENCE,
            run_twice: true,
            ..StorageConfig::new(place.database.url())
        };
        let mut app = AppConfig {
            password_cost: PasswordCost { memory_kib: 64, passes: 1 },
            password_queue: 1000,
            session_memory: Duration::ZERO,
            // In tests, fans buy right after they register.
            new_account_age: Duration::ZERO,
            ..AppConfig::default()
        };
        (place.adjust)(&mut storage, &mut app);
        let storage = open(storage, &place.clock, number)?;
        let app = App::new(
            Arc::new(storage.clone()),
            Arc::new(place.clock.clone()),
            Arc::new(SeededEntropy::new(number + 1000)),
            app,
        );
        let app = app.with_media(Arc::new(MediaObjects::folder(place.pictures.path())?));
        let mut app = app.with_secret(&SecretKey::from_bytes([7; 32]));
        if let Some(provider) = &place.payments {
            app = app.with_payments(Arc::clone(provider), "https://fans.example");
        }
        Ok(Self { app: Arc::new(change(app)), storage, place })
    }

    /// The use cases.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// The folder of the pictures.
    pub fn pictures(&self) -> &Path {
        self.place.pictures.path()
    }

    /// The store.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The clock of all processes on this database. It stands still until it is moved.
    pub fn clock(&self) -> &ManualClock {
        &self.place.clock
    }

    /// The kind of the database.
    pub fn kind(&self) -> DatabaseKind {
        self.place.database.kind()
    }

    /// The URL of the database.
    pub fn url(&self) -> &str {
        self.place.database.url()
    }

    /// Runs a future to completion.
    pub fn run<F: Future>(&self, work: F) -> F::Output {
        self.place.runtime.block_on(work)
    }

    /// Starts a background task. The test joins it with [`TestApp::join`].
    pub fn spawn<F>(&self, work: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.place.runtime.spawn(work)
    }

    /// Waits for a background task.
    ///
    /// # Panics
    ///
    /// Panics if the task panicked.
    pub fn join<T>(&self, begun: JoinHandle<T>) -> T {
        self.run(begun).expect("the task panicked")
    }

    /// Runs all futures concurrently and returns their outputs in order.
    pub fn together<F>(&self, works: impl IntoIterator<Item = F>) -> Vec<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let begun: Vec<_> = works.into_iter().map(|work| self.spawn(work)).collect();
        begun.into_iter().map(|begun| self.join(begun)).collect()
    }

    /// Executes a command that must succeed.
    ///
    /// # Panics
    ///
    /// Panics if it does not.
    pub fn done<C: Command>(&self, command: C) -> C::Output
    where
        C::Refusal: Debug,
    {
        must(C::NAME, self.run(self.app.execute(command)))
    }

    /// Executes a command that must be refused, and returns the refusal.
    ///
    /// # Panics
    ///
    /// Panics if it is not refused.
    pub fn refused<C: Command>(&self, command: C) -> C::Refusal {
        refusal(C::NAME, self.run(self.app.execute(command)))
    }

    /// Runs a query that must succeed.
    ///
    /// # Panics
    ///
    /// Panics if it does not.
    pub fn found<Q: Query>(&self, query: Q) -> Q::Output
    where
        Q::Refusal: Debug,
    {
        must(Q::NAME, self.run(self.app.query(query)))
    }

    /// Runs a query that must be refused, and returns the refusal.
    ///
    /// # Panics
    ///
    /// Panics if it is not refused.
    pub fn not_found<Q: Query>(&self, query: Q) -> Q::Refusal {
        refusal(Q::NAME, self.run(self.app.query(query)))
    }

    /// Executes a closure as a command, in one transaction.
    ///
    /// # Panics
    ///
    /// Panics if it fails.
    pub fn write<T: Send + 'static>(
        &self,
        run: impl Fn(&mut dyn Tx, &mut Ctx) -> Outcome<T, TestRefusal> + Send + 'static,
    ) -> T {
        self.done(body(run))
    }

    /// Runs a closure as a query.
    ///
    /// # Panics
    ///
    /// Panics if it fails.
    pub fn ask<T: Send + 'static>(
        &self,
        run: impl Fn(&mut dyn ReadTx) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.found(question(run))
    }

    /// Registers a fan with the password [`crate::PASSWORD`].
    ///
    /// # Panics
    ///
    /// Panics if the name is invalid or taken.
    pub fn fan(&self, name: &str) -> Fan {
        let registration = registration(name, crate::PASSWORD);
        let signed_up = must("register", self.run(self.app.register(registration, None)));
        let Grant::Cookie(secret) = signed_up.grant else { panic!("a browser gets a cookie") };
        let cookie = Token::present(TokenKind::Cookie, secret.expose()).expect("a cookie is a token");
        let card = signed_up.profile.account.card;
        Fan { id: card.id, card, cookie }
    }

    /// Creates many accounts at once, without credentials and without the events of a registration.
    ///
    /// # Panics
    ///
    /// Panics if it fails, as it does when a prefix is used twice.
    pub fn crowd(&self, prefix: &str, count: usize) -> Vec<UserId> {
        let names: Vec<_> = (0..count).map(|n| format!("{prefix}{n}")).collect();
        self.write(move |tx, ctx| {
            let mut ids = Vec::new();
            for name in &names {
                let account = NewAccount {
                    id: ctx.new_id(),
                    username: Username::parse(name).expect("a username"),
                    display_name: name.clone(),
                    bio: String::new(),
                    favorite_team: None,
                    time_zone: TimeZone::UTC,
                    role: Role::Fan,
                    password: PasswordHash::from_phc("none".to_owned()),
                    created_at: ctx.now(),
                };
                assert!(tx.insert_account(&account)?, "{name} is taken");
                ids.push(account.id);
            }
            tx.index_users(&ids)?;
            Ok(ids)
        })
    }

    /// Creates a team, in its own league.
    pub fn team(&self, key: &'static str) -> TeamId {
        self.write(move |tx, ctx| {
            let league = League {
                id: ctx.new_id::<LeagueId>(),
                key: format!("{key}-league"),
                name: format!("The league of the {key}"),
                country: "INT".to_owned(),
                sport: "football".to_owned(),
            };
            let team = Team {
                id: ctx.new_id(),
                key: key.to_owned(),
                name: format!("The {key}"),
                short_name: key.to_owned(),
                league_id: tx.upsert_league(&league, ctx.now())?,
                colors: ["#000000".to_owned(), "#ffffff".to_owned()],
                crest_url: None,
                follower_count: 0,
                is_retired: false,
            };
            Ok(tx.upsert_team(&team, ctx.now())?)
        })
    }

    /// Ends a session of `user`, or returns the refusal.
    ///
    /// # Errors
    ///
    /// Returns a refusal if there is no such session.
    ///
    /// # Panics
    ///
    /// Panics if the store fails.
    pub fn end_session(&self, user: UserId, session: SessionId) -> Result<(), EndSessionRefusal> {
        match self.run(self.app.end_session(user, session)) {
            Ok(()) => Ok(()),
            Err(Failure::Refused(refusal)) => Err(refusal),
            Err(Failure::Broken(error)) => panic!("ending a session broke: {error}"),
        }
    }

    /// The viewer that this token currently identifies, if any.
    ///
    /// # Panics
    ///
    /// Panics if the store fails.
    pub fn viewer(&self, token: Token) -> Option<terrace_identity::Viewer> {
        must("viewer", self.run(self.app.viewer(token)))
    }

    /// The number of live sessions of one kind of an account, up to a hundred.
    pub fn sessions_of(&self, user: UserId, kind: SessionKind) -> usize {
        let now = self.place.clock.now();
        let all = Limit::new(100).unwrap_or_default();
        let sessions = self.ask(move |tx| tx.sessions_of(user, now, all, None)).items;
        sessions.into_iter().filter(|session| session.kind == kind).count()
    }

    /// The events after `after` that were committed before this call, once all of them are public.
    ///
    /// # Panics
    ///
    /// Panics if they do not become public in time.
    pub fn log(&self, after: Position) -> Vec<Event> {
        // Events become public in order, so the last one becomes public last. All events of the service have an actor.
        let last = self.write(|tx, ctx| {
            let last = NewEvent {
                topic: Topic::Account,
                kind: EventKind::ProfileChanged,
                actor: None,
                team: None,
                subject: ctx.new_id::<UserId>().as_uuid(),
                object: None,
            };
            tx.append(&last, ctx.now())?;
            Ok(last.subject)
        });
        let public = async {
            let mut bell = self.storage.bell();
            loop {
                bell.borrow_and_update();
                let all = question(move |tx| tx.events_after(after, 1_000_000));
                let events = must("events", self.app.query(all).await);
                if events.iter().any(|event| event.what.subject == last) {
                    return events;
                }
                bell.changed().await.expect("the store is closed");
            }
        };
        let public = async { tokio::time::timeout(PATIENCE, public).await };
        let events = self.run(public).context("events stay hidden").expect("a working relay");
        events.into_iter().filter(|event| event.what.actor.is_some()).collect()
    }

    /// The position of the newest public event, once everything committed before this call is public.
    pub fn settled(&self) -> Position {
        self.log(Position::START);
        self.ask(|tx| tx.head())
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.storage.close();
    }
}

/// The data of a registration.
///
/// # Panics
///
/// Panics if the name or the password is invalid.
pub fn registration(name: &str, password: &str) -> Registration {
    Registration {
        username: Username::parse(name).expect("a username"),
        password: Password::choose(password.to_owned()).expect("a password"),
        display_name: None,
        time_zone: None,
    }
}

fn open(config: StorageConfig, clock: &ManualClock, number: u64) -> Result<Storage> {
    Ok(Storage::open(config, Arc::new(clock.clone()), Arc::new(SeededEntropy::new(number)))?)
}

fn must<T, E: Debug>(what: &str, outcome: Result<T, E>) -> T {
    match outcome {
        Ok(output) => output,
        Err(error) => panic!("{what}: {error:?}"),
    }
}

fn refusal<T, R>(what: &str, outcome: Outcome<T, R>) -> R {
    match outcome {
        Ok(_) => panic!("{what} was not refused"),
        Err(Failure::Refused(refusal)) => refusal,
        Err(Failure::Broken(error)) => panic!("{what}: {error}"),
    }
}
