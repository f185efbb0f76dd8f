//! All settings of the program; flags, environment variables and `--help` are generated from them.

use crate::account::Account;
use crate::coins::CoinsCommand;
use crate::edge_settings::EdgeSettings;
use crate::legacy::Import;
use crate::maintenance::{RunArgs, Which};
use crate::media_settings::MediaSettings;
use crate::minting::MintSettings;
use crate::secret_settings::SecretSettings;
use crate::stream_settings::StreamSettings;
use crate::trend_settings::TrendSettings;
use crate::upkeep::SeasonCommand;
use anyhow::Context;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use terrace_app::{AppConfig, PasswordCost};
use terrace_storage::{MediaObjects, StorageConfig};
use terrace_web::{LimitConfig, Rate};

/// A fan engagement service: the locker room, quests, leaderboards and packs of a club or a league.
#[derive(Debug, Parser)]
#[command(name = "terrace", version, about, max_term_width = 110)]
pub(crate) struct Cli {
    /// The command; `serve` by default.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// What the program can do.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Command {
    /// Create or update the database, load the demo content if configured, and serve.
    Serve,
    /// Migrate the database's schema to the current version and exit.
    Migrate {
        /// Revert every migration instead: all data is lost.
        #[arg(long)]
        revert_all: bool,
    },
    /// Load the catalogue of leagues and teams (again), and with `--demo always` the demo content.
    Seed(Seed),
    /// Check, repair and maintain the data.
    #[command(subcommand)]
    Maintain(Maintain),
    /// Import the data of an older system.
    #[command(subcommand)]
    Import(Import),
    /// Copy an embedded database into a file while servers run on it.
    Backup {
        /// The file, which must not exist.
        file: PathBuf,
    },
    /// Replace an embedded database by a backup, while no server runs on it.
    Restore {
        /// The backup.
        file: PathBuf,
        /// Move an existing database aside instead of refusing.
        #[arg(long)]
        force: bool,
    },
    /// Check the configuration, the database and the machine; exits with 1 if a check fails.
    Doctor,
    /// Manage an account: suspend, restore, reset its password, grant it a role.
    #[command(subcommand)]
    Account(Account),
    /// Recompute the content of a pack from the response of its opening; exits with 1 if it differs.
    Verify {
        /// The response as JSON: a file, an http:// or https:// URL, or `-` for standard input.
        #[arg(value_name = "FILE|URL")]
        place: OsString,
    },
    /// Print the OpenAPI document of the HTTP interface.
    Openapi,
}

/// Additional content to load.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Seed {
    /// An edge list to import: a header line, then two numbers on each line, `from,to`. Each number is a fan, each
    /// line a mutual follow. Existing rows stay unchanged.
    #[arg(long, value_name = "FILE")]
    pub(crate) follow_graph: Option<PathBuf>,
    /// Refuse a follow graph with bad lines before anything is written, instead of skipping these lines.
    #[arg(long, requires = "follow_graph")]
    pub(crate) strict: bool,
}

