//! Maps the refusals of notifications to error codes.

use crate::error::ApiError;
use crate::platform::no_longer;
use terrace_app::notifications::NotActive;

impl From<NotActive> for ApiError {
    fn from(NotActive: NotActive) -> Self {
        no_longer()
    }
}
