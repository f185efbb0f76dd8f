//! The time at which a request came in.

use crate::edge::Arrival;
use crate::error::ApiError;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use std::future::{Ready, ready};
use terrace_kernel::Timestamp;

/// When the head of the request came in, before any of it was processed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrivedAt(pub(crate) Timestamp);

impl FromRequest for ArrivedAt {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let arrival = req.extensions().get::<Arrival>().map(|arrival| Self(arrival.0));
        ready(arrival.ok_or_else(|| ApiError::internal("the time of the request is missing")))
    }
}