/// The maintenance commands.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Maintain {
    /// List all tasks: what each does, and which tasks precede it.
    List,
    /// Show the order in which tasks would run.
    Plan(Which),
    /// Run tasks and the tasks that precede them, in order; servers may be running.
    Run(RunArgs),
    /// Show past runs: operator, time and result.
    History {
        /// The number of runs, newest first.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Compare every counter with the rows that it counts, boards with the ledger of points, and balances with the
    /// journal; exits with 1 if they disagree.
    Verify,
    /// Run every repair: recompute leaderboards from the ledger of points and balances from the journal, and finish
    /// interrupted operations; servers may be running.
    Repair {
        /// Only report what is wrong.
        #[arg(long)]
        dry_run: bool,
    },
    /// Start, close or list the seasons that points are counted in.
    #[command(subcommand)]
    Season(SeasonCommand),
    /// Give coins to a fan, or take coins back.
    #[command(subcommand)]
    Coins(CoinsCommand),
    /// Import completed quest steps from another system: one JSON object on each line with user, quest, step,
    /// completedAt and points. Existing completions stay unchanged; exits with 1 if a line matches nothing.
    ImportCompletions {
        /// The file.
        file: PathBuf,
        /// Only report the result; write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Queue messages to the minter for collectibles that were minted before it was configured. Messages that were
    /// sent are not sent again.
    MintEarlier,
    /// Send the messages again that the minter refused, and send delayed ones now.
    RetryMinting,
    /// Finish interrupted purchases for money: complete paid ones, expire unpaid ones, refund what is owed; servers
    /// may be running.
    Reconcile,
    /// Remove expired data: idempotency keys, ended sessions, old events, delivered messages, unused pictures.
    Sweep,
    /// Extract the topics of every post again, as the server does automatically after an update.
    BackfillTopics,
}

/// Whether to load demo content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Demo {
    /// Into a new database, when only this machine can reach the service.
    Auto,
    /// Unless it is there already.
    Always,
    /// Never.
    Never,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// The payment provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaymentMode {
    /// The sandbox if only this machine can reach the service; otherwise off.
    Auto,
    /// The sandbox on any address: no money moves, and buyers approve their own payments.
    Sandbox,
    /// No provider: nothing is sold for money.
    Off,
}

/// Every setting. Durations are in seconds unless their name says otherwise.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct Settings {
    /// Where to listen.
    #[arg(
        long,
        env = "TERRACE_LISTEN",
        global = true,
        default_value = "127.0.0.1:3004",
        value_name = "ADDRESS"
    )]
    pub(crate) listen: SocketAddr,
    /// The address under which browsers reach the service, such as `https://fans.example.org`.
    #[arg(long, env = "TERRACE_PUBLIC_URL", global = true, value_name = "URL")]
    pub(crate) public_url: Option<String>,
    /// Where to serve /metrics; on the main address, for clients on this machine, when not given.
    #[arg(long, env = "TERRACE_METRICS_LISTEN", global = true, value_name = "ADDRESS")]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// The folder for data outside the database, and for the embedded database itself.
    #[arg(long, env = "TERRACE_DATA_DIR", global = true, default_value = "data", value_name = "FOLDER")]
    pub(crate) data_dir: PathBuf,
    #[command(flatten)]
    pub(crate) secrets: SecretSettings,
    /// The payment provider.
    #[arg(long, env = "TERRACE_PAYMENTS", global = true, value_enum, default_value_t = PaymentMode::Auto)]
    pub(crate) payments: PaymentMode,
    /// Whether this process takes part in the periodic jobs; of many, one does each run.
    #[arg(long, env = "TERRACE_JOBS", global = true, value_enum, default_value_t = Switch::On)]
    pub(crate) jobs: Switch,
    /// Whether to load demo content.
    #[arg(long, env = "TERRACE_DEMO", global = true, value_enum, default_value_t = Demo::Auto)]
    pub(crate) demo: Demo,
    /// Whether to limit the request rate of accounts and addresses.
    #[arg(long, env = "TERRACE_RATE_LIMITS", global = true, value_enum, default_value_t = Switch::On)]
    pub(crate) rate_limits: Switch,
    #[command(flatten)]
    pub(crate) store: StoreSettings,
    #[command(flatten)]
    pub(crate) accounts: AccountSettings,
    #[command(flatten)]
    pub(crate) media: MediaSettings,
    #[command(flatten)]
    pub(crate) trends: TrendSettings,
    #[command(flatten)]
    pub(crate) web: WebSettings,
    #[command(flatten)]
    pub(crate) streams: StreamSettings,
    #[command(flatten)]
    pub(crate) edge: EdgeSettings,
    #[command(flatten)]
    pub(crate) minting: MintSettings,
    #[command(flatten)]
    pub(crate) limits: LimitSettings,
}

