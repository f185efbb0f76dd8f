//! `terrace maintain season`: administration of seasons while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::Settings;
use anyhow::Context;
use clap::Subcommand;
use std::process::ExitCode;
use terrace_app::boards::{CloseSeason, StartSeason};
use terrace_app::{App, Season, SeasonKey, SeasonRefusal, season_name};
use terrace_kernel::{Failure, Timestamp};

/// The commands for seasons.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum SeasonCommand {
    /// Start a season, which closes the previous one, or announce one. Leaderboards start from zero; nothing is
    /// deleted.
    Start {
        /// Its key, such as 0.6: 1 to 32 of a-z, 0-9, `.`, `_` and `-`.
        key: SeasonKey,
        /// Its name.
        #[arg(long, value_parser = name)]
        name: String,
        /// When it starts, such as 2027-01-01T00:00:00Z; by default now.
        #[arg(long, value_name = "TIME")]
        starts_at: Option<Timestamp>,
        /// When it ends; by default no end is set.
        #[arg(long, value_name = "TIME")]
        ends_at: Option<Timestamp>,
    },
    /// Close the active season now. It stays readable.
    Close,
    /// List every season.
    List,
}

fn name(text: &str) -> Result<String, String> {
    season_name(text).map_err(|error| error.to_string())
}

/// Starts, closes or lists seasons.
pub(crate) async fn season(command: SeasonCommand, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let seasons = turn(&app, command).await;
    storage.close();
    for season in seasons? {
        report::line(&words(&season))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the command; returns the seasons that were written, or all for `List`.
async fn turn(app: &App, command: SeasonCommand) -> anyhow::Result<Vec<Season>> {
    // Also on a database that no server has opened yet: the first season follows Season 0.
    app.found_seasons().await.context("cannot make the first seasons")?;
    Ok(match command {
        SeasonCommand::Start { key, name, starts_at, ends_at } => {
            app.execute(StartSeason { key, name, starts_at, ends_at }).await.map_err(refused)?
        }
        SeasonCommand::Close => app.execute(CloseSeason).await.map_err(refused)?,
        SeasonCommand::List => app.seasons(app.boards_now(None).await).await?.iter().cloned().collect(),
    })
}

fn refused(failure: Failure<SeasonRefusal>) -> anyhow::Error {
    match failure {
        Failure::Refused(refusal) => anyhow::anyhow!("{refusal}; nothing was changed"),
        Failure::Broken(error) => error.into(),
    }
}

fn words(season: &Season) -> String {
    let Season { key, name, starts_at, ends_at, status, .. } = season;
    let ends = ends_at.map_or_else(|| "open".to_owned(), |at| at.to_string());
    format!("{key} ({name}) is {status}, from {starts_at} to {ends}")
}
