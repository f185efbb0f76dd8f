//! Files of different areas do not depend on each other in a circle.
//!
//! A file depends on another if it names an item of it, in a `use` or in a path. A `mod.rs` that re-exports an item
//! passes the dependency on to the item's file.

use super::files::texts;
use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};

/// The crates with areas, and the smallest number of dependencies that the test must find in each.
const CRATES: [(&str, usize); 5] =
    [("app", 200), ("ops", 40), ("server", 40), ("storage", 200), ("web", 150)];
/// Files that put areas together, so that areas may name what they define.
const COMPOSING: [&str; 3] = ["crates/app/src/lib.rs", "crates/ops/src/lib.rs", "crates/web/src/lib.rs"];

/// The path of a module in its crate.
type Module = Vec<String>;

/// The code of a file, without comments and without its tests.
struct Source {
    path: String,
    /// The `use` declarations as paths, and whether each is a re-export.
    imports: Vec<(Module, bool)>,
    /// Everything else.
    body: String,
}

fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter_map(|line| line.split("//").next()).collect::<Vec<_>>().join("\n")
}

/// The paths of a tree such as `a::{b, c::{d, e as f}}`.
fn expand(tree: &str) -> Vec<Module> {
    let tree = tree.trim();
    let Some((prefix, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|name| name.trim().to_owned()).collect()];
    };
    let prefix: Module =
        prefix.split("::").map(|name| name.trim().to_owned()).filter(|n| !n.is_empty()).collect();
    let (mut depth, mut start, mut paths) = (0, 0, Vec::new());
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    for (at, letter) in inner.char_indices().chain([(inner.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inner[start..at].trim();
                if !part.is_empty() {
                    paths.extend(expand(part).into_iter().map(|path| [prefix.clone(), path].concat()));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    paths
}

impl Source {
    fn of(path: &str, text: &str) -> Self {
        let (mut imports, mut body) = (Vec::new(), String::new());
        let mut open: Option<(bool, String)> = None;
        for line in code(text).lines() {
            let line = line.trim();
            open = match (open, line.split_once("use ")) {
                (Some((public, tree)), _) => Some((public, tree + line)),
                (None, Some((before, tree))) if before.is_empty() || before.starts_with("pub") => {
                    Some((!before.is_empty(), tree.to_owned()))
                }
                (None, _) => {
                    body.push_str(line);
                    body.push('\n');
                    None
                }
            };
            if let Some((public, tree)) = open.take_if(|(_, tree)| tree.ends_with(';')) {
                imports.extend(expand(tree.trim_end_matches(';')).into_iter().map(|path| (path, public)));
            }
        }
        Self { path: path.to_owned(), imports, body }
    }
}

/// The files of a crate by their modules.
struct Crate(BTreeMap<Module, Source>);

impl Crate {
    fn of(files: &[(String, String)], base: &str) -> Self {
        let is_test = |path: &str| {
            path.ends_with("tests.rs") || path.ends_with("/test_support.rs") || path.ends_with("/harness.rs")
        };
        let modules = files.iter().filter(|(path, _)| !is_test(path)).map(|(path, text)| {
            let inner = path.trim_start_matches(base).trim_end_matches(".rs");
            let names = inner.split('/').filter(|name| !matches!(*name, "mod" | "lib" | "main"));
            (names.map(str::to_owned).collect(), Source::of(path, text))
        });
        Self(modules.collect())
    }

    /// The path from the root of the crate; `None` if it is a path of another crate.
    fn absolute(&self, of: &[String], path: &[String]) -> Option<Module> {
        let first = path.first()?;
        let mut base = of.to_vec();
        let mut rest = path;
        match first.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            name => {
                base.push(name.to_owned());
                if !self.0.contains_key(&base) {
                    return None;
                }
                rest = &path[1..];
            }
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// The module that defines the item at a path; `None` if the path is that of a module.
    fn definer(&self, path: &[String], depth: u8) -> Option<Module> {
        let known = (0..=path.len()).rev().find(|count| self.0.contains_key(&path[..*count]))?;
        let (module, item) = (&path[..known], path.get(known)?);
        let exported =
            self.0[module].imports.iter().find(|(import, public)| *public && import.last() == Some(item));
        match exported.and_then(|(import, _)| self.absolute(module, import)) {
            Some(import) if depth > 0 => self.definer(&[&import[..], &path[known + 1..]].concat(), depth - 1),
            _ => Some(module.to_vec()),
        }
    }

    /// The modules on which each module depends.
    fn dependencies(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        self.0
            .iter()
            .map(|(module, source)| {
                let imports: Vec<Module> = source
                    .imports
                    .iter()
                    .filter(|(_, public)| !public)
                    .filter_map(|(path, _)| self.absolute(module, path))
                    .collect();
                let named = paths(&source.body).filter_map(|path| {
                    let import = imports.iter().find(|import| {
                        import.last() == path.first() && self.0.contains_key(import.as_slice())
                    });
                    match import {
                        Some(import) => Some([&import[..], &path[1..]].concat()),
                        None => self.absolute(module, &path),
                    }
                });
                let named: Vec<Module> = named.chain(imports.iter().cloned()).collect();
                let definers = named.iter().filter_map(|path| self.definer(path, 8));
                (module, definers.filter(|definer| definer != module).collect())
            })
            .collect()
    }
}

/// The paths of two names or more in code.
fn paths(body: &str) -> impl Iterator<Item = Module> {
    body.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'))
        .map(|path| path.trim_matches(':'))
        .filter(|path| path.contains("::"))
        .map(|path| path.split("::").map(str::to_owned).collect())
}

/// The area of a module: its folder. Files at the root of the storage crate belong together; elsewhere each is its own.
fn area(path: &str, base: &str) -> String {
    let inner = path.trim_start_matches(base);
    match inner.split_once('/') {
        Some((folder, _)) => folder.to_owned(),
        None if base.contains("/storage/") => String::new(),
        None => inner.to_owned(),
    }
}

/// The number of dependencies, and those between areas that are part of a circle.
fn circles(files: &[(String, String)], base: &str) -> (usize, Vec<String>) {
    let found = Crate::of(files, base);
    let mut graph = found.dependencies();
    graph.retain(|module, _| !COMPOSING.contains(&found.0[*module].path.as_str()));
    let reaches = |from: &Module, to: &Module| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(module) = left.pop() {
            if module == to {
                return true;
            }
            if seen.insert(module) {
                left.extend(graph.get(module).into_iter().flatten());
            }
        }
        false
    };
    let mut broken = Vec::new();
    for (module, on) in &graph {
        for other in on {
            let [from, to] = [*module, other].map(|module| found.0[module].path.as_str());
            if area(from, base) != area(to, base) && reaches(other, module) {
                broken.push(format!("{from} -> {to}"));
            }
        }
    }
    (graph.values().map(BTreeSet::len).sum(), broken)
}

#[test]
fn files_of_different_areas_form_no_circle() -> Result<()> {
    for (krate, least) in CRATES {
        let base = format!("crates/{krate}/src/");
        let (count, broken) = circles(&texts(&base, &[".rs"])?, &base);
        ensure!(count >= least, "{krate} has {count} dependencies between files");
        assert!(broken.is_empty(), "circles between areas of {krate}: {broken:#?}");
    }
    Ok(())
}

#[test]
fn a_circle_between_areas_is_found() {
    let file = |path: &str, text: &str| (format!("crates/x/src/{path}.rs"), text.to_owned());
    let found = |files: &[(String, String)]| circles(files, "crates/x/src/").1;
    let packs = file("packs/mod", "mod sale;\npub(crate) use sale::{\n    Price, Sale,\n};");
    let sale = file("packs/sale", "use crate::payments;\nfn pay() {\n    payments::settle::pay();\n}");
    let payments = file("payments/mod", "pub(crate) mod settle;");
    let settle = file("payments/settle", "use crate::packs::Sale; // Sold.\n");
    let circle = found(&[packs.clone(), sale.clone(), payments.clone(), settle]);
    let arrows = [
        "packs/sale.rs -> crates/x/src/payments/settle.rs",
        "payments/settle.rs -> crates/x/src/packs/sale.rs",
    ];
    assert_eq!(circle, arrows.map(|arrow| format!("crates/x/src/{arrow}")));

    let inside = file("payments/settle", "use super::refund::Refund;\nstruct Settled;");
    let refund = file("payments/refund", "use crate::payments::settle::Settled;");
    let tests = "struct Settled;\n#[cfg(test)]\nmod tests {\n    use crate::packs::Sale;\n}";
    assert_eq!(found(&[packs.clone(), sale.clone(), payments.clone(), inside, refund]), Vec::<String>::new());
    assert_eq!(found(&[packs, sale, payments, file("payments/settle", tests)]), Vec::<String>::new());
}
