//! All settings of the program. Flags, environment variables and `--help` are generated from them. The groups lie in the
//! files beside this one; what follows from several groups is computed here.

mod accounts;
mod edge;
mod hidden;
mod limits;
mod media;
mod minting;
mod push;
mod secrets;
mod store;
mod streams;
mod stripe;
mod trends;
mod wallets;
mod web;

pub(crate) use secrets::{read_secret, warn_of_secret_flags};
pub(crate) use wallets::WalletMode;

use crate::settings::accounts::AccountSettings;
use crate::settings::edge::EdgeSettings;
use crate::settings::limits::LimitSettings;
use crate::settings::media::MediaSettings;
use crate::settings::minting::MintSettings;
use crate::settings::push::PushSettings;
use crate::settings::secrets::SecretSettings;
use crate::settings::store::StoreSettings;
use crate::settings::streams::StreamSettings;
use crate::settings::stripe::StripeSettings;
use crate::settings::trends::TrendSettings;
use crate::settings::wallets::WalletSettings;
use crate::settings::web::WebSettings;
use anyhow::Context;
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::PathBuf;
use terrace_app::AppConfig;
use terrace_storage::{MediaObjects, StorageConfig};
use terrace_web::{PublicUrl, WebConfig};

/// Whether to load demo content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Demo {
    /// Into a new database, when only this machine can reach the service.
    Auto,
    /// Unless it is there already.
    Always,
    /// Not even into a new database.
    Never,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// The payment provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaymentMode {
    /// The sandbox if only this machine can reach the service; otherwise off.
    Auto,
    /// The sandbox on any address: no money moves, and buyers approve their own payments.
    Sandbox,
    /// Stripe: cards, with the key and the webhook's secret of its settings.
    Stripe,
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
    /// The folder with the content of a club. Without it, the content that comes with the program is used.
    #[arg(long, env = "TERRACE_CONTENT", global = true, value_name = "DIR")]
    pub(crate) content: Option<PathBuf>,
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
    pub(crate) stripe: StripeSettings,
    #[command(flatten)]
    pub(crate) wallets: WalletSettings,
    #[command(flatten)]
    pub(crate) push: PushSettings,
    #[command(flatten)]
    pub(crate) limits: LimitSettings,
}

impl Settings {
    pub(crate) fn database_url(&self) -> anyhow::Result<String> {
        let default = || format!("sqlite:{}", self.data_dir.join("terrace.db").display());
        Ok(self.secrets.database_url()?.unwrap_or_else(default))
    }

    /// The cron secret, if one is configured or was created by `maintain run cron-secret`.
    pub(crate) fn cron_secret(&self) -> anyhow::Result<Option<String>> {
        self.secrets.cron_secret(&self.made_cron_secret())
    }

    /// The file that contains the secret.
    pub(crate) fn secret_path(&self) -> PathBuf {
        self.secrets.secret_file.clone().unwrap_or_else(|| self.data_dir.join("secret"))
    }

    /// The default file of the cron secret; it may not exist.
    pub(crate) fn made_cron_secret(&self) -> PathBuf {
        self.data_dir.join("cron-secret")
    }

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
        self.store.apply(&mut config);
        Ok(config)
    }

    /// The configuration of the application.
    pub(crate) fn app(&self) -> AppConfig {
        let mut config = AppConfig::default();
        self.accounts.apply(&mut config);
        self.store.apply_retention(&mut config);
        self.trends.apply(&mut config);
        self.media.apply(&mut config);
        config
    }

    /// The configuration of the HTTP server, without the cron secret.
    pub(crate) fn web_config(&self) -> anyhow::Result<WebConfig> {
        let app = self.app();
        let config = self.web.apply(self.edge.apply(self.media.apply_web(WebConfig::default())));
        Ok(WebConfig {
            public_url: self.site()?,
            cookie_life: app.session_life.min(app.session_longest),
            limits: self.limits.config(self.rate_limits == Switch::On),
            streams: self.streams.config(),
            metrics_on_main: self.edge.metrics_on_main(self.metrics_listen.is_some()),
            ..config
        })
    }

    /// Whether the sandbox replaces a payment provider: if it was requested, and by default if only this machine can
    /// reach the service.
    pub(crate) fn has_sandbox(&self) -> anyhow::Result<bool> {
        Ok(match self.payments {
            PaymentMode::Sandbox => true,
            PaymentMode::Off | PaymentMode::Stripe => false,
            PaymentMode::Auto => self.is_only_here()?,
        })
    }

    /// Whether the sandbox keeps the wallets of fans.
    pub(crate) fn has_sandbox_wallets(&self) -> anyhow::Result<bool> {
        Ok(match self.wallets.mode {
            WalletMode::Sandbox => true,
            WalletMode::Off => false,
            WalletMode::Auto => self.wallets.url.is_none() && self.is_only_here()?,
        })
    }

    /// Whether only this machine can reach the service.
    fn is_only_here(&self) -> anyhow::Result<bool> {
        Ok(match self.site()? {
            Some(url) => url.is_loopback(),
            None => self.listen.ip().is_loopback(),
        })
    }

    /// The URL at which browsers reach the service, if configured.
    pub(crate) fn site(&self) -> anyhow::Result<Option<PublicUrl>> {
        let parsed = self.public_url.as_deref().map(str::parse).transpose();
        parsed.with_context(|| format!("--public-url {:?}", self.public_url.as_deref().unwrap_or_default()))
    }

    /// Whether `serve` loads demo content, and if so, whether only into a new database.
    pub(crate) fn demo_on_serve(&self) -> Option<OnlyIfNew> {
        match self.demo {
            // The demo content belongs to the teams and quests that come with the program.
            Demo::Auto if self.content.is_some() => None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn settings(arguments: &[&str]) -> Settings {
        Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap().settings
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
    fn the_sandbox_is_on_if_requested_or_if_the_service_is_local() {
        for (arguments, expected) in [
            (&[][..], true),
            (&["--payments", "off"], false),
            (&["--listen", "0.0.0.0:3004"], false),
            (&["--listen", "0.0.0.0:3004", "--payments", "sandbox"], true),
            // Behind a proxy on this machine, clients come from anywhere.
            (&["--public-url", "https://fans.example"], false),
            (&["--public-url", "https://fans.example", "--payments", "sandbox"], true),
            (&["--listen", "0.0.0.0:3004", "--public-url", "http://localhost:3004"], true),
            (&["--public-url", "http://127.0.0.1:3004", "--payments", "off"], false),
        ] {
            let settings = Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap().settings;
            assert_eq!(settings.has_sandbox().unwrap(), expected, "{arguments:?}");
        }
    }
}
