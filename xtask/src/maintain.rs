//! `cargo xtask maintain`: checks and repairs a database, by running `terrace maintain`, the only
//! implementation.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the service's own command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::terrace("maintain", arguments)
}
