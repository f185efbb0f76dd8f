//! The workspace's chores, one file per command: `cargo xtask test`, `ci`, `client`, `bench`, `prove`, `migrate`,
//! `seed`, `maintain`, `lines`.
#![expect(clippy::print_stdout, reason = "a tool for a terminal")]

mod bench;
mod cargo;
mod ci;
mod client;
mod fuzz;
mod licences;
mod lines;
mod maintain;
mod migrate;
mod postgres;
mod prove;
mod python;
mod seed;
mod test;
mod tools;

use anyhow::Result;
use clap::{Args, Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "The workspace's chores")]
struct Chores {
    #[command(flatten)]
    tools: tools::Tools,

    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run every test on both databases; PostgreSQL is started for the run and goes with it
    Test(test::Test),
    /// Run what a change must pass: formatting, lints, documentation, licences, tests
    Ci(ci::Ci),
    /// Develop, build, check and test the web client
    #[command(subcommand)]
    Client(client::Client),
    /// Measure the program as it is shipped (profile `dist`) against bare limits, or with `client` the pages of the web
    /// client in a slow browser; `--help` lists the scenarios
    Bench(Passed),
    /// Test the service's promises on the real program for a chosen duration; `--help` lists them
    #[command(subcommand)]
    Prove(prove::Prove),
    /// `terrace migrate`: migrate a database's schema up, or revert it
    Migrate(Passed),
    /// `terrace seed`: fill a database with demo content
    Seed(Passed),
    /// `terrace maintain`: check and repair a database
    Maintain(Passed),
    /// Count lines of Rust and types, per package
    Lines(lines::Lines),
}

impl Chore {
    fn needs_postgres(&self) -> bool {
        match self {
            Self::Test(test) => !test.is_sqlite_only(),
            Self::Ci(_) => true,
            Self::Prove(prove) => !prove.is_sqlite_only(),
            Self::Bench(passed) => bench::needs_postgres(&passed.arguments),
            Self::Client(_) | Self::Migrate(_) | Self::Seed(_) | Self::Maintain(_) | Self::Lines(_) => false,
        }
    }
}

/// Arguments that the called program parses itself.
#[derive(Args)]
#[command(disable_help_flag = true)]
struct Passed {
    /// The arguments of the program; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// The exit code is that of the program that failed, so that scripts can distinguish failures.
fn main() -> Result<ExitCode> {
    let Chores { chore, tools } = Chores::parse();
    if chore.needs_postgres()
        && let Some(code) = tools::provide(tools)?
    {
        return Ok(code);
    }
    match chore {
        Chore::Test(test) => test::run(&test, tools),
        Chore::Ci(ci) => ci::run(&ci, tools),
        Chore::Client(client) => client::run(&client, tools),
        Chore::Bench(passed) => bench::run(&passed.arguments, tools),
        Chore::Prove(prove) => prove::run(&prove, tools),
        Chore::Migrate(passed) => migrate::run(&passed.arguments),
        Chore::Seed(passed) => seed::run(&passed.arguments),
        Chore::Maintain(passed) => maintain::run(&passed.arguments),
        Chore::Lines(lines) => lines::run(&lines),
    }
}
