//! Maps the refusals that several areas share to error codes, and holds errors that several areas return.

use crate::error::{ApiError, Code, Invalid};
use terrace_app::NotActive;

/// The same text for an account that does not exist, is suspended, or is hidden from the caller.
pub(crate) fn no_fan() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such fan")
}

/// The account was deleted or suspended after its session was checked.
pub(crate) fn no_longer() -> ApiError {
    Code::AuthenticationRequired.into()
}

pub(crate) fn unknown_team(pointer: &str) -> ApiError {
    Invalid::at(pointer, "no team has this id")
}

impl From<NotActive> for ApiError {
    fn from(NotActive: NotActive) -> Self {
        no_longer()
    }
}
