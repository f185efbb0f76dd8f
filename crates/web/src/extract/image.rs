//! Pictures as bodies.

use super::body::{Extracting, media_type, read, shell_of, uncoded};
use crate::error::{ApiError, Code};
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use bytes::Bytes;
use sha2::{Digest, Sha256};
use terrace_app::media::ImageType;

/// A body that is declared to be a picture. Another content type is 415, too many bytes are 413; what it really
/// holds is looked at later.
#[derive(Debug)]
pub(crate) struct ImageBody {
    /// What it is declared to be.
    pub(crate) kind: ImageType,
    /// The bytes that were sent.
    pub(crate) file: Bytes,
}

impl ImageBody {
    /// The SHA-256 of the bytes that were sent, by which a repeated request is known.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        Sha256::digest(&self.file).into()
    }
}

impl FromRequest for ImageBody {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let bytes = declared(req).and_then(|kind| {
            let limit = shell_of(req)?.config().picture_limit;
            Ok((kind, read(req, payload.take(), limit)?))
        });
        Box::pin(async move {
            let (kind, bytes) = bytes?;
            Ok(Self { kind, file: bytes.await? })
        })
    }
}

fn declared(req: &HttpRequest) -> Result<ImageType, ApiError> {
    uncoded(req)?;
    media_type(req).0.parse().map_err(|_| {
        ApiError::new(Code::UnsupportedMediaType, "Content-Type must be image/png, image/jpeg or image/webp")
    })
}
