//! State shared by middleware and handlers, and the order of the middleware.
//!
//! From the outside in, with the reason for each position:
//!
//! 1. [`edge`](crate::edge): assigns the request id, so that everything below can be found in the log; rewrites HEAD
//!    to GET before routing; determines the client's address and the request's [area](crate::edge::area); refuses
//!    paths that the router would decode differently, and [hosts](crate::edge::host) that the service does not serve;
//!    catches panics of everything below; turns every failure into a problem document; writes the security and CORS
//!    headers of every response; logs and counts the final response.
//! 2. [`etag`](crate::edge::etag): outside compression, because a strong tag covers the content coding, and so that a
//!    response answered with 304 is never compressed.
//! 3. compression: its own refusals (406) become problem documents in `edge`.
//! 4. [`crosssite`](crate::edge::crosssite): needs no lookup, so it precedes the middleware that does one.
//! 5. [`in_time`](crate::edge::in_time): around everything that calls the store.
//! 6. [`auth`](crate::edge::auth): applies the limit of the address, resolves the session, then applies the limit of
//!    the account. It precedes routing so that extractors of handlers need not wait, and so that a missing session is
//!    reported before any error in the body.
//! 7. [`parameters`](crate::edge::parameters): after `auth`, because a missing session is reported first.
//! 8. the routes, and [`fallback`](crate::edge::fallback) for requests that match none of them.

use crate::boards::BoardPages;
use crate::config::WebConfig;
use crate::docs::Document;
use crate::edge::backend::Backend;
use crate::edge::compressed::Compressed;
use crate::edge::limits::{Address, ClientAddress, RateLimits};
use crate::edge::observe::Series;
use crate::edge::slots::{PasswordOwner, PasswordSlot};
use crate::edge::{auth, crosssite, etag, fallback, health, in_time, limits, parameters};
use crate::error::ApiError;
use crate::media::PictureBodies;
use crate::packs::PackPage;
use crate::payments::sandbox;
use crate::quests::QuestPage;
use crate::room::FeedPages;
use crate::streams::{Hub, Streams};
use crate::{docs, edge, problem};
use actix_web::body::{EitherBody, MessageBody};
use actix_web::cookie::Cookie;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Compress, from_fn};
use actix_web::web::{self, Data};
use actix_web::{Error, HttpRequest};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use terrace_app::{App, OnDemand};
use terrace_identity::Secret;
use terrace_kernel::{Clock, Entropy, UserId};
use utoipa_actix_web::service_config::ServiceConfig;

/// The result of a middleware: a response, or an error that becomes one.
pub(crate) type Served<B> = Result<ServiceResponse<B>, Error>;

/// Dependencies of the HTTP server.
#[derive(Clone)]
pub struct Wiring {
    /// The application: its commands and queries.
    pub app: Arc<App>,
    /// The upkeep that operators request under `/api/cron`.
    pub on_demand: Arc<dyn OnDemand>,
    /// Clock for the timestamp in request ids.
    pub clock: Arc<dyn Clock>,
    /// Randomness for request ids.
    pub entropy: Arc<dyn Entropy>,
    /// Source of `/metrics`; `None` disables the route.
    pub metrics: Option<PrometheusHandle>,
}

/// What handlers call.
#[derive(Clone)]
pub(crate) struct UseCases {
    pub(crate) app: Data<App>,
    on_demand: Data<dyn OnDemand>,
}

impl UseCases {
    pub(crate) fn of(wiring: Wiring) -> Self {
        Self { app: Data::from(wiring.app), on_demand: Data::from(wiring.on_demand) }
    }
}

/// State that middleware and handlers share across all workers.
pub(crate) struct Shell {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Option<PrometheusHandle>,
    pub(crate) limits: RateLimits,
    pub(crate) picture_bodies: Arc<PictureBodies>,
    pub(crate) document: Document,
    pub(crate) compressed: Compressed,
    pub(crate) feed_pages: FeedPages,
    pub(crate) board_pages: BoardPages,
    pub(crate) quest_page: QuestPage,
    pub(crate) pack_page: PackPage,
    pub(crate) streams: Arc<Streams>,
    pub(crate) series: Series,
    config: WebConfig,
    draining: AtomicBool,
}

impl Shell {
    pub(crate) fn new(wiring: &Wiring, config: WebConfig) -> Self {
        let Wiring { app, on_demand: _, clock, entropy, metrics } = wiring.clone();
        Self::on(app, clock, entropy, metrics, config, Document::build())
    }

    /// Builds a shell on any backend.
    pub(crate) fn on(
        backend: Arc<dyn Backend>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        metrics: Option<PrometheusHandle>,
        config: WebConfig,
        document: Document,
    ) -> Self {
        let limits = RateLimits::new(&config.limits);
        let picture_bodies = PictureBodies::new(config.picture_memory, config.pictures_per_account);
        let streams = Arc::new(Streams::new(config.streams.clone(), config.limits.enabled));
        Self {
            backend,
            clock,
            entropy,
            metrics,
            limits,
            picture_bodies: Arc::new(picture_bodies),
            document,
            compressed: Compressed::default(),
            feed_pages: FeedPages::new(),
            board_pages: BoardPages::new(),
            quest_page: QuestPage::default(),
            pack_page: PackPage::default(),
            streams,
            series: Series::default(),
            config,
            draining: AtomicBool::new(false),
        }
    }

