//! `terrace till`: the tills that redeem codes, while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::{anyhow, bail};
use clap::Subcommand;
use std::process::ExitCode;
use terrace_app::App;
use terrace_app::rewards::{AddTill, ListTills, RevokeTill, till_name};
use terrace_kernel::Failure;

/// The commands for tills.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum TillCommand {
    /// Add a till and print its token, which is shown only once.
    Add {
        /// A name, such as `kiosk-3`: 1 to 60 characters.
        name: String,
    },
    /// List all tills.
    List,
    /// Revoke the token of a till, at once.
    Revoke {
        /// The name of the till.
        name: String,
    },
}

pub(crate) async fn till(command: TillCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let done = run(&app, command).await;
    storage.close();
    for line in done? {
        report::line(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn run(app: &App, command: TillCommand) -> anyhow::Result<Vec<String>> {
    match command {
        TillCommand::Add { name } => {
            let name = till_name(&name).map_err(|error| anyhow!("the name {error}"))?;
            match app.execute(AddTill { name: name.clone() }).await {
                Ok(token) => Ok(vec![token.expose().to_owned()]),
                Err(Failure::Refused(refusal)) => bail!("{name}: {refusal}; nothing was changed"),
                Err(Failure::Broken(error)) => Err(error.into()),
            }
        }
        TillCommand::List => match app.query(ListTills).await {
            Ok(tills) => Ok(tills
                .iter()
                .map(|till| match till.revoked_at {
                    None => format!("{}, added at {}", till.name, till.created_at),
                    Some(at) => format!("{}, added at {}, revoked at {at}", till.name, till.created_at),
                })
                .collect()),
            Err(Failure::Refused(never)) => match never {},
            Err(Failure::Broken(error)) => Err(error.into()),
        },
        TillCommand::Revoke { name } => match app.execute(RevokeTill { name: name.clone() }).await {
            Ok(()) => Ok(vec![format!("{name}: revoked")]),
            Err(Failure::Refused(refusal)) => bail!("{name}: {refusal}; nothing was changed"),
            Err(Failure::Broken(error)) => Err(error.into()),
        },
    }
}
