//! The wallet provider of the application.

use crate::settings::Settings;
use std::sync::Arc;
use terrace_app::App;
use terrace_app::wallets::SandboxWallets;

/// Adds the wallet provider to the application, if there is one.
pub(crate) fn with_wallets(app: App, settings: &Settings) -> anyhow::Result<App> {
    if let Some(webhook) = settings.wallets.webhook()? {
        return Ok(app.with_wallets(Arc::new(webhook)));
    }
    if !settings.has_sandbox_wallets()? {
        return Ok(app);
    }
    log::warn!("wallets are kept by the sandbox: they exist on no network (--wallets off disables it)");
    Ok(app.with_wallets(Arc::new(SandboxWallets::default())))
}
