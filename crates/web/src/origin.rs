//! Origins (RFC 6454), in a form in which they can be compared.

use actix_web::http::Uri;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// A scheme, a host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    https: bool,
    host: String,
    port: u16,
}

impl Origin {
    /// Reads `http://host[:port]` or `https://host[:port]`, without a path; `None` for anything else, `null`
    /// among it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // The parser would drop a fragment.
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

    /// The origin of an authority as it stands in a `Host` header.
    pub(crate) fn of(https: bool, authority: &str) -> Option<Self> {
        let (host, port) = match authority.rsplit_once(':') {
            // The colons of an address in brackets belong to it.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
            Some(_) | None => (authority, if https { 443 } else { 80 }),
        };
        if host.is_empty() || host.contains(['/', '@', ' ']) {
            return None;
        }
        Some(Self { https, host: host.to_ascii_lowercase(), port })
    }

    /// Whether the host is the machine itself.
    fn is_loopback(&self) -> bool {
        let bare = self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let address = bare.unwrap_or(&self.host).parse::<IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }

    /// Whether no name server had a say in where this host is: `localhost`, or an address.
    pub(crate) fn is_beyond_dns(&self) -> bool {
        let bare = self.host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        self.host == "localhost" || bare.unwrap_or(&self.host).parse::<IpAddr>().is_ok()
    }
}

/// Where browsers reach the service: an origin, such as `https://fans.example`.
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
    /// Whether browsers come by https.
    pub fn is_https(&self) -> bool {
        self.origin.https
    }

    /// Whether nobody but the machine itself comes by it.
    pub fn is_loopback(&self) -> bool {
        self.origin.is_loopback()
    }

    /// What the `Origin` header of the service's own pages says.
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
            ("http://localhost.evil.example", false),
        ] {
            assert_eq!(Origin::parse(text).map(|origin| origin.is_beyond_dns()), Some(beyond), "{text}");
        }
    }
}