/// How the database is used.
#[derive(Debug, Args)]
#[command(next_help_heading = "Database")]
pub(crate) struct StoreSettings {
    /// Connections that read.
    #[arg(long, env = "TERRACE_READ_CONNECTIONS", global = true, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) read_connections: u32,
    /// Connections that write, on PostgreSQL; SQLite has one writer.
    #[arg(long, env = "TERRACE_WRITE_CONNECTIONS", global = true, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) write_connections: u32,
    /// How long to wait for a connection before answering 503.
    #[arg(
        long,
        env = "TERRACE_CHECKOUT_TIMEOUT",
        global = true,
        default_value_t = 3,
        value_name = "SECONDS"
    )]
    pub(crate) checkout_timeout: u64,
    /// How long one statement may take.
    #[arg(
        long,
        env = "TERRACE_STATEMENT_TIMEOUT",
        global = true,
        default_value_t = 10,
        value_name = "SECONDS"
    )]
    pub(crate) statement_timeout: u64,
    /// Statements that take longer are logged.
    #[arg(
        long,
        env = "TERRACE_SLOW_QUERY_MS",
        global = true,
        default_value_t = 250,
        value_name = "MILLISECONDS"
    )]
    pub(crate) slow_query_ms: u64,
    /// Commands that may wait for the writer before new ones are answered 503.
    #[arg(long, env = "TERRACE_WRITE_QUEUE", global = true, default_value_t = 4096)]
    pub(crate) write_queue: usize,
    /// Commands that share one commit at most, on SQLite.
    #[arg(long, env = "TERRACE_GROUP_LIMIT", global = true, default_value_t = 256)]
    pub(crate) group_limit: usize,
    /// Days that events stay readable.
    #[arg(long, env = "TERRACE_EVENT_DAYS", global = true, default_value_t = 7, value_name = "DAYS")]
    pub(crate) event_days: u64,
    /// Hours that idempotency keys and their answers are kept.
    #[arg(
        long,
        env = "TERRACE_IDEMPOTENCY_HOURS",
        global = true,
        default_value_t = 24,
        value_name = "HOURS"
    )]
    pub(crate) idempotency_hours: u64,
}

/// Sessions and passwords.
#[derive(Debug, Args)]
#[command(next_help_heading = "Accounts")]
pub(crate) struct AccountSettings {
    /// Days that a browser stays signed in.
    #[arg(long, env = "TERRACE_SESSION_DAYS", global = true, default_value_t = 90, value_name = "DAYS")]
    pub(crate) session_days: u64,
    /// Lifetime of an access token in minutes.
    #[arg(long, env = "TERRACE_ACCESS_MINUTES", global = true, default_value_t = 15, value_name = "MINUTES")]
    pub(crate) access_minutes: u64,
    /// Lifetime of a refresh token in days.
    #[arg(long, env = "TERRACE_REFRESH_DAYS", global = true, default_value_t = 60, value_name = "DAYS")]
    pub(crate) refresh_days: u64,
    /// Hours after registration during which an account may hold few unpaid copies of limited packs; 0 disables the
    /// limit.
    #[arg(
        long,
        env = "TERRACE_NEW_ACCOUNT_HOURS",
        global = true,
        default_value_t = 24,
        value_name = "HOURS"
    )]
    pub(crate) new_account_hours: u64,
    /// Maximum lifetime of a session in days, however it is used.
    #[arg(long, env = "TERRACE_SESSION_MAX_DAYS", global = true, default_value_t = 365, value_name = "DAYS")]
    pub(crate) session_max_days: u64,
    /// Passwords that are hashed concurrently.
    #[arg(long, env = "TERRACE_PASSWORD_WORKERS", global = true, default_value_t = 2, value_name = "COUNT")]
    pub(crate) password_workers: usize,
    /// Sign-ins that may wait for a worker before new ones are answered 503.
    #[arg(long, env = "TERRACE_PASSWORD_QUEUE", global = true, default_value_t = 64, value_name = "COUNT")]
    pub(crate) password_queue: usize,
    /// Memory of one Argon2id hash, in KiB.
    #[arg(long, env = "TERRACE_PASSWORD_MEMORY_KIB", global = true, default_value_t = 19_456, value_parser = clap::value_parser!(u32).range(8..=1_048_576))]
    pub(crate) password_memory_kib: u32,
    /// Passes of one Argon2id hash.
    #[arg(long, env = "TERRACE_PASSWORD_PASSES", global = true, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) password_passes: u32,
}

