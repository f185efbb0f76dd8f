//! Cargo, run at the root of the workspace whatever the current folder.

use anyhow::{Context, Result, ensure};
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// A Cargo command in the workspace's root folder. It is the Cargo that started this program, if one did.
pub(crate) fn cargo(subcommand: &str) -> Result<Command> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.arg(subcommand).current_dir(root()?);
    // Variables about this package must not reach the child.
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
        command.env_remove(variable);
    }
    Ok(command)
}

/// The workspace's root folder. Cargo sets this package's folder at run time; a copied program uses the
/// folder in which it was built.
pub(crate) fn root() -> Result<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let root = PathBuf::from(package).parent().map(PathBuf::from).context("xtask has no folder above it")?;
    ensure!(root.join("Cargo.toml").is_file(), "{} is no workspace", root.display());
    Ok(root)
}

/// Runs a command with the standard input and output of this program.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("cannot run {}", command.get_program().display()))
}

/// Runs `cargo test` with the standard input and output of this program, and returns what it printed of tests that
/// failed, which is empty if none did.
pub(crate) fn test_status(command: &mut Command) -> Result<(ExitStatus, String)> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let stdout = child.stdout.take().context("cargo has no standard output")?;
    let failures = pass_on(BufReader::new(stdout), std::io::stdout())?;
    Ok((child.wait()?, failures))
}

/// Copies what tests print, and returns the sections from `failures:` to the result of their package.
fn pass_on(mut from: impl BufRead, mut to: impl Write) -> Result<String> {
    let mut failures = Vec::new();
    let mut failed = false;
    let mut line = Vec::new();
    // A test may print bytes that are no text.
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        failed = (failed || line == b"failures:\n") && !line.starts_with(b"test result:");
        if failed {
            failures.extend_from_slice(&line);
        }
        line.clear();
    }
    Ok(String::from_utf8_lossy(&failures).into_owned())
}

/// A program's exit code as this one's; 1 for a program that a signal ended.
pub(crate) fn exit_code(status: ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Builds and runs a command of the `terrace` program in the workspace's root folder.
pub(crate) fn terrace(subcommand: &str, arguments: &[String]) -> Result<ExitCode> {
    let mut run = cargo("run")?;
    run.args(["--package", "terrace-server", "--bin", "terrace", "--", subcommand]).args(arguments);
    Ok(exit_code(status(&mut run)?))
}

/// The feature with which a debug build of `terrace` holds the files of the web client, as a release does.
pub(crate) const EMBEDDED: [&str; 2] = ["--features", "terrace-client/embedded"];

/// A debug build of `terrace` as it is tested.
pub(crate) fn tested_terrace() -> Result<Command> {
    let mut build = cargo("build")?;
    // The feature is one of a package that is named.
    build
        .args(["--package", "terrace-server", "--package", "terrace-client", "--bin", "terrace"])
        .args(EMBEDDED);
    Ok(build)
}

/// The result of building a program.
pub(crate) enum Built {
    /// Its path.
    Program(PathBuf),
    /// Cargo has printed the reason.
    Failed(ExitStatus),
}

/// Builds `terrace` and whatever else `build` names, and returns the path of the program, whichever target
/// folder and profile are configured.
pub(crate) fn build_terrace(build: &mut Command) -> Result<Built> {
    let output = build
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        return Ok(Built::Failed(output.status));
    }
    String::from_utf8(output.stdout)?
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|message| terrace_in(&message))
        .map(Built::Program)
        .context("cargo built no program `terrace`")
}

/// The program's path, if this message of Cargo is about it and not about its unit tests.
fn terrace_in(message: &serde_json::Value) -> Option<PathBuf> {
    let is_terrace = message.pointer("/target/name")? == "terrace"
        && message.pointer("/target/kind/0")? == "bin"
        && message.pointer("/profile/test")? == false;
    is_terrace.then(|| message.get("executable")?.as_str().map(PathBuf::from)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn failures_are_passed_on_and_repeated() {
        let printed = b"test a ... ok\ntest b ... FAILED\n\nfailures:\n\n---- b stdout ----\n\xffwrong\n\nfailures:\n    b\n\n\
            test result: FAILED. 1 passed; 1 failed\ntest c ... ok\ntest result: ok. 1 passed; 0 failed\n";
        let mut shown = Vec::new();
        let failures = pass_on(&printed[..], &mut shown).unwrap();
        assert_eq!(shown, printed);
        assert_eq!(failures, "failures:\n\n---- b stdout ----\n\u{fffd}wrong\n\nfailures:\n    b\n\n");
    }

    #[test]
    fn the_program_is_distinguished_from_its_tests_and_from_other_programs() {
        let message = |name: &str, test: bool| {
            json!({
                "reason": "compiler-artifact",
                "target": {"name": name, "kind": ["bin"]},
                "profile": {"test": test},
                "executable": "/somewhere/terrace",
            })
        };
        assert_eq!(terrace_in(&message("terrace", false)), Some(PathBuf::from("/somewhere/terrace")));
        assert_eq!(terrace_in(&message("terrace", true)), None);
        assert_eq!(terrace_in(&message("xtask", false)), None);
        assert_eq!(terrace_in(&json!({"reason": "build-finished", "success": true})), None);
    }
}
