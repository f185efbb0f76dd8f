//! The outermost middleware. Every request gets an id, a log line and a count, and every response, whatever
//! fails below, has the service's format.

mod allowance;
mod area;
pub(crate) mod auth;
mod backend;
mod compressed;
mod config;
#[cfg(test)]
mod connection_tests;
mod cors;
mod cron;
pub(crate) mod crosssite;
pub(crate) mod etag;
pub(crate) mod fallback;
mod forwarded;
mod headers;
pub(crate) mod health;
pub(crate) mod host;
pub(crate) mod in_time;
mod known_origins;
mod limits;
mod normalize;
mod observe;
mod origin;
pub(crate) mod parameters;
pub(crate) mod patience;
mod request_id;
mod shell;
#[cfg(test)]
mod shell_tests;
mod slots;

pub(crate) use area::Area;
pub(crate) use auth::bearer;
#[cfg(test)]
pub(crate) use backend::Backend;
pub(crate) use compressed::constant;
pub use config::{MetricsOnMain, WebConfig};
pub use cors::{CorsOrigin, MalformedOrigin};
pub(crate) use cron::CronCaller;
pub use cron::CronSecret;
pub(crate) use etag::{JSON, Tag, TaggedJson, conditional_json, tagged};
pub(crate) use fallback::RouteTable;
pub use forwarded::{ForwardingHeader, MalformedNetwork, Network, TrustedProxies};
pub use host::{AllowedHost, MalformedHost};
pub(crate) use in_time::BodyAwaited;
pub(crate) use limits::{Address, ClientAddress};
pub use limits::{LimitConfig, Rate};
pub(crate) use normalize::ErrorPage;
pub use observe::install_metrics;
pub use origin::{MalformedPublicUrl, PublicUrl};
pub(crate) use parameters::{Parameters, check_query};
pub(crate) use patience::Pulse;
pub(crate) use shell::{Contract, Shell};
pub(crate) use slots::{PasswordSlot, holding};

use crate::edge::cors::{Leave, Preflight};
use crate::edge::crosssite::writes;
use crate::edge::observe::Seen;
use crate::edge::patience::Held;
use crate::edge::request_id::RequestId;
use crate::edge::shell::{Served, shell_of};
use crate::error::{ApiError, Code};
use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{ConnectionType, Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse, ResponseError};
use futures_util::FutureExt;
use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use terrace_kernel::Timestamp;

/// The outermost middleware of every request.
pub(crate) async fn edge<B: MessageBody>(
    mut req: ServiceRequest,
    next: Next<B>,
) -> Served<Held<EitherBody<B>>> {
    let busy = req.request().conn_data::<Rc<Pulse>>().map(Pulse::begin);
    let shell = shell_of(&req)?;
    let arrival = Arrival(shell.clock.now());
    let id = RequestId::draw(arrival.0, &*shell.entropy);
    let peer = req.peer_addr().map(|peer| peer.ip());
    let client = ClientAddress(shell.config().trusted_proxies.client(peer, req.headers()));
    let seen = Seen::begin(&req, id.clone(), client);
    let cors = Cors::of(&req, &shell);
    // The service supports HTTP/1.1 only. It answers an `Upgrade` request normally and then closes the
    // connection.
    let ends = req.head().upgrade() || req.headers().contains_key(header::UPGRADE);
    req.extensions_mut().insert(arrival);
    req.extensions_mut().insert(id);
    req.extensions_mut().insert(client);
    req.extensions_mut().insert(seen.area());
    if *req.method() == Method::HEAD {
        // Every GET route answers HEAD. The HTTP connection remembers the original method and omits the body.
        req.extensions_mut().insert(OnlyHead);
        req.head_mut().method = Method::GET;
    }
    let _in_flight = shell.series.enter();
    let below = async {
        if head_size(&req) > shell.config().head_limit {
            return Err(ApiError::from(Code::HeaderTooLarge).into());
        }
        if let Err(refusal) = check(&req, shell.config()) {
            return Err(counted(refusal, &req, client, &shell).into());
        }
        next.call(req).await
    };
    let broken = match AssertUnwindSafe(below).catch_unwind().await {
        Ok(Ok(res)) => {
            let route = res.request().match_pattern();
            let mut res = normalize::response(res, &seen, &shell);
            finish_headers(res.headers_mut(), &seen, &shell, &cors);
            if ends {
                res.response_mut().head_mut().set_connection_type(ConnectionType::Close);
            }
            seen.finish(res.status(), route.as_deref(), &shell.series);
            return Ok(res.map_body(|_, body| Held::new(body, busy)));
        }
        Ok(Err(error)) => error,
        Err(panic) => ApiError::internal(format!("a panic: {}", panic_message(&*panic))).into(),
    };
    // The failed call consumed the request, and a response cannot be built without one. What can be returned
    // is an error that renders itself as the response.
    let mut rendered = RenderedError::new(&broken, &seen, ends);
    finish_headers(&mut rendered.headers, &seen, &shell, &cors);
    seen.finish(rendered.status, shell.contract.table.template(seen.path()), &shell.series);
    Err(rendered.into())
}

