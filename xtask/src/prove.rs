//! `cargo xtask prove`: tests of the service's promises against the real program, for as long as requested.
//! The suite runs the same tests in their short form; here they run alone, print what they check, and take a
//! seed and a length.

use crate::client;
use crate::fuzz::{self, Fuzz};
use crate::test::{self, Test};
use crate::tools::Tools;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::process::ExitCode;

#[derive(Subcommand)]
pub(crate) enum Prove {
    /// Kill the program and PostgreSQL under load, again and again, and look whether anything is lost or doubled
    Crash(Crash),
    /// Ask every route as everybody who may not, and look for secrets where none may be
    Security(Security),
    /// Compare rounds that differ in their right options byte by byte and by time, spins with their odds, and kill every
    /// process in mid-round
    Games(Games),
    /// Stop, freeze and kill the database under load, and look what is answered meanwhile and afterwards
    Faults(Faults),
    /// Send requests made up from the published contract, signed in and signed out, to services of their own
    Fuzz(Fuzz),
    /// Break the web client's promises one by one, and look whether a browser test fails for each; or read in a busy
    /// room for some minutes, and look whether it stays in place, quick and small
    Client(Client),
}

#[derive(Args)]
pub(crate) struct Client {
    /// Only those whose description contains this
    #[arg(long)]
    only: Option<String>,

    /// Read for so many minutes instead, more than 3, in a room with 500 posts a minute
    #[arg(long, conflicts_with = "only", value_parser = clap::value_parser!(u32).range(4..))]
    minutes: Option<u32>,
}

#[derive(Args)]
pub(crate) struct Crash {
    /// How often something is killed, on each database
    #[arg(long, default_value_t = 100)]
    rounds: u32,

    /// How many fans order what is sold out for one in twenty of them, while the program is killed twice
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(200..))]
    buyers: u32,

    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Security {
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Games {
    /// The rounds that are compared, on each database
    #[arg(long, default_value_t = 1_000)]
    rounds: u32,

    /// The answers whose times are compared, on each database
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(100..))]
    answers: u32,

    /// The spins over HTTP, on each database
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..))]
    spins: u32,

    /// The spins of each wheel in memory
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u32).range(100..))]
    draws: u32,

    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
pub(crate) struct Faults {
    #[command(flatten)]
    common: Common,
}

#[derive(Args)]
struct Common {
    /// What every choice follows from; a run without one says which it took
    #[arg(long)]
    seed: Option<u64>,

    /// Leave out what needs PostgreSQL
    #[arg(long)]
    sqlite_only: bool,
}

/// Faults of databases and connections: they stop, freeze, are full, locked by others or out of reach;
/// clients by the thousand, slow or vanishing; and a clock that is wrong.
const FAULTS: [&str; 10] = [
    "contract::clock::",
    "crash::exhausted::",
    "crash::frozen::",
    "crash::full::",
    "crash::full_server::",
    "crash::network::",
    "crash::outage::",
    "streams::many::",
    "streams::stalls::",
    "streams::vanished::",
];

/// Runs the proof; the exit code is that of the tests.
pub(crate) fn run(prove: &Prove, tools: Tools) -> Result<ExitCode> {
    let test = match prove {
        Prove::Crash(crash) => {
            let test = crash.common.test(&["crash::rounds::", "crash::shop::"]);
            test.with("TERRACE_PROVE_ROUNDS", &crash.rounds.to_string())
                .with("TERRACE_PROVE_BUYERS", &crash.buyers.to_string())
        }
        Prove::Security(security) => security.common.test(&["http::security::"]).with_measurements(),
        Prove::Games(games) => {
            let test = games.common.test(&["http::games::", "crash::trivia::"]).with_measurements();
            test.with("TERRACE_PROVE_ROUNDS", &games.rounds.to_string())
                .with("TERRACE_PROVE_ANSWERS", &games.answers.to_string())
                .with("TERRACE_PROVE_SPINS", &games.spins.to_string())
                .with("TERRACE_PROVE_DRAWS", &games.draws.to_string())
        }
        Prove::Faults(faults) => faults.common.test(&FAULTS),
        Prove::Fuzz(fuzz) => return fuzz::run(fuzz),
        Prove::Client(Client { minutes: Some(minutes), .. }) => return client::prove_busy(*minutes, tools),
        Prove::Client(Client { only, .. }) => return client::prove(only.as_deref(), tools),
    };
    test::run(&test, tools)
}

impl Prove {
    pub(crate) fn is_sqlite_only(&self) -> bool {
        match self {
            Self::Crash(Crash { common, .. })
            | Self::Security(Security { common })
            | Self::Games(Games { common, .. })
            | Self::Faults(Faults { common }) => common.sqlite_only,
            Self::Fuzz(fuzz) => fuzz.is_sqlite_only(),
            // It needs no PostgreSQL.
            Self::Client(_) => true,
        }
    }
}

impl Common {
    /// Runs the tests whose names contain one of these, one after the other, with their output.
    fn test(&self, filters: &[&str]) -> Test {
        let mut arguments = vec!["-p", "terrace-tests", "--"];
        arguments.extend(filters);
        arguments.extend(["--nocapture", "--test-threads=1"]);
        let test = Test::new(self.sqlite_only, &arguments);
        match self.seed {
            Some(seed) => test.with("TERRACE_TEST_SEED", &seed.to_string()),
            None => test,
        }
    }
}
