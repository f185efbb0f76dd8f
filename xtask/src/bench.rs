//! `cargo xtask bench`: measures `terrace`, built with the profile `dist`. The benchmark is a separate program, so that
//! this one stays quick to build; that of the web client runs in a browser.

use crate::cargo::{self, Built};
use crate::client;
use crate::tools::Tools;
use anyhow::Result;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The profile of what is installed.
const PROFILE: &str = "dist";
/// The folder of the pages that hold figures.
pub(crate) const FIGURES: &str = "docs/figures";

/// The arguments after `client`, if these measure the web client.
fn of_client(arguments: &[String]) -> Option<&[String]> {
    arguments.split_first().filter(|(first, _)| *first == "client").map(|(_, rest)| rest)
}

pub(crate) fn needs_postgres(arguments: &[String]) -> bool {
    of_client(arguments).is_none() && !arguments.iter().any(|argument| argument == "--sqlite-only")
}

/// A build of `terrace` as it is released.
pub(crate) fn released_terrace() -> Result<Command> {
    let mut build = cargo::cargo("build")?;
    build.args(["--profile", PROFILE, "--package", "terrace-server", "--bin", "terrace"]);
    Ok(build)
}

/// Builds both programs as they are released, and measures one with the other; with `client`, measures its pages.
pub(crate) fn run(arguments: &[String], tools: Tools) -> Result<ExitCode> {
    if let Some(rest) = of_client(arguments) {
        return client::bench(rest, tools);
    }
    match cargo::build_terrace(&mut released_terrace()?)? {
        Built::Failed(status) => Ok(cargo::exit_code(status)),
        Built::Program(terrace) => measure(&terrace, arguments),
    }
}

fn measure(terrace: &Path, arguments: &[String]) -> Result<ExitCode> {
    let mut bench = cargo::cargo("run")?;
    bench.args(["--profile", PROFILE, "--package", "terrace-bench", "--"]);
    bench.arg("--terrace").arg(terrace).args(["--figures", FIGURES]).args(arguments);
    Ok(cargo::exit_code(cargo::status(&mut bench)?))
}