/// Refuses requests that are invalid for every route: a malformed path encoding, a foreign host, a WebSocket
/// upgrade with a body.
fn check(req: &ServiceRequest, config: &WebConfig) -> Result<(), ApiError> {
    area::check_encoding(req.uri().path())?;
    host::check(req.request(), config)?;
    check_upgrade(req)
}

/// Refuses a body after `Upgrade: websocket`: for such a request the framework reads the body until the
/// connection closes and ignores `Content-Length`. A WebSocket handshake is a GET (RFC 6455 §4.1), for which
/// the service ignores the field.
fn check_upgrade(req: &ServiceRequest) -> Result<(), ApiError> {
    let mut protocols = req.headers().get_all(header::UPGRADE);
    let asks = protocols.any(|protocol| protocol.as_bytes().trim_ascii().eq_ignore_ascii_case(b"websocket"));
    if asks && writes(req.method()) {
        return Err(ApiError::invalid_request(
            "the service has no WebSockets: send the request without Upgrade",
        ));
    }
    Ok(())
}

/// Returns the refusal of a request that reaches no route, or 429 if its address has exceeded a limit. Such requests
/// count towards the limits for signed-out clients.
fn counted(refusal: ApiError, req: &ServiceRequest, client: ClientAddress, shell: &Shell) -> ApiError {
    let (limits, address) = (&shell.limits, Address::of(client));
    let allowed = limits.check_address(address);
    allowed.and_then(|()| limits.check_request(None, address, writes(req.method()))).err().unwrap_or(refusal)
}

/// Request extension: when the head of the request came in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival(pub(crate) Timestamp);

/// Request extension: the original method was HEAD, so the response has no body.
pub(crate) struct OnlyHead;

/// The CORS decision for a request and the kind of preflight, if it is one.
struct Cors {
    leave: Leave,
    preflight: Preflight,
}

impl Cors {
    fn of(req: &ServiceRequest, shell: &Shell) -> Self {
        let leave = Leave::of(req.headers(), &shell.config().cors_origins);
        Self { leave, preflight: Preflight::of(req.headers()) }
    }
}

/// Size in bytes of the request target and of all header names and values.
fn head_size(req: &ServiceRequest) -> usize {
    let target = req.uri().path_and_query().map_or(0, |target| target.as_str().len());
    target + req.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>()
}

fn finish_headers(headers: &mut HeaderMap, seen: &Seen, shell: &Shell, cors: &Cors) {
    headers::write(headers, seen.area(), shell.config());
    cors.leave.write(headers, seen.method(), cors.preflight);
    if let Ok(id) = HeaderValue::from_str(seen.id().as_str()) {
        headers.insert(request_id::HEADER, id);
    }
}

/// The message of a panic, for the log.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

/// A complete response (status, headers, problem document) in the form of an error.
struct RenderedError {
    status: StatusCode,
    /// Whether the connection closes after this response.
    ends: bool,
    headers: HeaderMap,
    body: String,
}

impl RenderedError {
    fn new(error: &Error, seen: &Seen, ends: bool) -> Self {
        let mut headers = HeaderMap::new();
        let problem =
            normalize::problem(Some(error), error.as_response_error().status_code(), seen, &mut headers);
        Self { status: problem.status(), ends, headers, body: problem.to_json() }
    }
}

impl fmt::Debug for RenderedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RenderedError({})", self.status)
    }
}

impl fmt::Display for RenderedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status.fmt(f)
    }
}

impl ResponseError for RenderedError {
    fn status_code(&self) -> StatusCode {
        self.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::with_body(self.status, self.body.clone()).map_into_boxed_body();
        *response.headers_mut() = self.headers.clone();
        if self.ends {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        response
    }
}
