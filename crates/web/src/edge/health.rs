//! Liveness, readiness and metrics for monitoring.

use crate::edge::config::MetricsOnMain;
use crate::edge::forwarded::is_forwarded;
use crate::edge::host;
use crate::edge::limits::ClientAddress;
use crate::edge::shell::Shell;
use crate::error::{ApiError, Code};
use actix_web::http::header;
use actix_web::web::{self, Data, ServiceConfig};
use actix_web::{HttpRequest, HttpResponse};
use std::time::Duration;

/// How long the readiness check waits for the store.
const PATIENCE: Duration = Duration::from_secs(2);

/// Registers `/healthz`, `/readyz` and, as configured, `/metrics`.
pub(crate) fn configure(config: &mut ServiceConfig, metrics: MetricsOnMain) {
    config.route("/healthz", web::get().to(healthz)).route("/readyz", web::get().to(readyz));
    match metrics {
        MetricsOnMain::Off => {}
        MetricsOnMain::Local => {
            config.route("/metrics", web::get().to(local_figures));
        }
        MetricsOnMain::Open => {
            config.route("/metrics", web::get().to(figures));
        }
    }
}

fn ok() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, "no-store"))
        .insert_header((header::CONTENT_TYPE, "application/json"))
        .body(r#"{"status":"ok"}"#)
}

/// Liveness: the process runs. Calls no other component.
async fn healthz() -> HttpResponse {
    ok()
}

/// Readiness: the store can be reached, its schema is current, the clock agrees with the store's, and the process is not stopping.
async fn readyz(shell: Data<Shell>) -> Result<HttpResponse, ApiError> {
    if shell.is_draining() {
        return Err(ApiError::new(Code::Unavailable, "the process is stopping").retry_after(1));
    }
    match tokio::time::timeout(PATIENCE, shell.backend.ready()).await {
        Ok(Ok(())) => Ok(ok()),
        Ok(Err(error)) => Err(ApiError::unavailable(error, 1)),
        Err(_) => Err(ApiError::unavailable("the store did not answer in time", 1)),
    }
}

async fn local_figures(req: HttpRequest, shell: Data<Shell>) -> Result<HttpResponse, ApiError> {
    if is_local(&req) { figures(shell).await } else { Err(Code::NotFound.into()) }
}

/// Whether the request comes from this machine directly. Requests through a local proxy are excluded: with them,
/// every client would count as local.
fn is_local(req: &HttpRequest) -> bool {
    let client = ClientAddress::of(req).0;
    client.is_some_and(|client| client.to_canonical().is_loopback())
        && host::is_loopback(req)
        && !is_forwarded(req.headers())
}

async fn figures(shell: Data<Shell>) -> Result<HttpResponse, ApiError> {
    let metrics = shell.metrics.as_ref().ok_or(Code::NotFound)?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"))
        .body(metrics.render()))
}
