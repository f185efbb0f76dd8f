//! The complete service for one test: a fresh database, the use cases, and an HTTP server on its own port.

use crate::client::Client;
use crate::contract::Contract;
use crate::database::TestDatabase;
use crate::world::{FlowingClock, SeededEntropy};
use anyhow::{Context, Result, anyhow};
use metrics_exporter_prometheus::PrometheusHandle;
use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tempfile::TempDir;
use terrace_app::minting::Minter;
use terrace_app::payments::{PaymentProvider, Sandbox};
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_app::push::{PushRender, PushSender};
use terrace_app::wallets::WalletProvider;
use terrace_app::{
    App, AppConfig, Catalogue, CursorSeal, PackContent, PasswordCost, QuestContent, SecretKey,
    rewards::RewardContent, shop::ShopContent, trivia::TriviaContent, wheels::WheelContent,
};
use terrace_kernel::{Clock, Entropy, Timestamp};
use terrace_ops::Upkeep;
use terrace_outbound::{Caller, MintingWebhook, PostTo};
use terrace_storage::{DatabaseKind, MediaObjects, Storage, StorageConfig};
use terrace_web::{CronSecret, LimitConfig, Listeners, StreamConfig, WebConfig, Wiring};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, watch};

/// A catalogue of two leagues and three teams, enough for several pages.
const LEAGUES: &str = include_str!("leagues.toml");
const TEAMS: &str = include_str!("teams.toml");

/// Quests of every kind: an onboarding quest, a daily one, a sequential one of a team, and one with a prerequisite.
const QUESTS: &str = include_str!("quests.toml");

/// Packs of every kind: an open one for points; one with a closed pool and a guarantee for coins; one with a limit per
/// fan; one with a supply of one copy; two for money, one of them with all limits; one whose sale is over, and one
/// whose sale has not begun.
pub const PACKS: &str = include_str!("packs.toml");

/// Products of both kinds, in several variants, with prices of every kind, limited and unlimited.
pub const PRODUCTS: &str = include_str!("products.toml");

/// Shipping methods and tax rates.
pub const SHIPPING: &str = include_str!("shipping.toml");

/// Wheels: with a free spin, with a price and pity, with a limited grant, and a closed one.
pub const WHEELS: &str = include_str!("wheels.toml");

/// Rounds of trivia for a start `{start}` and an end `{end}`: a live one, and a solo one.
const TRIVIA: &str = include_str!("trivia.toml");

/// How long after the start of a test service its rounds of trivia begin.
pub const TRIVIA_AFTER: Duration = Duration::from_mins(10);

/// The text of a live round `live` and of a solo round `solo`, which both begin at this time. The right option of each
/// question is the one of the number that `right` returns for the question, from 0.
pub fn trivia(start: Timestamp, right: impl Fn(usize) -> usize) -> String {
    let end = start.plus(Duration::from_hours(1));
    let mut number = 0;
    let mut lines = String::new();
    for line in TRIVIA.lines() {
        let chosen = match right(number) % 3 {
            0 => "a",
            1 => "b",
            _ => "c",
        };
        number += usize::from(line.contains("right"));
        lines.push_str(&line.replace("{right}", chosen));
        lines.push('\n');
    }
    lines.replace("{start}", &format!("{start:?}")).replace("{end}", &format!("{end:?}"))
}

/// Rewards of every kind.
pub const REWARDS: &str = include_str!("rewards.toml");

/// The service of one test. When this value is dropped, it shuts down in order and its database is removed.
pub struct TestService {
    address: SocketAddr,
    app: Arc<App>,
    storage: Storage,
    clock: FlowingClock,
    contract: Arc<Contract>,
    runtime: Runtime,
    stop: Option<oneshot::Sender<()>>,
    server: Option<JoinHandle<std::io::Result<()>>>,
    pictures: TempDir,
    /// The number of processes that share the database: each uses different seeds.
    siblings: AtomicU64,
    // Dropped last, when all connections are closed.
    database: Arc<TestDatabase>,
}

/// Builds a service with settings that differ from the defaults.
pub struct ServiceBuilder {
    kind: DatabaseKind,
    app: AppConfig,
    web: WebConfig,
    catalogue: bool,
    run_twice: bool,
    sandbox: bool,
    provider: Option<Arc<dyn PaymentProvider>>,
    wallets: Option<Arc<dyn WalletProvider>>,
    push: Option<(Arc<dyn PushSender>, PushRender)>,
    minter: Option<Arc<dyn Minter>>,
}

