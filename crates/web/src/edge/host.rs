//! The hosts under which the service answers.
//!
//! A page whose name an attacker points at this machine (DNS rebinding) has the same origin as the service for a
//! browser, but its requests carry the attacker's name in `Host`. The service therefore answers only under its public
//! URL's host, under hosts that the operator allows, and under hosts that no name server can redirect: loopback names
//! and addresses, and, where the service listens on a network without a public URL, any IP address.

use crate::edge::area::Area;
use crate::edge::config::WebConfig;
use crate::edge::origin::Host;
use crate::error::{ApiError, Code};
use actix_web::HttpRequest;
use actix_web::http::header;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

/// What a listener serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Serves {
    /// All routes.
    Main,
    /// Health and metrics only.
    Metrics,
}

/// The listener that accepted a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListenedOn {
    pub(crate) address: SocketAddr,
    pub(crate) serves: Serves,
}

impl ListenedOn {
    /// The listener of a request; `None` for a request without a connection, as in tests.
    pub(crate) fn of(req: &HttpRequest) -> Option<Self> {
        req.conn_data().copied()
    }
}

/// A host under which the service answers in addition to that of its public URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost(Allowed);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Allowed {
    Any,
    One(Host),
}

/// The text is neither a host name nor an address nor `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedHost;

impl fmt::Display for MalformedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a host name or an address without a port, such as terrace.internal, or *")
    }
}

impl std::error::Error for MalformedHost {}

impl FromStr for AllowedHost {
    type Err = MalformedHost;

    fn from_str(text: &str) -> Result<Self, MalformedHost> {
        match text.trim() {
            "*" => Ok(Self(Allowed::Any)),
            text => Host::parse(text).map(|host| Self(Allowed::One(host))).ok_or(MalformedHost),
        }
    }
}

impl AllowedHost {
    /// Whether it allows every host.
    pub fn is_any(&self) -> bool {
        self.0 == Allowed::Any
    }

    fn allows(&self, host: &Host) -> bool {
        match &self.0 {
            Allowed::Any => true,
            Allowed::One(allowed) => allowed == host,
        }
    }
}

/// The hosts in a request: of its target (RFC 9112 §3.2.2) and of its `Host` fields. `None` for one that is
/// not text.
fn named(req: &HttpRequest) -> impl Iterator<Item = Option<&str>> {
    let target = req.uri().authority().map(|authority| Some(authority.as_str()));
    let fields = req.headers().get_all(header::HOST).map(|value| value.to_str().ok());
    target.into_iter().chain(fields)
}

/// The host and port that a browser on this machine used, if the host is a loopback name or address and the port is
/// that of the listener.
fn local_authority(req: &HttpRequest) -> Option<&str> {
    let listened = ListenedOn::of(req)?;
    let mut names = named(req);
    let (authority, None) = (names.next()??, names.next()) else { return None };
    let (host, port) = Host::split(authority)?;
    (host.is_loopback() && port.unwrap_or(80) == listened.address.port()).then_some(authority)
}

/// The origin of a buyer, if it is a loopback origin on which the service listens: the session cookie is valid there and
/// not under another loopback name. `None` with a public URL, which is used whatever the request's host is.
pub(crate) fn loopback_origin(req: &HttpRequest, config: &WebConfig) -> Option<String> {
    if config.public_url.is_some() {
        return None;
    }
    local_authority(req).map(|authority| format!("http://{}", authority.to_ascii_lowercase()))
}

/// Whether the request has at least one host and all its hosts are loopback names or addresses.
pub(crate) fn is_loopback(req: &HttpRequest) -> bool {
    let mut names = named(req).peekable();
    names.peek().is_some()
        && names.all(|name| name.and_then(Host::split).is_some_and(|(host, _)| host.is_loopback()))
}

