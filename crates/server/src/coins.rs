//! `terrace maintain coins`: administration of coin balances while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::anyhow;
use clap::{Args, Subcommand};
use std::process::ExitCode;
use terrace_app::balances::{CoinsMoved, MoveCoins, MoveCoinsRefusal};
use terrace_app::{Amount, App, TransferSource, transfer_reason};
use terrace_kernel::Failure;

/// The commands for coins.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum CoinsCommand {
    /// Give coins to a fan.
    Give(Coins),
    /// Take back coins that the fan has.
    Take(Coins),
}

/// A change of a fan's coins.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Coins {
    /// The username.
    #[arg(long, value_name = "NAME")]
    user: String,
    /// How many.
    #[arg(long, value_name = "N", value_parser = amount)]
    amount: Amount,
    /// The reason that the fan sees.
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: String,
    /// The key of this change, such as the number of a ticket: a repeated key changes nothing.
    #[arg(long, value_name = "KEY", value_parser = source)]
    key: TransferSource,
}

fn amount(text: &str) -> Result<Amount, String> {
    let number = text.parse().map_err(|_| "not a whole number".to_owned())?;
    Amount::new(number).map_err(|error| error.to_string())
}

fn reason(text: &str) -> Result<String, String> {
    transfer_reason(text).map_err(|error| error.to_string())
}

fn source(text: &str) -> Result<TransferSource, String> {
    TransferSource::operator(text).map_err(|error| error.to_string())
}

/// Runs the command and prints its result.
pub(crate) async fn coins(command: CoinsCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let done = move_coins(&app, command).await;
    storage.close();
    report::line(&done?)?;
    Ok(ExitCode::SUCCESS)
}

async fn move_coins(app: &App, command: CoinsCommand) -> anyhow::Result<String> {
    let (gives, coins) = match command {
        CoinsCommand::Give(coins) => (true, coins),
        CoinsCommand::Take(coins) => (false, coins),
    };
    let Coins { user, amount, reason, key } = coins;
    let wanted = MoveCoins { username: user.clone(), amount, gives, reason, source: key };
    let CoinsMoved { balance, .. } = app.move_coins(wanted).await.map_err(|failure| match failure {
        Failure::Refused(MoveCoinsRefusal::UnknownAccount) => {
            anyhow!("there is no account {user:?}; nothing was changed")
        }
        Failure::Refused(MoveCoinsRefusal::Insufficient { has }) => {
            anyhow!("{user} has only {has} coins; nothing was changed")
        }
        Failure::Broken(error) => error.into(),
    })?;
    Ok(match balance {
        Some(balance) => format!("{user} has {balance} coins now"),
        None => "this was done before under the same key; nothing was changed".to_owned(),
    })
}