impl TestService {
    /// Starts a service with default test settings: a small catalogue, no rate limits, cheap passwords, a dry run
    /// before every command.
    ///
    /// # Errors
    ///
    /// Returns an error if no such database is available, or the service does not start.
    pub fn start(kind: DatabaseKind) -> Result<Self> {
        Self::builder(kind).start()
    }

    /// A builder for a service with other settings.
    pub fn builder(kind: DatabaseKind) -> ServiceBuilder {
        ServiceBuilder {
            kind,
            app: AppConfig {
                password_cost: PasswordCost { memory_kib: 8, passes: 1 },
                // In tests, fans buy right after they register.
                new_account_age: Duration::ZERO,
                ..AppConfig::default()
            },
            web: WebConfig {
                limits: LimitConfig::off(),
                cron_secret: Some(CronSecret::new(CRON_SECRET)),
                workers: Some(2),
                shutdown_timeout: Duration::from_secs(1),
                // Streams end soon, like ordinary responses; tests of streams set a longer life.
                streams: StreamConfig { life: Duration::from_millis(100), ..StreamConfig::default() },
                ..WebConfig::default()
            },
            catalogue: true,
            run_twice: true,
            sandbox: false,
            provider: None,
            wallets: None,
            push: None,
            minter: None,
        }
    }

    /// Another process of the service on the same database and clock, with changed settings.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not start.
    pub fn beside(&self, change: impl FnOnce(&mut WebConfig)) -> Result<Self> {
        let builder = Self::builder(self.storage.kind()).web(change);
        let number = self.siblings.fetch_add(1, Ordering::SeqCst) + 1;
        builder.start_on(Arc::clone(&self.database), self.clock.clone(), number)
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The origin of its URLs.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The use cases.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// The store.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The URL of its database.
    pub fn database_url(&self) -> &str {
        self.database.url()
    }

    /// The folder of its pictures.
    pub fn pictures(&self) -> &Path {
        self.pictures.path()
    }

    /// Its clock, which a test can advance.
    pub fn clock(&self) -> &FlowingClock {
        &self.clock
    }

    /// The contract of its responses.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// A client that is not signed in, such as curl with a cookie jar.
    pub fn client(&self) -> Client {
        Client::new(self.url(), Arc::clone(&self.contract))
    }

    /// A client that sends the headers of a browser on the service's own pages.
    pub fn browser(&self) -> Client {
        self.client().browsing()
    }

    /// Registers a fan with the password [`PASSWORD`] and returns the client with the session cookie.
    pub fn fan(&self, name: &str) -> Client {
        let client = self.client();
        client.register(name);
        client
    }

    /// Registers a fan and returns a native client with an access token.
    pub fn mobile_fan(&self, name: &str) -> Client {
        self.fan(name);
        self.client().mobile_login(name)
    }

    /// Runs a future to completion.
    pub fn run<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }
}

/// The secret of every test service.
const SECRET: [u8; 32] = [7; 32];

/// The key that seals cursors in every test service.
pub fn cursor_seal() -> CursorSeal {
    CursorSeal::new(&SecretKey::from_bytes(SECRET))
}

/// The key that signs sandbox webhooks in every test service.
pub fn sandbox_secret() -> WebhookSecret {
    Sandbox::secret(&SecretKey::from_bytes(SECRET))
}

/// The password of every fan that tests register.
pub const PASSWORD: &str = "up the terrace";

/// The secret that authorises cron requests in every test service.
pub const CRON_SECRET: &str = "the groundsman's key to the cron shed";

impl ServiceBuilder {
    /// Sets rate limits.
    #[must_use]
    pub fn limits(mut self, limits: LimitConfig) -> Self {
        self.web.limits = limits;
        self
    }

    /// Sets the public URL.
    ///
    /// # Panics
    ///
    /// Panics if the text is not a valid URL.
    #[must_use]
    pub fn public_url(mut self, url: &str) -> Self {
        self.web.public_url = Some(url.parse().expect("a public URL"));
        self
    }

    /// Changes the configuration of the use cases.
    #[must_use]
    pub fn app(mut self, change: impl FnOnce(&mut AppConfig)) -> Self {
        change(&mut self.app);
        self
    }

