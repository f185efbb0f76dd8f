//! Runs a script with `pgbench`, which comes with PostgreSQL.

use crate::world::FANS;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use terrace_pgtemp::Programs;

/// A `pgbench` setup for one database.
pub(crate) struct PgBench {
    program: PathBuf,
    script: PathBuf,
    url: String,
}

impl PgBench {
    /// Finds the program and writes its script into the folder.
    pub(crate) fn new(folder: &Path, url: &str, script: &str) -> Result<Self> {
        let program = Programs::find()?.path("pgbench");
        ensure!(program.is_file(), "`pgbench` is not installed: it comes with PostgreSQL's server programs");
        let file = folder.join("script.pgbench");
        fs::write(&file, script)?;
        Ok(Self { program, script: file, url: url.to_owned() })
    }

    /// Transactions per second over `duration`, after `warm_up`.
    pub(crate) fn run(&self, warm_up: Duration, duration: Duration) -> Result<f64> {
        self.run_once(warm_up)?;
        self.run_once(duration)
    }

    fn run_once(&self, duration: Duration) -> Result<f64> {
        let output = Command::new(&self.program)
            .args(["-n", "-M", "prepared", "-c", &FANS.to_string(), "-j", "2"])
            .args(["-T", &duration.as_secs().max(1).to_string()])
            .arg("-f")
            .arg(&self.script)
            .args(["-d", &self.url])
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .context("cannot run pgbench")?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "pgbench: {text}{}", String::from_utf8_lossy(&output.stderr));
        rate(&text).with_context(|| format!("pgbench prints no rate:\n{text}"))
    }
}

/// Transactions per second, as reported by pgbench.
fn rate(report: &str) -> Option<f64> {
    let line = report.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_read_from_the_report() {
        let report = "latency average = 2.5 ms\ntps = 12801.7 (without initial connection time)\n";
        assert_eq!(rate(report), Some(12_801.7));
        assert_eq!(rate("pgbench: error"), None);
    }
}
