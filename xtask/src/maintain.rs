//! `cargo xtask maintain`: checks and mends a database, as `terrace maintain` does, which is the one implementation.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the service's own command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::terrace("maintain", arguments)
}
