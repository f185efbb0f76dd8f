//! How much the tests of games do: little in the suite, and more where `cargo xtask prove games` asks for it.

use anyhow::{Context, Result};
use std::env;

/// The number in a variable of the environment, or that of the suite.
pub(super) fn size(variable: &'static str, in_the_suite: usize) -> Result<usize> {
    env::var(variable).map_or(Ok(in_the_suite), |text| text.parse().context(variable))
}
