//! Locates the installed programs of PostgreSQL.

use anyhow::{Context, Result};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The advice shown if a program is missing.
const INSTALL: &str = "install PostgreSQL (`apt-get install postgresql`, `dnf install postgresql-server`, \
                       `brew install postgresql`)";

/// Folders with one subfolder per installed version: the root, the part before the version, and the subfolder after it.
/// Distributions do not add them to PATH.
const VERSIONED: [(&str, &str, &str); 5] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/opt/homebrew/opt", "postgresql", "bin"),
    ("/usr/local/opt", "postgresql", "bin"),
    ("/Applications/Postgres.app/Contents/Versions", "", "bin"),
];

/// The folder of a complete installation.
#[derive(Debug, Clone)]
pub struct Programs {
    folder: PathBuf,
}

impl Programs {
    /// Finds an installation that can create and run a server: on PATH, else the newest in the usual places, else the
    /// one that `pg_config` reports. Fails with advice on what to install.
    pub fn find() -> Result<Self> {
        first_with(&["initdb", "postgres", "psql"], on_path().chain(versioned()))
            .map(|folder| Self { folder })
            .with_context(|| format!("no PostgreSQL server is installed: {INSTALL}"))
    }

    /// The path of one of the programs.
    pub fn path(&self, program: &str) -> PathBuf {
        self.folder.join(program)
    }
}

/// The path of `psql`, which may be installed without a server. One that is installed for a version comes first: on Debian,
/// that on PATH is a script in Perl which takes ten times as long to start.
pub fn psql() -> Result<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| first_with(&["psql"], versioned().chain(on_path())));
    let folder = folder.as_ref().with_context(|| format!("`psql` is not installed: {INSTALL}"))?;
    Ok(folder.join("psql"))
}

/// The first of the folders that has all programs, else the one that `pg_config` reports.
fn first_with(programs: &[&str], mut folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let complete = |folder: &PathBuf| programs.iter().all(|program| folder.join(program).is_file());
    folders.find(complete).or_else(|| pg_config().filter(complete))
}

fn on_path() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).collect::<Vec<_>>().into_iter()
}

fn versioned() -> impl Iterator<Item = PathBuf> {
    VERSIONED.iter().flat_map(|(root, prefix, tail)| newest_first(root.as_ref(), prefix, tail))
}

/// `root/<prefix><version>/tail` for every installed version, newest first.
fn newest_first(root: &Path, prefix: &str, tail: &str) -> Vec<PathBuf> {
    let mut found: Vec<(Vec<u32>, PathBuf)> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = version(name.to_str()?.strip_prefix(prefix)?)?;
            Some((version, entry.path().join(tail)))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// Parses `15`, `9.6`, `@17` or nothing (the current version of Homebrew) into comparable numbers.
fn version(text: &str) -> Option<Vec<u32>> {
    let text = text.trim_start_matches('@');
    if text.is_empty() {
        return Some(vec![u32::MAX]);
    }
    text.split('.').map(|number| number.parse().ok()).collect()
}

fn pg_config() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").stderr(Stdio::null()).output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_comes_first() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["pg9.6", "pg@17", "pg15", "pg-common", "other", "pg100"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let names: Vec<_> = newest_first(root.path(), "pg", "bin")
            .iter()
            .map(|path| path.strip_prefix(root.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(names, ["pg100/bin", "pg@17/bin", "pg15/bin", "pg9.6/bin"]);
        assert!(newest_first(&root.path().join("absent"), "", "bin").is_empty());
    }
}
