//! `cargo xtask bench client`: how quick the pages are in a browser that is slowed down.

use super::{Project, browser};
use crate::bench;
use crate::cargo::{self, Built};
use crate::tools::Tools;
use anyhow::{Context, Result};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure the pages of the web client in Chromium, with a processor four times slower and a slow mobile network.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench client", bin_name = "cargo xtask bench client")]
struct Bench {
    /// One visit of each page, to check that everything works; does not change the documentation.
    #[arg(long)]
    quick: bool,
    /// How often each page is visited; a figure is the median.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "quick")]
    runs: u32,
    /// A program that is built already, with the files of the client in it.
    #[arg(long, value_name = "PROGRAM")]
    terrace: Option<PathBuf>,
}

/// Builds the program as it is released, unless one is given, and measures its pages.
pub(crate) fn run(arguments: &[String], tools: Tools) -> Result<ExitCode> {
    let name = "cargo xtask bench client".to_owned();
    let bench = Bench::parse_from([name].iter().chain(arguments));
    let terrace = match &bench.terrace {
        Some(named) => named.canonicalize().with_context(|| format!("{} does not exist", named.display()))?,
        None => match cargo::build_terrace(&mut bench::released_terrace()?)? {
            Built::Program(path) => path,
            Built::Failed(status) => return Ok(cargo::exit_code(status)),
        },
    };
    let project = Project::prepare(tools)?;
    let browser = browser::find(tools, &project.node)?;
    let runs = if bench.quick { 1 } else { bench.runs };
    let mut command = project.npm(&["run", "bench"]);
    command.env("TERRACE_BIN", terrace).env("CHROMIUM", browser).env("TERRACE_RUNS", runs.to_string());
    if !bench.quick {
        command.env("TERRACE_FIGURES", cargo::root()?.join(bench::FIGURES).join("client.md"));
    }
    project.finish(&mut command)?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Bench::command().debug_assert();
    }
}
