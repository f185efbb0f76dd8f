//! The command line.

use crate::account::Account;
use crate::claim::ClaimCommand;
use crate::coins::CoinsCommand;
use crate::content::ContentCommand;
use crate::legacy::Import;
use crate::maintenance::{RunArgs, Which};
use crate::operator_report::ReportArgs;
use crate::order::OrderCommand;
use crate::push::PushCommand;
use crate::reports::ReportsCommand;
use crate::seed::Seed;
use crate::settings::Settings;
use crate::stock::StockCommand;
use crate::till::TillCommand;
use crate::upkeep::SeasonCommand;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// A fan engagement service: the locker room, quests, leaderboards and packs of a club or a league.
#[derive(Debug, Parser)]
#[command(name = "terrace", version, about, max_term_width = 110)]
pub(crate) struct Cli {
    /// The command; `serve` by default.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) settings: Settings,
}

/// What the program can do.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Command {
    /// Create or update the database, load the demo content if configured, and serve.
    Serve,
    /// Migrate the database's schema to the current version and exit.
    Migrate {
        /// Revert every migration instead: all data is lost.
        #[arg(long)]
        revert_all: bool,
    },
    /// Create, check and load the content of a club: its teams, quests, packs, levels and pictures.
    #[command(subcommand)]
    Content(ContentCommand),
    /// Load the catalogue of leagues and teams (again), and with `--demo always` the demo content.
    Seed(Seed),
    /// Check, repair and maintain the data.
    #[command(subcommand)]
    Maintain(Maintain),
    /// Import the data of an older system.
    #[command(subcommand)]
    Import(Import),
    /// Copy an embedded database into a file while servers run on it.
    Backup {
        /// The file, which must not exist.
        file: PathBuf,
    },
    /// Replace an embedded database by a backup, while no server runs on it.
    Restore {
        /// The backup.
        file: PathBuf,
        /// Move an existing database aside instead of refusing.
        #[arg(long)]
        force: bool,
    },
    /// Check the configuration, the database and the machine; exits with 1 if a check fails.
    Doctor,
    /// List, show, send, deliver and refund orders of the shop.
    #[command(subcommand)]
    Order(OrderCommand),
    /// Change the stock of the shop.
    #[command(subcommand)]
    Stock(StockCommand),
    /// List and revoke claims of rewards, and add codes to the pools of rewards.
    #[command(subcommand)]
    Claim(ClaimCommand),
    /// Add, list and revoke tills, which redeem codes.
    #[command(subcommand)]
    Till(TillCommand),
    /// Manage an account: suspend, restore, reset its password, grant it a role.
    #[command(subcommand)]
    Account(Account),
    /// Moderate: list and show reports of posts and comments, dismiss them, or remove what was reported.
    #[command(subcommand)]
    Reports(ReportsCommand),
    /// Make keys of push messages.
    #[command(subcommand)]
    Push(PushCommand),
    /// Print the figures of a period from the journal: fans, balances, revenue, orders and packs; servers may be running.
    Report(ReportArgs),
    /// Recompute the content of a pack from the response of its opening; exits with 1 if it differs.
    Verify {
        /// The response as JSON: a file, an http:// or https:// URL, or `-` for standard input.
        #[arg(value_name = "FILE|URL")]
        place: OsString,
    },
    /// Print the OpenAPI document of the HTTP interface.
    Openapi,
}

/// The maintenance commands.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Maintain {
    /// List all tasks: what each does, and which tasks precede it.
    List,
    /// Show the order in which tasks would run.
    Plan(Which),
    /// Run tasks and the tasks that precede them, in order; servers may be running.
    Run(RunArgs),
    /// Show past runs: operator, time and result.
    History {
        /// The number of runs, newest first.
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Compare every counter with the rows that it counts, boards with the ledger of points, and balances with the
    /// journal; exits with 1 if they disagree.
    Verify,
    /// Run every repair: recompute leaderboards from the ledger of points and balances from the journal, and finish
    /// interrupted operations; servers may be running.
    Repair {
        /// Only report what is wrong.
        #[arg(long)]
        dry_run: bool,
    },
    /// Start, close or list the seasons that points are counted in.
    #[command(subcommand)]
    Season(SeasonCommand),
    /// Give coins to a fan, or take coins back.
    #[command(subcommand)]
    Coins(CoinsCommand),
    /// Import completed quest steps from another system: one JSON object on each line with user, quest, step,
    /// completedAt and points. Existing completions stay unchanged; exits with 1 if a line matches nothing.
    ImportCompletions {
        /// A file of JSON lines.
        file: PathBuf,
        /// Only report the result; write nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Queue messages to the minter for collectibles that were minted before it was configured. Messages that were
    /// sent are not sent again.
    MintEarlier,
    /// Send the messages again that the minter refused, and send delayed ones now.
    RetryMinting,
    /// Finish interrupted purchases for money: complete paid ones, expire unpaid ones, refund what is owed; servers
    /// may be running.
    Reconcile,
    /// Remove expired data: idempotency keys, ended sessions, old events, delivered messages, old reports, unused
    /// pictures.
    Sweep,
    /// Extract the topics of every post again, as the server does automatically after an update.
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
