//! The workspace's own files.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with generated or installed files.
const MADE: [&str; 5] = [".git", "target", "data", "snapshots", "node_modules"];

/// The workspace's root folder.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies in the workspace")
}

/// Every file under a folder of the workspace whose name ends in one of `endings`, as a path from the root
/// and its text.
pub(super) fn texts(folder: &str, endings: &[&str]) -> Result<Vec<(String, String)>> {
    let mut paths = Vec::new();
    collect(&root().join(folder), endings, &mut paths)?;
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
            Ok((path.strip_prefix(root())?.display().to_string(), text))
        })
        .collect()
}

fn collect(folder: &Path, endings: &[&str], paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() && !MADE.contains(&name.as_str()) {
            collect(&entry.path(), endings, paths)?;
        } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
            paths.push(entry.path());
        }
    }
    Ok(())
}
