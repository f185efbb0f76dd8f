//! `cargo xtask prove fuzz`: generated requests of the published contract, valid and invalid ones, sent to a
//! separate service on temporary databases. It fails on a 5xx answer, on one that the document does not
//! contain, and on a defect in the service's log.
//!
//! Two fuzzers run at once, with a service each: one signed in and one not, one on PostgreSQL and one on
//! SQLite. From two minutes on they run a second round the other way round.

mod service;

use crate::cargo::{self, Built};
use crate::python;
use anyhow::{Context, Result};
use clap::Args;
use service::{CRON_SECRET, Service};
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use terrace_pgtemp::ThrowawayPostgres;

/// How requests are generated, and which checks the answers must pass.
const CONFIGURATION: &str = include_str!("../fuzz/schemathesis.toml");
/// The generator: [Schemathesis](https://schemathesis.readthedocs.io) and all of its dependencies.
pub(crate) const REQUIREMENTS: &str = include_str!("../fuzz/requirements.txt");
/// Hooks that insert existing ids into requests.
const HOOKS: &str = include_str!("../fuzz/hooks.py");
/// The sign-in of one of the two fuzzers.
const SIGNED_IN: &str = include_str!("../fuzz/signed-in.toml");

/// The number of seconds that allows two rounds that try every operation in every phase.
const TWO_ROUNDS: u32 = 120;

#[derive(Args)]
pub(crate) struct Fuzz {
    /// For how long requests are sent, in seconds; what is tried in each case takes some 40
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(2..=86_400))]
    seconds: u32,

    /// The number that a run said, to send what it sent
    #[arg(long)]
    seed: Option<u32>,

    /// Leave PostgreSQL out
    #[arg(long)]
    sqlite_only: bool,
}

impl Fuzz {
    pub(crate) fn is_sqlite_only(&self) -> bool {
        self.sqlite_only
    }
}

/// Runs the fuzzers. The reports stay under the target folder; everything else is removed.
pub(crate) fn run(fuzz: &Fuzz) -> Result<ExitCode> {
    let postgres = if fuzz.sqlite_only { None } else { Some(ThrowawayPostgres::start()?) };
    let terrace = match cargo::build_terrace(&mut cargo::tested_terrace()?)? {
        Built::Program(path) => path,
        Built::Failed(status) => return Ok(cargo::exit_code(status)),
    };
    let folder = terrace.parent().context("the program lies in no folder")?.join("fuzz");
    let environment = folder.join("python");
    python::install(&environment, REQUIREMENTS).context("Schemathesis could not be installed")?;
    let schemathesis = environment.join("bin").join("schemathesis");
    let seed = fuzz.seed.unwrap_or_else(any_seed);
    let rounds = if fuzz.seconds < TWO_ROUNDS { 1 } else { 2 };
    let run = Run {
        terrace: &terrace,
        schemathesis: &schemathesis,
        folder: &folder,
        postgres: postgres.as_ref(),
        seconds: fuzz.seconds / rounds,
    };
    let mut failed = Vec::new();
    for round in 0..rounds {
        failed.extend(run.round(seed.wrapping_add(round))?);
    }
    if let Some(server) = postgres {
        server.stop()?;
    }
    if failed.is_empty() {
        println!("fuzz: nothing found in {} s, signed in and signed out (--seed {seed})", fuzz.seconds);
        return Ok(ExitCode::SUCCESS);
    }
    println!("fuzz: found something (--seed {seed}):\n{}", failed.join("\n"));
    Ok(ExitCode::FAILURE)
}

/// A different one each time: a fixed seed would find the same defects for ever.
fn any_seed() -> u32 {
    u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or_default()
}

/// The state that the rounds of one call share.
struct Run<'r> {
    terrace: &'r Path,
    schemathesis: &'r Path,
    folder: &'r Path,
    postgres: Option<&'r ThrowawayPostgres>,
    seconds: u32,
}

impl Run<'_> {
    /// Runs two fuzzers on two services at once, signed in and signed out; returns the findings.
    fn round(&self, seed: u32) -> Result<Vec<String>> {
        let senders = [("signed-in", SIGNED_IN), ("signed-out", "")];
        let mut sending = Vec::new();
        for (place, (who, more)) in (0..).zip(senders) {
            // The database of each changes from seed to seed.
            let on_postgres = (seed.wrapping_add(place)).is_multiple_of(2);
            let postgres = self.postgres.filter(|_| on_postgres);
            let folder = self.folder.join(who);
            if folder.exists() {
                fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
            }
            let url = postgres.map(|server| server.create_database(&format!("fuzz_{seed}"))).transpose()?;
            let service = Service::start(self.terrace, &folder, url.as_deref())?;
            println!(
                "fuzz: {who} for {} s on {} (--seed {seed})",
                self.seconds,
                if url.is_some() { "PostgreSQL" } else { "SQLite" }
            );
            let sender = self.begin(&service, seed, &folder, who, more)?;
            sending.push((sender, service, folder));
        }
        let mut failed = Vec::new();
        for (sender, mut service, folder) in sending {
            failed.extend(sender.end()?);
            failed.extend(service.defects()?.iter().map(|line| format!("in the log: {line}")));
            drop(service);
            let data = folder.join("data");
            fs::remove_dir_all(&data).with_context(|| format!("cannot remove {}", data.display()))?;
        }
        Ok(failed)
    }

    /// Starts one fuzzer.
    fn begin(
        &self,
        service: &Service,
        seed: u32,
        folder: &Path,
        who: &'static str,
        more: &str,
    ) -> Result<Sender> {
        let configuration = folder.join(format!("{who}.toml"));
        fs::write(&configuration, format!("{CONFIGURATION}\n{more}"))?;
        fs::write(folder.join("hooks.py"), HOOKS)?;
        let report = folder.join(format!("{who}.txt"));
        let child = Command::new(self.schemathesis)
            .arg("--config-file")
            .arg(configuration)
            .arg("run")
            .arg(format!("{}/api/openapi.json", service.url))
            .args(["--max-time", &self.seconds.to_string(), "--seed", &seed.to_string()])
            .env("TERRACE_CRON_SECRET", CRON_SECRET)
            .env("TERRACE_URL", &service.url)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(fs::File::create(&report)?)
            .stderr(Stdio::inherit())
            .spawn()
            .with_context(|| format!("cannot run {}", self.schemathesis.display()))?;
        Ok(Sender { child, who, report })
    }
}

/// A fuzzer's process. It is killed when the value is dropped.
struct Sender {
    child: Child,
    who: &'static str,
    report: PathBuf,
}

impl Sender {
    /// Waits for its end, prints the end of its report, and returns a description if it found a defect.
    fn end(mut self) -> Result<Option<String>> {
        let status = self.child.wait()?;
        let report = String::from_utf8_lossy(&fs::read(&self.report)?).into_owned();
        // All of it if there is a defect, else the summary.
        let shown = if status.success() { summary(&report) } else { &report };
        println!("--- {}\n{}", self.who, shown.trim());
        let failed = format!("{}: {status}, see {}", self.who, self.report.display());
        Ok((!status.success()).then_some(failed))
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The end of a report: which operations were tried, in which phases, with how many requests.
fn summary(report: &str) -> &str {
    report
        .rfind("= SUMMARY =")
        .and_then(|at| report.get(at..))
        .map_or(report, |end| end.split_once('\n').map_or(end, |(_, lines)| lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_good_report_its_end_is_shown() {
        assert_eq!(summary("much\n=== SUMMARY ===\nAPI Operations:\n"), "API Operations:\n");
        assert_eq!(summary("it never began"), "it never began");
    }
}
