//! `cargo xtask lines`: how many lines of Rust each package has, without blank lines and comments, and how many methods
//! of the store a command and a query reach.

mod count;
mod ports;

use crate::cargo;
use anyhow::{Context, Result, ensure};
use clap::Args;
use count::FileCount;
use ports::{PortMap, Reach};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub(crate) struct Lines {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Packages that only tests depend on.
const TEST_PACKAGES: [&str; 3] = ["tests", "testkit", "pgtemp"];

/// What one package holds, or all of them.
#[derive(Clone, Copy, Default)]
struct Count {
    product: usize,
    tests: usize,
    bench: usize,
    /// Types of the product.
    types: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Product,
    Tests,
    Bench,
}

/// Prints the counts of every package and their sum.
pub(crate) fn run(lines: &Lines) -> Result<ExitCode> {
    let root = cargo::root()?;
    let mut packages = BTreeMap::new();
    let mut ports = PortMap::default();
    for (name, folder) in packages_of(&root)? {
        packages.insert(name.clone(), count_package(&name, &folder)?);
        if kind_of(&name, false) == Kind::Product && name != "xtask" {
            add_ports(&folder.join("src"), &mut ports)?;
        }
    }
    let reach = ports.reach();
    let mut total = Count::default();
    for count in packages.values() {
        total.add(*count);
    }
    if lines.json {
        let packages: BTreeMap<_, _> = packages.iter().map(|(name, count)| (name, count.json())).collect();
        let reach: BTreeMap<_, _> = reach.iter().map(Reach::json).collect();
        println!("{:#}", json!({ "packages": packages, "total": total.json(), "methods_reached": reach }));
    } else {
        print_table(&packages, total);
        for reach in &reach {
            println!("{}", reach.text());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn print_table(packages: &BTreeMap<String, Count>, total: Count) {
    let row = |name: &str, cells: [String; 5]| {
        let [product, tests, bench, types, density] = cells;
        println!("{name:<10} {product:>8} {tests:>8} {bench:>8} {types:>8} {density:>16}");
    };
    row("package", ["product", "tests", "bench", "types", "per 1,000 lines"].map(str::to_owned));
    for (name, count) in packages {
        row(name, count.cells());
    }
    row("total", total.cells());
}

/// The name and the folder of every package of the workspace.
fn packages_of(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut packages =
        vec![("tests".to_owned(), root.join("tests")), ("xtask".to_owned(), root.join("xtask"))];
    for folder in entries(&root.join("crates"))?.into_iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().context("a folder without a name")?.to_string_lossy().into_owned();
        packages.push((name, folder));
    }
    Ok(packages)
}

fn count_package(name: &str, folder: &Path) -> Result<Count> {
    let mut paths = Vec::new();
    find_sources(folder, &mut paths)?;
    ensure!(!paths.is_empty(), "{} holds no sources", folder.display());
    let mut files = Vec::new();
    let mut test_modules = BTreeSet::new();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let count = count::count(&text).with_context(|| path.display().to_string())?;
        let folder = submodule_folder(&path);
        test_modules.extend(count.test_modules.iter().map(|module| folder.join(module)));
        files.push((path, count));
    }
    let mut total = Count::default();
    for (path, count) in &files {
        let is_test = test_modules.iter().any(|module| path.with_extension("").starts_with(module))
            || has_test_name(path.strip_prefix(folder)?);
        total.add_file(kind_of(name, is_test), count);
    }
    Ok(total)
}

fn add_ports(folder: &Path, ports: &mut PortMap) -> Result<()> {
    let mut paths = Vec::new();
    find_sources(folder, &mut paths)?;
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        ports.add(&text).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn kind_of(package: &str, is_test: bool) -> Kind {
    if is_test || TEST_PACKAGES.contains(&package) {
        Kind::Tests
    } else if package == "bench" {
        Kind::Bench
    } else {
        Kind::Product
    }
}

/// `…tests.rs`, or any file in a folder `tests`.
fn has_test_name(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"))
        || path.parent().is_some_and(|folder| folder.iter().any(|part| part == "tests"))
}

/// The folder that holds the modules that a file declares.
fn submodule_folder(path: &Path) -> PathBuf {
    let is_root =
        path.file_name().is_some_and(|name| ["lib.rs", "main.rs", "mod.rs"].iter().any(|root| name == *root));
    if is_root { path.parent().map(PathBuf::from).unwrap_or_default() } else { path.with_extension("") }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn find_sources(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            find_sources(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

impl Count {
    fn add(&mut self, other: Self) {
        self.product += other.product;
        self.tests += other.tests;
        self.bench += other.bench;
        self.types += other.types;
    }

    fn add_file(&mut self, kind: Kind, file: &FileCount) {
        self.tests += file.tests;
        match kind {
            Kind::Product => {
                self.product += file.code;
                self.types += file.types;
            }
            Kind::Tests => self.tests += file.code,
            Kind::Bench => self.bench += file.code,
        }
    }

    /// Types per 1,000 lines of the product, in tenths.
    fn density(self) -> Option<usize> {
        (self.types * 10_000).checked_div(self.product)
    }

    fn cells(self) -> [String; 5] {
        let density = self
            .density()
            .map_or_else(|| "–".to_owned(), |tenths| format!("{}.{}", tenths / 10, tenths % 10));
        let [product, tests, bench, types] =
            [self.product, self.tests, self.bench, self.types].map(|count| count.to_string());
        [product, tests, bench, types, density]
    }

    fn json(self) -> Value {
        json!({ "product": self.product, "tests": self.tests, "bench": self.bench, "types": self.types })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_their_names_and_folders() {
        for (path, is_test) in [
            ("src/draw/tests.rs", true),
            ("src/shell_tests.rs", true),
            ("tests/life.rs", true),
            ("src/tests/sample.rs", true),
            ("src/test.rs", false),
            ("src/contest.rs", false),
        ] {
            assert_eq!(has_test_name(Path::new(path)), is_test, "{path}");
        }
    }

    #[test]
    fn submodules_lie_beside_a_root_and_below_any_other_file() {
        for (path, folder) in
            [("src/lib.rs", "src"), ("src/media/mod.rs", "src/media"), ("src/odds.rs", "src/odds")]
        {
            assert_eq!(submodule_folder(Path::new(path)), Path::new(folder), "{path}");
        }
    }
}
