//! Settings of push messages.

use crate::settings::hidden::Hidden;
use crate::settings::secrets::text_or_file;
use anyhow::{Context, bail, ensure};
use clap::Args;
use std::path::PathBuf;
use terrace_outbound::{PUSH_HOSTS, PushHost, PushNetwork, VapidKeys, WebPush};
use terrace_web::PublicUrl;

/// Push messages.
#[derive(Debug, Args)]
#[command(next_help_heading = "Push messages")]
pub(crate) struct PushSettings {
    /// The private keys of push messages, which `terrace push keys` makes, separated by commas: the first is the one that
    /// browsers subscribe with, and the others are those of earlier subscriptions. Without one, no push messages are
    /// sent. Other users of the machine can read a flag's value in the process list: give it as `TERRACE_PUSH_KEY` or
    /// `TERRACE_PUSH_KEY_FILE`.
    #[arg(
        id = "push_key",
        long = "push-key",
        env = "TERRACE_PUSH_KEY",
        global = true,
        hide_env_values = true,
        value_name = "KEYS"
    )]
    key: Option<Hidden>,
    /// A file that holds the private keys of push messages, one in a line.
    #[arg(
        id = "push_key_file",
        long = "push-key-file",
        env = "TERRACE_PUSH_KEY_FILE",
        global = true,
        value_name = "FILE",
        conflicts_with = "push_key"
    )]
    key_file: Option<PathBuf>,
    /// How push services reach the operator: a mailto: or https: URL; the public URL if it is https, when not given.
    #[arg(
        id = "push_contact",
        long = "push-contact",
        env = "TERRACE_PUSH_CONTACT",
        global = true,
        value_name = "URL"
    )]
    contact: Option<String>,
    /// The hosts of push services that messages are sent to, separated by commas; `*.` stands for all hosts below one.
    #[arg(
        id = "push_hosts",
        long = "push-hosts",
        env = "TERRACE_PUSH_HOSTS",
        global = true,
        value_delimiter = ',',
        default_value = PUSH_HOSTS,
        value_name = "HOSTS"
    )]
    hosts: Vec<PushHost>,
}

impl PushSettings {
    /// The keys, if there are any.
    pub(crate) fn keys(&self) -> anyhow::Result<Option<VapidKeys>> {
        let text = text_or_file(self.key.as_ref(), self.key_file.as_deref())?;
        text.map(|text| text.parse().context("--push-key")).transpose()
    }

    /// The sender, if there are keys.
    pub(crate) fn sender(&self, site: Option<&PublicUrl>) -> anyhow::Result<Option<WebPush>> {
        let Some(keys) = self.keys()? else {
            ensure!(self.contact.is_none(), "there is a --push-contact and no --push-key-file");
            return Ok(None);
        };
        let contact = match (&self.contact, site) {
            (Some(contact), _) => contact.clone(),
            (None, Some(site)) if site.is_https() => site.to_string(),
            (None, _) => bail!("push messages need --push-contact: a mailto: or https: URL of the operator"),
        };
        let is_url = contact.starts_with("mailto:") || contact.starts_with("https://");
        ensure!(is_url && contact.is_ascii(), "--push-contact {contact:?} is no mailto: or https: URL");
        Ok(Some(WebPush::new(keys, contact, self.hosts.clone(), PushNetwork::default())))
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;

    const KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";

    #[test]
    fn push_messages_need_a_key_and_a_contact() {
        let sender = |arguments: &[&str]| {
            let cli = Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap();
            let site = cli.settings.site().unwrap();
            cli.settings.push.sender(site.as_ref()).map(|sender| sender.is_some())
        };
        let (key, contact) = (["--push-key", KEY], ["--push-contact", "mailto:club@example.org"]);
        assert!(!sender(&[]).unwrap());
        assert!(sender(&[key, contact].concat()).unwrap());
        assert!(sender(&[key, ["--public-url", "https://fans.example"]].concat()).unwrap());
        assert!(
            sender(&[key, contact, ["--push-hosts", "push.example.org,*.example.com"]].concat()).unwrap()
        );
        for wrong in [
            key.to_vec(),
            contact.to_vec(),
            [key, ["--push-contact", "club@example.org"]].concat(),
            [key, ["--public-url", "http://fans.example"]].concat(),
            [["--push-key", "short"], contact].concat(),
        ] {
            assert!(sender(&wrong).is_err(), "{wrong:?}");
        }
        assert!(Cli::try_parse_from(["terrace", "--push-hosts", "https://push.example.org"]).is_err());
    }
}
