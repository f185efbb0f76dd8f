//! Names each request, so that an answer can be found in the log.

use actix_web::http::header::HeaderName;
use terrace_kernel::{Clock, Entropy};
use uuid::Builder;

/// Carries the request's id on every answer.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request. Always our own: what a client sends could repeat or forge another's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(String);

impl RequestId {
    /// A fresh `UUIDv7`.
    pub(crate) fn draw(clock: &dyn Clock, entropy: &dyn Entropy) -> Self {
        let random = entropy.seed().first_chunk::<10>().copied().unwrap_or_default();
        let id = Builder::from_unix_timestamp_millis(clock.now().as_unix_millis(), &random).into_uuid();
        Self(id.hyphenated().to_string())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
