//! The payment provider: Stripe, the sandbox, or none.

use crate::settings::{PaymentMode, Settings};
use anyhow::bail;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use terrace_app::{App, SecretKey};
use terrace_outbound::{Caller, Endpoint, PostTo};

/// How long the sandbox waits for the service to accept its message.
const PATIENCE: Duration = Duration::from_secs(10);

/// Adds the payment provider to the application; `listening` is the address of the main listener.
pub(crate) fn with_payments(
    app: App,
    settings: &Settings,
    secret: &SecretKey,
    listening: SocketAddr,
) -> anyhow::Result<App> {
    if settings.payments == PaymentMode::Stripe {
        let stripe = settings.stripe.adapter()?;
        let Some(site) = settings.site()? else {
            bail!("--payments stripe needs --public-url, to which Stripe's page returns");
        };
        return Ok(app.with_payments(Arc::new(stripe), &site.to_string()));
    }
    if settings.stripe.is_set() {
        log::warn!("the settings of Stripe have no effect without --payments stripe");
    }
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
