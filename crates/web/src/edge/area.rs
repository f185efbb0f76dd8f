//! The part of the service that a request is for, determined once in the edge.
//!
//! The router matches the decoded path. A middleware that compared the raw path would treat `/%61pi/teams`
//! differently from the route that answers it. The edge therefore refuses encoded unreserved characters, and
//! every middleware uses the [`Area`] that the edge derived from the router's form of the path.

use crate::error::ApiError;
use actix_web::dev::ServiceRequest;
use actix_web::{HttpMessage, HttpRequest};

/// The part of the service that a path belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    /// The API, with sessions.
    Api,
    /// The documentation page of the API and its files.
    Docs,
    /// A route for operators' timers that answers quickly.
    Cron,
    /// A route for operators' timers whose work can take any time.
    CronJob,
    /// Messages signed by their sender.
    Webhook,
    /// The route for tills, whose bearer tokens are no session tokens.
    Till,
    /// Liveness and readiness.
    Health,
    /// The pages of the payment sandbox, with sessions.
    Sandbox,
    /// Everything else: metrics, pictures, explanations of problems.
    Other,
}

impl Area {
    /// The area of a decoded path.
    pub(crate) fn of_path(path: &str) -> Self {
        if path.starts_with("/sandbox/") {
            return Self::Sandbox;
        }
        if matches!(path, "/healthz" | "/readyz") {
            return Self::Health;
        }
        let Some(rest) = path.strip_prefix("/api/") else { return Self::Other };
        match rest.split_once('/') {
            Some(("cron", "award-points")) => Self::Cron,
            Some(("cron", _)) => Self::CronJob,
            Some(("webhooks", _)) => Self::Webhook,
            Some(("docs", _)) => Self::Docs,
            None if rest == "docs" => Self::Docs,
            None if rest == "redemptions" => Self::Till,
            Some(_) | None => Self::Api,
        }
    }

    /// The area of a request that the edge has not classified yet.
    pub(crate) fn classify(req: &ServiceRequest) -> Self {
        Self::of_path(req.match_info().as_str())
    }

    /// The area that the edge stored, or else that of the path.
    pub(crate) fn of(req: &HttpRequest) -> Self {
        let found = req.extensions().get().copied();
        found.unwrap_or_else(|| Self::of_path(req.match_info().as_str()))
    }

    /// Whether the path is below `/api/`.
    pub(crate) fn is_api(self) -> bool {
        matches!(self, Self::Api | Self::Docs | Self::Cron | Self::CronJob | Self::Webhook | Self::Till)
    }

    /// Whether the caller is an operator's timer, whose bearer token is the cron secret.
    pub(crate) fn is_cron(self) -> bool {
        matches!(self, Self::Cron | Self::CronJob)
    }

    /// Whether the rate limits count its requests.
    pub(crate) fn is_limited(self) -> bool {
        self.is_api() || self == Self::Sandbox
    }
}

/// Refuses a raw path that encodes a character which needs no encoding (RFC 3986 §2.3). No route needs such an
/// encoding, and without it the raw path and the router's decoded path agree on every literal segment: the
/// router leaves `%2F` and `%25` encoded, and the literal segments of all routes hold unreserved characters
/// only.
pub(crate) fn check_encoding(raw_path: &str) -> Result<(), ApiError> {
    let encoded = raw_path.as_bytes().windows(3).filter_map(|window| match window {
        [b'%', high, low] => Some((hex(*high)? << 4) | hex(*low)?),
        _ => None,
    });
    if encoded.into_iter().any(is_unreserved) {
        return Err(ApiError::invalid_request(
            "the path percent-encodes a letter, a digit or one of - . _ ~, which must be written as they are",
        ));
    }
    Ok(())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::docs::Document;

    #[test]
    fn paths_have_areas() {
        for (path, area) in [
            ("/api/teams", Area::Api),
            ("/api/", Area::Api),
            ("/api/cron", Area::Api),
            ("/api/crony/x", Area::Api),
            ("/api/locker-room/api/cron/", Area::Api),
            ("/api/cron/", Area::CronJob),
            ("/api/cron/sync-trends", Area::CronJob),
            ("/api/cron/award-points", Area::Cron),
            ("/api/webhooks/payments", Area::Webhook),
            ("/api/docs", Area::Docs),
            ("/api/redemptions", Area::Till),
            ("/api/redemptions/x", Area::Api),
            ("/api/docs/x.js", Area::Docs),
            ("/api/docsy", Area::Api),
            ("/sandbox/checkout/7", Area::Sandbox),
            ("/sandbox", Area::Other),
            ("/sandboxes/7", Area::Other),
            ("/api/sandbox/", Area::Api),
            ("/api", Area::Other),
            ("//api/teams", Area::Other),
            ("/API/teams", Area::Other),
            ("/metrics", Area::Other),
            ("/healthz", Area::Health),
            ("/readyz", Area::Health),
            ("/readyz/", Area::Other),
            ("", Area::Other),
        ] {
            assert_eq!(Area::of_path(path), area, "{path}");
        }
    }

    #[test]
    fn only_encoded_unreserved_characters_are_refused() {
        for path in
            ["/%61pi/teams", "/api/cro%6e/x", "/%6Detrics", "/a%2D", "/a%2e%2E/b", "/%5f", "/%7e", "/%30"]
        {
            assert!(check_encoding(path).is_err(), "{path}");
        }
        for path in
            ["/api/teams", "/a%2Fb", "/%20", "/%", "/%6", "/%zz", "/%2561", "/%C3%A9", "/%25", "*", ""]
        {
            assert!(check_encoding(path).is_ok(), "{path}");
        }
    }

    /// [`check_encoding`] is sufficient only while this holds.
    #[test]
    fn literal_segments_of_routes_are_unreserved() {
        for template in Document::of(&crate::openapi()).contract.table.templates() {
            let mut literals = template.split('/').filter(|segment| !segment.starts_with('{'));
            assert!(literals.all(|segment| segment.bytes().all(is_unreserved)), "{template}");
        }
    }
}
