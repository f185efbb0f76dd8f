//! Python packages in virtual environments under the target folder, pinned by version and hash: nothing is
//! installed on the machine, and a second run reuses them.

use crate::cargo;
use anyhow::{Context, Result, bail};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A file in a complete environment, with the requirements that were installed.
const INSTALLED: &str = "installed.txt";
/// The interpreter, unless this variable names another.
const PYTHON: &str = "PYTHON";

/// Installs `requirements`, the text of a requirements file with hashes, into an environment in `folder`,
/// unless exactly these are installed there.
///
/// Fails without Python 3.11 or newer with `venv`, and where the packages cannot be downloaded or do not
/// match their hashes.
pub(crate) fn install(folder: &Path, requirements: &str) -> Result<()> {
    if is_installed(folder, requirements) {
        return Ok(());
    }
    // An incomplete environment, or one with other versions, is created again.
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
    let file = folder.join("requirements.txt");
    fs::write(&file, requirements)?;
    let mut pip = Command::new(folder.join("bin").join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]);
    run(pip.args(["--no-deps", "--requirement"]).arg(&file)).context(
        "pip could not install the packages: it needs the network, or an index that it is configured for",
    )?;
    Ok(fs::write(folder.join(INSTALLED), requirements)?)
}

/// Whether exactly these requirements are installed there.
pub(crate) fn is_installed(folder: &Path, requirements: &str) -> bool {
    fs::read_to_string(folder.join(INSTALLED)).is_ok_and(|known| known == requirements)
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
    #[test]
    fn every_package_is_pinned_by_version_and_hash() {
        for requirements in [crate::fuzz::REQUIREMENTS, crate::tools::POSTGRESQL, crate::tools::NODE] {
            let (hashes, packages): (Vec<_>, Vec<_>) = requirements
                .lines()
                .filter(|line| !line.starts_with('#'))
                .partition(|line| line.starts_with("    --hash=sha256:"));
            assert!(!packages.is_empty());
            assert!(
                packages.iter().all(|package| package.contains("==") && package.ends_with(" \\")),
                "{packages:?}"
            );
            assert!(hashes.len() >= packages.len());
        }
    }
}