/// The HTTP server.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct WebSettings {
    /// Threads that serve; by default one per core.
    #[arg(long, env = "TERRACE_WORKERS", global = true, value_name = "COUNT")]
    pub(crate) workers: Option<usize>,
    /// Maximum number of connections of each worker.
    #[arg(
        long,
        env = "TERRACE_MAX_CONNECTIONS",
        global = true,
        default_value_t = 15_000,
        value_name = "COUNT"
    )]
    pub(crate) max_connections: usize,
    /// The largest JSON body, in bytes.
    #[arg(long, env = "TERRACE_JSON_LIMIT", global = true, default_value_t = 65_536, value_name = "BYTES")]
    pub(crate) json_limit: usize,
    /// How long a client may take to send its request's head.
    #[arg(long, env = "TERRACE_CLIENT_TIMEOUT", global = true, default_value_t = 10, value_name = "SECONDS")]
    pub(crate) client_timeout: u64,
    /// How long a client may take to send its request's body.
    #[arg(long, env = "TERRACE_BODY_TIMEOUT", global = true, default_value_t = 30, value_name = "SECONDS")]
    pub(crate) body_timeout: u64,
    /// How long an idle connection is kept.
    #[arg(long, env = "TERRACE_KEEP_ALIVE", global = true, default_value_t = 75, value_name = "SECONDS")]
    pub(crate) keep_alive: u64,
    /// How long /readyz fails before a stopping server refuses new connections.
    #[arg(long, env = "TERRACE_DRAIN_DELAY", global = true, default_value_t = 0, value_name = "SECONDS")]
    pub(crate) drain_delay: u64,
    /// How long requests in flight may take when the program stops.
    #[arg(
        long,
        env = "TERRACE_SHUTDOWN_TIMEOUT",
        global = true,
        default_value_t = 5,
        value_name = "SECONDS"
    )]
    pub(crate) shutdown_timeout: u64,
}

/// Request rates of an account, an address or a name: COUNT/SECONDS; bursts up to COUNT are allowed.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rate limits")]
pub(crate) struct LimitSettings {
    /// All requests of one address.
    #[arg(long = "limit-address", env = "TERRACE_LIMIT_ADDRESS", global = true, default_value = "6000/10", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) address: Rate,
    /// Reads of one account.
    #[arg(long = "limit-account-reads", env = "TERRACE_LIMIT_ACCOUNT_READS", global = true, default_value = "600/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) account_reads: Rate,
    /// Writes of one account.
    #[arg(long = "limit-account-writes", env = "TERRACE_LIMIT_ACCOUNT_WRITES", global = true, default_value = "120/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) account_writes: Rate,
    /// Reads of one address, signed out.
    #[arg(long = "limit-anonymous-reads", env = "TERRACE_LIMIT_ANONYMOUS_READS", global = true, default_value = "1200/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) anonymous_reads: Rate,
    /// Writes of one address, signed out.
    #[arg(long = "limit-anonymous-writes", env = "TERRACE_LIMIT_ANONYMOUS_WRITES", global = true, default_value = "120/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) anonymous_writes: Rate,
    /// Registrations from one address.
    #[arg(long = "limit-register", env = "TERRACE_LIMIT_REGISTER", global = true, default_value = "20/600", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) register: Rate,
    /// Logins and token refreshes from one address that fail.
    #[arg(long = "limit-login-address", env = "TERRACE_LIMIT_LOGIN_ADDRESS", global = true, default_value = "60/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) login_address: Rate,
    /// Logins under one name, from wherever.
    #[arg(long = "limit-login-name", env = "TERRACE_LIMIT_LOGIN_NAME", global = true, default_value = "10/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) login_name: Rate,
    /// Proofs of the password by one account: changes of the password and deletions of the account.
    #[arg(long = "limit-password-proof", env = "TERRACE_LIMIT_PASSWORD_PROOF", global = true, default_value = "10/60", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) password_proof: Rate,
    /// Exports of one account.
    #[arg(long = "limit-export", env = "TERRACE_LIMIT_EXPORT", global = true, default_value = "5/3600", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) export: Rate,
    /// Uploads of pictures of one account.
    #[arg(long = "limit-uploads", env = "TERRACE_LIMIT_UPLOADS", global = true, default_value = "30/600", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) uploads: Rate,
    /// Purchases for money that are started from one address.
    #[arg(long = "limit-purchases", env = "TERRACE_LIMIT_PURCHASES", global = true, default_value = "10/1800", value_name = "COUNT/SECONDS", value_parser = rate)]
    pub(crate) purchases: Rate,
}