/// Refuses a request under a host that the service does not serve. A request without a host (HTTP/1.0) comes
/// from no browser and passes. Health checks pass under any host.
pub(crate) fn check(req: &HttpRequest, config: &WebConfig) -> Result<(), ApiError> {
    if Area::of(req) == Area::Health {
        return Ok(());
    }
    let listened = ListenedOn::of(req);
    for name in named(req) {
        let host = name.and_then(Host::split).map(|(host, _)| host);
        let host = host.ok_or_else(|| ApiError::invalid_request("the host of the request cannot be read"))?;
        if !is_answered(&host, listened, config) {
            return Err(ApiError::new(
                Code::MisdirectedRequest,
                "the service does not answer under the host of this request; its operator sets the address that \
                 browsers use with --public-url, and further hosts with --allowed-hosts",
            ));
        }
    }
    Ok(())
}

fn is_answered(host: &Host, listened: Option<ListenedOn>, config: &WebConfig) -> bool {
    if host.is_loopback() || config.allowed_hosts.iter().any(|allowed| allowed.allows(host)) {
        return true;
    }
    let on_loopback = listened.is_none_or(|listened| listened.address.ip().is_loopback());
    if listened.is_some_and(|listened| listened.serves == Serves::Metrics) && !on_loopback {
        return true;
    }
    match &config.public_url {
        Some(url) => url.is_at(host),
        None => !on_loopback && host.is_address(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(
        host: &str,
        address: &str,
        serves: Serves,
        public_url: Option<&str>,
        allowed: &[&str],
    ) -> bool {
        let config = WebConfig {
            public_url: public_url.map(|url| url.parse().unwrap()),
            allowed_hosts: allowed.iter().map(|host| host.parse().unwrap()).collect(),
            ..WebConfig::default()
        };
        let source = ListenedOn { address: address.parse().unwrap(), serves };
        is_answered(&Host::parse(host).unwrap(), Some(source), &config)
    }

    #[test]
    fn a_loopback_listener_answers_under_loopback_hosts_only() {
        for (host, expected) in [
            ("localhost", true),
            ("LOCALHOST.", true),
            ("terrace.localhost", true),
            ("127.0.0.1", true),
            ("127.9.9.9", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("notlocalhost", false),
            ("127.0.0.1.evil.example", false),
            ("192.168.1.5", false),
            ("0.0.0.0", false),
        ] {
            for listener in ["127.0.0.1:3004", "[::1]:3004"] {
                for serves in [Serves::Main, Serves::Metrics] {
                    assert_eq!(answered(host, listener, serves, None, &[]), expected, "{host} {listener}");
                }
            }
        }
    }

    #[test]
    fn a_network_listener_answers_under_addresses_and_configured_hosts() {
        let url = Some("https://fans.example");
        for (host, public_url, allowed, expected) in [
            ("192.168.1.5", None, &[][..], true),
            ("[2001:db8::1]", None, &[], true),
            ("localhost", None, &[], true),
            ("fans.example", None, &[], false),
            ("fans.example", None, &["fans.example"], true),
            ("Fans.Example.", url, &[], true),
            ("localhost", url, &[], true),
            ("192.168.1.5", url, &[], false),
            ("192.168.1.5", url, &["192.168.1.5"], true),
            ("evil.example", url, &[], false),
            ("evil.example", url, &["terrace.internal"], false),
            ("terrace.internal", url, &["terrace.internal"], true),
            ("evil.example", None, &["*"], true),
        ] {
            let found = answered(host, "0.0.0.0:3004", Serves::Main, public_url, allowed);
            assert_eq!(found, expected, "{host} {public_url:?} {allowed:?}");
        }
        assert!(answered("terrace", "10.0.0.7:9464", Serves::Metrics, url, &[]));
    }

    #[test]
    fn allowed_hosts_are_hosts_without_ports() {
        for wrong in ["", "a b", "terrace:3004", "https://terrace", "a/b", "[::1", "a@b"] {
            assert_eq!(wrong.parse::<AllowedHost>(), Err(MalformedHost), "{wrong}");
        }
    }
}
