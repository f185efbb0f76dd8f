//! Every bound and switch of the web shell.

use crate::edge::{AllowedHost, CorsOrigin, CronSecret, LimitConfig, PublicUrl, TrustedProxies};
use crate::streams::StreamConfig;
use std::time::Duration;

/// Who may read `/metrics` on the main listeners. A listener of its own for metrics serves everybody who reaches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsOnMain {
    /// The route does not exist.
    Off,
    /// Clients on this machine, under a loopback host; others get 404.
    Local,
    /// Every client.
    Open,
}

/// How the shell serves.
#[derive(Debug, Clone)]
pub struct WebConfig {
    /// Where browsers reach the service, when it was said; decides `Secure` and the allowed origin.
    pub public_url: Option<PublicUrl>,
    /// Whose pages may read answers and write, beside the service's own; none by default.
    pub cors_origins: Vec<CorsOrigin>,
    /// Hosts under which the service answers beside that of its public URL; see [`AllowedHost`].
    pub allowed_hosts: Vec<AllowedHost>,
    /// Whose word on a client's address is taken; nobody's by default.
    pub trusted_proxies: TrustedProxies,
    /// How many bytes the fields of a request's head may hold, its target included.
    pub head_limit: usize,
    /// How many bytes a JSON body may hold.
    pub json_limit: usize,
    /// How many bytes a picture may hold.
    pub picture_limit: usize,
    /// How many bytes all pictures may hold that arrive or wait for their rendering.
    pub picture_memory: usize,
    /// How many of them may be of one account.
    pub pictures_per_account: usize,
    /// How long a body may take to arrive once its head is there.
    pub body_timeout: Duration,
    /// How long a browser keeps the session's cookie; the session's own life decides.
    pub cookie_life: Duration,
    /// What opens the routes under `/api/cron`; without it they are closed.
    pub cron_secret: Option<CronSecret>,
    /// How much may be asked in what time.
    pub limits: LimitConfig,
    /// The bounds of streams.
    pub streams: StreamConfig,
    /// Who may read `/metrics` on the main listeners.
    pub metrics_on_main: MetricsOnMain,
    /// How many threads serve requests; none means one per core.
    pub workers: Option<usize>,
    /// How many connections each of them holds at most.
    pub max_connections: usize,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
    /// How long an idle connection stays open.
    pub keep_alive: Duration,
    /// How long a client may take none of an answer that waits for it.
    pub write_timeout: Duration,
    /// How long a request may wait for its answer once its body is there; then it is 503. Routes under
    /// `/api/cron` that begin work are left out.
    pub answer_timeout: Duration,
    /// How long a request's head may take to arrive.
    pub head_timeout: Duration,
    /// How long `/readyz` says no before the listeners close, so that a balancer can turn away.
    pub drain_delay: Duration,
    /// How long requests in flight may take to finish after that.
    pub shutdown_timeout: Duration,
}

impl Default for WebConfig {
    fn default() -> Self {
        const SECOND: Duration = Duration::from_secs(1);
        Self {
            public_url: None,
            cors_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            trusted_proxies: TrustedProxies::default(),
            head_limit: 32 * 1024,
            json_limit: 64 * 1024,
            picture_limit: 5 * 1024 * 1024,
            picture_memory: 128 * 1024 * 1024,
            pictures_per_account: 2,
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
    /// Whether browsers come by https only.
    pub(crate) fn secure(&self) -> bool {
        self.public_url.as_ref().is_some_and(PublicUrl::is_https)
    }
}
