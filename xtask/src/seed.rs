//! `cargo xtask seed`: fills a database with demo content, as `terrace seed` does, which is the one implementation.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the service's own command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::terrace("seed", arguments)
}
