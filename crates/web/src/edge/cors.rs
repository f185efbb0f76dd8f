//! Cross-origin access (the Fetch standard's CORS protocol): disabled unless the operator configures origins.
//!
//! A configured origin is trusted like the service's own: its pages read responses, with credentials, and their
//! writes pass [`crosssite`](crate::edge::crosssite). `*` lets every page read public responses, and act with a
//! bearer token that the page holds; it never allows credentials, so cookies are not sent.

use crate::edge::origin::Origin;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use std::fmt;
use std::str::FromStr;

/// Request headers that pages may send, in addition to those that CORS always allows.
const REQUEST_HEADERS: &str = "authorization, content-type, idempotency-key, if-none-match, last-event-id";
/// Response headers that pages may read, in addition to those that CORS always allows.
const ANSWER_HEADERS: &str = "etag, location, retry-after, x-request-id, idempotency-replayed, allow";
/// How long, in seconds, a browser may cache a preflight result: short enough that a change of the setting
/// takes effect.
const MAX_AGE: &str = "600";

/// An origin whose pages may read responses, or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsOrigin(Pattern);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Any,
    Of(Origin),
}

/// The text is neither an origin nor `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedOrigin;

impl fmt::Display for MalformedOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected http://HOST[:PORT] or https://HOST[:PORT], without a path, or *")
    }
}

impl std::error::Error for MalformedOrigin {}

impl FromStr for CorsOrigin {
    type Err = MalformedOrigin;

    fn from_str(text: &str) -> Result<Self, MalformedOrigin> {
        match text.trim() {
            "*" => Ok(Self(Pattern::Any)),
            text => Origin::parse(text).map(|origin| Self(Pattern::Of(origin))).ok_or(MalformedOrigin),
        }
    }
}

/// Whether the request comes from a page of a configured origin; `*` matches none.
pub(crate) fn is_from_named(headers: &HeaderMap, origins: &[CorsOrigin]) -> bool {
    matches!(Leave::of(headers, origins), Leave::Named(_))
}

/// The access that CORS grants to the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leave {
    /// No origin is configured: no CORS header is sent.
    Closed,
    /// No access for this origin, but other origins have access: caches must keep the responses apart.
    Refused,
    /// Read access without credentials.
    AnyOrigin,
    /// Read access with credentials. Holds the origin as the browser wrote it.
    Named(HeaderValue),
}

impl Leave {
    /// The access that the request's page has.
    pub(crate) fn of(headers: &HeaderMap, origins: &[CorsOrigin]) -> Self {
        if origins.is_empty() {
            return Self::Closed;
        }
        let mut lines = headers.get_all(header::ORIGIN);
        if let (Some(line), None) = (lines.next(), lines.next())
            && let Some(origin) = line.to_str().ok().and_then(Origin::parse)
            && origins.iter().any(|CorsOrigin(pattern)| *pattern == Pattern::Of(origin.clone()))
        {
            return Self::Named(line.clone());
        }
        if origins.contains(&CorsOrigin(Pattern::Any)) { Self::AnyOrigin } else { Self::Refused }
    }

    /// Writes the CORS headers of a response. For a preflight the allowed methods are those in `Allow`.
    pub(crate) fn write(&self, headers: &mut HeaderMap, method: &Method, asks: Preflight) {
        let (origin, credentials) = match self {
            Self::Closed => return,
            Self::Refused => {
                headers.append(header::VARY, HeaderValue::from_static("Origin"));
                return;
            }
            Self::AnyOrigin => (HeaderValue::from_static("*"), false),
            Self::Named(origin) => (origin.clone(), true),
        };
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if credentials {
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        if *method != Method::OPTIONS || !asks.0 {
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(ANSWER_HEADERS));
            return;
        }
        if let Some(allowed) = headers.get(header::ALLOW).cloned() {
            headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, allowed);
        }
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    }
}

/// Whether an OPTIONS request is a preflight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preflight(bool);

impl Preflight {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self(headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leave(origins: &[&str], origin: Option<&'static str>) -> Leave {
        let origins: Vec<_> = origins.iter().map(|text| text.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
        }
        Leave::of(&headers, &origins)
    }

    #[test]
    fn only_named_origins_get_credentials() {
        let app = "https://app.example";
        let named = |origin| Leave::Named(HeaderValue::from_static(origin));
        for (origins, origin, expected) in [
            (vec![], Some(app), Leave::Closed),
            (vec![app], Some(app), named(app)),
            (vec![app], Some("https://APP.example:443"), named("https://APP.example:443")),
            (vec![app], Some("https://app.example.evil.example"), Leave::Refused),
            (vec![app], Some("http://app.example"), Leave::Refused),
            (vec![app], Some("null"), Leave::Refused),
            (vec![app], None, Leave::Refused),
            (vec!["*"], Some("https://evil.example"), Leave::AnyOrigin),
            (vec!["*"], Some("null"), Leave::AnyOrigin),
            (vec!["*", app], Some(app), named(app)),
            (vec![app, "*"], Some("https://evil.example"), Leave::AnyOrigin),
        ] {
            assert_eq!(leave(&origins, origin), expected, "{origins:?} {origin:?}");
        }
        for wrong in ["", "null", "app.example", "https://app.example/x", "**"] {
            assert_eq!(wrong.parse::<CorsOrigin>(), Err(MalformedOrigin), "{wrong}");
        }
    }

    #[test]
    fn a_star_never_comes_with_credentials() {
        let mut headers = HeaderMap::new();
        Leave::AnyOrigin.write(&mut headers, &Method::GET, Preflight(false));
        assert_eq!(headers.get("access-control-allow-origin").unwrap(), "*");
        assert!(!headers.contains_key("access-control-allow-credentials"));
    }
}
