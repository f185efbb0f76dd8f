//! `cargo xtask migrate`: brings a database's schema up to date, or back, as `terrace migrate` does, which is the one implementation.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the service's own command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::terrace("migrate", arguments)
}
