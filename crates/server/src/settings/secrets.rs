//! The settings that are secrets. Each can be given as a text or as a file that contains the text.

use crate::settings::hidden::Hidden;
use anyhow::{Context, bail};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use std::path::{Path, PathBuf};

/// The flags whose values are secrets, with the ids of their arguments.
const SECRET_FLAGS: [(&str, &str); 9] = [
    ("database_url", "--database-url"),
    ("listen_database_url", "--listen-database-url"),
    ("read_database_url", "--read-database-url"),
    ("cron_secret", "--cron-secret"),
    ("minter_secret", "--minter-secret"),
    ("stripe_key", "--stripe-key"),
    ("stripe_webhook_secret", "--stripe-webhook-secret"),
    ("wallet_secret", "--wallet-secret"),
    ("push_key", "--push-key"),
];

/// Secrets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SecretSettings {
    /// sqlite:PATH or postgres://…; by default sqlite:data/terrace.db (terrace.db in the data folder). Other users of
    /// the machine can read a flag's value in the process list: give a URL with a password as `DATABASE_URL` or
    /// `DATABASE_URL_FILE`.
    #[arg(long, env = "DATABASE_URL", global = true, hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<Hidden>,
    /// A file that holds the database URL.
    #[arg(
        long,
        env = "DATABASE_URL_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "database_url"
    )]
    pub(crate) database_url_file: Option<PathBuf>,
    /// A direct PostgreSQL address for notifications, where the database URL goes through a pooler. Other users of the
    /// machine can read a flag's value in the process list: give a URL with a password as `LISTEN_DATABASE_URL` or
    /// `LISTEN_DATABASE_URL_FILE`.
    #[arg(long, env = "LISTEN_DATABASE_URL", global = true, hide_env_values = true, value_name = "URL")]
    pub(crate) listen_database_url: Option<Hidden>,
    /// A file that holds the direct PostgreSQL address.
    #[arg(
        long,
        env = "LISTEN_DATABASE_URL_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "listen_database_url"
    )]
    pub(crate) listen_database_url_file: Option<PathBuf>,
    /// A replica of the database, for queries whose answers may be a little old. Other users of the machine can read a
    /// flag's value in the process list: give a URL with a password as `READ_DATABASE_URL` or `READ_DATABASE_URL_FILE`.
    #[arg(long, env = "READ_DATABASE_URL", global = true, hide_env_values = true, value_name = "URL")]
    pub(crate) read_database_url: Option<Hidden>,
    /// A file that holds the URL of the replica.
    #[arg(
        long,
        env = "READ_DATABASE_URL_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "read_database_url"
    )]
    pub(crate) read_database_url_file: Option<PathBuf>,
    /// The bearer secret of the routes under /api/cron, 32 bytes or more; without one they are closed. Other users of
    /// the machine can read a flag's value in the process list: give it as `TERRACE_CRON_SECRET` or
    /// `TERRACE_CRON_SECRET_FILE`.
    #[arg(long, env = "TERRACE_CRON_SECRET", global = true, hide_env_values = true, value_name = "SECRET")]
    pub(crate) cron_secret: Option<Hidden>,
    /// A file that holds the cron secret; the file `cron-secret` in the data folder, if there is one, when not given.
    #[arg(
        long,
        env = "TERRACE_CRON_SECRET_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "cron_secret"
    )]
    pub(crate) cron_secret_file: Option<PathBuf>,
    /// A file that holds the service's secret, 64 hexadecimal digits; the file `secret` in the data folder, which is made
    /// where it is missing, when not given. Processes that share a database share it.
    #[arg(long, env = "TERRACE_SECRET_FILE", global = true, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
}

impl SecretSettings {
    /// The database URL, if configured.
    pub(crate) fn database_url(&self) -> anyhow::Result<Option<String>> {
        text_or_file(self.database_url.as_ref(), self.database_url_file.as_deref())
    }

    /// The direct address for notifications, if configured.
    pub(crate) fn listen_database_url(&self) -> anyhow::Result<Option<String>> {
        text_or_file(self.listen_database_url.as_ref(), self.listen_database_url_file.as_deref())
    }

    /// The replica's URL, if configured.
    pub(crate) fn read_database_url(&self) -> anyhow::Result<Option<String>> {
        text_or_file(self.read_database_url.as_ref(), self.read_database_url_file.as_deref())
    }

    /// The cron secret, if one is configured or the file `made` exists.
    pub(crate) fn cron_secret(&self, made: &Path) -> anyhow::Result<Option<String>> {
        let secret = match text_or_file(self.cron_secret.as_ref(), self.cron_secret_file.as_deref())? {
            Some(secret) => secret,
            None if made.exists() => read_secret(made)?,
            None => return Ok(None),
        };
        if secret.len() < 32 {
            bail!("the cron secret has {} bytes; it needs 32 or more", secret.len());
        }
        Ok(Some(secret))
    }
}

/// A secret given as a text or as a file.
pub(crate) fn text_or_file(text: Option<&Hidden>, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    match (text, file) {
        (Some(text), _) => Ok(Some(text.expose().to_owned())),
        (None, Some(file)) => read_secret(file).map(Some),
        (None, None) => Ok(None),
    }
}

