//! One area of the service has one name in every crate, and a folder that other areas enter through its
//! `mod.rs`.

use super::files::{root, texts};
use anyhow::{Result, ensure};
use std::collections::BTreeSet;
use std::fs;

/// Folders of a crate that belong to no area.
const OTHER: [(&str, &[&str]); 3] =
    [("app", &["demo"]), ("storage", &["ops"]), ("web", &["dto", "edge", "extract"])];
/// Modules of an area that other areas may name beside its `mod.rs`: wire types, what crates above use, and the
/// declarations of tables.
const OPEN: [&str; 3] = ["dto", "schema", "webhooks"];

fn folders(krate: &str) -> Result<BTreeSet<String>> {
    let mut folders = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates").join(krate).join("src"))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(folders)
}

/// The areas: the folders of `crates/app/src`. Those of the storage and web crates have the same names.
fn areas() -> Result<BTreeSet<String>> {
    let [(krate, other), ..] = OTHER;
    let mut areas = folders(krate)?;
    areas.retain(|folder| !other.contains(&folder.as_str()));
    ensure!(areas.len() > 10, "the areas are elsewhere");
    Ok(areas)
}

#[test]
fn an_area_has_the_same_name_in_every_crate() -> Result<()> {
    let areas = areas()?;
    for (krate, other) in OTHER {
        for folder in folders(krate)? {
            let known = areas.contains(&folder) || other.contains(&folder.as_str());
            assert!(known, "crates/{krate}/src/{folder} is no area");
        }
    }
    Ok(())
}

#[test]
fn the_architecture_lists_every_area() -> Result<()> {
    let architecture = fs::read_to_string(root().join("docs/architecture.md"))?;
    let areas = areas()?;
    let missing: Vec<_> =
        areas.iter().filter(|area| !architecture.contains(&format!("\n| `{area}` |"))).collect();
    assert!(missing.is_empty(), "docs/architecture.md has no row for {missing:?}");
    Ok(())
}

/// The path of a module that a line names below an area, as `area::module`, other than `of`.
fn entered<'l>(line: &'l str, of: &str, areas: &BTreeSet<String>) -> Option<(&'l str, &'l str)> {
    let (_, path) = line.split_once("crate::")?;
    let mut names = path.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let (area, _, module) = (names.next()?, names.next()?, names.next()?);
    let is_module = module.starts_with(|letter: char| letter.is_ascii_lowercase());
    (area != of && areas.contains(area) && is_module).then_some((area, module))
}

#[test]
fn an_area_is_entered_through_its_mod_rs() -> Result<()> {
    let areas = areas()?;
    let mut seen = 0;
    for (krate, _) in OTHER {
        let base = format!("crates/{krate}/src/");
        for (path, text) in texts(&format!("crates/{krate}/src"), &[".rs"])? {
            let Some(of) = path.strip_prefix(&base).and_then(|path| path.split('/').next()) else { continue };
            if !areas.contains(of) {
                continue;
            }
            for line in text.lines() {
                let Some((area, module)) = entered(line, of, &areas) else { continue };
                seen += 1;
                let file = root().join(format!("crates/{krate}/src/{area}/{module}.rs"));
                let is_file = file.exists() && !OPEN.contains(&module);
                assert!(!is_file, "{path} names a file of another area: {}", line.trim());
            }
        }
    }
    ensure!(seen > 10, "no area names another");
    Ok(())
}

#[test]
fn a_path_into_another_area_is_seen() {
    let areas = ["packs", "payments", "room"].map(str::to_owned).into();
    let entered = |line, of| entered(line, of, &areas);
    assert_eq!(entered("use crate::packs::safe::SeedCipher;", "payments"), Some(("packs", "safe")));
    assert_eq!(entered("    crate::room::dto::Post::from(post)", "trends"), Some(("room", "dto")));
    for line in [
        "use crate::packs::SeedCipher;",
        "use crate::payments::settle::CLAIM;",
        "use crate::store::media::X;",
    ] {
        assert_eq!(entered(line, "payments"), None, "{line}");
    }
}