impl Settings {
    /// Opens the storage for pictures; creates its folder if it is missing.
    pub(crate) fn open_media(&self) -> anyhow::Result<MediaObjects> {
        let opened = match &self.media.media_url {
            Some(url) => MediaObjects::open(url),
            None => MediaObjects::folder(&self.media_folder()),
        };
        opened.context("cannot open the place for pictures (--media-url)")
    }

    /// The folder for pictures, unless `--media-url` names another place.
    pub(crate) fn media_folder(&self) -> PathBuf {
        self.data_dir.join("media")
    }

    /// The configuration of the storage.
    pub(crate) fn storage(&self) -> anyhow::Result<StorageConfig> {
        let mut config = StorageConfig::new(self.database_url()?);
        config.listen_database_url = self.secrets.listen_database_url()?;
        config.read_database_url = self.secrets.read_database_url()?;
        config.read_connections = self.store.read_connections;
        config.write_connections = self.store.write_connections;
        config.checkout_timeout = Duration::from_secs(self.store.checkout_timeout);
        config.statement_timeout = Duration::from_secs(self.store.statement_timeout);
        config.slow_query = Duration::from_millis(self.store.slow_query_ms);
        config.write_queue = self.store.write_queue;
        config.group_limit = self.store.group_limit;
        Ok(config)
    }

    /// The configuration of the application.
    pub(crate) fn app(&self) -> AppConfig {
        const HOUR: u64 = 3600;
        const DAY: u64 = 24 * HOUR;
        let mut config = AppConfig {
            session_life: Duration::from_secs(self.accounts.session_days.saturating_mul(DAY)),
            access_life: Duration::from_secs(self.accounts.access_minutes.saturating_mul(60)),
            refresh_life: Duration::from_secs(self.accounts.refresh_days.saturating_mul(DAY)),
            session_longest: Duration::from_secs(self.accounts.session_max_days.saturating_mul(DAY)),
            idempotency_life: Duration::from_secs(self.store.idempotency_hours.saturating_mul(HOUR)),
            event_life: Duration::from_secs(self.store.event_days.saturating_mul(DAY)),
            password_cost: PasswordCost {
                memory_kib: self.accounts.password_memory_kib,
                passes: self.accounts.password_passes,
            },
            password_workers: self.accounts.password_workers,
            password_queue: self.accounts.password_queue,
            new_account_age: Duration::from_secs(self.accounts.new_account_hours.saturating_mul(HOUR)),
            ..AppConfig::default()
        };
        self.trends.apply(&mut config);
        self.media.apply(&mut config);
        config
    }

