//! The viewer that the authentication middleware resolved.

use crate::error::{ApiError, Code};
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use std::future::{Ready, ready};
use terrace_identity::Viewer;

/// The viewer of a route that requires a session; without one 401 `authentication_required`. Always the first
/// argument of its handler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SignedIn(pub(crate) Viewer);

/// The viewer of a public route.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaybeSignedIn(pub(crate) Option<Viewer>);

/// The viewer that the authentication middleware stored, if there is one.
pub(crate) fn viewer_of(req: &HttpRequest) -> Option<Viewer> {
    req.extensions().get::<Viewer>().copied()
}

impl FromRequest for SignedIn {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(viewer_of(req).map(Self).ok_or_else(|| Code::AuthenticationRequired.into()))
    }
}

impl FromRequest for MaybeSignedIn {
    type Error = ApiError;
    type Future = Ready<Result<Self, ApiError>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(Self(viewer_of(req))))
    }
}
