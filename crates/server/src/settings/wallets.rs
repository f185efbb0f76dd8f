//! Settings of the wallet provider.

use crate::settings::hidden::Hidden;
use crate::settings::secrets::text_or_file;
use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_app::wallets::Network;
use terrace_outbound::{Endpoint, WalletWebhook};

/// Who keeps the wallets of fans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WalletMode {
    /// The provider at --wallet-url; without one the sandbox if only this machine can reach the service; otherwise off.
    Auto,
    /// The sandbox on any address: its wallets exist on no network.
    Sandbox,
    /// No provider: no wallet can be requested.
    Off,
}

/// The wallet provider.
#[derive(Debug, Args)]
#[command(next_help_heading = "Wallets")]
pub(crate) struct WalletSettings {
    /// Who keeps the wallets of fans.
    #[arg(id = "wallets", long = "wallets", env = "TERRACE_WALLETS", global = true, value_enum, default_value_t = WalletMode::Auto)]
    pub(crate) mode: WalletMode,
    /// The URL at which the provider answers questions about wallets.
    #[arg(
        id = "wallet_url",
        long = "wallet-url",
        env = "TERRACE_WALLET_URL",
        global = true,
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) url: Option<Endpoint>,
    /// The networks on which the provider keeps wallets, separated by commas.
    #[arg(
        id = "wallet_networks",
        long = "wallet-networks",
        env = "TERRACE_WALLET_NETWORKS",
        global = true,
        value_delimiter = ',',
        value_name = "NAMES"
    )]
    pub(crate) networks: Vec<Network>,
    /// The secret that these questions are signed with, 32 to 256 visible ASCII characters. Other users of the machine
    /// can read a flag's value in the process list: give it as `TERRACE_WALLET_SECRET` or `TERRACE_WALLET_SECRET_FILE`.
    #[arg(
        id = "wallet_secret",
        long = "wallet-secret",
        env = "TERRACE_WALLET_SECRET",
        global = true,
        hide_env_values = true,
        value_name = "SECRET"
    )]
    pub(crate) secret: Option<Hidden>,
    /// A file that holds the secret of the wallet provider.
    #[arg(
        id = "wallet_secret_file",
        long = "wallet-secret-file",
        env = "TERRACE_WALLET_SECRET_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "wallet_secret"
    )]
    pub(crate) secret_file: Option<PathBuf>,
}

impl WalletSettings {
    /// The provider at the configured address, if there is one.
    pub(crate) fn webhook(&self) -> anyhow::Result<Option<WalletWebhook>> {
        let secret = text_or_file(self.secret.as_ref(), self.secret_file.as_deref())?;
        let Some(url) = &self.url else {
            ensure!(secret.is_none(), "there is a secret of a wallet provider and no --wallet-url");
            ensure!(self.networks.is_empty(), "there are --wallet-networks and no --wallet-url");
            return Ok(None);
        };
        if self.mode != WalletMode::Auto {
            bail!("--wallet-url goes with --wallets auto only");
        }
        ensure!(!self.networks.is_empty(), "a wallet provider needs --wallet-networks");
        let Some(secret) = secret else {
            bail!("a wallet provider needs a secret that questions are signed with: --wallet-secret-file")
        };
        let secret = WebhookSecret::new(&secret).context("--wallet-secret")?;
        Ok(Some(WalletWebhook::new(url.clone(), secret, self.networks.clone())))
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn a_wallet_provider_has_an_address_networks_and_a_secret_or_there_is_none() {
        let long = "s".repeat(32);
        let webhook = |arguments: &[&str]| {
            let cli = Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap();
            cli.settings.wallets.webhook().map(|webhook| webhook.is_some())
        };
        let url = ["--wallet-url", "https://wallets.example.test/hook"];
        let networks = ["--wallet-networks", "polygon,base"];
        let secret = ["--wallet-secret", long.as_str()];
        assert!(!webhook(&[]).unwrap());
        assert!(webhook(&[url, networks, secret].concat()).unwrap());
        for wrong in [
            [url, networks].concat(),
            [url, secret].concat(),
            networks.to_vec(),
            secret.to_vec(),
            [url, networks, ["--wallet-secret", "short"]].concat(),
            [url, networks, secret, ["--wallets", "sandbox"]].concat(),
        ] {
            assert!(webhook(&wrong).is_err(), "{wrong:?}");
        }
        assert!(Cli::try_parse_from(["terrace", "--wallet-networks", "Polygon"]).is_err());
    }
}
