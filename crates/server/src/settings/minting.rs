//! Settings of the minter, which is notified of collectibles that fans receive.

use crate::settings::hidden::Hidden;
use crate::settings::secrets::text_or_file;
use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_outbound::{Endpoint, MintingWebhook};

/// The minter, which is notified of minted collectibles.
#[derive(Debug, Args)]
#[command(next_help_heading = "Minting")]
pub(crate) struct MintSettings {
    /// The URL that each minted collectible is posted to; without one no notification is sent.
    #[arg(
        id = "minter_url",
        long = "minter-url",
        env = "TERRACE_MINTER_URL",
        global = true,
        hide_env_values = true,
        value_name = "URL"
    )]
    pub(crate) url: Option<Endpoint>,
    /// The secret that these messages are signed with, 32 to 256 visible ASCII characters. Other users of the machine
    /// can read a flag's value in the process list: give it as `TERRACE_MINTER_SECRET` or `TERRACE_MINTER_SECRET_FILE`.
    #[arg(
        id = "minter_secret",
        long = "minter-secret",
        env = "TERRACE_MINTER_SECRET",
        global = true,
        hide_env_values = true,
        value_name = "SECRET"
    )]
    pub(crate) secret: Option<Hidden>,
    /// A file that holds the secret of the minter.
    #[arg(
        id = "minter_secret_file",
        long = "minter-secret-file",
        env = "TERRACE_MINTER_SECRET_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "minter_secret"
    )]
    pub(crate) secret_file: Option<PathBuf>,
}

impl MintSettings {
    /// The minter, if one is configured.
    pub(crate) fn minter(&self) -> anyhow::Result<Option<MintingWebhook>> {
        let secret = text_or_file(self.secret.as_ref(), self.secret_file.as_deref())?;
        match (&self.url, secret) {
            (None, None) => Ok(None),
            (None, Some(_)) => bail!("there is a secret of a minter and no --minter-url"),
            (Some(_), None) => {
                bail!("a minter needs a secret that messages are signed with: --minter-secret-file")
            }
            (Some(url), Some(secret)) => {
                let secret = WebhookSecret::new(&secret).context("--minter-secret")?;
                Ok(Some(MintingWebhook::new(url.clone(), secret)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn a_minter_has_an_address_and_a_secret_or_there_is_none() {
        let long = "s".repeat(32);
        let minter = |arguments: &[&str]| {
            let cli = Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap();
            cli.settings.minting.minter().map(|minter| minter.is_some())
        };
        let url = ["--minter-url", "https://mint.example.test/hook"];
        assert!(!minter(&[]).unwrap());
        assert!(minter(&[&url[..], &["--minter-secret", &long]].concat()).unwrap());
        assert!(minter(&url).is_err());
        assert!(minter(&["--minter-secret", &long]).is_err());
        assert!(minter(&[&url[..], &["--minter-secret", "short"]].concat()).is_err());
        assert!(Cli::try_parse_from(["terrace", "--minter-url", "mint.example.test"]).is_err());
    }
}
