//! Configuration of the HTTP server.

use crate::edge::{AllowedHost, CorsOrigin, CronSecret, LimitConfig, PublicUrl, TrustedProxies};
use crate::streams::StreamConfig;
use std::time::Duration;

/// Which clients may read `/metrics` on the main listeners. A separate metrics listener serves every client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsOnMain {
    /// The route does not exist.
    Off,
    /// Clients on this machine, under a loopback host; others get 404.
    Local,
    /// Every client.
    Open,
}

/// Configuration of the HTTP server.
#[derive(Debug, Clone)]
pub struct WebConfig {
    /// Name of the club, as clients show it.
    pub club_name: String,
    /// Where browsers reach the service, if configured; decides the cookie's `Secure` and the allowed origin.
    pub public_url: Option<PublicUrl>,
    /// Origins, besides the service's own, whose pages may read and write; none by default.
    pub cors_origins: Vec<CorsOrigin>,
    /// Hosts under which the service answers, besides that of its public URL; see [`AllowedHost`].
    pub allowed_hosts: Vec<AllowedHost>,
    /// Proxies whose forwarding header is trusted; none by default.
    pub trusted_proxies: TrustedProxies,
    /// Maximum size in bytes of a request's target and headers together.
    pub head_limit: usize,
    /// Maximum size of a JSON body in bytes.
    pub json_limit: usize,
    /// Maximum size of a picture in bytes.
    pub picture_limit: usize,
    /// Maximum total size in bytes of all pictures that are being received or wait for rendering.
    pub picture_memory: usize,
    /// Maximum number of such pictures for one account.
    pub pictures_per_account: usize,
    /// Maximum size in bytes of the encoded posts that are kept for pages of feeds.
    pub post_memory: u64,
    /// Time limit for the arrival of a body, after its head.
    pub body_timeout: Duration,
    /// How long a browser keeps the session cookie; the session itself may expire earlier.
    pub cookie_life: Duration,
    /// Secret of the routes under `/api/cron`; without it they are disabled.
    pub cron_secret: Option<CronSecret>,
    /// The rate limits.
    pub limits: LimitConfig,
    /// The bounds of streams.
    pub streams: StreamConfig,
    /// Which clients may read `/metrics` on the main listeners.
    pub metrics_on_main: MetricsOnMain,
    /// Number of worker threads; `None` means one per core.
    pub workers: Option<usize>,
    /// Maximum number of connections of each worker.
    pub max_connections: usize,
    /// Maximum number of connections that wait to be accepted.
    pub backlog: u32,
    /// How long an idle connection stays open.
    pub keep_alive: Duration,
    /// How long a client may read nothing of a pending response.
    pub write_timeout: Duration,
    /// Time limit for a response after the request's body has arrived; 503 when it is exceeded. Routes under
    /// `/api/cron` that start work are exempt.
    pub answer_timeout: Duration,
    /// Time limit for the arrival of a request's head.
    pub head_timeout: Duration,
    /// How long `/readyz` returns 503 before the listeners close, so that a load balancer can stop routing to
    /// this process.
    pub drain_delay: Duration,
    /// Time limit for requests in flight after the listeners have closed.
    pub shutdown_timeout: Duration,
}

impl Default for WebConfig {
    fn default() -> Self {
        const SECOND: Duration = Duration::from_secs(1);
        Self {
            club_name: "Terrace".to_owned(),
            public_url: None,
            cors_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            trusted_proxies: TrustedProxies::default(),
            head_limit: 32 * 1024,
            json_limit: 64 * 1024,
            picture_limit: 5 * 1024 * 1024,
            picture_memory: 128 * 1024 * 1024,
            pictures_per_account: 2,
            post_memory: 64 * 1024 * 1024,
            body_timeout: SECOND * 30,
            cookie_life: SECOND * 90 * 24 * 3600,
            cron_secret: None,
            limits: LimitConfig::default(),
            streams: StreamConfig::default(),
            metrics_on_main: MetricsOnMain::Local,
            workers: None,
            max_connections: 25_000,
            backlog: 2048,
            keep_alive: SECOND * 75,
            write_timeout: SECOND * 30,
            answer_timeout: SECOND * 20,
            head_timeout: SECOND * 10,
            drain_delay: Duration::ZERO,
            shutdown_timeout: SECOND * 10,
        }
    }
}

impl WebConfig {
    /// Whether browsers connect over https only.
    pub(crate) fn secure(&self) -> bool {
        self.public_url.as_ref().is_some_and(PublicUrl::is_https)
    }
}
