//! Access log and request metrics. Both use the route template instead of the path, and no query string,
//! because paths and query strings may hold personal data.

use crate::edge::area::Area;
use crate::edge::limits::ClientAddress;
use crate::edge::request_id::RequestId;
use actix_web::dev::ServiceRequest;
use actix_web::http::{Method, StatusCode, Uri};
use log::Level;
use metrics::{Counter, Gauge, Histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Target of the access log: responses at `debug`, server errors at `warn`.
const TARGET: &str = "terrace::access";

/// Upper bounds in seconds of all duration histograms.
const BUCKETS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Installs the metrics recorder that `/metrics` reads. Once per process.
///
/// # Errors
///
/// Fails if the process already has a recorder.
pub fn install_metrics() -> Result<PrometheusHandle, BuildError> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &BUCKETS)?
        .install_recorder()
}

/// The facts of a request, recorded when it arrives.
pub(crate) struct Seen {
    id: RequestId,
    method: Method,
    uri: Uri,
    client: ClientAddress,
    area: Area,
    started: Instant,
}

impl Seen {
    pub(crate) fn begin(req: &ServiceRequest, id: RequestId, client: ClientAddress) -> Self {
        Self {
            id,
            method: req.method().clone(),
            uri: req.uri().clone(),
            client,
            area: Area::classify(req),
            started: Instant::now(),
        }
    }

    pub(crate) fn method(&self) -> &Method {
        &self.method
    }

    pub(crate) fn area(&self) -> Area {
        self.area
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    /// Logs and counts the response.
    pub(crate) fn finish(&self, status: StatusCode, route: Option<&str>, series: &Series) {
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
        series.count(method, route, status, took);
    }
}

/// The metric series of requests. Each is looked up once and kept, because a lookup by labels costs as much as some
/// responses do.
#[derive(Default)]
pub(crate) struct Series {
    by_route: RwLock<HashMap<String, Vec<Answers>>>,
    in_flight: OnceLock<Gauge>,
}

/// The series of one method, route and status.
struct Answers {
    method: &'static str,
    status: StatusCode,
    count: Counter,
    took: Histogram,
}

impl Series {
    fn count(&self, method: &'static str, route: &str, status: StatusCode, took: Duration) {
        let is_this = |answers: &&Answers| answers.method == method && answers.status == status;
        let note = |answers: &Answers| {
            answers.count.increment(1);
            answers.took.record(took);
        };
        let known = self.by_route.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(answers) = known.get(route).and_then(|answers| answers.iter().find(is_this)) {
            note(answers);
            return;
        }
        drop(known);
        let answers = Answers::find(method, route, status);
        note(&answers);
        let mut known = self.by_route.write().unwrap_or_else(PoisonError::into_inner);
        let of_route = known.entry(route.to_owned()).or_default();
        if !of_route.iter().any(|answers| is_this(&answers)) {
            of_route.push(answers);
        }
    }

    /// Counts a request as in flight until the returned value is dropped, including on disconnect of the client.
    pub(crate) fn enter(&self) -> InFlight {
        let in_flight = self.in_flight.get_or_init(|| metrics::gauge!("http_requests_in_flight")).clone();
        in_flight.increment(1.0);
        InFlight(in_flight)
    }
}

impl Answers {
    fn find(method: &'static str, route: &str, status: StatusCode) -> Self {
        let labels = [
            ("method", method.to_owned()),
            ("route", route.to_owned()),
            ("status", status.as_str().to_owned()),
        ];
        let count = metrics::counter!("http_requests_total", &labels);
        let [of_method, route, _] = labels;
        let took = metrics::histogram!("http_request_duration_seconds", &[of_method, route]);
        Self { method, status, count, took }
    }
}

/// Unknown methods share one label, so that clients cannot create series.
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

/// A request in flight.
pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}
