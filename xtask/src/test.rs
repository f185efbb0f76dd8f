//! `cargo xtask test`: every test, on both databases.

use crate::cargo::{self, Built, EMBEDDED};
use crate::client;
use crate::postgres::{self, Postgres};
use crate::tools::Tools;
use anyhow::{Result, ensure};
use clap::Args;
use std::env;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;

#[derive(Args, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Test {
    /// Leave out what needs PostgreSQL
    #[arg(long)]
    sqlite_only: bool,

    /// Leave out the web client: its checks need Node, and its tests a browser
    #[arg(long)]
    no_client: bool,

    /// Fail where something would have to be left out
    #[arg(long, conflicts_with_all = ["sqlite_only", "no_client"])]
    complete: bool,

    /// Passed on to `cargo test`; with `-p`, only that package is built and tested
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<String>,

    /// Whether the tests that measure times run too, set by the task that runs them alone
    #[arg(skip)]
    measures: bool,

    /// Environment variables for the tests, set by the tasks that run them
    #[arg(skip)]
    environment: Vec<(&'static str, String)>,
}

impl Test {
    /// A run with these arguments.
    pub(crate) fn new(sqlite_only: bool, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { sqlite_only, arguments, ..Self::default() }
    }

    pub(crate) fn is_sqlite_only(&self) -> bool {
        self.sqlite_only
    }

    /// A run of everything; `complete` fails where something would have to be left out.
    pub(crate) fn whole(complete: bool) -> Self {
        Self { complete, ..Self::default() }
    }

    /// Runs the tests that measure times too.
    pub(crate) fn with_measurements(mut self) -> Self {
        self.measures = true;
        self
    }

    /// Adds a variable to the environment of the tests.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }
}

/// Runs the tests. PostgreSQL ends with them, however they end.
pub(crate) fn run(test: &Test, tools: Tools) -> Result<ExitCode> {
    let mounts = may_mount();
    ensure!(mounts || !test.complete, "the tests of full disks mount a tmpfs, which this account may not");
    // Before the build: a missing server is reported at once.
    let postgres = if test.sqlite_only { Postgres::LeftOut } else { Postgres::obtain()? };
    let terrace = match build(test)?.map(|mut build| cargo::build_terrace(&mut build)).transpose()? {
        Some(Built::Program(path)) => Some(path),
        Some(Built::Failed(status)) => return Ok(cargo::exit_code(status)),
        None => None,
    };
    let (status, failures) =
        cargo::test_status(&mut cargo_test(test, terrace.as_deref(), &postgres, mounts)?)?;
    let client = terrace.filter(|_| is_whole(test) && !test.no_client);
    let of_client = client.map_or(Ok(()), |terrace| client::run_all(tools, &terrace, &postgres));
    let left_out = matches!(postgres, Postgres::LeftOut);
    postgres.stop()?;
    if left_out {
        println!(
            "\nLEFT OUT: every test on PostgreSQL. `cargo xtask test` without --sqlite-only runs them too."
        );
    }
    if !mounts {
        println!(
            "\nLEFT OUT: every test on a disk that is full or read-only (`{NEEDS_MOUNT}`). They mount a tmpfs, which this \
             account may not: run them as root, on Linux."
        );
    }
    if !test.measures {
        println!(
            "\nLEFT OUT: the tests that compare times (`{MEASURED}`), which mean nothing beside other tests. \
             `cargo xtask prove security` and `cargo xtask prove games` run them alone."
        );
    }
    if test.no_client {
        println!(
            "\nLEFT OUT: the web client's checks and tests. `cargo xtask client check` and `test` run them."
        );
    }
    // The client's tests have printed much since.
    if !failures.is_empty() {
        println!("\nFAILED in `cargo test`:\n{failures}");
    }
    of_client?;
    Ok(cargo::exit_code(status))
}

/// Whether the run is one of everything, as opposed to some packages or some tests.
fn is_whole(test: &Test) -> bool {
    test.arguments.is_empty()
}