    /// The rate limits.
    pub(crate) fn limits(&self) -> LimitConfig {
        let LimitSettings {
            address,
            account_reads,
            account_writes,
            anonymous_reads,
            anonymous_writes,
            register,
            login_address,
            login_name,
            password_proof,
            export,
            uploads,
            purchases,
        } = self.limits;
        LimitConfig {
            enabled: self.rate_limits == Switch::On,
            address,
            account_reads,
            account_writes,
            anonymous_reads,
            anonymous_writes,
            register,
            login_address,
            login_name,
            password_proof,
            export,
            uploads,
            purchases,
        }
    }

    /// Whether `serve` loads demo content, and if so, whether only into a new database.
    pub(crate) fn demo_on_serve(&self) -> Option<OnlyIfNew> {
        match self.demo {
            Demo::Always => Some(OnlyIfNew(false)),
            // Demo accounts share a published password, so a reachable address does not get them by default.
            Demo::Auto if self.listen.ip().is_loopback() => Some(OnlyIfNew(true)),
            Demo::Auto | Demo::Never => None,
        }
    }
}

/// Whether demo content is loaded only into a database without accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OnlyIfNew(pub(crate) bool);

/// Parses COUNT/SECONDS.
fn rate(text: &str) -> Result<Rate, String> {
    let parse = |part: &str| part.parse::<u32>().ok().filter(|number| *number > 0);
    text.split_once('/')
        .and_then(|(count, seconds)| Some(Rate::new(parse(count)?, parse(seconds)?.into())))
        .ok_or_else(|| "expected COUNT/SECONDS, two whole numbers above zero, such as 60/10".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn settings(arguments: &[&str]) -> Settings {
        Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap().settings
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_are_accepted_before_and_after_the_command() {
        let before = Cli::try_parse_from(["terrace", "--listen", "127.0.0.1:1", "serve"]).unwrap();
        let after = Cli::try_parse_from(["terrace", "serve", "--listen", "127.0.0.1:1"]).unwrap();
        assert_eq!(before.settings.listen, after.settings.listen);
        assert_eq!(Cli::try_parse_from(["terrace"]).unwrap().command, None);
    }

    #[test]
    fn pictures_are_in_the_data_folder_by_default() {
        let folder = std::env::temp_dir().join(format!("terrace-settings-{}", std::process::id()));
        let data = folder.display().to_string();
        let at = |arguments: &[&str]| settings(&[&["--data-dir", &data], arguments].concat()).open_media();
        if settings(&[]).media.media_url.is_none() {
            assert!(at(&[]).is_ok() && folder.join("media").is_dir());
        }
        assert!(at(&["--media-url", &format!("file:{data}/elsewhere")]).is_ok());
        assert!(folder.join("elsewhere").is_dir());
        assert!(at(&["--media-url", "ftp://pictures"]).is_err());
        assert_eq!(at(&["--media-url", "s3://fans/pictures"]).is_ok(), cfg!(feature = "s3"));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn demo_accounts_are_not_put_on_a_reachable_address_by_default() {
        assert_eq!(settings(&["--demo", "auto"]).demo_on_serve(), Some(OnlyIfNew(true)));
        assert_eq!(settings(&["--demo", "auto", "--listen", "0.0.0.0:3004"]).demo_on_serve(), None);
        assert_eq!(settings(&["--demo", "never"]).demo_on_serve(), None);
        let always = settings(&["--demo", "always", "--listen", "0.0.0.0:3004"]);
        assert_eq!(always.demo_on_serve(), Some(OnlyIfNew(false)));
    }

    #[test]
    fn defaults_of_limits_match_the_web_crate() {
        assert_eq!(settings(&[]).limits(), LimitConfig::default());
        assert_eq!(settings(&["--limit-register", "3/5"]).limits().register, Rate::new(3, 5));
        for wrong in ["", "5", "0/5", "5/0", "-1/5", "a/b"] {
            let argument = format!("--limit-register={wrong}");
            assert!(Cli::try_parse_from(["terrace", &argument]).is_err(), "{wrong}");
        }
    }
}
