//! Pictures as bodies.

use crate::error::{ApiError, Code};
use crate::extract::body::{Extracting, declared_length, media_type, read_into, shell_of, uncoded};
use crate::extract::viewer_of;
use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use bytes::Bytes;
use sha2::{Digest, Sha256};
use terrace_app::media::ImageType;

/// A body declared as a picture. Another content type is 415, a body beyond the size limit is 413; the content is
/// checked later. Memory is reserved before the body is read (`media::picture_bodies`).
#[derive(Debug)]
pub(crate) struct ImageBody {
    /// The declared type.
    pub(crate) kind: ImageType,
    /// The received bytes, which hold the memory permit.
    pub(crate) file: Bytes,
}

impl ImageBody {
    /// The SHA-256 of the received bytes, which identifies a repeated request.
    pub(crate) fn fingerprint(&self) -> [u8; 32] {
        Sha256::digest(&self.file).into()
    }
}

impl FromRequest for ImageBody {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(req: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let upload = declared(req).and_then(|kind| {
            let shell = shell_of(req)?.clone();
            let limit = shell.config().picture_limit;
            let most = declared_length(req).and_then(|length| usize::try_from(length).ok()).unwrap_or(limit);
            // The buffer never grows, so it uses no more memory than is reserved.
            let body = read_into(req, payload.take(), limit, most)?;
            Ok((kind, shell, most, body))
        });
        let viewer = viewer_of(req);
        // When this future is polled, the extractors before this one have succeeded.
        Box::pin(async move {
            let (kind, shell, most, body) = upload?;
            let account = viewer.ok_or(Code::AuthenticationRequired)?.user_id;
            shell.limits.check_upload(account)?;
            let permit = shell.picture_bodies.reserve(account, most)?;
            let file = body.await?;
            Ok(Self { kind, file: permit.attach(file) })
        })
    }
}

fn declared(req: &HttpRequest) -> Result<ImageType, ApiError> {
    uncoded(req)?;
    media_type(req).0.parse().map_err(|_| {
        ApiError::new(Code::UnsupportedMediaType, "Content-Type must be image/png, image/jpeg or image/webp")
    })
}
