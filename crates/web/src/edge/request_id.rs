//! Request ids, which relate a response to its log lines.

use actix_web::http::header::HeaderName;
use terrace_kernel::{Entropy, Timestamp};
use uuid::Builder;

/// Response header with the request's id.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request. The service always generates it: an id from a client could repeat or forge another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(String);

impl RequestId {
    /// Generates a `UUIDv7`.
    pub(crate) fn draw(now: Timestamp, entropy: &dyn Entropy) -> Self {
        let random = entropy.seed().first_chunk::<10>().copied().unwrap_or_default();
        let id = Builder::from_unix_timestamp_millis(now.as_unix_millis(), &random).into_uuid();
        Self(id.hyphenated().to_string())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
