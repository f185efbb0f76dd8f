//! Links between documents lead somewhere.

use super::files::{root, texts};
use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The targets of inline links, without those to other sites.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    targets.filter(|target| !target.contains(':'))
}

/// The anchors of a document's headings, as code hosts form them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut in_code = false;
    let mut anchors = BTreeSet::new();
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        if !in_code
            && let Some((level, heading)) = line.split_once(' ')
            && level.starts_with('#')
            && level.trim_start_matches('#').is_empty()
        {
            anchors.insert(anchor(heading));
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

/// The path without `..`.
fn resolve(document: &str, target: &str) -> PathBuf {
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(target).components() {
        if part == Component::ParentDir {
            path.pop();
        } else {
            path.push(part);
        }
    }
    path
}

#[test]
fn links_between_documents_resolve() -> Result<()> {
    let documents = texts("", &[".md"])?;
    let headings: BTreeMap<PathBuf, BTreeSet<String>> =
        documents.iter().map(|(path, text)| (PathBuf::from(path), anchors(text))).collect();
    let mut checked = 0;
    let mut broken = Vec::new();
    for (document, text) in &documents {
        for link in links(text) {
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { PathBuf::from(document) } else { resolve(document, file) };
            let has_anchor = |anchors: &BTreeSet<String>| fragment.is_empty() || anchors.contains(fragment);
            if !root().join(&target).exists() || !headings.get(&target).is_none_or(has_anchor) {
                broken.push(format!("{document}: {link}"));
            }
            checked += 1;
        }
    }
    ensure!(checked > 100, "the links are elsewhere");
    assert!(broken.is_empty(), "{broken:#?}");
    Ok(())
}

#[test]
fn anchors_are_formed_from_headings_outside_of_code() {
    let text = "# The `x` of y's\n```\n# no heading\n```\n## One, two: 3\ntext\n";
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["one-two-3", "the-x-of-ys"]);
    assert_eq!(
        links("[a](b.md#c) and [d](https://e.example/) or [f](#g)").collect::<Vec<_>>(),
        ["b.md#c", "#g"]
    );
    assert_eq!(resolve("docs/figures/feed.md", "../events.md"), Path::new("docs/events.md"));
}

/// The files that a document names between backticks, with `{a,b}` expanded.
fn named_files(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2).filter(|span| !span.contains([' ', '*', '…', '<', '$']));
    let files = spans.filter(|span| span.contains('/') && !span.starts_with('/'));
    let is_code = |path: &str| Path::new(path).extension().is_some_and(|end| end == "rs" || end == "sql");
    files.flat_map(alternatives).filter(|path| is_code(path)).collect()
}

fn alternatives(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((inner, after)) = rest.split_once('}') else { return vec![path.to_owned()] };
    inner.split(',').flat_map(|name| alternatives(&format!("{before}{name}{after}"))).collect()
}

#[test]
fn files_that_the_architecture_names_exist() -> Result<()> {
    let text = fs::read_to_string(root().join("docs/architecture.md"))?;
    let outside_of_code: String = text.split("```").step_by(2).collect();
    let files = named_files(&outside_of_code);
    ensure!(files.len() > 100, "the files are named in another way");
    let missing: Vec<_> = files
        .iter()
        .filter(|file| !root().join(file).exists() && !root().join("crates").join(file).exists())
        .collect();
    assert!(missing.is_empty(), "docs/architecture.md names files that do not exist: {missing:#?}");
    Ok(())
}

#[test]
fn alternatives_in_paths_are_expanded() {
    assert_eq!(
        named_files("`a/{b,c}.rs`, `d.rs`, `e/f.md`, `{g,h/i}.rs`"),
        ["a/b.rs", "a/c.rs", "g.rs", "h/i.rs"]
    );
}