/// Part of the names of the tests that compare times.
const MEASURED: &str = "measured::";

/// Part of the names of the tests that mount a file system.
const NEEDS_MOUNT: &str = "needs_mount::";

/// Whether this account may mount a tmpfs, found by mounting one.
fn may_mount() -> bool {
    let Ok(folder) = tempfile::tempdir() else { return false };
    let mount =
        |command: &mut Command| command.arg(folder.path()).output().is_ok_and(|done| done.status.success());
    mount(Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]))
        && mount(&mut Command::new("umount"))
}

/// The variable with the number of tests that run at once, which the caller may have set.
const THREADS: &str = "RUST_TEST_THREADS";

/// At least three tests at once: many wait for a server, a deadline or a process that they killed, and two leave a third
/// of two processors idle. With six, a program that shares two processors with them may exceed its time-outs.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).max(3)
}

/// The package whose tests run the program.
const RUNS_PROGRAM: &str = "terrace-tests";

/// The arguments for Cargo, without those for the tests themselves.
fn for_cargo(test: &Test) -> impl Iterator<Item = &str> {
    test.arguments.iter().map(String::as_str).take_while(|argument| *argument != "--")
}

/// Whether the run is limited to some packages.
fn is_narrowed(test: &Test) -> bool {
    for_cargo(test).any(|argument| argument.starts_with("-p") || argument.starts_with("--package"))
}

/// Builds `terrace`, if some test runs it: with the features that the whole workspace's tests have, because
/// other features would build much of it twice.
fn build(test: &Test) -> Result<Option<Command>> {
    if !is_narrowed(test) {
        let mut build = cargo::cargo("build")?;
        build.args(["--workspace", "--bins", "--tests"]).args(EMBEDDED);
        return Ok(Some(build));
    }
    for_cargo(test).any(|argument| argument.ends_with(RUNS_PROGRAM)).then(cargo::tested_terrace).transpose()
}

fn cargo_test(test: &Test, terrace: Option<&Path>, postgres: &Postgres, mounts: bool) -> Result<Command> {
    let mut tests = cargo::cargo("test")?;
    if !is_narrowed(test) {
        tests.arg("--workspace").args(EMBEDDED);
    }
    tests.arg("--no-fail-fast").args(&test.arguments);
    let skipped: Vec<_> = [(mounts, NEEDS_MOUNT), (test.measures, MEASURED)]
        .into_iter()
        .filter(|(runs, _)| !runs)
        .flat_map(|(_, name)| ["--skip", name])
        .collect();
    if !skipped.is_empty() && !test.arguments.iter().any(|argument| argument == "--") {
        tests.arg("--");
    }
    tests.args(skipped);
    tests.envs(test.environment.iter().map(|(name, value)| (name, value)));
    if let Some(terrace) = terrace {
        tests.env("TERRACE_BIN", terrace);
    }
    // Measured times mean little beside other tests.
    if !test.measures && env::var_os(THREADS).is_none() {
        tests.env(THREADS, threads().to_string());
    }
    match postgres.url() {
        Some(url) => tests.env(postgres::SERVER, url).env("TERRACE_TEST_DATABASES", "sqlite,postgres"),
        None => tests.env_remove(postgres::SERVER).env("TERRACE_TEST_DATABASES", "sqlite"),
    };
    Ok(tests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_narrows_the_run_and_a_filter_does_not() {
        for (arguments, narrowed, builds) in [
            (&["-p", "terrace-kernel"][..], true, false),
            (&["-pterrace-kernel"], true, false),
            (&["--package=terrace-kernel"], true, false),
            (&["-p", "terrace-kernel", "-pterrace-tests"], true, true),
            (&["feed"], false, true),
            (&["feed", "--", "-p"], false, true),
            (&[], false, true),
        ] {
            let test = Test::new(false, arguments);
            assert_eq!(is_narrowed(&test), narrowed, "{arguments:?}");
            assert_eq!(build(&test).unwrap().is_some(), builds, "{arguments:?}");
        }
    }
}
