//! Turns every failure into a problem document, whether a handler, an extractor, a middleware, the router or
//! the framework produced it. What the framework refuses before a request exists (a malformed or oversized
//! head) does not pass here and stays plain text.

use crate::edge::fallback;
use crate::edge::observe::Seen;
use crate::edge::shell::Shell;
use crate::error::{ApiError, Code};
use crate::problem;
use crate::problem::Problem;
use actix_web::Error;
use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap, HeaderValue};

/// Marks, in the extensions of a response, a failure that is a page for people.
pub(crate) struct ErrorPage;

/// Replaces the body of an error response with a problem document; returns other responses and pages unchanged.
pub(crate) fn response<B: MessageBody>(
    res: ServiceResponse<B>,
    seen: &Seen,
    shell: &Shell,
) -> ServiceResponse<EitherBody<B>> {
    let status = res.status();
    let is_failure = status.is_client_error() || status.is_server_error();
    if !is_failure || res.response().extensions().contains::<ErrorPage>() {
        return res.map_into_left_body();
    }
    let (request, mut response) = res.into_parts();
    let mut headers = HeaderMap::new();
    let problem = problem(response.error(), status, seen, &mut headers);
    *response.status_mut() = problem.status();
    let kept = response.headers_mut();
    // These headers describe the replaced body.
    for name in [header::CONTENT_LENGTH, header::CONTENT_ENCODING, header::ETAG] {
        kept.remove(name);
    }
    for (name, value) in headers {
        kept.insert(name, value);
    }
    if problem.status() == StatusCode::METHOD_NOT_ALLOWED
        && !kept.contains_key(header::ALLOW)
        && let Some(allow) = shell.contract.table.allowed(seen.path())
    {
        kept.insert(header::ALLOW, fallback::allow(allow));
    }
    let body = problem.to_json();
    ServiceResponse::new(request, response.set_body(body)).map_into_boxed_body().map_into_right_body()
}

/// The problem document for a failure; adds its headers to `headers` and logs the cause.
pub(crate) fn problem(
    error: Option<&Error>,
    status: StatusCode,
    seen: &Seen,
    headers: &mut HeaderMap,
) -> Problem {
    let foreign;
    let known = if let Some(known) = error.and_then(Error::as_error::<ApiError>) {
        known
    } else {
        foreign = of_foreign(error, status);
        &foreign
    };
    if let Some(cause) = known.cause() {
        log::error!("{} {}: {cause}", seen.id().as_str(), known.code().as_str());
    }
    headers.insert(header::CONTENT_TYPE, problem::content_type());
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    known.write_headers(headers);
    Problem::new(known, seen.path(), seen.id().as_str())
}

/// The framework's error text may hold internal details, so it is only logged.
fn of_foreign(error: Option<&Error>, status: StatusCode) -> ApiError {
    let text = || error.map_or_else(|| format!("answered {status}"), ToString::to_string);
    let code = Code::of_foreign(status);
    if code == Code::Unavailable {
        ApiError::unavailable(text(), 2)
    } else if status.is_server_error() {
        ApiError::internal(text())
    } else {
        code.into()
    }
}
