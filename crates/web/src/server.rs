//! The listeners, their workers, and the orderly shutdown.

use crate::edge::host::{ListenedOn, Serves};
use crate::edge::patience::{Patience, Patient};
use crate::edge::{self, MetricsOnMain, Shell, WebConfig, health};
use crate::service::{Service, Wiring};
use crate::streams::feed;
use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_server::{GracefulShutdownSignal, Server};
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::HttpServer;
use actix_web::dev::{AppConfig, ServerHandle};
use actix_web::http::KeepAlive;
use actix_web::middleware::from_fn;
use actix_web::web::Data;
use std::future::{Future, ready};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_app::App;
use tokio::net::TcpStream;

/// Interval at which expired rate limits and counted metric samples are released.
const UPKEEP: Duration = Duration::from_secs(10);

/// How long a client may take to read the response to a request whose body was not read, before the connection
/// is closed.
const LINGER: Duration = Duration::from_secs(1);

/// The sockets on which the service listens.
#[derive(Debug)]
pub struct Listeners {
    /// For all routes.
    pub main: Vec<TcpListener>,
    /// For `/healthz`, `/readyz` and `/metrics` only, if they have a listener of their own.
    pub metrics: Option<TcpListener>,
}

/// Serves until `shutdown` completes. Then `/readyz` returns 503 for `drain_delay`, the listeners close, and
/// requests in flight get a bounded time to finish.
///
/// # Errors
///
/// Fails if a listener cannot be used.
pub async fn serve(
    listeners: Listeners,
    wiring: Wiring,
    config: WebConfig,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    run(listeners, Service::new(wiring, config), shutdown).await
}

/// [`serve`] with any service.
pub(crate) async fn run(
    listeners: Listeners,
    service: Service,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let Service { shell, use_cases, streams, .. } = service.clone();
    let app = use_cases.map(|use_cases| use_cases.app);
    let config = shell.config();
    let mut server = Server::build()
        .max_concurrent_connections(config.max_connections)
        .backlog(config.backlog)
        .disable_signals()
        .shutdown_timeout(config.shutdown_timeout.as_secs());
    if let Some(workers) = config.workers {
        server = server.workers(workers);
    }
    let stopping = server.graceful_shutdown_signal();
    for (nth, listener) in listeners.main.into_iter().enumerate() {
        let (service, stopping) = (service.clone(), stopping.clone());
        let source = ListenedOn { address: listener.local_addr()?, serves: Serves::Main };
        server = server.listen(format!("main-{nth}"), listener, move || {
            connections(source, service.clone(), stopping.clone())
        })?;
    }
    let main = server.run();
    let handle = main.handle();
    let mut main = tokio::spawn(main);
    let metrics = listeners.metrics.map(|listener| serve_metrics(listener, shell.clone())).transpose()?;
    let feeder = app.clone().map(|app| tokio::spawn(feed(Arc::clone(&streams), app.into_inner())));
    let upkeep = tokio::spawn(upkeep(shell.clone(), app));

    let ended = tokio::select! {
        () = shutdown => None,
        ended = &mut main => Some(ended),
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        shell.drain();
        tokio::time::sleep(config.drain_delay).await;
        // Before the listeners are stopped: the stop waits for requests in flight, and streams are in flight
        // for minutes.
        streams.close();
        handle.stop(true).await;
        main.await
    };
    if let Some(metrics) = metrics {
        metrics.stop(false).await;
    }
    upkeep.abort();
    if let Some(feeder) = feeder {
        feeder.abort();
    }
    ended.map_err(io::Error::other)?
}

/// The connection handling of one worker. It corresponds to the framework's own server, plus deadlines for
/// connections, which that server cannot be extended with.
fn connections(
    source: ListenedOn,
    service: Service,
    stopping: GracefulShutdownSignal,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> {
    let config = service.shell.config();
    let patience = Patience {
        head: config.head_timeout,
        // The framework closes idle connections itself. This deadline covers connections that it does not
        // consider idle.
        idle: config.keep_alive.saturating_add(config.head_timeout),
        write: config.write_timeout,
    };
    let http = HttpService::build()
        .keep_alive(KeepAlive::Timeout(config.keep_alive))
        .client_request_timeout(config.head_timeout)
        .client_disconnect_timeout(LINGER)
        .on_connect_ext(move |connection: &Patient<TcpStream>, data| {
            data.insert(connection.pulse());
            data.insert(source);
        })
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        });
    let service = service.build().into_factory().map_err(|error| error.error_response());
    fn_service(move |stream: TcpStream| {
        let peer = stream.peer_addr().ok();
        // Fails only if the connection is already closed, which the next read reports.
        let _ = stream.set_nodelay(true);
        ready(Ok::<_, DispatchError>((Patient::new(stream, patience), peer)))
    })
    .and_then(http.h1(map_config(service, |()| AppConfig::default())))
}

fn serve_metrics(listener: TcpListener, shell: Data<Shell>) -> io::Result<ServerHandle> {
    let source = ListenedOn { address: listener.local_addr()?, serves: Serves::Metrics };
    let server = HttpServer::new(move || {
        actix_web::App::new()
            .app_data(shell.clone())
            .wrap(from_fn(edge::edge))
            .configure(|config| health::configure(config, MetricsOnMain::Open))
    })
    .on_connect(move |_, data| {
        data.insert(source);
    })
    .workers(1)
    .disable_signals()
    .listen(listener)?
    .run();
    let handle = server.handle();
    tokio::spawn(server);
    Ok(handle)
}

/// The pause between two counts of orders, refunds and disputes.
const COUNT: Duration = Duration::from_mins(1);

/// Releases full rate limits and counted samples, measures the age of the trends, and counts payments.
async fn upkeep(shell: Data<Shell>, app: Option<Data<App>>) {
    let mut ticks = tokio::time::interval(UPKEEP);
    let mut counted: Option<Instant> = None;
    loop {
        ticks.tick().await;
        shell.limits.prune();
        if let Some(app) = &app
            && let Err(error) = app.measure_trends().await
        {
            log::debug!("the age of the trends could not be measured: {error}");
        }
        if let Some(app) = &app
            && counted.is_none_or(|at| at.elapsed() >= COUNT)
        {
            counted = Some(Instant::now());
            if let Err(error) = app.measure_payments().await {
                log::debug!("payments could not be counted: {error}");
            }
        }
        if let Some(metrics) = &shell.metrics {
            metrics.run_upkeep();
        }
    }
}
