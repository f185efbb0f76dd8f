//! Which crate may depend on which. The table below is the rule; `docs/architecture.md` lists and explains it.

use super::files::root;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The crates with the rules of the service. They do not depend on how it is served or stored.
const DOMAIN: [&str; 10] = [
    "terrace-draws",
    "terrace-games",
    "terrace-identity",
    "terrace-ledger",
    "terrace-packs",
    "terrace-quests",
    "terrace-rewards",
    "terrace-scoring",
    "terrace-shop",
    "terrace-social",
];
/// Shared types: a package that may name a domain crate may name this one too.
const KERNEL: &str = "terrace-kernel";
const TESTKIT: &str = "terrace-testkit";
const PGTEMP: &str = "terrace-pgtemp";
/// Measures the service from outside; nothing depends on it. It may name drivers and the framework, for the
/// bare limits that it compares the service with. It may name the domain crates for what judges
/// recommendations, for what ranks fans (it measures their memory), for the draw, which it compares with the odds
/// that the service publishes, for the quotes of carts that it orders, for the rounds of its crowds, and `outbound` for the encryption and sending of messages. It may name `app` and `storage`, whose commands it executes without HTTP.
const BENCH: &str = "terrace-bench";
/// Test support, allowed as a dev-dependency of any package and as nothing else.
const FOR_TESTS: [&str; 2] = [TESTKIT, PGTEMP];

/// For each package, the packages of the workspace that it may name.
fn arrows() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let above_domain = [&DOMAIN[..], &[KERNEL]].concat();
    let with_store = [&above_domain[..], &["terrace-store"]].concat();
    let with_app = [&with_store[..], &["terrace-app"]].concat();
    let testkit =
        [&with_app[..], &["terrace-ops", "terrace-outbound", "terrace-storage", "terrace-web", PGTEMP]]
            .concat();
    let mut arrows = BTreeMap::from([
        (KERNEL, vec![]),
        ("terrace-store", above_domain),
        ("terrace-app", [&with_store[..], &["terrace-art"]].concat()),
        ("terrace-ops", with_app.clone()),
        ("terrace-storage", with_store),
        ("terrace-outbound", vec![KERNEL, "terrace-app"]),
        ("terrace-client", vec![]),
        ("terrace-web", [&with_app[..], &["terrace-client"]].concat()),
        (
            "terrace-server",
            vec![KERNEL, "terrace-app", "terrace-ops", "terrace-outbound", "terrace-storage", "terrace-web"],
        ),
        (PGTEMP, vec![]),
        ("terrace-art", vec!["terrace-packs"]),
        (
            BENCH,
            vec![
                KERNEL,
                "terrace-app",
                "terrace-games",
                "terrace-outbound",
                "terrace-packs",
                "terrace-quests",
                "terrace-scoring",
                "terrace-shop",
                "terrace-social",
                "terrace-storage",
                PGTEMP,
            ],
        ),
        (TESTKIT, testkit),
        ("xtask", vec!["terrace-app", "terrace-storage", PGTEMP]),
        ("terrace-tests", vec![]),
    ]);
    arrows.extend(DOMAIN.map(|package| (package, vec![KERNEL])));
    arrows.extend(["terrace-games", "terrace-packs"].map(|package| (package, vec!["terrace-draws", KERNEL])));
    arrows.into_iter().map(|(package, allowed)| (package, allowed.into_iter().collect())).collect()
}

/// The arrows of the page: `a → b, c` in code, with `domains` for the domain crates and without `terrace-`.
fn documented(page: &str) -> BTreeMap<String, BTreeSet<String>> {
    let packages = |names: &str| -> Vec<String> {
        let full = |name: &str| if name == "xtask" { name.to_owned() } else { format!("terrace-{name}") };
        let names = names.split(',').map(str::trim);
        names
            .flat_map(
                |name| if name == "domains" { DOMAIN.map(str::to_owned).to_vec() } else { vec![full(name)] },
            )
            .collect()
    };
    let lists = page.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(" → "));
    let arrows = lists.flat_map(|(package, on)| {
        packages(package).into_iter().map(move |package| (package, packages(on).into_iter().collect()))
    });
    arrows.collect()
}

