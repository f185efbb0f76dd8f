//! `terrace stock`: the stock of the shop, while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::anyhow;
use clap::{Args, Subcommand};
use std::process::ExitCode;
use terrace_app::App;
use terrace_app::shop::{ChangeStock, StockChange};
use terrace_kernel::Failure;

/// The commands for stock.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum StockCommand {
    /// Set how many units of a variant there are in all, those that are sold included.
    Set {
        #[command(flatten)]
        variant: Variant,
        /// A number, or `unlimited`.
        #[arg(value_name = "N", value_parser = supply)]
        supply: Supply,
    },
    /// Add units to a limited variant, such as returned ones; a negative number removes them.
    Add {
        #[command(flatten)]
        variant: Variant,
        /// How many.
        #[arg(value_name = "N", allow_negative_numbers = true)]
        change: i32,
    },
}

/// A variant of a product.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Variant {
    /// The key of the product.
    product: String,
    /// The key of the variant.
    variant: String,
}

/// How many units there are; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Supply(Option<u32>);

fn supply(text: &str) -> Result<Supply, String> {
    if text == "unlimited" {
        return Ok(Supply(None));
    }
    text.parse().map(|number| Supply(Some(number))).map_err(|_| "neither a number nor `unlimited`".to_owned())
}

/// Runs the command and prints the new stock.
pub(crate) async fn stock(command: StockCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let done = change(&app, command).await;
    storage.close();
    report::line(&done?)?;
    Ok(ExitCode::SUCCESS)
}

async fn change(app: &App, command: StockCommand) -> anyhow::Result<String> {
    let (Variant { product, variant }, change) = match command {
        StockCommand::Set { variant, supply: Supply(supply) } => (variant, StockChange::Set(supply)),
        StockCommand::Add { variant, change } => (variant, StockChange::Add(change)),
    };
    let name = format!("{product}/{variant}");
    let stock =
        app.change_stock(ChangeStock { product, variant, change }).await.map_err(
            |failure| match failure {
                Failure::Refused(refusal) => anyhow!("{name}: {refusal}; nothing was changed"),
                Failure::Broken(error) => error.into(),
            },
        )?;
    Ok(match stock {
        Some(stock) => {
            format!("{name}: {} in all, {} taken, {} left", stock.supply, stock.taken, stock.remaining())
        }
        None => format!("{name}: not limited"),
    })
}
