//! `cargo xtask migrate`: migrates a database's schema up or down, by running `terrace migrate`, the only
//! implementation.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the service's own command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::terrace("migrate", arguments)
}
