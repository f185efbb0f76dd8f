//! `cargo xtask bench`: measures `terrace`, built with the profile `dist`. The benchmark is a separate program, so that
//! this one stays quick to build.

use crate::cargo::{self, Built};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

/// The profile of what is installed.
const PROFILE: &str = "dist";

/// Builds both programs as they are released, and measures one with the other.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let mut build = cargo::cargo("build")?;
    build.args(["--profile", PROFILE, "--package", "terrace-server", "--bin", "terrace"]);
    match cargo::build_terrace(&mut build)? {
        Built::Failed(status) => Ok(cargo::exit_code(status)),
        Built::Program(terrace) => measure(&terrace, arguments),
    }
}

fn measure(terrace: &Path, arguments: &[String]) -> Result<ExitCode> {
    let mut bench = cargo::cargo("run")?;
    bench.args(["--profile", PROFILE, "--package", "terrace-bench", "--"]);
    bench.arg("--terrace").arg(terrace).args(["--figures", "docs/figures"]).args(arguments);
    Ok(cargo::exit_code(cargo::status(&mut bench)?))
}
