//! Maps the refusals of the shop to error codes.

use crate::error::{ApiError, Code, Invalid};
use crate::platform::no_longer;
use terrace_app::shop::CartRefusal;

impl From<CartRefusal> for ApiError {
    fn from(refusal: CartRefusal) -> Self {
        match refusal {
            CartRefusal::UnknownVariant => Self::new(Code::NotFound, "there is no such variant"),
            CartRefusal::UnknownPrice => Invalid::at("/priceId", "the variant has no such price"),
            CartRefusal::TooManyLines => Self::new(Code::LimitReached, "a cart has at most 50 lines"),
            CartRefusal::UnknownMethod => Invalid::at("/method", "no such method reaches the country"),
            CartRefusal::NotActive => no_longer(),
        }
    }
}
