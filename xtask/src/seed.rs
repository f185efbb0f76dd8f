//! `cargo xtask seed`: fills a database with demo content or an edge list, by running `terrace seed`, the
//! only implementation.

use crate::cargo;
use anyhow::{Context, Result};
use std::path::absolute;
use std::process::ExitCode;

/// The option with a file, whose path is relative to the current folder.
const FILE: &str = "--follow-graph";

/// Runs the service's own command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::terrace("seed", &from_here(arguments)?)
}

/// The program runs in the workspace's root folder, so the file gets an absolute path.
fn from_here(arguments: &[String]) -> Result<Vec<String>> {
    let from_here = |file: &str| {
        let file = absolute(file).with_context(|| format!("{FILE} {file}"))?;
        Ok::<_, anyhow::Error>(file.to_string_lossy().into_owned())
    };
    let mut is_file = false;
    let mut passed = Vec::new();
    for argument in arguments {
        passed.push(match argument.strip_prefix(FILE).and_then(|rest| rest.strip_prefix('=')) {
            Some(file) => format!("{FILE}={}", from_here(file)?),
            None if is_file => from_here(argument)?,
            None => argument.clone(),
        });
        is_file = argument == FILE;
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_relative_to_the_current_folder() {
        let here = absolute("list.csv").unwrap().display().to_string();
        let arguments = ["--follow-graph", "list.csv", "--strict", "--data-dir", "data"].map(str::to_owned);
        let passed = from_here(&arguments).unwrap();
        assert_eq!(passed, ["--follow-graph", &here, "--strict", "--data-dir", "data"]);
        let passed = from_here(&["--follow-graph=list.csv".to_owned()]).unwrap();
        assert_eq!(passed, [format!("--follow-graph={here}")]);
    }
}
