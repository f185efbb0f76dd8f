//! Refuses writes that a page of another site makes a browser send (CSRF).
//!
//! Browsers report the origin of a request in `Sec-Fetch-Site`, and on every write in `Origin`. A request with
//! neither header comes from no browser. A request with a bearer token is exempt: a page cannot attach another user's
//! token. So are pages of the origins that the operator configured for `cors`.

use crate::edge::area::Area;
use crate::edge::auth::has_bearer;
use crate::edge::cors;
use crate::edge::origin::{Origin, PublicUrl};
use crate::edge::shell::{Served, refuse, shell_of};
use crate::error::{ApiError, Code};
use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap};
use actix_web::http::{Method, Uri};
use actix_web::middleware::Next;

/// Applies the check to every write except webhooks.
pub(crate) async fn guard<B: MessageBody>(req: ServiceRequest, next: Next<B>) -> Served<EitherBody<B>> {
    // Webhooks are authenticated by a signature and not by a cookie, so they need no check.
    if writes(req.method()) && Area::of(req.request()) != Area::Webhook {
        let shell = shell_of(&req)?;
        let public_url = shell.config().public_url.as_ref();
        let named = cors::is_from_named(req.headers(), &shell.config().cors_origins);
        if !named && !is_own(req.headers(), req.uri(), public_url) {
            let error =
                ApiError::new(Code::CrossSiteRequest, "writes are taken from the service's own pages only");
            return Ok(refuse(req, error));
        }
    }
    next.call(req).await.map(ServiceResponse::map_into_left_body)
}

/// Whether the method may change state.
pub(crate) fn writes(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn is_own(headers: &HeaderMap, uri: &Uri, public_url: Option<&PublicUrl>) -> bool {
    if has_bearer(headers) {
        return true;
    }
    let own_site =
        headers.get_all("Sec-Fetch-Site").all(|site| matches!(site.as_bytes(), b"same-origin" | b"none"));
    own_site
        && headers.get_all(header::ORIGIN).all(|origin| {
            let origin = origin.to_str().ok().and_then(Origin::parse);
            origin.is_some_and(|origin| allows(&origin, headers, uri, public_url))
        })
}

/// With a public URL, only its origin is allowed. Without one, the origin to which the request itself was sent
/// is allowed, provided that it is `localhost` or an IP address. Another name could have been pointed at this
/// machine by the page that sends the request (DNS rebinding), while a page under `localhost` or an address
/// was served by this machine.
fn allows(origin: &Origin, headers: &HeaderMap, uri: &Uri, public_url: Option<&PublicUrl>) -> bool {
    if let Some(url) = public_url {
        return origin == url.origin();
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| uri.authority().map(actix_web::http::uri::Authority::as_str));
    let target = host.and_then(|host| Origin::of(false, host));
    target.is_some_and(|target| target == *origin && target.is_beyond_dns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn own(public_url: Option<&str>, given: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in given {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let url = public_url.map(|url| url.parse().unwrap());
        is_own(&headers, &Uri::from_static("/api/login"), url.as_ref())
    }

    #[test]
    fn only_own_pages_write() {
        let url = Some("https://fans.example");
        for (given, expected) in [
            (vec![], true),
            (vec![("sec-fetch-site", "same-origin")], true),
            (vec![("sec-fetch-site", "none")], true),
            (vec![("sec-fetch-site", "same-site")], false),
            (vec![("sec-fetch-site", "cross-site")], false),
            (vec![("sec-fetch-site", "odd")], false),
            (vec![("sec-fetch-site", "none"), ("sec-fetch-site", "cross-site")], false),
            (vec![("origin", "https://fans.example")], true),
            (vec![("origin", "https://FANS.example:443")], true),
            (vec![("origin", "http://fans.example")], false),
            (vec![("origin", "https://evil.example")], false),
            (vec![("origin", "https://fans.example.evil.example")], false),
            (vec![("origin", "null")], false),
            (vec![("origin", "")], false),
            (vec![("origin", "https://fans.example"), ("sec-fetch-site", "cross-site")], false),
            (vec![("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")], false),
            (vec![("origin", "https://evil.example"), ("authorization", "Bearer x")], true),
            (vec![("origin", "https://evil.example"), ("authorization", "Basic x")], false),
            (vec![("origin", "http://localhost:3004"), ("host", "localhost:3004")], false),
        ] {
            assert_eq!(own(url, &given), expected, "{given:?}");
        }
    }

    #[test]
    fn without_a_public_url_only_this_machine_is_allowed() {
        for (origin, host, expected) in [
            ("http://localhost:3004", "localhost:3004", true),
            ("http://127.0.0.1:3004", "127.0.0.1:3004", true),
            ("http://[::1]:3004", "[::1]:3004", true),
            ("http://localhost:3005", "localhost:3004", false),
            ("https://localhost:3004", "localhost:3004", false),
            ("http://evil.example:3004", "evil.example:3004", false),
            ("http://evil.example", "localhost:3004", false),
        ] {
            assert_eq!(own(None, &[("origin", origin), ("host", host)]), expected, "{origin} at {host}");
        }
        assert!(!own(None, &[("origin", "http://localhost:3004")]));
    }

    #[test]
    fn reads_are_not_writes() {
        assert!([Method::GET, Method::HEAD, Method::OPTIONS].iter().all(|method| !writes(method)));
        assert!([Method::POST, Method::PUT, Method::PATCH, Method::DELETE].iter().all(writes));
    }
}
