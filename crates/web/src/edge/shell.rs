//! State that middleware and handlers share.

use crate::edge::auth;
use crate::edge::backend::Backend;
use crate::edge::compressed::Compressed;
use crate::edge::config::WebConfig;
use crate::edge::fallback::RouteTable;
use crate::edge::limits::{self, Address, ClientAddress, RateLimits};
use crate::edge::observe::Series;
use crate::edge::parameters::Parameters;
use crate::edge::slots::{PasswordOwner, PasswordSlot};
use crate::error::ApiError;
use crate::media::PictureBodies;
use actix_web::body::EitherBody;
use actix_web::cookie::Cookie;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::web::Data;
use actix_web::{Error, HttpRequest};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use terrace_identity::Secret;
use terrace_kernel::{Clock, Entropy, UserId};
use terrace_rewards::TillId;

/// The result of a middleware: a response, or an error that becomes one.
pub(crate) type Served<B> = Result<ServiceResponse<B>, Error>;

/// What the OpenAPI document says about requests.
#[derive(Clone)]
pub(crate) struct Contract {
    pub(crate) table: RouteTable,
    pub(crate) parameters: Parameters,
}

/// State that middleware and handlers share across all workers.
pub(crate) struct Shell {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) metrics: Option<PrometheusHandle>,
    pub(crate) limits: RateLimits,
    pub(crate) picture_bodies: Arc<PictureBodies>,
    pub(crate) contract: Contract,
    pub(crate) compressed: Compressed,
    pub(crate) series: Series,
    config: WebConfig,
    draining: AtomicBool,
}

impl Shell {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        metrics: Option<PrometheusHandle>,
        config: WebConfig,
        contract: Contract,
    ) -> Self {
        let limits = RateLimits::new(&config.limits);
        let picture_bodies = PictureBodies::new(config.picture_memory, config.pictures_per_account);
        Self {
            backend,
            clock,
            entropy,
            metrics,
            limits,
            picture_bodies: Arc::new(picture_bodies),
            contract,
            compressed: Compressed::default(),
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

    /// Whether the request has the cookie of a session, valid or not.
    pub(crate) fn has_session_cookie(&self, req: &HttpRequest) -> bool {
        auth::has_session_cookie(req, &self.config)
    }

    /// Refuses the registration with 429 if the client's address has exceeded its limit.
    pub(crate) fn check_register(&self, req: &HttpRequest) -> Result<(), ApiError> {
        self.limits.check_register(address_of(req))
    }

    /// Counts a read by a client that is signed out; refuses it with 429 if its address has exceeded the limit.
    pub(crate) fn check_guest_read(&self, req: &HttpRequest) -> Result<(), ApiError> {
        self.limits.check_request(None, address_of(req), false)
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

    /// Refuses the redemption of a code with 429 if the till has exceeded its limit.
    pub(crate) fn check_redemption(&self, till: TillId) -> Result<(), ApiError> {
        self.limits.check_redemption(till)
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
