//! Push messages of the application, and `terrace push`.

use crate::machine::SystemEntropy;
use crate::report;
use crate::settings::Settings;
use clap::Subcommand;
use std::process::ExitCode;
use std::sync::Arc;
use terrace_app::App;
use terrace_app::notifications::render_pushes;
use terrace_outbound::VapidKeys;

/// The commands of push messages.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum PushCommand {
    /// Make a private key and print it, for a file that --push-key-file names.
    Keys,
}

/// Runs a command. It needs no database.
pub(crate) fn push(command: &PushCommand) -> anyhow::Result<ExitCode> {
    match command {
        PushCommand::Keys => report::line(&VapidKeys::draw(&SystemEntropy))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds the sender of push messages to the application, if there are keys.
pub(crate) fn with_push(app: App, settings: &Settings) -> anyhow::Result<App> {
    let sender = settings.push.sender(settings.site()?.as_ref())?;
    Ok(match sender {
        Some(sender) => app.with_push(Arc::new(sender), render_pushes),
        None => app,
    })
}
