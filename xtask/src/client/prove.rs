//! `cargo xtask prove client`: the browser tests notice when the client breaks a promise.

use super::{Project, browser, dist};
use crate::bench::released_terrace;
use crate::cargo::{self, Built};
use crate::tools::Tools;
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The sabotages, below `client/`.
const LIST: &str = "tests/sabotages.json";
/// The folder of the packages, which is linked in place of a copy.
const NOT_COPIED: &str = "node_modules";

/// A change of one place in the client's sources that breaks a promise, and the test that must fail then.
#[derive(Deserialize)]
struct Sabotage {
    /// What is broken.
    breaks: String,
    /// The file below `client/`.
    file: String,
    /// The text that occurs once in it.
    from: String,
    /// The text in its place.
    to: String,
    /// The file of the test, below `client/tests/browser/`.
    test: String,
    /// The beginning of the test's name.
    name: String,
}

/// Runs each test on the client as it is, where it must pass, and for each of its sabotages on the sabotaged one, where it
/// must fail. `only` names what a description must contain.
pub(crate) fn run(only: Option<&str>, tools: Tools) -> Result<ExitCode> {
    let project = Project::prepare(tools)?;
    let browser = browser::find(tools, &project.node)?;
    let list =
        fs::read_to_string(project.folder.join(LIST)).with_context(|| format!("cannot read {LIST}"))?;
    let list: Vec<Sabotage> = serde_json::from_str(&list).with_context(|| format!("{LIST} is malformed"))?;
    let chosen: Vec<_> =
        list.iter().filter(|sabotage| only.is_none_or(|part| sabotage.breaks.contains(part))).collect();
    ensure!(!chosen.is_empty(), "no sabotage of {LIST} contains this text");
    let terrace = match build_terrace()? {
        Built::Program(path) => path,
        Built::Failed(status) => return Ok(cargo::exit_code(status)),
    };
    let (mut unnoticed, mut sound) = (Vec::new(), HashSet::new());
    for sabotage in chosen {
        println!("\nprove: {}", sabotage.breaks);
        if sound.insert((&sabotage.test, &sabotage.name)) {
            ensure!(
                sabotage.passes(&project, &terrace, &browser)?,
                "{} fails on the client as it is",
                sabotage.test
            );
        }
        let built = sabotage.build(&project)?;
        let replaced = Replaced::by(built.path())?;
        if sabotage.passes(&project, &terrace, &browser)? {
            unnoticed.push(sabotage.breaks.as_str());
        }
        drop(replaced);
    }
    if unnoticed.is_empty() {
        println!("\nprove: every sabotage was noticed");
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nprove: no test noticed:\n{}", unnoticed.join("\n"));
    Ok(ExitCode::FAILURE)
}

/// Reads for some minutes in a room with 500 posts a minute.
pub(crate) fn busy(minutes: u32, tools: Tools) -> Result<ExitCode> {
    let project = Project::prepare(tools)?;
    let browser = browser::find(tools, &project.node)?;
    let terrace = match cargo::build_terrace(&mut released_terrace()?)? {
        Built::Program(path) => path,
        Built::Failed(status) => return Ok(cargo::exit_code(status)),
    };
    let mut command = project.npm(&["run", "busy"]);
    command.env("TERRACE_BIN", terrace).env("CHROMIUM", browser).env("TERRACE_MINUTES", minutes.to_string());
    project.finish(&mut command)?;
    Ok(ExitCode::SUCCESS)
}

/// A debug build that serves `crates/client/dist` as it is when it starts, so that a sabotage needs no build of it.
fn build_terrace() -> Result<Built> {
    let mut build = cargo::cargo("build")?;
    build.args(["--package", "terrace-server", "--bin", "terrace"]);
    cargo::build_terrace(&mut build)
}

impl Sabotage {
    /// Builds the sabotaged client.
    fn build(&self, project: &Project) -> Result<tempfile::TempDir> {
        let copy = tempfile::tempdir()?;
        copy_folder(&project.folder, copy.path())?;
        let (from, to) = (project.folder.join(NOT_COPIED), copy.path().join(NOT_COPIED));
        std::os::unix::fs::symlink(from, &to).with_context(|| format!("cannot link {}", to.display()))?;
        let file = copy.path().join(&self.file);
        let source = fs::read_to_string(&file).with_context(|| format!("cannot read {}", self.file))?;
        let found = source.matches(&self.from).count();
        if found != 1 {
            bail!("`{}` occurs {found} times in {}", self.from, self.file);
        }
        fs::write(&file, source.replacen(&self.from, &self.to, 1))?;
        let built = tempfile::tempdir()?;
        let sabotaged = Project { folder: copy.path().to_owned(), node: project.node.clone() };
        sabotaged.build(built.path())?;
        Ok(built)
    }

    /// Whether its test passes on the client that the program serves.
    fn passes(&self, project: &Project, terrace: &Path, browser: &Path) -> Result<bool> {
        // The whole name of the file: a file of which no test is chosen would start a service, and not stop it.
        let file = format!("{}.browser.ts", self.test);
        let mut command = project.npm(&["run", "test:browser", "--", &file, "-t", &self.name]);
        let status = cargo::status(command.env("TERRACE_BIN", terrace).env("CHROMIUM", browser))?;
        Ok(status.success())
    }
}

/// The built client that a debug build serves, replaced until this is dropped.
struct Replaced {
    kept: tempfile::TempDir,
    served: PathBuf,
}

impl Replaced {
    fn by(built: &Path) -> Result<Self> {
        let served = dist()?;
        let kept = tempfile::tempdir()?;
        copy_folder(&served, kept.path())?;
        let replaced = Self { kept, served };
        replaced.fill_from(built)?;
        Ok(replaced)
    }

    fn fill_from(&self, folder: &Path) -> Result<()> {
        fs::remove_dir_all(&self.served)?;
        fs::create_dir(&self.served)?;
        copy_folder(folder, &self.served)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        if let Err(error) = self.fill_from(self.kept.path()) {
            eprintln!("crates/client/dist could not be restored, `git checkout` does: {error:#}");
        }
    }
}

/// Copies a folder with all that is in it, except for [`NOT_COPIED`].
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == NOT_COPIED {
            continue;
        }
        if source.is_dir() {
            fs::create_dir(&target)?;
            copy_folder(&source, &target)?;
        } else {
            fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
        }
    }
    Ok(())
}
