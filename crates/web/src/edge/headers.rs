//! The headers of every response, whether a handler or a middleware produced it.

use crate::edge::area::Area;
use crate::edge::config::WebConfig;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};

/// For everything except the API's page: no resource may be loaded, no frame shown, no form submitted.
const CLOSED: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);

/// For the API's page, whose scripts, styles and pictures come from the service. Its script sets styles through the
/// object model, which needs no `unsafe-inline`. Some pictures of its style sheet are `data:` URLs.
const DOCS: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
);

/// Two years, as the preload lists of browsers require.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=63072000; includeSubDomains");

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Constants, so that the values are validated at compile time and not for every response.
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

/// Writes the headers. A route that set its own content security policy or cache control keeps it.
pub(crate) fn write(headers: &mut HeaderMap, area: Area, config: &WebConfig) {
    for (name, value) in ALWAYS {
        headers.insert(name, value);
    }
    if area == Area::Sandbox {
        // Without a referrer, browsers send `Origin: null` with a form, which is no trusted origin.
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    }
    // `identity` means no coding and is not sent. A route sets it to exclude its response from compression.
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
    fn forms_of_the_sandbox_send_an_origin() {
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
