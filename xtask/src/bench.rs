//! `cargo xtask bench`: measures the release build of `terrace`. The benchmark is a separate program, so that
//! this one stays quick to build.

use crate::cargo::{self, Built};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

/// Builds both programs as they are released, and measures one with the other.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let mut build = cargo::cargo("build")?;
    build.args(["--release", "--package", "terrace-server", "--bin", "terrace"]);
    match cargo::build_terrace(&mut build)? {
        Built::Failed(status) => Ok(cargo::exit_code(status)),
        Built::Program(terrace) => measure(&terrace, arguments),
    }
}

fn measure(terrace: &Path, arguments: &[String]) -> Result<ExitCode> {
    let mut bench = cargo::cargo("run")?;
    bench.args(["--release", "--package", "terrace-bench", "--"]);
    bench.arg("--terrace").arg(terrace).args(["--page", "docs/performance.md"]).args(arguments);
    Ok(cargo::exit_code(cargo::status(&mut bench)?))
}