#[test]
fn the_page_lists_the_arrows() -> Result<()> {
    let page = std::fs::read_to_string(root().join("docs/architecture.md"))?;
    let listed = documented(&page);
    let allowed: BTreeMap<String, BTreeSet<String>> = arrows()
        .into_iter()
        .filter(|(_, allowed)| !allowed.is_empty())
        .map(|(package, allowed)| (package.to_owned(), allowed.into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(listed, allowed, "docs/architecture.md");
    Ok(())
}

/// A dependency, as one line of a package's manifest declares it.
struct Dependency {
    package: String,
    on: String,
    /// Part of the workspace, as opposed to a published crate.
    is_ours: bool,
    is_for_tests: bool,
}

fn cargo(arguments: &[&str]) -> Result<String> {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output()?;
    ensure!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

fn text<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("cargo metadata has no {key}"))
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    value[key].as_array().map(Vec::as_slice).with_context(|| format!("cargo metadata has no {key}"))
}

/// The packages of the workspace, and all of their dependencies of every kind.
fn manifests() -> Result<(BTreeSet<String>, Vec<Dependency>)> {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps", "--offline"])?)?;
    let mut packages = BTreeSet::new();
    let mut dependencies = Vec::new();
    for package in array(&metadata, "packages")? {
        let name = text(package, "name")?;
        packages.insert(name.to_owned());
        for dependency in array(package, "dependencies")? {
            dependencies.push(Dependency {
                package: name.to_owned(),
                on: text(dependency, "name")?.to_owned(),
                is_ours: dependency["path"].is_string(),
                is_for_tests: dependency["kind"] == "dev",
            });
        }
    }
    Ok((packages, dependencies))
}

fn is_allowed(arrows: &BTreeMap<&str, BTreeSet<&str>>, dependency: &Dependency) -> bool {
    let known = arrows.get(dependency.package.as_str());
    known.is_some_and(|allowed| allowed.contains(dependency.on.as_str()))
        || (dependency.is_for_tests && FOR_TESTS.contains(&dependency.on.as_str()))
}

#[test]
fn packages_depend_on_each_other_as_the_table_says() -> Result<()> {
    let (packages, dependencies) = manifests()?;
    let arrows = arrows();
    let ruled: BTreeSet<String> = arrows.keys().map(ToString::to_string).collect();
    assert_eq!(packages, ruled, "the table names every package of the workspace");
    let broken: Vec<String> = dependencies
        .iter()
        .filter(|dependency| dependency.is_ours && !is_allowed(&arrows, dependency))
        .map(|dependency| format!("{} -> {}", dependency.package, dependency.on))
        .collect();
    assert!(broken.is_empty(), "arrows that may not exist: {broken:?}");
    Ok(())
}

/// The one crate that may name a published crate: `storage` for drivers of databases and buckets, `web` for
/// the web framework.
fn owner(published: &str) -> Option<&'static str> {
    const DRIVERS: [&str; 4] = ["r2d2", "libsqlite3-sys", "pq-sys", "object_store"];
    if published.starts_with("diesel") || DRIVERS.contains(&published) {
        Some("terrace-storage")
    } else if published.starts_with("actix") || published.starts_with("utoipa") {
        Some("terrace-web")
    } else {
        None
    }
}

#[test]
fn only_storage_names_drivers_and_only_web_names_the_framework() -> Result<()> {
    let (_, dependencies) = manifests()?;
    let mut owners = BTreeSet::new();
    let published = |dependency: &&Dependency| !dependency.is_ours && dependency.package != BENCH;
    for dependency in dependencies.iter().filter(published) {
        if let Some(owner) = owner(&dependency.on) {
            assert_eq!(dependency.package, owner, "{} is not theirs to name", dependency.on);
            owners.insert(owner);
        }
    }
    assert_eq!(owners.len(), 2, "the rule has lost its subject: {owners:?}");
    Ok(())
}

#[test]
fn domain_crates_carry_no_framework_driver_runtime_or_json() -> Result<()> {
    for package in DOMAIN.iter().chain([&KERNEL]) {
        let tree =
            cargo(&["tree", "--package", package, "--edges", "normal", "--prefix", "none", "--offline"])?;
        let carried: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(carried.contains(package), "{tree}");
        let unwanted: Vec<_> = carried
            .iter()
            .filter(|name| owner(name).is_some() || matches!(**name, "tokio" | "serde_json"))
            .collect();
        assert!(unwanted.is_empty(), "{package} carries {unwanted:?}");
    }
    Ok(())
}

#[test]
fn an_arrow_outside_the_table_is_found() {
    let arrow = |package: &str, on: &str, is_for_tests| Dependency {
        package: package.to_owned(),
        on: on.to_owned(),
        is_ours: true,
        is_for_tests,
    };
    for (package, on, is_for_tests, allowed) in [
        ("terrace-social", "terrace-kernel", false, true),
        ("terrace-social", "terrace-identity", false, false),
        ("terrace-social", "terrace-identity", true, false),
        ("terrace-app", "terrace-storage", false, false),
        ("terrace-app", "terrace-ops", false, false),
        ("terrace-web", "terrace-ops", false, false),
        ("terrace-app", "terrace-testkit", true, true),
        ("terrace-app", "terrace-testkit", false, false),
        ("terrace-web", "terrace-storage", true, false),
        ("terrace-tests", "terrace-testkit", true, true),
        ("terrace-bench", "terrace-web", false, false),
        ("xtask", "terrace-bench", false, false),
        ("terrace-unheard-of", "terrace-kernel", false, false),
    ] {
        assert_eq!(is_allowed(&arrows(), &arrow(package, on, is_for_tests)), allowed, "{package} -> {on}");
    }
}
