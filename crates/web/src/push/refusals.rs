//! Refusals of the area as errors.

use crate::error::{ApiError, Code, Invalid};
use terrace_app::push::{PushRejection, SessionEnded};

/// When a client may ask again for push messages that are not sent.
const NO_PUSH_RETRY: u64 = 3600;

/// No keys are configured.
pub(super) fn unavailable() -> ApiError {
    ApiError::from(Code::PushUnavailable).retry_after(NO_PUSH_RETRY)
}

impl From<SessionEnded> for ApiError {
    fn from(_: SessionEnded) -> Self {
        Code::AuthenticationRequired.into()
    }
}

impl From<PushRejection> for ApiError {
    fn from(rejection: PushRejection) -> Self {
        match rejection {
            PushRejection::Host => Invalid::at("/endpoint", "messages are not sent to this push service"),
            PushRejection::Key => Invalid::at("/keys/p256dh", "is no point of P-256"),
            PushRejection::KeyId => {
                Invalid::at("/keyId", "is no key of this service: GET /api/push/key has it")
            }
        }
    }
}
