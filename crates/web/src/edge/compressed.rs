//! Responses that never change while the process runs, compressed once in each coding.
//!
//! Compressing the scripts of the documentation takes about 20 ms of CPU time. The number of entries is bounded by
//! the fixed numbers of such responses and codings.

use crate::edge::etag::{Tag, tagged};
use crate::edge::shell::Shell;
use crate::error::ApiError;
use actix_http::ResponseHead;
use actix_http::encoding::Encoder;
use actix_web::body::to_bytes;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, AcceptEncoding, ContentEncoding, Encoding, Header, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// A response that is the same for all clients while the process runs, in the coding that the client prefers. `name` must
/// identify it.
pub(crate) async fn constant(
    req: &HttpRequest,
    shell: &Shell,
    name: &str,
    tag: &Tag,
    content_type: &'static str,
    body: Bytes,
) -> Result<HttpResponse, ApiError> {
    // Pictures are already compressed, except drawings.
    if content_type.starts_with("image/") && content_type != "image/svg+xml" {
        return Ok(tagged(false, tag, content_type, body));
    }
    let Some((coding, coded)) = shell.compressed.body(req, name, &body).await? else {
        return Ok(tagged(false, tag, content_type, body));
    };
    let mut answer = tagged(false, tag, content_type, coded);
    answer.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.as_str()));
    Ok(answer)
}

/// The codings that the compression middleware offers too.
fn offered() -> [Encoding; 4] {
    [Encoding::identity(), Encoding::brotli(), Encoding::gzip(), Encoding::deflate()]
}

/// Name of a response, and coding.
type Key = (String, &'static str);

/// The compressed bodies, by name and coding.
#[derive(Default)]
pub(crate) struct Compressed {
    kept: Mutex<HashMap<Key, Arc<OnceCell<Bytes>>>>,
    runs: AtomicU64,
}

impl Compressed {
    /// The coding that the client prefers for a response, and the body in it; `None` if that is the plain body.
    /// `name` must identify an existing response whose body is always `plain`.
    pub(crate) async fn body(
        &self,
        req: &HttpRequest,
        name: &str,
        plain: &Bytes,
    ) -> Result<Option<(ContentEncoding, Bytes)>, ApiError> {
        let Some(coding) = coding(req) else { return Ok(None) };
        let cell = {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(kept.entry((name.to_owned(), coding.as_str())).or_default())
        };
        let body = cell.get_or_try_init(|| self.compress(coding, plain.clone())).await?;
        Ok(Some((coding, body.clone())))
    }

    async fn compress(&self, coding: ContentEncoding, plain: Bytes) -> Result<Bytes, ApiError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let mut head = ResponseHead::new(StatusCode::OK);
        to_bytes(Encoder::response(coding, &mut head, plain)).await.map_err(ApiError::internal)
    }

    /// Number of compressions.
    #[cfg(test)]
    pub(crate) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }
}

/// The coding that the client prefers; `None` for the plain body.
fn coding(req: &HttpRequest) -> Option<ContentEncoding> {
    match AcceptEncoding::parse(req).ok()?.negotiate(offered().iter())? {
        Encoding::Known(ContentEncoding::Identity) | Encoding::Unknown(_) => None,
        Encoding::Known(coding) => Some(coding),
    }
}
