//! The database, its schema, and the application on it.

use crate::machine::{SystemClock, SystemEntropy};
use crate::report;
use crate::settings::Settings;
use anyhow::Context;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_kernel::StoreError;
use terrace_storage::{Storage, StorageConfig};

/// Opens the database; creates its folder if it is missing.
pub(crate) fn open(settings: &Settings) -> anyhow::Result<Storage> {
    open_with(settings.storage()?)
}

pub(crate) fn open_with(config: StorageConfig) -> anyhow::Result<Storage> {
    Storage::open(config, Arc::new(SystemClock), Arc::new(SystemEntropy)).context("cannot open the database")
}

/// Creates the application on an open database.
pub(crate) fn app(settings: &Settings, storage: &Storage) -> App {
    App::new(Arc::new(storage.clone()), Arc::new(SystemClock), Arc::new(SystemEntropy), settings.app())
}

/// Creates the application, and fails unless the schema is the one that this program needs.
pub(crate) async fn ready_app(settings: &Settings, storage: &Storage) -> anyhow::Result<App> {
    let app = app(settings, storage);
    app.ready().await.map_err(|error| {
        let words = match &error {
            // The schema of a newer version.
            StoreError::Defect { .. } => "the database is not one that this program can use",
            StoreError::Unavailable(_) | StoreError::Contended(_) | StoreError::Corrupt { .. } => {
                "the database is not ready; `terrace migrate` brings it up to date"
            }
        };
        anyhow::Error::new(error).context(words)
    })?;
    Ok(app)
}

/// Applies all pending migrations.
pub(crate) fn bring_up_to_date(storage: &Storage) -> anyhow::Result<()> {
    for name in storage.migrate().context("cannot migrate the database")? {
        log::info!("applied migration {name}");
    }
    Ok(())
}

/// How long a start waits for other processes that start at the same time.
const START_PATIENCE: Duration = Duration::from_mins(1);
/// The pause before the next attempt.
const START_PAUSE: Duration = Duration::from_millis(250);

/// Repeats a write of the start as long as it conflicts with another process, which may be loading the demo content: on
/// a busy machine that transaction takes longer than a statement waits for a lock.
pub(crate) async fn while_contended<T, F>(work: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let started = Instant::now();
    loop {
        match work().await {
            Err(StoreError::Contended(reason)) if started.elapsed() < START_PATIENCE => {
                log::info!("waiting for another process that starts: {reason}");
                tokio::time::sleep(START_PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

pub(crate) fn migrate(settings: &Settings, revert_all: bool) -> anyhow::Result<ExitCode> {
    let storage = open(settings)?;
    if revert_all {
        for name in storage.revert_all().context("cannot revert the migrations")? {
            report::line(&format!("reverted {name}"))?;
        }
    } else {
        let applied = storage.migrate().context("cannot migrate the database")?;
        for name in &applied {
            report::line(&format!("applied {name}"))?;
        }
        if applied.is_empty() {
            report::line("the database is up to date")?;
        }
    }
    storage.close();
    Ok(ExitCode::SUCCESS)
}
