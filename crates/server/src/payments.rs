//! The payment provider: the sandbox, or none.

use crate::settings::{PaymentMode, Settings};
use anyhow::Context;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use terrace_app::{App, SecretKey};
use terrace_outbound::{Caller, Endpoint, PostTo};
use terrace_web::PublicUrl;

/// How long the sandbox waits for the service to accept its message.
const PATIENCE: Duration = Duration::from_secs(10);

impl Settings {
    /// Whether the sandbox replaces a payment provider: if it was requested, and by default if only this machine can
    /// reach the service.
    pub(crate) fn has_sandbox(&self) -> anyhow::Result<bool> {
        Ok(match self.payments {
            PaymentMode::Sandbox => true,
            PaymentMode::Off => false,
            PaymentMode::Auto => match self.site()? {
                Some(url) => url.is_loopback(),
                None => self.listen.ip().is_loopback(),
            },
        })
    }

    /// The URL at which browsers reach the service, if configured.
    pub(crate) fn site(&self) -> anyhow::Result<Option<PublicUrl>> {
        let parsed = self.public_url.as_deref().map(str::parse).transpose();
        parsed.with_context(|| format!("--public-url {:?}", self.public_url.as_deref().unwrap_or_default()))
    }
}

/// Adds the payment provider to the application; `listening` is the address of the main listener.
pub(crate) fn with_payments(
    app: App,
    settings: &Settings,
    secret: &SecretKey,
    listening: SocketAddr,
) -> anyhow::Result<App> {
    if !settings.has_sandbox()? {
        return Ok(app);
    }
    log::warn!(
        "payments go to the sandbox: no money moves, and an approval counts as paid (--payments off disables it)"
    );
    let site = settings.site()?.map_or_else(|| browsable(listening), |url| url.to_string());
    let to: Endpoint = format!("http://{}/api/webhooks/payments", reachable(listening)).parse()?;
    let post = PostTo::new(Caller::new(PATIENCE), to);
    Ok(app.with_sandbox(secret, &site, Arc::new(post)))
}

/// The address at which this machine reaches its own listener.
fn reachable(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, listening.port())
}

/// The address as a URL for a browser on this machine.
pub(crate) fn browsable(address: SocketAddr) -> String {
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        format!("http://localhost:{}", address.port())
    } else {
        format!("http://{address}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Cli;
    use clap::Parser;

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

    #[test]
    fn a_machine_reaches_itself_where_it_listens() {
        for (listening, reached) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.0.2.7:80", "192.0.2.7:80"),
            ("127.0.0.1:3004", "127.0.0.1:3004"),
        ] {
            assert_eq!(reachable(listening.parse().unwrap()).to_string(), reached);
        }
    }
}
