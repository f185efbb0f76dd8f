//! `cargo xtask client`: the web client in `client/`, whose build is committed in `crates/client/dist`.

mod bench;
mod browser;
mod compare;
mod node;
mod prove;

use crate::bench::released_terrace;
use crate::cargo::{self, Built};
use crate::postgres::Postgres;
use crate::tools::Tools;
use anyhow::{Context, Result, bail, ensure};
pub(crate) use bench::run as bench;
use clap::Subcommand;
use node::Node;
pub(crate) use prove::{busy as prove_busy, run as prove};
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

/// The address at which the service listens unless it is configured otherwise.
const SERVICE: &str = "http://127.0.0.1:3004";
/// The variable with the URL of an empty database on PostgreSQL, for the browser tests that run two processes on it.
const DATABASE: &str = "TERRACE_BROWSER_DATABASE_URL";
/// A copy of the lock file whose packages are installed.
const INSTALLED: &str = "node_modules/.installed-lock.json";

#[derive(Subcommand)]
pub(crate) enum Client {
    /// Serve the sources with reloading; requests to the API go to a service that runs already
    Dev {
        /// The URL of the service
        #[arg(long, default_value = SERVICE)]
        service: String,
    },
    /// Build the client into `crates/client/dist`
    Build,
    /// Check types, lints and formatting, and that `crates/client/dist` is what a build produces
    Check,
    /// Run the tests of rules, state and components, then the browser tests on a debug build of `terrace`
    Test {
        /// Leave out the browser tests
        #[arg(long)]
        no_browser: bool,

        /// Run the browser tests on the program as it is released and installed
        #[arg(long, conflicts_with = "no_browser")]
        release: bool,

        /// Leave out the browser tests that need PostgreSQL
        #[arg(long)]
        sqlite_only: bool,
    },
    /// Take pictures of eleven pages into `docs/screenshots`, on a phone and a desktop, light and dark, and those of the
    /// manifest into `client/public/screenshots`
    Screenshots,
    /// Write the OpenAPI document of the service to `client/openapi.json`; needs no Node
    Contract,
}