    /// Changes the configuration of the web layer.
    #[must_use]
    pub fn web(mut self, change: impl FnOnce(&mut WebConfig)) -> Self {
        change(&mut self.web);
        self
    }

    /// Leaves out leagues and teams.
    #[must_use]
    pub fn without_catalogue(mut self) -> Self {
        self.catalogue = false;
        self
    }

    /// Uses a minter whose reports are signed with [`sandbox_secret`].
    ///
    /// # Panics
    ///
    /// Never: its URL is valid.
    #[must_use]
    pub fn with_minter(mut self) -> Self {
        // Nothing is sent to it: the tests of services do not run deliveries.
        let nowhere = "http://127.0.0.1:9/".parse().expect("a URL");
        self.minter = Some(Arc::new(MintingWebhook::new(nowhere, sandbox_secret())));
        self
    }

    /// Uses this wallet provider.
    #[must_use]
    pub fn wallets(mut self, provider: Arc<dyn WalletProvider>) -> Self {
        self.wallets = Some(provider);
        self
    }

    /// Uses this sender of push messages, which `render` renders.
    #[must_use]
    pub fn push(mut self, sender: Arc<dyn PushSender>, render: PushRender) -> Self {
        self.push = Some((sender, render));
        self
    }

    /// Uses the sandbox as the payment provider, which reports payments over the network.
    #[must_use]
    pub fn with_sandbox(mut self) -> Self {
        self.sandbox = true;
        self
    }

    /// Uses this payment provider.
    #[must_use]
    pub fn paid_to(mut self, provider: Arc<dyn PaymentProvider>) -> Self {
        self.provider = Some(provider);
        self
    }

    /// Executes every command once, without a dry run, as in production.
    #[must_use]
    pub fn without_dry_run(mut self) -> Self {
        self.run_twice = false;
        self
    }

    /// Starts the service, and returns when it listens.
    ///
    /// # Errors
    ///
    /// Returns an error if no such database is available, or the service does not start.
    pub fn start(self) -> Result<TestService> {
        let clock = FlowingClock::default();
        let database = TestDatabase::migrated(self.kind, |url| {
            let entropy = Arc::new(SeededEntropy::default());
            let storage = Storage::open(StorageConfig::new(url), Arc::new(clock.clone()), entropy)?;
            storage.migrate()?;
            storage.close();
            Ok(())
        })?;
        self.start_on(Arc::new(database), clock, 0)
    }

    /// Starts the service on a database that another service has filled, `ahead` of the time at which that one started.
    ///
    /// # Errors
    ///
    /// Returns an error if the service does not start.
    pub fn start_on_filled(self, database: TestDatabase, ahead: Duration) -> Result<TestService> {
        let clock = FlowingClock::default();
        clock.advance(ahead);
        // A number of its own, so that its ids differ from those in the database.
        self.start_on(Arc::new(database), clock, 1)
    }

