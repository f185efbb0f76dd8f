//! The client's address behind proxies.
//!
//! A forwarding header can be forged by any sender. It counts only if the peer is a trusted proxy, and only as far as
//! trusted proxies wrote it: it is read from the right, where the nearest proxy wrote, up to the first address that
//! is not trusted. A client can have invented anything further left.

use actix_web::http::header::{self, HeaderMap, HeaderName};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whether a proxy declares that it forwards the request.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    [X_FORWARDED_FOR, header::FORWARDED, header::VIA].iter().any(|name| headers.contains_key(name))
}

/// A network in CIDR notation, such as `10.0.0.0/8` or `2001:db8::/32`; a bare address is a network of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// The first address as IPv6 (IPv4 in its mapped form), with the host bits zero.
    first: u128,
    mask: u128,
}

/// The text is no network in CIDR notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedNetwork;

impl fmt::Display for MalformedNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected an address or a network, such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32")
    }
}

impl std::error::Error for MalformedNetwork {}

impl Network {
    fn contains(self, address: IpAddr) -> bool {
        bits(address) & self.mask == self.first
    }
}

/// The address as IPv6 (IPv4 in its mapped form), so that one comparison serves both.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

impl FromStr for Network {
    type Err = MalformedNetwork;

    fn from_str(text: &str) -> Result<Self, MalformedNetwork> {
        let (address, length) = match text.trim().split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text.trim(), None),
        };
        let address: IpAddr = address.parse().map_err(|_| MalformedNetwork)?;
        let (width, offset) = if address.is_ipv4() { (32, 96) } else { (128, 0) };
        let length = match length {
            Some(length) => {
                length.parse().ok().filter(|length: &u32| *length <= width).ok_or(MalformedNetwork)?
            }
            None => width,
        };
        let mask = u128::MAX.checked_shl(128 - offset - length).unwrap_or(0);
        let first = bits(address);
        // Nonzero host bits indicate a typing error: report it instead of guessing.
        if first & mask == first { Ok(Self { first, mask }) } else { Err(MalformedNetwork) }
    }
}

/// The header in which the proxies report the client's address. The operator chooses one: a proxy forwards the other
/// header unchanged, so reading both would trust a header that a client can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForwardingHeader {
    /// `X-Forwarded-For`, which most proxies write.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// The proxies whose report of a client's address is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    /// Networks of the proxies; if empty, no forwarding header is read.
    pub networks: Vec<Network>,
    /// The header that they write.
    pub header: ForwardingHeader,
}

impl TrustedProxies {
    /// The address of the client behind `peer`. If a trusted proxy's list contains something that is not an address,
    /// the result is the last known hop. This limits the effect of a broken proxy.
    pub(crate) fn client(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        let mut client = peer?.to_canonical();
        if !self.trusts(client) {
            return Some(client);
        }
        for hop in self.hops(headers) {
            let Some(hop) = hop else { break };
            client = hop;
            if !self.trusts(client) {
                break;
            }
        }
        Some(client)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }

    /// The addresses that the hops reported, nearest first; `None` for an unreadable entry.
    fn hops(&self, headers: &HeaderMap) -> impl Iterator<Item = Option<IpAddr>> {
        let mut hops = Vec::new();
        let name = match self.header {
            ForwardingHeader::XForwardedFor => X_FORWARDED_FOR,
            ForwardingHeader::Forwarded => header::FORWARDED,
        };
        for line in headers.get_all(name) {
            match self.header {
                ForwardingHeader::XForwardedFor => {
                    hops.extend(line.as_bytes().split(|b| *b == b',').map(node));
                }
                ForwardingHeader::Forwarded => {
                    hops.extend(split_from_right(line.as_bytes(), b',').into_iter().rev().map(element));
                }
            }
        }
        hops.into_iter().rev()
    }
}

/// The `for` of one element of `Forwarded` (RFC 7239 §4): `for=192.0.2.43;proto=https`.
fn element(bytes: &[u8]) -> Option<IpAddr> {
    let mut values = split_from_right(bytes, b';').into_iter().filter_map(|pair| {
        let at = pair.iter().position(|b| *b == b'=')?;
        let (name, value) = pair.split_at_checked(at)?;
        name.trim_ascii()
            .eq_ignore_ascii_case(b"for")
            .then(|| value.get(1..).unwrap_or_default().trim_ascii())
    });
    let value = values.next()?;
    // A repeated `for` is malformed (§4), and it is unclear which one the proxy meant.
    if values.next().is_some() {
        return None;
    }
    let unquoted = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    // An address in quotes needs no escapes.
    node(unquoted.unwrap_or(value))
}

