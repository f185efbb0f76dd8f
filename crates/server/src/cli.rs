//! The command line.

use crate::account::Account;
use crate::coins::CoinsCommand;
use crate::legacy::Import;
use crate::maintenance::{RunArgs, Which};
use crate::seed::Seed;
use crate::settings::Settings;
use crate::upkeep::SeasonCommand;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// A fan engagement service: the locker room, quests, leaderboards and packs of a club or a league.
#[derive(Debug, Parser)]
#[command(name = "terrace", version, about, max_term_width = 110)]
pub(crate) struct Cli {
    /// What to do; `serve` when nothing is said.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// What the program can do.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Command {
    /// Create or update the database, load the demo content where it is due, and serve.
    Serve,
    /// Bring the database's schema up to date and end.
    Migrate {
        /// Undo every migration instead: all data is lost.
        #[arg(long)]
        revert_all: bool,
    },
    /// Load the catalogue of leagues and teams (again), and with --demo always the demo content.
    Seed(Seed),
    /// Look after the data.
    #[command(subcommand)]
    Maintain(Maintain),
    /// Bring the data of an older system in.
    #[command(subcommand)]
    Import(Import),
    /// Copy an embedded database into a file while servers run on it.
    Backup {
        /// The file, which must not exist.
        file: PathBuf,
    },
    /// Put a backup in the place of an embedded database, while no server runs on it.
    Restore {
        /// The backup.
        file: PathBuf,
        /// Where there is a database, move it aside instead of refusing.
        #[arg(long)]
        force: bool,
    },
    /// Look at the configuration, the database and the machine; ends with 1 when something is wrong.
    Doctor,
    /// Look after an account: suspend, restore, reset its password, give it a role.
    #[command(subcommand)]
    Account(Account),
    /// Recompute what a pack gave from the answer of its opening; ends with 1 when it is wrong.
    Verify {
        /// Where the answer stands as JSON: a file, an http:// or https:// address, or `-` for the standard input.
        #[arg(value_name = "FILE|URL")]
        place: OsString,
    },
    /// Print the OpenAPI document of the HTTP interface.
    Openapi,
}

/// How the data can be looked after.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Maintain {
    /// List the tasks that there are: what each does, and after which others.
    List,
    /// Show in which order tasks would run.
    Plan(Which),
    /// Run tasks, and what they come after, in their order, beside servers that run.
    Run(RunArgs),
    /// Show what was run, by whom and when, and what it came to.
    History {
        /// How many runs, the newest first.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Compare every counter with the rows that it counts, boards with the ledger of points, and balances with the
    /// journal; ends with 1 when something disagrees.
    Verify,
    /// Run every repair: make boards what the ledger of points says, balances what the journal says, and finish what stopped
    /// half-way, beside servers that run.
    Repair {
        /// Only say what is wrong.
        #[arg(long)]
        dry_run: bool,
    },
    /// Start, close or list the seasons that points are counted in.
    #[command(subcommand)]
    Season(SeasonCommand),
    /// Give coins to a fan, or take some.
    #[command(subcommand)]
    Coins(CoinsCommand),
    /// Bring in what fans completed of quests elsewhere: one JSON object a line with user, quest, step, completedAt and
    /// points. What is there already stays as it is; ends with 1 when a line matches nothing.
    ImportCompletions {
        /// The file.
        file: PathBuf,
        /// Only say what would come of it.
        #[arg(long)]
        dry_run: bool,
    },
    /// Hand over to the minter what was minted before there was one. What it was told of is not told again.
    MintEarlier,
    /// Have sent again what the minter refused, and at once what waits for its next attempt.
    RetryMinting,
    /// Finish what stopped half-way of purchases for money, beside servers that run: complete what was paid, end what was
    /// not paid in time, have given back what is owed.
    Reconcile,
    /// Remove what is past its time: idempotency keys, ended sessions, old events, messages that were taken, unused pictures.
    Sweep,
    /// Look for the topics of every post again, as the server does once by itself after an update.
    BackfillTopics,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_are_accepted_before_and_after_the_command() {
        let before = Cli::try_parse_from(["terrace", "--listen", "127.0.0.1:1", "serve"]).unwrap();
        let after = Cli::try_parse_from(["terrace", "serve", "--listen", "127.0.0.1:1"]).unwrap();
        assert_eq!(before.settings.listen, after.settings.listen);
        assert_eq!(Cli::try_parse_from(["terrace"]).unwrap().command, None);
    }
}
