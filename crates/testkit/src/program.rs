//! The service's own program, for tests that run it as its users do.

use anyhow::{Context, Result, ensure};
use std::env;
use std::path::PathBuf;

/// The path of the `terrace` program, which `cargo xtask test` builds and passes as `TERRACE_BIN`: Cargo hands
/// a test no program of another package. Fails, and says what to do, where there is none.
pub fn terrace_program() -> Result<PathBuf> {
    let path = env::var_os("TERRACE_BIN").map(PathBuf::from).context(
        "this test runs the `terrace` program: run `cargo xtask test`, which builds it, or set TERRACE_BIN",
    )?;
    ensure!(path.is_file(), "TERRACE_BIN: there is no {}", path.display());
    Ok(path)
}