/// Parses an address with or without a port; IPv6 in brackets or bare. `None` for others, such as `unknown`
/// and `_hidden`.
fn node(bytes: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(bytes).ok()?.trim_ascii();
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        let address: Ipv6Addr = address.parse().ok()?;
        return is_port(port).then(|| IpAddr::V6(address).to_canonical());
    }
    let (address, port) = text.split_at_checked(text.find(':')?)?;
    address.parse().ok().filter(|_| is_port(port))
}

/// Whether the text is empty, or a colon and a port, which may be obfuscated (RFC 7239 §6).
fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| {
            !port.is_empty()
                && port.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
        })
}

/// Splits at each `separator` outside quoted strings; the last part comes first. Reads from the right, so that
/// a quote left open by the client cannot swallow the parts that the proxies appended.
fn split_from_right(bytes: &[u8], separator: u8) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let (mut quoted, mut end) = (false, bytes.len());
    for (at, byte) in bytes.iter().enumerate().rev() {
        let before = bytes.get(..at).unwrap_or_default();
        if *byte == b'"' && before.iter().rev().take_while(|b| **b == b'\\').count().is_multiple_of(2) {
            quoted = !quoted;
        } else if *byte == separator && !quoted {
            parts.push(bytes.get(at + 1..end).unwrap_or_default());
            end = at;
        }
    }
    parts.push(bytes.get(..end).unwrap_or_default());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;
    use proptest::prelude::*;

    fn proxies(networks: &[&str], header: ForwardingHeader) -> TrustedProxies {
        TrustedProxies { networks: networks.iter().map(|text| text.parse().unwrap()).collect(), header }
    }

    fn headers(name: &HeaderName, lines: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(name.clone(), HeaderValue::from_str(line).unwrap());
        }
        headers
    }

    #[test]
    fn networks_are_read_strictly() {
        for (network, address, inside) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("10.0.0.0/8", "::10.0.0.1", false),
            ("192.0.2.7", "192.0.2.7", true),
            ("192.0.2.7", "192.0.2.8", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "203.0.113.9", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("::1/128", "::1", true),
        ] {
            let network: Network = network.parse().unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), inside, "{network:?} {address}");
        }
        for wrong in
            ["", "10.0.0.0/33", "::/129", "10.0.0.1/8", "10.0.0/8", "proxy", "10.0.0.0/-1", "10.0.0.0/8/8"]
        {
            assert_eq!(wrong.parse::<Network>(), Err(MalformedNetwork), "{wrong}");
        }
    }

    #[test]
    fn the_nearest_untrusted_hop_is_the_client() {
        let trusted = proxies(&["10.0.0.0/8", "2001:db8::/32"], ForwardingHeader::XForwardedFor);
        for (peer, lines, client) in [
            ("203.0.113.9", vec![], "203.0.113.9"),
            // Forged by a peer that is no proxy.
            ("203.0.113.9", vec!["1.2.3.4"], "203.0.113.9"),
            ("203.0.113.9", vec!["10.0.0.1"], "203.0.113.9"),
            ("10.0.0.1", vec![], "10.0.0.1"),
            ("10.0.0.1", vec!["198.51.100.1"], "198.51.100.1"),
            ("::ffff:10.0.0.1", vec!["198.51.100.1"], "198.51.100.1"),
            // The client itself sent the entries on the left.
            ("10.0.0.1", vec!["1.2.3.4, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", vec!["1.2.3.4", "198.51.100.1, 10.9.9.9"], "198.51.100.1"),
            ("10.0.0.1", vec!["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("2001:db8::7", vec!["2a00::1"], "2a00::1"),
            ("10.0.0.1", vec!["[2a00::1]:443"], "2a00::1"),
            ("10.0.0.1", vec!["198.51.100.1:50000"], "198.51.100.1"),
            ("10.0.0.1", vec!["::ffff:198.51.100.1"], "198.51.100.1"),
            // Unreadable entry: the last known hop.
            ("10.0.0.1", vec!["1.2.3.4, unknown"], "10.0.0.1"),
            ("10.0.0.1", vec!["1.2.3.4, , 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", vec!["evil"], "10.0.0.1"),
            ("10.0.0.1", vec!["198.51.100.1:"], "10.0.0.1"),
            ("10.0.0.1", vec!["[2a00::1"], "10.0.0.1"),
            ("10.0.0.1", vec!["1.2.3.4\" , x"], "10.0.0.1"),
        ] {
            let headers = headers(&X_FORWARDED_FOR, &lines);
            let found = trusted.client(Some(peer.parse().unwrap()), &headers);
            assert_eq!(found, Some(client.parse().unwrap()), "{peer} {lines:?}");
        }
        assert_eq!(trusted.client(None, &HeaderMap::new()), None);
    }

    #[test]
    fn forwarded_is_read_as_rfc_7239_writes_it() {
        let trusted = proxies(&["10.0.0.0/8"], ForwardingHeader::Forwarded);
        for (lines, client) in [
            (vec!["for=192.0.2.60;proto=http;by=203.0.113.43"], "192.0.2.60"),
            (vec!["For=\"[2001:db8:cafe::17]:4711\""], "2001:db8:cafe::17"),
            (vec!["for=192.0.2.43, for=198.51.100.17"], "198.51.100.17"),
            (vec!["for=192.0.2.43", "proto=https ; FOR=\"198.51.100.17:_x\""], "198.51.100.17"),
            (vec!["for=192.0.2.43, for=10.0.0.2"], "192.0.2.43"),
            (vec!["for=\"1.2.3.4, for=5.6.7.8\""], "10.0.0.1"),
            (vec!["host=\"a,b;c\\\"\";for=192.0.2.60"], "192.0.2.60"),
            (vec!["for=unknown"], "10.0.0.1"),
            (vec!["for=_hidden, for=10.0.0.2"], "10.0.0.2"),
            (vec!["for=1.2.3.4;for=5.6.7.8"], "10.0.0.1"),
            (vec!["proto=https"], "10.0.0.1"),
            (vec!["for="], "10.0.0.1"),
        ] {
            let headers = headers(&header::FORWARDED, &lines);
            let found = trusted.client(Some("10.0.0.1".parse().unwrap()), &headers);
            assert_eq!(found, Some(client.parse().unwrap()), "{lines:?}");
        }
    }

    #[test]
    fn only_the_chosen_header_counts() {
        let mut both = headers(&X_FORWARDED_FOR, &["198.51.100.1"]);
        both.append(header::FORWARDED, HeaderValue::from_static("for=192.0.2.60"));
        let client = |header| {
            let found = proxies(&["10.0.0.1"], header).client(Some("10.0.0.1".parse().unwrap()), &both);
            found.unwrap().to_string()
        };
        assert_eq!(client(ForwardingHeader::XForwardedFor), "198.51.100.1");
        assert_eq!(client(ForwardingHeader::Forwarded), "192.0.2.60");
    }

    proptest! {
        #[test]
        fn an_untrusted_peer_is_believed_nothing(line in "[ -~]{0,60}") {
            let peer: IpAddr = "203.0.113.9".parse().unwrap();
            for header in [ForwardingHeader::XForwardedFor, ForwardingHeader::Forwarded] {
                let trusted = proxies(&["10.0.0.0/8"], header);
                for name in [&X_FORWARDED_FOR, &header::FORWARDED] {
                    prop_assert_eq!(trusted.client(Some(peer), &headers(name, &[&line])), Some(peer));
                }
            }
        }

        #[test]
        fn whatever_the_client_wrote_the_proxys_own_word_decides(line in "[ -~]{0,60}") {
            let peer = Some("10.0.0.1".parse().unwrap());
            let trusted = proxies(&["10.0.0.0/8"], ForwardingHeader::XForwardedFor);
            // A proxy adds a line, as most do, or an entry to the last line.
            let apart = headers(&X_FORWARDED_FOR, &[&line, "198.51.100.1"]);
            prop_assert_eq!(trusted.client(peer, &apart), Some("198.51.100.1".parse().unwrap()));
            let joined = headers(&X_FORWARDED_FOR, &[&format!("{line}, 198.51.100.1")]);
            prop_assert_eq!(trusted.client(peer, &joined), Some("198.51.100.1".parse().unwrap()));
            let trusted = proxies(&["10.0.0.0/8"], ForwardingHeader::Forwarded);
            let joined = headers(&header::FORWARDED, &[&format!("{line}, for=198.51.100.1")]);
            prop_assert_eq!(trusted.client(peer, &joined), Some("198.51.100.1".parse().unwrap()));
        }
    }
}
