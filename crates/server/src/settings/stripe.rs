//! Settings of Stripe, the card provider.

use crate::settings::hidden::Hidden;
use crate::settings::secrets::text_or_file;
use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use terrace_app::platform::webhooks::WebhookSecret;
use terrace_outbound::{Endpoint, Stripe, StripeKey};

/// Stripe, for `--payments stripe`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Payments")]
pub(crate) struct StripeSettings {
    /// The secret key of the Stripe account, `sk_…` or `rk_…`. Other users of the machine can read a flag's value in the
    /// process list: give it as `TERRACE_STRIPE_KEY` or `TERRACE_STRIPE_KEY_FILE`.
    #[arg(
        id = "stripe_key",
        long = "stripe-key",
        env = "TERRACE_STRIPE_KEY",
        global = true,
        hide_env_values = true,
        value_name = "KEY"
    )]
    pub(crate) key: Option<Hidden>,
    /// A file that holds the secret key of the Stripe account.
    #[arg(
        id = "stripe_key_file",
        long = "stripe-key-file",
        env = "TERRACE_STRIPE_KEY_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "stripe_key"
    )]
    pub(crate) key_file: Option<PathBuf>,
    /// The signing secret of the webhook endpoint at Stripe, `whsec_…`. Other users of the machine can read a flag's value in
    /// the process list: give it as `TERRACE_STRIPE_WEBHOOK_SECRET` or `TERRACE_STRIPE_WEBHOOK_SECRET_FILE`.
    #[arg(
        id = "stripe_webhook_secret",
        long = "stripe-webhook-secret",
        env = "TERRACE_STRIPE_WEBHOOK_SECRET",
        global = true,
        hide_env_values = true,
        value_name = "SECRET"
    )]
    pub(crate) webhook_secret: Option<Hidden>,
    /// A file that holds the signing secret of the webhook endpoint.
    #[arg(
        id = "stripe_webhook_secret_file",
        long = "stripe-webhook-secret-file",
        env = "TERRACE_STRIPE_WEBHOOK_SECRET_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "stripe_webhook_secret"
    )]
    pub(crate) webhook_secret_file: Option<PathBuf>,
    /// Where Stripe's API is.
    #[arg(
        id = "stripe_api",
        long = "stripe-api",
        env = "TERRACE_STRIPE_API",
        global = true,
        default_value = Stripe::API,
        value_name = "URL"
    )]
    pub(crate) api: Endpoint,
    /// How long Stripe has to answer, in seconds.
    #[arg(
        id = "stripe_timeout",
        long = "stripe-timeout",
        env = "TERRACE_STRIPE_TIMEOUT",
        global = true,
        default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=60),
        value_name = "SECONDS"
    )]
    pub(crate) timeout: u64,
}

impl StripeSettings {
    /// Whether something of Stripe is set.
    pub(crate) fn is_set(&self) -> bool {
        let of_key = self.key.is_some() || self.key_file.is_some();
        of_key || self.webhook_secret.is_some() || self.webhook_secret_file.is_some()
    }

    /// The provider, with secrets of the form that Stripe gives them.
    pub(crate) fn adapter(&self) -> anyhow::Result<Stripe> {
        let key = text_or_file(self.key.as_ref(), self.key_file.as_deref())?;
        let Some(key) = key else { bail!("--payments stripe needs --stripe-key-file") };
        let secret = text_or_file(self.webhook_secret.as_ref(), self.webhook_secret_file.as_deref())?;
        let Some(secret) = secret else { bail!("--payments stripe needs --stripe-webhook-secret-file") };
        let key = StripeKey::new(&key).context("--stripe-key-file")?;
        if !secret.trim().starts_with("whsec_") {
            bail!("--stripe-webhook-secret-file: the signing secret of an endpoint begins with whsec_");
        }
        let secret = WebhookSecret::new(&secret).context("--stripe-webhook-secret-file")?;
        if key.is_live() && self.api.to_string().starts_with("http:") {
            bail!("--stripe-api: a live key is sent over https only");
        }
        Ok(Stripe::new(self.api.clone(), key, secret, Duration::from_secs(self.timeout)))
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    #[test]
    fn stripe_has_a_key_and_a_secret_of_its_form() {
        let adapter = |arguments: &[&str]| {
            let cli = Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap();
            cli.settings.stripe.adapter().map_err(|error| format!("{error:#}"))
        };
        let (key, secret) = ("sk_test_4eC39HqLyjWDarjtT1zdp7dc", format!("whsec_{}", "s".repeat(32)));
        let whole = ["--stripe-key", key, "--stripe-webhook-secret", &secret];
        assert!(adapter(&whole).is_ok());
        let live = ["--stripe-key", "sk_live_x", "--stripe-webhook-secret", &secret];
        assert!(adapter(&live).is_ok());
        for wrong in [
            &[][..],
            &["--stripe-key", key],
            &["--stripe-webhook-secret", &secret],
            &["--stripe-key", "pk_test_public", "--stripe-webhook-secret", &secret],
            &["--stripe-key", key, "--stripe-webhook-secret", &"s".repeat(40)],
            &[&live[..], &["--stripe-api", "http://127.0.0.1:1"]].concat(),
        ] {
            let error = adapter(wrong).unwrap_err();
            assert!(!error.contains(key) && !error.contains("ssss"), "{error}");
        }
    }
}
