//! The outermost middleware: whatever happens below, a request is named, answered in the house's shape, logged
//! and counted.

use crate::error::ApiError;
use crate::observe::{InFlight, Seen};
use crate::request_id::{self, RequestId};
use crate::shell::{Served, Shell, shell_of};
use crate::{headers, normalize};
use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::http::header::{HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse, ResponseError};
use futures_util::FutureExt;
use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;

/// The middleware.
pub(crate) async fn edge<B: MessageBody>(mut req: ServiceRequest, next: Next<B>) -> Served<EitherBody<B>> {
    let shell = shell_of(&req)?;
    let id = RequestId::draw(&*shell.clock, &*shell.entropy);
    let seen = Seen::begin(&req, id.clone());
    req.extensions_mut().insert(id);
    if *req.method() == Method::HEAD {
        // Every GET route answers HEAD; the connection knows what was asked and leaves the body out.
        req.head_mut().method = Method::GET;
    }
    let _in_flight = InFlight::enter();
    let broken = match AssertUnwindSafe(next.call(req)).catch_unwind().await {
        Ok(Ok(res)) => {
            let route = res.request().match_pattern();
            let mut res = normalize::response(res, &seen, &shell);
            dress(res.headers_mut(), &seen, &shell);
            seen.finish(res.status(), route.as_deref());
            return Ok(res);
        }
        Ok(Err(error)) => error,
        Err(panic) => ApiError::internal(format!("a panic: {}", words(&*panic))).into(),
    };
    // The request went down with what broke: without it no response can be made here, only an error that
    // becomes one.
    let mut dressed = Dressed::new(&broken, &seen);
    dress(&mut dressed.headers, &seen, &shell);
    seen.finish(dressed.status, shell.document.table.template(seen.path()));
    Err(dressed.into())
}

fn dress(headers: &mut HeaderMap, seen: &Seen, shell: &Shell) {
    headers::write(headers, seen.path(), shell.config());
    if let Ok(id) = HeaderValue::from_str(seen.id().as_str()) {
        headers.insert(request_id::HEADER, id);
    }
}

/// What a panic said, for the log.
fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

/// A finished answer in the form of an error.
struct Dressed {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Dressed {
    fn new(error: &Error, seen: &Seen) -> Self {
        let mut headers = HeaderMap::new();
        let problem =
            normalize::problem(Some(error), error.as_response_error().status_code(), seen, &mut headers);
        Self { status: problem.status(), headers, body: problem.to_json() }
    }
}

impl fmt::Debug for Dressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dressed({})", self.status)
    }
}

impl fmt::Display for Dressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status.fmt(f)
    }
}

impl ResponseError for Dressed {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::with_body(self.status, self.body.clone()).map_into_boxed_body();
        *response.headers_mut() = self.headers.clone();
        response
    }
}
