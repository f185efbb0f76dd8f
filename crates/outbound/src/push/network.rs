//! Where messages may be sent to: hosts of a list, at public addresses, which are checked when a connection is made.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The push services of the common browsers.
pub const PUSH_HOSTS: &str =
    "fcm.googleapis.com,*.push.services.mozilla.com,*.notify.windows.com,*.push.apple.com";

/// A host, or with `*.` all hosts below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushHost(String);

/// The text is no name of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a host such as push.example.org is wanted, or *.example.org for all below it")]
pub struct MalformedPushHost;

impl FromStr for PushHost {
    type Err = MalformedPushHost;

    fn from_str(text: &str) -> Result<Self, MalformedPushHost> {
        let name = text.strip_prefix("*.").unwrap_or(text);
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'.';
        let is_name = name.contains('.') && name.bytes().all(is_plain);
        if is_name { Ok(Self(text.to_owned())) } else { Err(MalformedPushHost) }
    }
}

impl PushHost {
    pub(super) fn has(&self, host: &str) -> bool {
        match self.0.strip_prefix('*') {
            Some(end) => host.len() > end.len() && host.ends_with(end),
            None => self.0 == host,
        }
    }
}

/// Whether an address is one of the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_special = match address.octets() {
        // This network, private networks, the machine itself, multicast and reserved addresses.
        [0 | 10 | 127 | 224..=255, ..]
        // Networks of providers behind one address (CGNAT), link-local and private networks.
        | [100, 64..=127, ..]
        | [169, 254, ..]
        | [172, 16..=31, ..]
        | [192, 168, ..]
        // Protocol assignments, documentation, the former relays of 6to4, and benchmarks.
        | [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 18..=19, ..]
        | [198, 51, 100, _]
        | [203, 0, 113, _] => true,
        _ => false,
    };
    !is_special
}

/// Global unicast is `2000::/3`. All others are refused, such as `::1`, `fe80::/10`, `fc00::/7` and `::ffff:0:0/96`, which
/// stands for an IPv4 address.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // A translator to IPv4 (RFC 6052).
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Protocol assignments with Teredo, documentation, and 6to4, which holds an IPv4 address.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x2002, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

/// How push services are reached.
#[derive(Debug)]
pub struct PushNetwork {
    resolver: Box<dyn Resolver>,
    may_connect: fn(IpAddr) -> bool,
    pub(super) roots: RootCerts,
}

impl Default for PushNetwork {
    /// By the system's names, at public addresses, with the certificates that browsers trust.
    fn default() -> Self {
        Self {
            resolver: Box::new(DefaultResolver::default()),
            may_connect: is_public,
            roots: RootCerts::WebPki,
        }
    }
}

impl PushNetwork {
    /// Looks names up elsewhere.
    #[must_use]
    pub fn resolved_by(self, resolver: impl Resolver) -> Self {
        Self { resolver: Box::new(resolver), ..self }
    }

    /// Trusts this certificate alone, and also connects to the addresses for which `also` holds: for tests with a
    /// server on the same machine.
    #[must_use]
    pub fn trusting(self, root: &Certificate<'static>, also: fn(IpAddr) -> bool) -> Self {
        Self { roots: RootCerts::new_with_certs(std::slice::from_ref(root)), may_connect: also, ..self }
    }
}

/// A name leads to no address that messages are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host has no public address")]
pub(super) struct NoPublicAddress;

/// A connection is made to the addresses that this returns and to no others: a name that leads elsewhere the next time is
/// checked again.
impl Resolver for PushNetwork {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.resolver.resolve(uri, config, timeout)?;
        let mut public = self.empty();
        for address in found.iter().filter(|address| (self.may_connect)(address.ip())) {
            public.push(*address);
        }
        if public.is_empty() { Err(ureq::Error::Other(Box::new(NoPublicAddress))) } else { Ok(public) }
    }
}

impl fmt::Display for PushHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_connected_to() {
        for public in ["8.8.8.8", "100.63.0.1", "172.32.0.1", "2a00:1450:4001::1", "64:ff9b::808:808"] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for other in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "fe80::1",
            "fc00::1",
            "fd00::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "64:ff9b::a00:1",
            "64:ff9b:1::808:808",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "100::1",
        ] {
            assert!(!is_public(other.parse().unwrap()), "{other}");
        }
    }

    #[test]
    fn a_host_is_named_or_below_a_name() {
        let hosts: Vec<PushHost> = PUSH_HOSTS.split(',').map(|host| host.parse().unwrap()).collect();
        let has = |host: &str| hosts.iter().any(|listed| listed.has(host));
        for listed in ["fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"] {
            assert!(has(listed), "{listed}");
        }
        for other in ["googleapis.com", "a.fcm.googleapis.com", "push.apple.com", "evilpush.apple.com"] {
            assert!(!has(other), "{other}");
        }
        for wrong in ["", "*", "*.org*", "localhost", "https://a.b", "A.example", "a.example:443"] {
            assert!(wrong.parse::<PushHost>().is_err(), "{wrong}");
        }
    }
}
