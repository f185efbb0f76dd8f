//! The headers that stand on every answer, whoever made it.

use crate::config::WebConfig;
use crate::edge::area::Area;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// For everything that is no page: nothing may be loaded, framed or submitted from it.
const CLOSED: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);

/// For the API's page, whose scripts, styles and pictures come from the service. Its script sets styles through
/// the object model, which needs no `unsafe-inline`; some of its style sheet's pictures are `data:` URLs.
const DOCS: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);

/// Two years, as browsers' preload lists ask.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=63072000; includeSubDomains");

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Values are checked when this is compiled, and not again for every answer.
const ALWAYS: [(HeaderName, HeaderValue); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("x-permitted-cross-domain-policies"), HeaderValue::from_static("none")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ),
];

/// Puts them on. A route that said something of its own about its policy or its caching keeps it.
pub(crate) fn write(headers: &mut HeaderMap, area: Area, config: &WebConfig) {
    for (name, value) in ALWAYS {
        headers.insert(name, value);
    }
    if area == Area::Sandbox {
        // Without a referrer browsers say `Origin: null` where they send a form, which nobody takes for their own.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    }
    // No coding is none; a route says so to have its answer left alone by compression.
    if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding == "identity") {
        headers.remove(header::CONTENT_ENCODING);
    }
    let policy = if area == Area::Docs { DOCS } else { CLOSED };
    default(headers, header::CONTENT_SECURITY_POLICY, policy);
    if area.is_api() {
        default(headers, header::CACHE_CONTROL, NO_STORE);
    }
    if config.secure() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
}

fn default(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) {
    if !headers.contains_key(&name) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(path: &str, config: &WebConfig) -> HeaderMap {
        let mut headers = HeaderMap::new();
        write(&mut headers, Area::of_path(path), config);
        headers
    }

    #[test]
    fn the_api_is_closed_and_its_page_is_not() {
        let config = WebConfig::default();
        let api = written("/api/user", &config);
        assert_eq!(api.get("content-security-policy").unwrap(), CLOSED);
        assert_eq!(api.get("cache-control").unwrap(), "no-store");
        assert_eq!(api.get("x-content-type-options").unwrap(), "nosniff");
        assert!(!api.contains_key("strict-transport-security"));
        assert_eq!(written("/api/docs", &config).get("content-security-policy").unwrap(), DOCS);
        assert!(!written("/healthz", &config).contains_key("cache-control"));
        assert!(!DOCS.to_str().unwrap().contains("unsafe"));
    }

    #[test]
    fn forms_of_the_sandbox_say_where_they_come_from() {
        let config = WebConfig::default();
        assert_eq!(written("/sandbox/checkout/7", &config).get("referrer-policy").unwrap(), "same-origin");
        assert_eq!(written("/api/user", &config).get("referrer-policy").unwrap(), "no-referrer");
    }

    #[test]
    fn a_route_keeps_its_own_caching() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("public, no-cache"));
        write(&mut headers, Area::Api, &WebConfig::default());
        assert_eq!(headers.get("cache-control").unwrap(), "public, no-cache");
    }

    #[test]
    fn https_is_made_to_last() {
        let config = WebConfig { public_url: "https://fans.example".parse().ok(), ..WebConfig::default() };
        assert!(written("/", &config).contains_key("strict-transport-security"));
    }
}
