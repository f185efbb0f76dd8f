//! Comparison of two folders.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The names of the files that only one of the folders holds, or that differ.
pub(super) fn folders(committed: &Path, built: &Path) -> Result<Vec<String>> {
    let (committed, built) = (files(committed)?, files(built)?);
    let names = committed.keys().chain(built.keys().filter(|name| !committed.contains_key(*name)));
    let reasons = names.filter_map(|name| match (committed.get(name), built.get(name)) {
        (Some(one), Some(other)) if one == other => None,
        (Some(_), Some(_)) => Some(format!("{name} differs")),
        (Some(_), None) => Some(format!("{name} is not part of the build")),
        (None, _) => Some(format!("{name} is missing")),
    });
    Ok(reasons.collect())
}

/// The files below a folder, by their path from it.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(folder)?.to_string_lossy().replace('\\', "/");
                found.insert(name, fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (folder, files) in [
            (&one, [("same", "1"), ("a/other", "1"), ("gone", "1")]),
            (&other, [("same", "1"), ("a/other", "2"), ("new", "1")]),
        ] {
            fs::create_dir(folder.path().join("a")).unwrap();
            for (name, text) in files {
                fs::write(folder.path().join(name), text).unwrap();
            }
        }
        let found = folders(one.path(), other.path()).unwrap();
        assert_eq!(found, ["a/other differs", "gone is not part of the build", "new is missing"]);
        assert!(folders(one.path(), one.path()).unwrap().is_empty());
    }
}
