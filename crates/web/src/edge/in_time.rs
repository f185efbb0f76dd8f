//! Bounds the time until a response.
//!
//! A lost database connection is detected, and the database cancels a statement that runs too long. A database server
//! that hangs is not detected: its connections stay open and it does not answer. Requests then end with 503 and
//! `Retry-After` when the time limit has passed.

use crate::edge::area::Area;
use crate::edge::crosssite::writes;
use crate::edge::shell::{Served, shell_of};
use crate::error::ApiError;
use actix_web::body::MessageBody;
use actix_web::dev::ServiceRequest;
use actix_web::middleware::Next;
use actix_web::{HttpMessage, HttpRequest};
use futures_util::future::poll_immediate;
use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

/// Whether the handler is still reading the request's body, which has a time limit of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyAwaited(Rc<Cell<bool>>);

impl BodyAwaited {
    /// The flag of a request. A request whose method carries no body gets a detached flag without effect.
    pub(crate) fn of(req: &HttpRequest) -> Self {
        req.extensions().get::<Self>().cloned().unwrap_or_default()
    }

    /// Sets the flag.
    pub(crate) fn set(&self, awaited: bool) {
        self.0.set(awaited);
    }
}

/// Applies the limit. Jobs of operators' timers may take longer and have limits of their own.
pub(crate) async fn bound<B: MessageBody>(req: ServiceRequest, next: Next<B>) -> Served<B> {
    if Area::of(req.request()) == Area::CronJob {
        return next.call(req).await;
    }
    let patience = shell_of(&req)?.config().answer_timeout;
    let body = BodyAwaited::default();
    if writes(req.method()) {
        req.extensions_mut().insert(body.clone());
    }
    let mut answer = pin!(next.call(req));
    // A response from memory is ready at once and needs no timer.
    if let Some(served) = poll_immediate(&mut answer).await {
        return served;
    }
    loop {
        match tokio::time::timeout(patience, &mut answer).await {
            Ok(served) => return served,
            Err(_) if body.0.get() => {}
            Err(_) => {
                let cause = format!("no answer came within {patience:?}");
                return Err(ApiError::unavailable(cause, 5).into());
            }
        }
    }
}
