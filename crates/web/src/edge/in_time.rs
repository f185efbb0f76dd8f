//! Bounds how long anybody waits for an answer.
//!
//! A database that is lost is noticed by itself, and so is a statement that takes too long: the server breaks it off. A
//! server that stands still notices nothing, keeps its connections open and answers nobody. Whoever asks meanwhile is told
//! to come again, as soon as they have waited for as long as anything may take.

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

/// Whether a request's body is still awaited, which has a bound of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyAwaited(Rc<Cell<bool>>);

impl BodyAwaited {
    /// That of a request. One whose method carries no body has none, and says nothing.
    pub(crate) fn of(req: &HttpRequest) -> Self {
        req.extensions().get::<Self>().cloned().unwrap_or_default()
    }

    /// Says so from now on.
    pub(crate) fn set(&self, awaited: bool) {
        self.0.set(awaited);
    }
}

/// The middleware. Jobs of operators' timers may take longer, and bound themselves.
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
    // What lies in memory is answered at once, and needs no clock.
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