/// The content of a file, without the line break that editors append.
pub(crate) fn read_secret(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Logs one warning that names the flags of the command line whose values are secrets.
pub(crate) fn warn_of_secret_flags(matches: &ArgMatches) {
    let flags = secret_flags(matches);
    if !flags.is_empty() {
        log::warn!(
            "other users of this machine can read the value of a flag in the process list: give the secret as an \
             environment variable or a file, not as {}",
            flags.join(", ")
        );
    }
}

/// The flags on the command line whose values are secrets. A database URL without a password is not secret.
fn secret_flags(matches: &ArgMatches) -> Vec<&'static str> {
    let is_secret = |id: &str| {
        let value = matches.get_one::<Hidden>(id).map(Hidden::expose);
        matches.value_source(id) == Some(ValueSource::CommandLine)
            && value.is_some_and(|value| !id.ends_with("_url") || holds_password(value))
    };
    SECRET_FLAGS.iter().filter(|(id, _)| is_secret(id)).map(|(_, flag)| *flag).collect()
}

/// Whether a database URL contains a password, before its host or in its parameters.
fn holds_password(url: &str) -> bool {
    url.split_once("://").is_some_and(|(_, rest)| {
        rest.rsplit_once('@').is_some_and(|(account, _)| account.contains(':')) || rest.contains("password=")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use crate::settings::Settings;
    use clap::{CommandFactory, Parser};

    fn settings(arguments: &[&str]) -> Settings {
        Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap().settings
    }

    #[test]
    fn the_embedded_database_is_in_the_data_folder() {
        let settings = settings(&["--data-dir", "/srv/fans"]);
        if settings.secrets.database_url.is_none() {
            assert_eq!(settings.database_url().unwrap(), "sqlite:/srv/fans/terrace.db");
        }
    }

    #[test]
    fn a_short_cron_secret_is_refused() {
        assert!(settings(&["--cron-secret", "short"]).cron_secret().is_err());
        let long = "x".repeat(32);
        assert_eq!(settings(&["--cron-secret", &long]).cron_secret().unwrap(), Some(long));
    }

    type Read = fn(&Settings) -> anyhow::Result<Option<String>>;

    #[test]
    fn each_secret_is_read_from_its_file() {
        let folder = std::env::temp_dir().join(format!("terrace-secrets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("secret").display().to_string();
        let secret = "postgres://fan:pass@db/terrace?connect_timeout=10";
        std::fs::write(&file, format!("{secret}\r\n")).unwrap();
        let cases: [(&str, Read); 4] = [
            ("--database-url", |settings| settings.database_url().map(Some)),
            ("--listen-database-url", |settings| Ok(settings.storage()?.listen_database_url)),
            ("--read-database-url", |settings| Ok(settings.storage()?.read_database_url)),
            ("--cron-secret", Settings::cron_secret),
        ];
        for (flag, read) in cases {
            let from = |file: &str| read(&settings(&[&format!("{flag}-file"), file]));
            assert_eq!(from(&file).unwrap().as_deref(), Some(secret), "{flag}");
            let error = from("no-such-file").unwrap_err().to_string();
            assert_eq!(error, "cannot read no-such-file", "{flag}");
            let both = ["terrace", flag, secret, &format!("{flag}-file"), &file];
            assert!(Cli::try_parse_from(both).is_err(), "{flag}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Every argument that hides its environment variable, except the minter's address.
    #[test]
    fn the_help_of_each_secret_names_safer_ways() {
        let command = Cli::command();
        let secrets = || {
            command.get_arguments().filter(|argument| {
                // These addresses may contain a token, and are no secrets by themselves.
                let is_address = ["minter_url", "wallet_url"].contains(&argument.get_id().as_str());
                argument.is_hide_env_values_set() && !is_address
            })
        };
        for argument in secrets() {
            let id = argument.get_id().as_str();
            let variable = argument.get_env().unwrap().to_str().unwrap();
            let help = argument.get_help().unwrap().to_string();
            assert!(help.contains("in the process list"), "{id}: {help}");
            assert!(help.contains(&format!("`{variable}` or `{variable}_FILE`")), "{id}: {help}");
            let file = command.get_arguments().find(|other| other.get_id().as_str() == format!("{id}_file"));
            let file = file.and_then(|file| file.get_env()).and_then(|variable| variable.to_str());
            assert_eq!(file, Some(format!("{variable}_FILE").as_str()), "{id}");
        }
        let named = secrets().map(|argument| {
            (argument.get_id().as_str(), format!("--{}", argument.get_long().unwrap_or_default()))
        });
        assert_eq!(
            named.collect::<Vec<_>>(),
            SECRET_FLAGS.map(|(id, flag)| (id, flag.to_owned())),
            "the list is complete"
        );
    }

    #[test]
    fn flags_with_secrets_are_found_at_any_position() {
        let url = "postgres://fan:pass@db/terrace";
        for (arguments, expected) in [
            (&["serve"][..], &[][..]),
            (&["--database-url", url], &["--database-url"]),
            (&["serve", "--database-url", url], &["--database-url"]),
            (
                &["--read-database-url", url, "maintain", "sweep", "--listen-database-url", url],
                &["--listen-database-url", "--read-database-url"],
            ),
            (&["--cron-secret", "x", "--minter-secret", "y"], &["--cron-secret", "--minter-secret"]),
            (&["--database-url", "postgres://db/terrace?user=fan&password=pass"], &["--database-url"]),
            (&["--database-url", "postgres://fan@db:5432/terrace"], &[]),
            (&["--database-url", "sqlite:data/terrace.db"], &[]),
            (&["--database-url-file", "url", "--cron-secret-file", "secret"], &[]),
        ] {
            let matches = Cli::command().try_get_matches_from([&["terrace"], arguments].concat()).unwrap();
            assert_eq!(secret_flags(&matches), expected, "{arguments:?}");
        }
    }
}
