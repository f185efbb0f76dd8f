//! Identifiers in the path.

use crate::error::ApiError;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use std::fmt::Display;
use std::future::{Ready, ready};
use std::str::FromStr;

/// The identifier in a path with one; a malformed one is 400 `invalid_request`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathId<I>(pub(crate) I);

/// The identifiers in a path with two, in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathIds<A, B>(pub(crate) A, pub(crate) B);

fn id_at<I>(req: &HttpRequest, index: usize) -> Result<I, ApiError>
where
    I: FromStr<Err: Display>,
{
    let (name, text) = req.match_info().iter().nth(index).unwrap_or_default();
    text.parse().map_err(|error: I::Err| ApiError::invalid_part(format!("/{name}"), error.to_string()))
}

impl<I: FromStr<Err: Display> + 'static> FromRequest for PathId<I> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(id_at(req, 0).map(Self))
    }
}

impl<A: FromStr<Err: Display> + 'static, B: FromStr<Err: Display> + 'static> FromRequest for PathIds<A, B> {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(id_at(req, 0).and_then(|first| Ok(Self(first, id_at(req, 1)?))))
    }
}
