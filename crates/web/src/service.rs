//! The service of one worker: the state of all areas, the routes, and the order of the middleware.
//!
//! From the outside in, with the reason for each position:
//!
//! 1. `edge`: assigns the request id, so that everything below can be found in the log; rewrites HEAD
//!    to GET before routing; determines the client's address and the request's area; refuses
//!    paths that the router would decode differently, and hosts that the service does not serve;
//!    catches panics of everything below; turns every failure into a problem document; writes the security and CORS
//!    headers of every response; logs and counts the final response.
//! 2. `etag`: outside compression, because a strong tag covers the content coding, and so that a
//!    response answered with 304 is never compressed.
//! 3. compression: its own refusals (406) become problem documents in `edge`.
//! 4. `crosssite`: needs no lookup, so it precedes the middleware that does one.
//! 5. `in_time`: around everything that calls the store.
//! 6. `auth`: applies the limit of the address, resolves the session, then applies the limit of
//!    the account. It precedes routing so that extractors of handlers need not wait, and so that a missing session is
//!    reported before any error in the body.
//! 7. `parameters`: after `auth`, because a missing session is reported first.
//! 8. the routes, and `client::unmatched` for requests that match none of them.

use crate::boards::BoardPages;
use crate::client;
use crate::dashboard::DashboardPages;
use crate::docs::{self, Document};
use crate::edge::{self, Shell, WebConfig, auth, crosssite, etag, health, in_time, parameters};
use crate::packs::PackPage;
use crate::payments::sandbox;
use crate::problem;
use crate::quests::QuestPage;
use crate::register::Routes;
use crate::room::FeedPages;
use crate::shop::ProductPages;
use crate::streams::{Hub, Streams};
use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Compress, from_fn};
use actix_web::web::{self, Data};
use metrics_exporter_prometheus::PrometheusHandle;
use std::sync::Arc;
use terrace_app::{App, OnDemand};
use terrace_kernel::{Clock, Entropy};

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

/// Everything of which the service of a worker consists. Clones share their state.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) shell: Data<Shell>,
    pub(crate) use_cases: Option<UseCases>,
    pub(crate) streams: Arc<Streams>,
    document: Data<Document>,
    pages: Pages,
    routes: fn(&mut Routes<'_>),
}

/// The encoded pages that areas keep.
#[derive(Clone)]
struct Pages {
    boards: Data<BoardPages>,
    dashboards: Data<DashboardPages>,
    feed: Data<FeedPages>,
    packs: Data<PackPage>,
    products: Data<ProductPages>,
    quests: Data<QuestPage>,
}

impl Pages {
    fn new(config: &WebConfig) -> Self {
        Self {
            boards: Data::new(BoardPages::new()),
            dashboards: Data::new(DashboardPages::new()),
            feed: Data::new(FeedPages::new(config.post_memory)),
            packs: Data::default(),
            products: Data::new(ProductPages::new()),
            quests: Data::default(),
        }
    }

    fn register(self, config: &mut web::ServiceConfig) {
        let Self { boards, dashboards, feed, packs, products, quests } = self;
        config
            .app_data(boards)
            .app_data(dashboards)
            .app_data(feed)
            .app_data(packs)
            .app_data(products)
            .app_data(quests);
    }
}

impl Service {
    pub(crate) fn new(wiring: Wiring, config: WebConfig) -> Self {
        let Wiring { app, on_demand, clock, entropy, metrics } = wiring;
        let document = Document::of_this_version();
        let contract = document.contract.clone();
        let shell = Shell::new(Arc::<App>::clone(&app), clock, entropy, metrics, config, contract);
        let use_cases = UseCases { app: Data::from(app), on_demand: Data::from(on_demand) };
        Self::of(shell, document, Some(use_cases), crate::routes)
    }

    /// A service on any shell, with any routes.
    pub(crate) fn of(
        shell: Shell,
        document: Arc<Document>,
        use_cases: Option<UseCases>,
        routes: fn(&mut Routes<'_>),
    ) -> Self {
        let config = shell.config();
        let streams = Arc::new(Streams::new(config.streams.clone(), config.limits.enabled));
        let pages = Pages::new(config);
        let (shell, document) = (Data::new(shell), Data::from(document));
        Self { shell, use_cases, streams, document, pages, routes }
    }

    /// The service of one worker.
    pub(crate) fn build(
        self,
    ) -> actix_web::App<
        impl ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<impl MessageBody>,
            Error = Error,
            InitError = (),
        >,
    > {
        let Self { shell, use_cases, streams, document, pages, routes } = self;
        let metrics = shell.config().metrics_on_main;
        // One hub for each worker.
        let hub = Hub::new(streams);
        let mut service = actix_web::App::new().app_data(shell).app_data(document).app_data(hub);
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
                pages.register(config);
                Routes::serve(config, routes);
                docs::configure(config);
                health::configure(config, metrics);
                sandbox::configure(config);
                client::configure(config);
                config.route("/problems/{code}", web::get().to(problem::explain));
            })
            .default_service(web::to(client::unmatched))
    }
}
