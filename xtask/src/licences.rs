//! The licences that dependencies may have: permissive ones only, so that the program can be linked and
//! shipped under the workspace's own.

use crate::cargo;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use spdx::{Expression, LicenseReq};

/// SPDX identifiers. A choice (`OR`) needs one of them, a conjunction (`AND`) all.
const PERMISSIVE: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "PostgreSQL",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks every crate of the lock file, for all platforms and features. Returns how many there are.
///
/// Fails with the names and licences of all crates that are not permissive or state no licence, and where the lock file
/// does not fit the manifests.
pub(crate) fn check() -> Result<usize> {
    let mut command = cargo::cargo("metadata")?;
    command.args(["--format-version", "1", "--locked", "--all-features"]);
    let output = command.output().context("cannot run cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages =
        metadata.get("packages").and_then(Value::as_array).context("cargo metadata names no packages")?;
    let text =
        |package: &Value, key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_permissive(package.get("license").and_then(Value::as_str)))
        .map(|package| {
            format!("{} {}: {:?}", text(package, "name"), text(package, "version"), text(package, "license"))
        })
        .collect();
    ensure!(refused.is_empty(), "crates whose licence is not permissive:\n{}", refused.join("\n"));
    Ok(packages.len())
}

fn is_permissive(licence: Option<&str>) -> bool {
    // Older crates write `MIT/Apache-2.0`.
    let Some(expression) = licence.and_then(|text| Expression::parse(&text.replace('/', " OR ")).ok()) else {
        return false;
    };
    expression.evaluate(|requirement: &LicenseReq| {
        requirement.license.id().is_some_and(|id| PERMISSIVE.contains(&id.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_needs_one_permissive_licence_and_a_conjunction_all() {
        for (licence, permissive) in [
            (Some("MIT OR Apache-2.0"), true),
            (Some("MIT/Apache-2.0"), true),
            (Some("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only"), true),
            (Some("(MIT OR Apache-2.0) AND Unicode-3.0"), true),
            (Some("GPL-3.0-only"), false),
            (Some("MIT AND GPL-2.0-or-later"), false),
            (Some("AGPL-3.0-or-later OR MIT"), true),
            (Some("no licence at all"), false),
            (None, false),
        ] {
            assert_eq!(is_permissive(licence), permissive, "{licence:?}");
        }
    }
}
