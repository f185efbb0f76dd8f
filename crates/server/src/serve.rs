//! `terrace serve`: runs the server until it receives a stop signal.

use crate::content;
use crate::database::{app, bring_up_to_date, open, while_contended};
use crate::machine::{SystemClock, SystemEntropy};
use crate::payments::{self, browsable};
#[cfg(unix)]
use crate::permissions;
use crate::report;
use crate::settings::{OnlyIfNew, Settings, Switch};
use crate::{minting, push, secret, wallets};
use anyhow::Context;
use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::{App, DemoOutcome, Job};
use terrace_ops::Upkeep;
use terrace_storage::{DatabaseKind, Storage};
use terrace_web::{CronSecret, Listeners, WebConfig, Wiring};
use tokio::sync::watch;

/// Opens and migrates the database, loads demo content if configured, and serves.
pub(crate) async fn serve(settings: Settings) -> anyhow::Result<ExitCode> {
    let cron_secret = settings.cron_secret()?.map(|secret| CronSecret::new(&secret));
    let web = WebConfig { cron_secret, ..settings.web_config()? };
    let listeners = Listeners {
        main: vec![listen(settings.listen, "--listen")?],
        metrics: settings.metrics_listen.map(|address| listen(address, "--metrics-listen")).transpose()?,
    };
    #[cfg(unix)]
    permissions::tighten(&settings);
    let storage = open(&settings)?;
    let metrics = terrace_web::install_metrics().context("cannot set up metrics")?;
    bring_up_to_date(&storage)?;
    let media = Arc::new(settings.open_media()?);
    let secret = secret::read(&settings)?;
    let app = app(&settings, &storage).with_media(media).with_secret(&secret);
    let app = wallets::with_wallets(minting::with_minter(app, &settings)?, &settings)?;
    let app = push::with_push(app, &settings)?;
    secret::check_secret(&app, &settings).await?;
    let listening = match listeners.main.first() {
        Some(listener) => listener.local_addr()?,
        None => settings.listen,
    };
    let app = payments::with_payments(app, &settings, &secret, listening)?;
    let app = Arc::new(app);
    // Before the first request, so that a process with a wrong clock is never ready.
    app.compare_clocks().await.context("cannot compare the clocks")?;
    if while_contended(|| app.found_seasons()).await.context("cannot make the first seasons")? {
        log::info!("the first seasons begin");
    }
    if let Some(folder) = &settings.content {
        content::apply_on_serve(&app, folder).await?;
    }
    let demo = load_demo(&app, settings.demo_on_serve()).await?;
    announce(&settings, &listeners, &storage, demo)?;

    let (stop, stopped) = watch::channel(false);
    let background = [
        tokio::spawn(Arc::clone(&app).run_consumers(stopped.clone())),
        tokio::spawn(Arc::clone(&app).run_live_models(stopped.clone())),
        tokio::spawn(Arc::clone(&app).run_minting(stopped.clone())),
        tokio::spawn(Arc::clone(&app).run_wallets(stopped.clone())),
        tokio::spawn(Arc::clone(&app).run_push(stopped.clone())),
        tokio::spawn(Arc::clone(&app).run_clocks(stopped.clone())),
        tokio::spawn(run_jobs(settings.jobs, Arc::clone(&app), stopped)),
    ];
    let wiring = Wiring {
        app,
        on_demand: Arc::new(Upkeep),
        clock: Arc::new(SystemClock),
        entropy: Arc::new(SystemEntropy),
        metrics: Some(metrics),
    };
    let signal = stop_signal()?;
    let served = terrace_web::serve(listeners, wiring, web, signal).await;
    stop.send_replace(true);
    for task in background {
        if let Err(error) = task.await {
            log::error!("a background task failed: {error}");
        }
    }
    tokio::task::spawn_blocking(move || storage.close()).await?;
    served.context("the HTTP server failed")?;
    log::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Every job of this program.
pub(crate) fn all_jobs() -> Vec<Job> {
    terrace_app::jobs().into_iter().chain(terrace_ops::jobs()).collect()
}

async fn run_jobs(jobs: Switch, app: Arc<App>, stopped: watch::Receiver<bool>) {
    match jobs {
        Switch::On => app.run_jobs(all_jobs(), stopped).await,
        Switch::Off => log::info!("jobs are left to other processes (--jobs off)"),
    }
}

fn listen(address: SocketAddr, setting: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).with_context(|| format!("cannot listen on {address} ({setting})"))
}

async fn load_demo(app: &Arc<App>, wanted: Option<OnlyIfNew>) -> anyhow::Result<Option<DemoOutcome>> {
    let Some(OnlyIfNew(only_if_new)) = wanted else { return Ok(None) };
    let load = || app.load_demo(only_if_new);
    let outcome = while_contended(load).await.context("cannot load the demo content")?;
    log::info!("{}", report::demo(outcome));
    if let DemoOutcome::Loaded { .. } = outcome {
        // Trends appear at once, without waiting for the schedule.
        app.sync_trends().await.context("cannot find what is trending in the demo content")?;
    }
    Ok(Some(outcome))
}

/// Prints the addresses, the location of the data and how to sign in.
fn announce(
    settings: &Settings,
    listeners: &Listeners,
    storage: &Storage,
    demo: Option<DemoOutcome>,
) -> anyhow::Result<()> {
    for listener in &listeners.main {
        report::line(&format!("Terrace listens on {}", browsable(listener.local_addr()?)))?;
    }
    if let Some(listener) = &listeners.metrics {
        report::line(&format!("metrics are on {}", browsable(listener.local_addr()?)))?;
    }
    match storage.kind() {
        DatabaseKind::Sqlite => {
            let url = settings.database_url()?;
            let path = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).unwrap_or(&url);
            report::line(&format!("its data lies in {}", std::path::absolute(path)?.display()))?;
        }
        DatabaseKind::Postgres => report::line("its data lies in PostgreSQL")?,
    }
    match demo {
        Some(DemoOutcome::Loaded { .. } | DemoOutcome::AlreadyThere) => {
            report::line(&report::how_to_sign_in())?;
        }
        Some(DemoOutcome::NotNew) => {
            report::line(&format!(
                "sign in with an account of yours; where the demo content was loaded, {}",
                report::how_to_sign_in()
            ))?;
        }
        None => report::line("register an account to sign in: POST /api/register")?,
    }
    Ok(())
}

/// Completes on Ctrl-C or, on Unix, SIGTERM.
pub(crate) fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    // The handlers are installed now, so that no signal is lost before the future is polled.
    #[cfg(unix)]
    let (mut terminate, mut interrupt) = {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).context("cannot listen for signals");
        (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?)
    };
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        #[cfg(not(unix))]
        if let Err(error) = tokio::signal::ctrl_c().await {
            log::error!("cannot listen for Ctrl-C: {error}");
        }
        log::info!("stopping");
    })
}
