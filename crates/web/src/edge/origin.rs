//! Origins (RFC 6454) in normalized form, for comparison.

use actix_web::http::Uri;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A host, without a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Host {
    /// An IP address, which is not resolved through DNS.
    Address(IpAddr),
    /// A name in lower case, without a trailing dot.
    Name(String),
}

impl Host {
    /// Parses a host without a port; an IPv6 address is in brackets.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(bracketed) = text.strip_prefix('[') {
            let address: Ipv6Addr = bracketed.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(IpAddr::V6(address).to_canonical()));
        }
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        (!name.is_empty() && name.bytes().all(is_name_byte)).then(|| Self::Name(name.to_ascii_lowercase()))
    }

    /// Parses an authority as in a `Host` header: a host with an optional port.
    pub(crate) fn split(authority: &str) -> Option<(Self, Option<u16>)> {
        let (host, port) = match authority.rsplit_once(':') {
            // The colons inside brackets belong to the address.
            Some((host, port)) if !port.ends_with(']') => (host, port),
            Some(_) | None => (authority, ""),
        };
        if !port.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let port = if port.is_empty() { None } else { Some(port.parse().ok()?) };
        Some((Self::parse(host)?, port))
    }

    /// Whether it is this machine. Names under `localhost` are (RFC 6761 §6.3).
    pub(crate) fn is_loopback(&self) -> bool {
        match self {
            Self::Address(address) => address.is_loopback(),
            Self::Name(name) => name == "localhost" || name.ends_with(".localhost"),
        }
    }

    /// Whether it is an IP address.
    pub(crate) fn is_address(&self) -> bool {
        matches!(self, Self::Address(_))
    }
}

/// A scheme, a host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    https: bool,
    host: Host,
    port: u16,
}

impl Origin {
    /// Parses `http://host[:port]` or `https://host[:port]`, without a path; `None` for anything else,
    /// including `null`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // `Uri` would drop a fragment silently.
        if text.contains(['#', '?', '@']) {
            return None;
        }
        let uri: Uri = text.parse().ok()?;
        if uri.path() != "/" {
            return None;
        }
        let https = match uri.scheme_str()? {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        Self::of(https, uri.authority()?.as_str())
    }

    /// The origin of an authority as in a `Host` header.
    pub(crate) fn of(https: bool, authority: &str) -> Option<Self> {
        let (host, port) = Host::split(authority)?;
        Some(Self { https, host, port: port.unwrap_or(if https { 443 } else { 80 }) })
    }

    /// Whether DNS cannot redirect the host: a loopback name or an IP address.
    pub(crate) fn is_beyond_dns(&self) -> bool {
        self.host.is_loopback() || self.host.is_address()
    }
}

/// The origin at which browsers reach the service, such as `https://fans.example`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    origin: Origin,
    text: String,
}

/// The text is not `http(s)://host[:port]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedPublicUrl;

impl fmt::Display for MalformedPublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected http://HOST[:PORT] or https://HOST[:PORT], without a path")
    }
}

impl std::error::Error for MalformedPublicUrl {}

impl PublicUrl {
    /// Whether browsers connect over https.
    pub fn is_https(&self) -> bool {
        self.origin.https
    }

    /// Whether only this machine can connect to it.
    pub fn is_loopback(&self) -> bool {
        self.origin.host.is_loopback()
    }

    /// Whether it has this host.
    pub(crate) fn is_at(&self, host: &Host) -> bool {
        self.origin.host == *host
    }

    /// The origin in the `Origin` header of the service's own pages.
    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl FromStr for PublicUrl {
    type Err = MalformedPublicUrl;

    fn from_str(text: &str) -> Result<Self, MalformedPublicUrl> {
        let text = text.strip_suffix('/').unwrap_or(text);
        let origin = Origin::parse(text).ok_or(MalformedPublicUrl)?;
        Ok(Self { origin, text: text.to_owned() })
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_compare_by_scheme_host_and_port() {
        let same = |a: &str, b: &str| Origin::parse(a).is_some() && Origin::parse(a) == Origin::parse(b);
        assert!(same("https://Fans.example", "https://fans.example:443"));
        assert!(same("http://[::1]:3004", "http://[::1]:3004"));
        assert!(same("http://[::1]", "http://[::1]:80"));
        assert!(!same("http://fans.example", "https://fans.example"));
        assert!(!same("http://localhost:3004", "http://localhost:3005"));
        for wrong in [
            "null",
            "",
            "fans.example",
            "ftp://x",
            "https://x/y",
            "https://a@x",
            "https://x#y",
            "https://x:99999",
        ] {
            assert_eq!(Origin::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_public_url_is_an_origin() {
        let url: PublicUrl = "https://fans.example/".parse().unwrap();
        assert!(url.is_https());
        assert_eq!(url.to_string(), "https://fans.example");
        assert!("https://fans.example/app".parse::<PublicUrl>().is_err());
        for (text, is_loopback) in [
            ("http://localhost:3004", true),
            ("https://127.0.0.9", true),
            ("http://terrace.localhost", true),
            ("http://[::1]:80", true),
            ("http://192.168.1.5", false),
            ("https://localhost.example", false),
        ] {
            assert_eq!(text.parse::<PublicUrl>().unwrap().is_loopback(), is_loopback, "{text}");
        }
    }

    #[test]
    fn addresses_need_no_name_server() {
        for (text, beyond) in [
            ("http://localhost:3004", true),
            ("http://127.0.0.1:3004", true),
            ("http://[::1]:3004", true),
            ("http://192.168.1.5", true),
            ("http://evil.example:3004", false),
            ("http://terrace.localhost:3004", true),
            ("http://localhost.evil.example", false),
        ] {
            assert_eq!(Origin::parse(text).map(|origin| origin.is_beyond_dns()), Some(beyond), "{text}");
        }
    }
}
