//! Schemathesis, which makes requests up, in a virtual environment of its own under the target folder: nothing is
//! installed on the machine, and a second run finds it there.

use crate::cargo;
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed: exact versions, so that a run of tomorrow tests what today's did.
const REQUIREMENTS: &str = include_str!("../../fuzz/requirements.txt");
/// Stands in an environment that is whole, and holds what is installed in it.
const INSTALLED: &str = "installed.txt";
/// The interpreter that is taken, unless this variable names another.
const PYTHON: &str = "PYTHON";

/// Installs it into `folder` unless it is there, and returns the path of its program. Fails, and says what is
/// missing, where there is no Python 3.11 or newer with `venv`, or where its packages cannot be had.
pub(super) fn schemathesis(folder: &Path) -> Result<PathBuf> {
    let program = folder.join("bin").join("schemathesis");
    let installed = folder.join(INSTALLED);
    if fs::read_to_string(&installed).is_ok_and(|known| known == REQUIREMENTS) && program.is_file() {
        return Ok(program);
    }
    // One that was begun, or holds other versions, is made anew.
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let python = env::var_os(PYTHON).unwrap_or_else(|| "python3".into());
    let enough = "import sys; sys.exit(sys.version_info < (3, 11))";
    run(Command::new(&python).args(["-c", enough])).with_context(|| {
        format!("Python 3.11 or newer is needed (apt-get install python3, or name one in {PYTHON})")
    })?;
    run(Command::new(&python).args(["-m", "venv"]).arg(folder))
        .context("Python's module `venv` is needed (apt-get install python3-venv)")?;
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, REQUIREMENTS)?;
    let mut pip = Command::new(folder.join("bin").join("python"));
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--require-hashes",
        "--requirement",
    ]);
    run(pip.arg(&requirements))
        .context("Schemathesis could not be installed: it takes the network, or an index that pip knows")?;
    ensure!(program.is_file(), "pip installed no {}", program.display());
    fs::write(installed, REQUIREMENTS)?;
    Ok(program)
}

fn run(command: &mut Command) -> Result<()> {
    let status = cargo::status(command)?;
    if !status.success() {
        bail!("{} ended with {status}", command.get_program().display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_is_pinned_by_version_and_hash() {
        let (hashes, packages): (Vec<_>, Vec<_>) = REQUIREMENTS
            .lines()
            .filter(|line| !line.starts_with('#'))
            .partition(|line| line.starts_with("    --hash=sha256:"));
        assert!(packages.iter().any(|package| package.starts_with("schemathesis==")));
        assert!(
            packages.iter().all(|package| package.contains("==") && package.ends_with(" \\")),
            "{packages:?}"
        );
        assert!(hashes.len() >= packages.len());
    }
}
