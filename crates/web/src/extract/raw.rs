//! Unparsed bodies.

use crate::error::{ApiError, Code};
use crate::extract::body::{Extracting, media_type, read, uncoded};
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use bytes::Bytes;

/// Maximum size in bytes of a signed body.
const MOST: usize = 64 * 1024;

/// The bytes of a body of any type; more than 64 KiB are 413.
#[derive(Debug)]
pub(crate) struct RawBody(pub(crate) Bytes);

impl FromRequest for RawBody {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bytes = uncoded(req).and_then(|()| read(req, payload.take(), MOST));
        Box::pin(async move { Ok(Self(bytes?.await?)) })
    }
}

/// Checks that the body is declared as a form, as browsers send it; otherwise 415.
pub(crate) fn is_form(req: &HttpRequest) -> Result<(), ApiError> {
    if media_type(req).0 == "application/x-www-form-urlencoded" {
        return Ok(());
    }
    let words = "Content-Type must be application/x-www-form-urlencoded";
    Err(ApiError::new(Code::UnsupportedMediaType, words))
}
