//! What is known of each request afterwards: a line in the log and a count in the metrics, by route template,
//! never by path, and without query strings, which may hold what is nobody's business.

use crate::limits::ClientAddress;
use crate::request_id::RequestId;
use actix_web::dev::ServiceRequest;
use actix_web::http::{Method, StatusCode, Uri};
use log::Level;
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::time::Instant;

/// The access log's target: answers at `debug`, failures of ours at `warn`.
const TARGET: &str = "terrace::access";

/// Upper bounds in seconds, for everything that is measured in time.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Makes this process's metrics readable by `/metrics`. Once per process.
///
/// # Errors
///
/// Fails when the process records its metrics elsewhere already.
pub fn install_metrics() -> Result<PrometheusHandle, BuildError> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)?
        .install_recorder()
}

/// A request as it came in.
pub(crate) struct Seen {
    id: RequestId,
    method: Method,
    uri: Uri,
    client: ClientAddress,
    started: Instant,
}

impl Seen {
    pub(crate) fn begin(req: &ServiceRequest, id: RequestId, client: ClientAddress) -> Self {
        Self { id, method: req.method().clone(), uri: req.uri().clone(), client, started: Instant::now() }
    }

    pub(crate) fn method(&self) -> &Method {
        &self.method
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Logs and counts the answer.
    pub(crate) fn finish(&self, status: StatusCode, route: Option<&str>) {
        let took = self.started.elapsed();
        let route = route.unwrap_or("unmatched");
        let method = method_label(&self.method);
        let level = if status.is_server_error() { Level::Warn } else { Level::Debug };
        log::log!(
            target: TARGET,
            level,
            "{method} {route} {} {:.3}ms {} {}",
            status.as_u16(),
            took.as_secs_f64() * 1e3,
            self.id.as_str(),
            self.client
        );
        let labels = [
            ("method", method.to_owned()),
            ("route", route.to_owned()),
            ("status", status.as_str().to_owned()),
        ];
        metrics::counter!("http_requests_total", &labels).increment(1);
        let [method, route, _] = labels;
        metrics::histogram!("http_request_duration_seconds", &[method, route]).record(took);
    }
}

/// A method that nobody knows must not make a series of its own.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Counts a request among those in flight as long as it lives, also when its client goes away.
pub(crate) struct InFlight;

impl InFlight {
    pub(crate) fn enter() -> Self {
        metrics::gauge!("http_requests_in_flight").increment(1.0);
        Self
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        metrics::gauge!("http_requests_in_flight").decrement(1.0);
    }
}