    pub(crate) fn config(&self) -> &WebConfig {
        &self.config
    }

    /// Marks the server as stopping: from now on `/readyz` returns 503.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// The cookie that starts a browser session.
    pub(crate) fn session_cookie(&self, secret: &Secret) -> Cookie<'static> {
        auth::session_cookie(&self.config, secret)
    }

    /// The cookie that ends a browser session.
    pub(crate) fn cleared_cookie(&self) -> Cookie<'static> {
        auth::cleared_cookie(&self.config)
    }

    /// Refuses the registration with 429 if the client's address has exceeded its limit.
    pub(crate) fn check_register(&self, req: &HttpRequest) -> Result<(), ApiError> {
        self.limits.check_register(address_of(req))
    }

    /// Refuses the login with 429 if the client's address or the name has exceeded its limit. `name_key` is the
    /// username in the form in which names are compared.
    pub(crate) fn check_login(&self, req: &HttpRequest, name_key: &str) -> Result<(), ApiError> {
        self.limits.check_login(address_of(req), name_key)
    }

    /// Records a failed login under `name_key` from the client's address.
    pub(crate) fn note_failed_login(&self, req: &HttpRequest, name_key: &str) {
        self.limits.note_failed_login(address_of(req), name_key);
    }

    /// Records a successful login under `name_key` from the client's address.
    pub(crate) fn note_login(&self, req: &HttpRequest, name_key: &str) {
        self.limits.note_login(address_of(req), name_key);
    }

    /// Counts an unauthenticated message against the client's address; 429 once it has sent too many.
    pub(crate) fn check_forgery(&self, req: &HttpRequest) -> Result<(), ApiError> {
        self.limits.check_request(None, address_of(req), true)
    }

    /// Refuses the start of a purchase for money with 429 if the client's address has exceeded its limit.
    pub(crate) fn check_purchase(&self, req: &HttpRequest) -> Result<(), ApiError> {
        self.limits.check_purchase(address_of(req))
    }

    /// Counts an invalid refresh token against the client's address; 429 once it has sent too many.
    pub(crate) fn check_failed_refresh(&self, req: &HttpRequest) -> Result<(), ApiError> {
        self.limits.check_failed_refresh(address_of(req))
    }

    /// Counts a valid refresh as a write of its account; 429 once it has sent too many.
    pub(crate) fn check_refresh(&self, req: &HttpRequest, user: UserId) -> Result<(), ApiError> {
        self.limits.check_request(Some(user), address_of(req), true)
    }

    /// Takes a slot for hashing a password under `name_key`; 429 if none is free.
    pub(crate) fn take_login_slot(
        &self,
        req: &HttpRequest,
        name_key: &str,
    ) -> Result<Option<PasswordSlot>, ApiError> {
        let owner = PasswordOwner::Name(limits::digest(name_key));
        self.limits.take_password_slot(owner, address_of(req))
    }

    /// Takes a slot for verifying the password of an account; 429 if none is free or the account has exceeded
    /// its limit.
    pub(crate) fn take_proof_slot(
        &self,
        req: &HttpRequest,
        user: UserId,
    ) -> Result<Option<PasswordSlot>, ApiError> {
        let slot = self.limits.take_password_slot(PasswordOwner::Account(user), address_of(req))?;
        self.limits.check_password_proof(user)?;
        Ok(slot)
    }
}

fn address_of(req: &HttpRequest) -> Address {
    Address::of(ClientAddress::of(req))
}

/// The shell from the request's application data.
pub(crate) fn shell_of(req: &ServiceRequest) -> Result<Data<Shell>, ApiError> {
    req.app_data::<Data<Shell>>()
        .cloned()
        .ok_or_else(|| ApiError::internal("the shell's state is not registered"))
}

/// Answers a request with an error instead of calling its handler.
pub(crate) fn refuse<B>(req: ServiceRequest, error: ApiError) -> ServiceResponse<EitherBody<B>> {
    req.error_response(error).map_into_right_body()
}

/// The service of one worker: state, middleware, routes.
pub(crate) fn build(
    shell: Data<Shell>,
    use_cases: Option<UseCases>,
    routes: impl FnOnce(&mut ServiceConfig),
) -> actix_web::App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    let metrics = shell.config().metrics_on_main;
    // One hub for each worker.
    let hub = Hub::new(Arc::clone(&shell.streams));
    let mut service = actix_web::App::new().app_data(shell).app_data(hub);
    if let Some(UseCases { app, on_demand }) = use_cases {
        service = service.app_data(app).app_data(on_demand);
    }
    service
        .wrap(from_fn(parameters::guard))
        .wrap(from_fn(auth::authenticate))
        .wrap(from_fn(in_time::bound))
        .wrap(from_fn(crosssite::guard))
        .wrap(Compress::default())
        .wrap(from_fn(etag::revalidate))
        .wrap(from_fn(edge::edge))
        .configure(|config| {
            routes(&mut ServiceConfig::new(config));
            docs::configure(config);
            health::configure(config, metrics);
            sandbox::configure(config);
            config.route("/problems/{code}", web::get().to(problem::explain));
        })
        .default_service(web::to(fallback::answer))
}
