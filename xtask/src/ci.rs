//! `cargo xtask ci`: the checks that a change must pass, the quickest first. It ends at the first failure.

use crate::test::{self, Test};
use crate::tools::Tools;
use crate::{cargo, licences};
use anyhow::Result;
use clap::Args;
use std::process::{Command, ExitCode};
use std::time::Instant;

#[derive(Args)]
pub(crate) struct Ci {
    /// Fail where a test would have to be left out
    #[arg(long)]
    complete: bool,
}

/// Runs every check.
pub(crate) fn run(ci: &Ci, tools: Tools) -> Result<ExitCode> {
    for check in [format()?, lints()?, documentation()?] {
        let failed = step(check.name, || Ok(cargo::exit_code(cargo::status(&mut { check.command })?)))?;
        if failed != ExitCode::SUCCESS {
            return Ok(failed);
        }
    }
    step("licences", || {
        println!("{} crates, all under permissive licences", licences::check()?);
        Ok(ExitCode::SUCCESS)
    })?;
    step("tests", || test::run(&Test::whole(ci.complete), tools))
}

struct Check {
    name: &'static str,
    command: Command,
}

fn format() -> Result<Check> {
    let mut command = cargo::cargo("fmt")?;
    command.args(["--all", "--check"]);
    Ok(Check { name: "formatting", command })
}

/// The optional features, which the lints and the documentation share. The tests are built without them.
const OPTIONAL: &str = "terrace-server/s3,terrace-server/postgres-tls";

fn lints() -> Result<Check> {
    let mut command = cargo::cargo("clippy")?;
    command.args(["--workspace", "--all-targets", "--features", OPTIONAL, "--", "-D", "warnings"]);
    Ok(Check { name: "lints", command })
}

fn documentation() -> Result<Check> {
    let mut command = cargo::cargo("doc")?;
    command.args(["--workspace", "--no-deps", "--features", OPTIONAL]).env("RUSTDOCFLAGS", "-D warnings");
    Ok(Check { name: "documentation", command })
}

fn step(name: &str, run: impl FnOnce() -> Result<ExitCode>) -> Result<ExitCode> {
    println!("\n== {name}");
    let began = Instant::now();
    let code = run()?;
    let outcome = if code == ExitCode::SUCCESS { "passed" } else { "FAILED" };
    println!("== {name}: {outcome} after {} s", began.elapsed().as_secs());
    Ok(code)
}
