//! Measures the service: `cargo xtask bench`. `docs/figures` explains the figures and how they are taken.
//!
//! - [`client`] generates the load, with [`http`] and [`histogram`]; it does not depend on the service.
//! - [`server`] runs the service as shipped, [`world`] creates its databases, and [`rows`] fills them.
//! - [`readers`] keep streams open, with [`sse`], [`handles`] and [`clock`].
//! - [`push_service`] receives push messages.
//! - [`bare`], [`bare_send`], [`limit`] and [`writes`] are the bare limits that the service is compared with; [`nchan`]
//!   is an alternative.
//! - [`scenarios`] combine these, with pseudo-random choices ([`dice`]) where fans would choose; [`report`], [`chart`],
//!   [`compare`], [`page`] and [`machine`] present the results.

mod bare;
mod bare_send;
mod chart;
mod client;
mod clock;
mod commands;
mod compare;
mod dice;
mod handles;
mod histogram;
mod http;
mod limit;
mod machine;
mod nchan;
mod numbers;
mod page;
mod pgbench;
mod process;
mod push_service;
mod readers;
mod replay;
mod report;
mod rows;
mod scenarios;
mod server;
mod sse;
mod world;
mod writes;

use crate::bare::BareHttp;
use crate::bare_send::BareSendArguments;
use crate::compare::Earlier;
use crate::machine::Machine;
use crate::readers::CrowdOfReaders;
use crate::report::Figure;
use crate::scenarios::{Inputs, Plan, Scenario};
use crate::server::Program;
use crate::world::{Ground, Kind};
use anyhow::{Context, Result};
use clap::{Args, Parser};
use mimalloc::MiMalloc;
use serde_json::json;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Measure the service against the limits of what it stands on.
#[derive(Debug, Args)]
struct Bench {
    /// The scenarios to measure; all by default.
    #[arg(value_enum)]
    scenarios: Vec<Scenario>,
    /// One short run of each, on less data, to check that everything works; does not change the documentation.
    #[arg(long)]
    quick: bool,
    /// Write every figure and what was measured along with it into this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Show what changed since a run that was written with `--json` into this file.
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Skip everything that needs PostgreSQL.
    #[arg(long)]
    sqlite_only: bool,
    /// Measure on PostgreSQL only. The documentation is left alone.
    #[arg(long, conflicts_with = "sqlite_only")]
    postgres_only: bool,
    /// A setting of the PostgreSQL server, besides its defaults. The documentation is left alone.
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "sqlite_only")]
    postgres_setting: Vec<String>,
    #[command(flatten)]
    inputs: Inputs,
    /// The program that is measured.
    #[arg(long, value_name = "PROGRAM", hide = true)]
    terrace: PathBuf,
    /// The folder whose pages get the figures, unless the runs are quick or something is skipped.
    #[arg(long, value_name = "FOLDER", hide = true)]
    figures: Option<PathBuf>,
}

#[derive(Debug, Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench")]
struct Cli {
    #[command(flatten)]
    bench: Bench,
}

#[derive(Debug, Parser)]
#[command(name = bare::COMMAND)]
struct BareCli {
    #[command(flatten)]
    bare: BareHttp,
}

#[derive(Debug, Parser)]
#[command(name = bare_send::COMMAND)]
struct BareSendCli {
    #[command(flatten)]
    bare: BareSendArguments,
}

#[derive(Debug, Parser)]
#[command(name = readers::COMMAND)]
struct ReadersCli {
    #[command(flatten)]
    crowd: CrowdOfReaders,
}

/// The allocator of the service, so that the bare limits have the same cost of memory.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> Result<()> {
    let arguments = || std::env::args().skip(1);
    match std::env::args().nth(1).as_deref() {
        Some(bare::COMMAND) => bare::serve(&BareCli::parse_from(arguments()).bare),
        Some(bare_send::COMMAND) => bare_send::serve(&BareSendCli::parse_from(arguments()).bare),
        Some(readers::COMMAND) => readers::run(&ReadersCli::parse_from(arguments()).crowd),
        Some(_) | None => run(&Cli::parse().bench),
    }
}

