//! The minter of the application, and the retry of its messages.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::App;

/// Adds the minter to the application, if one is configured.
pub(crate) fn with_minter(app: App, settings: &Settings) -> anyhow::Result<App> {
    Ok(match settings.minting.minter()? {
        Some(minter) => app.with_minter(Arc::new(minter)),
        None => app,
    })
}

/// Schedules messages that were set aside or are paused to be sent soon.
pub(crate) async fn retry(settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let retried = terrace_ops::retry_minting(&app).await;
    storage.close();
    let retried = retried?;
    let (messages, fans) = (retried.messages, retried.fans);
    report::line(&format!(
        "{messages} messages that were set aside wait again; those of {fans} fans are not waited with any more"
    ))?;
    Ok(ExitCode::SUCCESS)
}