    /// Starts the service on a database that other processes may share, as process `number`.
    fn start_on(self, database: Arc<TestDatabase>, clock: FlowingClock, number: u64) -> Result<TestService> {
        // Far enough apart that no two processes use the same seeds.
        let entropy: Arc<dyn Entropy> = Arc::new(SeededEntropy::new(number << 32));
        let config = StorageConfig {
            read_connections: 4,
            write_connections: 4,
            run_twice: self.run_twice,
            ..StorageConfig::new(database.url())
        };
        let storage = Storage::open(config, Arc::new(clock.clone()), Arc::clone(&entropy))?;
        let app =
            App::new(Arc::new(storage.clone()), Arc::new(clock.clone()), Arc::clone(&entropy), self.app);
        let pictures = tempfile::Builder::new().prefix("terrace-media-").tempdir()?;
        let app = app.with_media(Arc::new(MediaObjects::folder(pictures.path())?));
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let secret = SecretKey::from_bytes(SECRET);
        let mut app = app.with_secret(&secret);
        if self.sandbox {
            let to = format!("http://{address}/api/webhooks/payments").parse()?;
            let post = PostTo::new(Caller::new(Duration::from_secs(10)), to);
            app = app.with_sandbox(&secret, &format!("http://{address}"), Arc::new(post));
        }
        if let Some(provider) = self.provider {
            app = app.with_payments(provider, "https://fans.example");
        }
        if let Some(minter) = self.minter {
            app = app.with_minter(minter);
        }
        if let Some(provider) = self.wallets {
            app = app.with_wallets(provider);
        }
        if let Some((sender, render)) = self.push {
            app = app.with_push(sender, render);
        }
        let app = Arc::new(app);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(app.found_seasons())?;
        if self.catalogue {
            let catalogue = Catalogue::parse(LEAGUES, TEAMS)?;
            runtime.block_on(app.load_catalogue(catalogue))?;
            let quests = runtime.block_on(app.load_quests(QuestContent::parse(QUESTS)?));
            quests.map_err(|failure| anyhow!("cannot load the quests: {failure:?}"))?;
            let packs = runtime.block_on(app.load_packs(PackContent::parse(PACKS)?));
            packs.map_err(|failure| anyhow!("cannot load the packs: {failure:?}"))?;
            let shop = runtime.block_on(app.load_products(ShopContent::parse(PRODUCTS, SHIPPING)?));
            shop.map_err(|failure| anyhow!("cannot load the products: {failure:?}"))?;
            let rewards = runtime.block_on(app.load_rewards(RewardContent::parse(REWARDS)?));
            rewards.map_err(|failure| anyhow!("cannot load the rewards: {failure:?}"))?;
            let wheels = runtime.block_on(app.load_wheels(WheelContent::parse(WHEELS)?));
            wheels.map_err(|failure| anyhow!("cannot load the wheels: {failure:?}"))?;
            // Scheduled, so that a test can load rounds that begin at another time.
            let text = trivia(clock.now().plus(TRIVIA_AFTER), |number| number);
            let rounds = runtime.block_on(app.load_trivia(TriviaContent::parse(&text)?));
            rounds.map_err(|failure| anyhow!("cannot load the rounds: {failure:?}"))?;
        }
        let wiring = Wiring {
            app: Arc::clone(&app),
            on_demand: Arc::new(Upkeep),
            clock: Arc::new(clock.clone()),
            entropy,
            metrics: Some(metrics()?),
        };
        let (stop, stopped) = oneshot::channel();
        let server = serve(listener, wiring, self.web, stopped)?;
        let contract = Arc::new(Contract::read(address).context("the service does not answer")?);
        Ok(TestService {
            address,
            app,
            storage,
            clock,
            contract,
            runtime,
            stop: Some(stop),
            server: Some(server),
            pictures,
            siblings: AtomicU64::new(0),
            database,
        })
    }
}

/// A listening socket queues connections before they are accepted, so no wait is needed here.
fn serve(
    listener: TcpListener,
    wiring: Wiring,
    config: WebConfig,
    stopped: oneshot::Receiver<()>,
) -> Result<JoinHandle<std::io::Result<()>>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let listeners = Listeners { main: vec![listener], metrics: None };
    let (stop_models, models_stop) = watch::channel(false);
    let models = Arc::clone(&wiring.app).run_live_models(models_stop);
    let shutdown = async move {
        // A dropped sender means the same.
        let _ = stopped.await;
        stop_models.send_replace(true);
    };
    Ok(thread::Builder::new().name("terrace-http".to_owned()).spawn(move || {
        runtime.block_on(async move {
            let models = tokio::spawn(models);
            let served = terrace_web::serve(listeners, wiring, config, shutdown).await;
            models.await.map_err(std::io::Error::other)?;
            served
        })
    })?)
}

/// Metrics are global to the process: all services of a test binary share them.
fn metrics() -> Result<PrometheusHandle> {
    static METRICS: OnceLock<std::result::Result<PrometheusHandle, String>> = OnceLock::new();
    let installed = METRICS.get_or_init(|| terrace_web::install_metrics().map_err(|error| error.to_string()));
    installed.clone().map_err(|error| anyhow!(error))
}

impl TestService {
    /// Shuts down in order.
    ///
    /// # Errors
    ///
    /// Returns an error if the server failed.
    pub fn stop(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        let Some(server) = self.server.take() else { return Ok(()) };
        drop(self.stop.take());
        let outcome = server.join();
        self.storage.close();
        outcome.map_err(|_| anyhow!("the server's thread panicked"))?.context("the server failed")
    }
}

impl Drop for TestService {
    fn drop(&mut self) {
        let ended = self.end();
        assert!(ended.is_ok() || thread::panicking(), "{ended:?}");
    }
}