fn run(bench: &Bench) -> Result<()> {
    // A run is long, so progress is logged with timestamps; that servers of the harness start is none.
    let filter = env_logger::Env::default().default_filter_or("info,actix_server=warn");
    env_logger::Builder::from_env(filter).format_target(false).format_level(false).init();
    let plan = if bench.quick { Plan::QUICK } else { Plan::FULL };
    let workers = std::thread::available_parallelism()?.get();
    let program = Program { path: bench.terrace.clone(), workers, postgres: None };
    let chosen = if bench.scenarios.is_empty() { &Scenario::ALL[..] } else { &bench.scenarios };
    let before = bench.compare.as_ref().map(|file| Earlier::read(file)).transpose()?;
    let mut results = Vec::new();
    let kinds: &[Kind] = match (bench.sqlite_only, bench.postgres_only) {
        (true, _) => &[Kind::Sqlite],
        (false, true) => &[Kind::Postgres],
        (false, false) => &[Kind::Sqlite, Kind::Postgres],
    };
    let new_ground = || Ground::new(program.clone(), kinds, &bench.postgres_setting);
    let shared = bench.quick.then(new_ground).transpose()?;
    for scenario in chosen {
        // A separate ground for each scenario, so that the data of one do not affect the next; a quick run shares one,
        // because its figures are not meaningful.
        let own = if shared.is_none() { Some(new_ground()?) } else { None };
        let ground = shared.as_ref().or(own.as_ref()).context("there is either")?;
        let machine = Machine::look(ground)?;
        if !machine.is_durable() {
            log::warn!(
                "temporary files are in memory, so figures of writes are meaningless. Set TMPDIR to a folder on a disk."
            );
        }
        let figures = scenario.run(ground, &plan, &bench.inputs)?;
        show(*scenario, &machine, &figures)?;
        if let Some(before) = &before {
            writeln!(std::io::stdout().lock(), "{}", before.compare(scenario.name(), &figures))?;
        }
        let is_default = kinds.len() > 1 && bench.postgres_setting.is_empty();
        let is_whole = !bench.quick && is_default && bench.inputs.part.is_empty();
        if let Some(folder) = bench.figures.as_ref().filter(|_| is_whole) {
            document(folder, *scenario, &machine, &figures)?;
        }
        results.push(json!({
            "machine": machine.to_json(),
            "quick": bench.quick,
            "result": report::to_json(scenario.name(), &figures),
        }));
    }
    if let Some(file) = &bench.json {
        let text = format!("{:#}\n", serde_json::Value::Array(results));
        fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// What falls short is shown like everything else; only a measurement that fails is a failure.
fn show(scenario: Scenario, machine: &Machine, figures: &[Figure]) -> Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "\n{}: {}\n\n{}", scenario.name(), machine.shown(), report::table(figures))?;
    Ok(())
}

/// Writes the figures into the scenario's page, and its chart beside it.
fn document(folder: &Path, scenario: Scenario, machine: &Machine, figures: &[Figure]) -> Result<()> {
    let page = folder.join(format!("{}.md", scenario.name()));
    let old = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    let text = format!("Taken {}\n\n{}", machine.shown(), report::table(figures));
    fs::write(&page, page::refresh(&old, scenario.name(), &text)?)?;
    if let Some(chart) = scenario.chart(figures) {
        fs::write(folder.join(format!("{}.svg", scenario.name())), chart.to_svg())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_lines_are_well_formed() {
        Cli::command().debug_assert();
        BareCli::command().debug_assert();
        BareSendCli::command().debug_assert();
        ReadersCli::command().debug_assert();
    }

    #[test]
    fn every_scenario_has_a_page_for_its_figures() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/figures");
        for scenario in Scenario::ALL {
            let page = fs::read_to_string(folder.join(format!("{}.md", scenario.name()))).unwrap();
            assert!(page::refresh(&page, scenario.name(), "figures").is_ok(), "{}", scenario.name());
        }
    }
}
