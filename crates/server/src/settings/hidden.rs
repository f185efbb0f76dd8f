//! Settings that must not appear in logs, errors or `{:?}`: secrets, and URLs with passwords.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// A text whose `Debug` output does not reveal it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Hidden(String);

impl Hidden {
    /// The text itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl FromStr for Hidden {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hidden(…)")
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn debug_output_of_settings_hides_secrets() {
        let secret = "a-secret-of-32-bytes-or-more-as-it-should-be";
        let url = format!("postgres://terrace:{secret}@db/terrace");
        let arguments = [
            ("--database-url", url.as_str()),
            ("--listen-database-url", &url),
            ("--read-database-url", &url),
            ("--cron-secret", secret),
            ("--minter-url", "https://mint.example.test/hook"),
            ("--minter-secret", secret),
            ("--wallet-url", "https://wallets.example.test/hook"),
            ("--wallet-networks", "polygon"),
            ("--wallet-secret", secret),
            ("--push-key", secret),
        ];
        let arguments = arguments.iter().flat_map(|(name, value)| [*name, *value]);
        let cli = Cli::try_parse_from(["terrace"].into_iter().chain(arguments)).unwrap();
        assert_eq!(cli.settings.database_url().unwrap(), url);
        assert_eq!(cli.settings.cron_secret().unwrap().as_deref(), Some(secret));
        assert!(cli.settings.minting.minter().unwrap().is_some());
        for shown in [
            format!("{cli:?}"),
            format!("{cli:#?}"),
            format!("{:?}", cli.settings.storage().unwrap()),
            format!("{:?}", cli.settings.minting.minter()),
            format!("{:?}", cli.settings.wallets.webhook()),
        ] {
            assert!(!shown.contains("as-it-should-be"), "{shown}");
        }
    }
}