/// Runs a command of the client.
pub(crate) fn run(client: &Client, tools: Tools) -> Result<ExitCode> {
    if let Client::Contract = client {
        return contract();
    }
    let project = Project::prepare(tools)?;
    match client {
        Client::Dev { service } => {
            let mut command = project.npm(&["run", "dev"]);
            project.finish(command.env("TERRACE_URL", service))?;
        }
        Client::Build => project.build(&dist()?)?,
        Client::Check => project.check()?,
        Client::Test { no_browser, release, sqlite_only } => {
            project.test()?;
            if *no_browser {
                println!(
                    "\nLEFT OUT: the browser tests. `cargo xtask client test` without --no-browser runs them."
                );
            } else if let Some(failed) = project.test_in_browser(tools, *release, *sqlite_only)? {
                return Ok(failed);
            }
        }
        Client::Screenshots => {
            let browser = browser::find(tools, &project.node)?;
            let terrace = match cargo::build_terrace(&mut cargo::tested_terrace()?)? {
                Built::Program(terrace) => terrace,
                Built::Failed(status) => return Ok(cargo::exit_code(status)),
            };
            let folder = cargo::root()?.join("docs").join("screenshots");
            let mut command = project.npm(&["run", "screenshots"]);
            command.env("TERRACE_SCREENSHOTS", folder);
            project.finish(command.env("TERRACE_BIN", terrace).env("CHROMIUM", browser))?;
        }
        Client::Contract => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs every check and test of the client, the browser tests on the built program `terrace`.
pub(crate) fn run_all(tools: Tools, terrace: &Path, postgres: &Postgres) -> Result<()> {
    let project = Project::prepare(tools)?;
    let browser = browser::find(tools, &project.node)?;
    project.check()?;
    project.test()?;
    project.test_on(terrace, &browser, postgres)
}

fn dist() -> Result<PathBuf> {
    Ok(cargo::root()?.join("crates").join("client").join("dist"))
}

/// Writes what `terrace openapi` prints.
fn contract() -> Result<ExitCode> {
    let terrace = match cargo::build_terrace(&mut cargo::tested_terrace()?)? {
        Built::Program(path) => path,
        Built::Failed(status) => return Ok(cargo::exit_code(status)),
    };
    let output = Command::new(terrace).arg("openapi").output().context("cannot run terrace")?;
    ensure!(output.status.success(), "terrace openapi ended with {}", output.status);
    let file = cargo::root()?.join("client").join("openapi.json");
    fs::write(&file, output.stdout).with_context(|| format!("cannot write {}", file.display()))?;
    println!("{}", file.display());
    Ok(ExitCode::SUCCESS)
}

/// The folder `client/`, with its packages installed and its types generated.
struct Project {
    folder: PathBuf,
    node: Node,
}

impl Project {
    fn prepare(tools: Tools) -> Result<Self> {
        let project = Self { folder: cargo::root()?.join("client"), node: Node::find(tools)? };
        project.install(tools)?;
        project.finish(&mut project.npm(&["run", "types"]))?;
        Ok(project)
    }

    /// Installs the packages of the lock file, unless exactly these are installed.
    fn install(&self, tools: Tools) -> Result<()> {
        let lock = self.folder.join("package-lock.json");
        let lock = fs::read_to_string(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
        let installed = self.folder.join(INSTALLED);
        if fs::read_to_string(&installed).is_ok_and(|known| known == lock) {
            return Ok(());
        }
        ensure!(
            !tools.is_offline(),
            "the client's packages are not installed, and --offline forbids downloading them"
        );
        println!("client: installing the packages of client/package-lock.json");
        self.finish(&mut self.npm(&["ci"])).context(
            "npm could not install the client's packages: it needs the network, or a registry that it is configured for",
        )?;
        Ok(fs::write(installed, lock)?)
    }

    fn npm(&self, arguments: &[&str]) -> Command {
        let mut command = self.node.npm();
        command.args(["--silent"]).args(arguments).current_dir(&self.folder);
        command
    }

    /// Runs a command to its end and fails if it does.
    fn finish(&self, command: &mut Command) -> Result<()> {
        let status = cargo::status(command)?;
        if !status.success() {
            let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
            bail!("`npm {}` in {} ended with {status}", arguments.join(" "), self.folder.display());
        }
        Ok(())
    }

    fn build(&self, folder: &Path) -> Result<()> {
        let mut command = self.npm(&["run", "build"]);
        self.finish(command.env("TERRACE_CLIENT_DIST", folder))
    }

    fn check(&self) -> Result<()> {
        // Side by side, because each of them uses one processor.
        thread::scope(|scope| {
            let types = scope.spawn(|| self.finish(&mut self.npm(&["run", "check"])));
            let lint = self.finish(&mut self.npm(&["run", "lint"]));
            lint.and(types.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })?;
        let folder = tempfile::tempdir()?;
        self.build(folder.path())?;
        let differing = compare::folders(&dist()?, folder.path())?;
        ensure!(
            differing.is_empty(),
            "crates/client/dist is not what a build of client/ produces; `cargo xtask client build` renews it:\n{}",
            differing.join("\n")
        );
        println!("client: crates/client/dist is up to date");
        Ok(())
    }

    fn test(&self) -> Result<()> {
        self.finish(&mut self.npm(&["run", "test"]))
    }

    /// Builds `terrace` and runs the browser tests; returns the exit code of a failed build.
    fn test_in_browser(&self, tools: Tools, release: bool, sqlite_only: bool) -> Result<Option<ExitCode>> {
        let browser = browser::find(tools, &self.node)?;
        let postgres = if sqlite_only { Postgres::LeftOut } else { Postgres::obtain()? };
        let mut build = if release { released_terrace() } else { cargo::tested_terrace() }?;
        match cargo::build_terrace(&mut build)? {
            Built::Program(terrace) => self.test_on(&terrace, &browser, &postgres).map(|()| None),
            Built::Failed(status) => Ok(Some(cargo::exit_code(status))),
        }
    }

    fn test_on(&self, terrace: &Path, browser: &Path, postgres: &Postgres) -> Result<()> {
        let mut command = self.npm(&["run", "test:browser"]);
        command.env("TERRACE_BIN", terrace).env("CHROMIUM", browser);
        let database = postgres.empty_database("terrace_browser")?;
        match &database {
            Some(url) => command.env(DATABASE, url),
            None => command.env_remove(DATABASE),
        };
        self.finish(&mut command)?;
        if database.is_none() {
            println!("\nLEFT OUT: the browser tests on PostgreSQL. Without --sqlite-only they run too.");
        }
        Ok(())
    }
}
