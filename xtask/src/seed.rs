//! `cargo xtask seed`: fills a database with demo content or an edge list, as `terrace seed` does, which is the one
//! implementation.

use crate::cargo;
use anyhow::{Context, Result};
use std::path::absolute;
use std::process::ExitCode;

/// Names a file, which lies where we were called.
const FILE: &str = "--follow-graph";

/// Runs the service's own command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    cargo::terrace("seed", &from_here(arguments)?)
}

/// The program is run in the workspace's root folder, so a file is named from there on.
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
    fn a_file_is_named_from_where_we_were_called() {
        let here = absolute("list.csv").unwrap().display().to_string();
        let arguments = ["--follow-graph", "list.csv", "--strict", "--data-dir", "data"].map(str::to_owned);
        let passed = from_here(&arguments).unwrap();
        assert_eq!(passed, ["--follow-graph", &here, "--strict", "--data-dir", "data"]);
        let passed = from_here(&["--follow-graph=list.csv".to_owned()]).unwrap();
        assert_eq!(passed, [format!("--follow-graph={here}")]);
    }
}
