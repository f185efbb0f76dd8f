//! What a walk has found.

use crate::maintenance::Counts;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Display;

/// Maximum number of faults of a kind that a report contains.
const EXAMPLES: usize = 10;

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Number of rows checked.
    pub checked: u64,
    /// Number of rows that are wrong or missing.
    pub wrong: u64,
    /// Descriptions of up to ten of these rows.
    pub examples: Vec<String>,
}

/// Result of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkReport<C: Ord = Infallible> {
    /// Result of each check.
    pub checks: BTreeMap<C, CheckReport>,
    /// Number of fans whose rows were repaired, or would be.
    pub repaired: u64,
    /// Number of rows written, or that would be, by kind.
    pub(crate) written: Counts,
}

impl<C: Copy + Ord> Default for WalkReport<C> {
    fn default() -> Self {
        Self::of(&[])
    }
}

impl<C: Copy + Ord> WalkReport<C> {
    /// Creates a report that lists these checks, even if they find nothing.
    pub(crate) fn of(checks: &[C]) -> Self {
        let checks = checks.iter().map(|check| (*check, CheckReport::default())).collect();
        Self { checks, repaired: 0, written: Counts::new() }
    }

    /// Number of wrong rows, before any repair.
    pub fn wrong(&self) -> u64 {
        self.checks.values().map(|checked| checked.wrong).sum()
    }

    /// The report as text, with the names of the checks.
    pub fn lines(&self, name: impl Fn(C) -> &'static str) -> Vec<String> {
        let lines = |(check, found): (&C, &CheckReport)| {
            let head = format!("{}: {} checked, {} wrong", name(*check), found.checked, found.wrong);
            let examples = found.examples.iter().map(|example| format!("  {example}"));
            std::iter::once(head).chain(examples).collect::<Vec<_>>()
        };
        self.checks.iter().flat_map(lines).collect()
    }

    /// Adds to the number of rows checked.
    pub(crate) fn count(&mut self, check: C, rows: u64) {
        self.checks.entry(check).or_default().checked += rows;
    }

    /// Adds a fault.
    pub(crate) fn note(&mut self, check: C, fault: &impl Display) {
        let checked = self.checks.entry(check).or_default();
        checked.wrong += 1;
        if checked.examples.len() < EXAMPLES {
            checked.examples.push(fault.to_string());
        }
    }

    /// Adds to the number of written rows of a kind.
    pub(crate) fn wrote(&mut self, kind: &'static str, rows: u64) {
        if rows > 0 {
            let all = self.written.entry(kind).or_default();
            *all = all.saturating_add(rows);
        }
    }

    /// Adds another report.
    pub(crate) fn merge(&mut self, other: Self) {
        for (check, CheckReport { checked, wrong, examples }) in other.checks {
            let found = self.checks.entry(check).or_default();
            found.checked += checked;
            found.wrong += wrong;
            found.examples.extend(examples);
            found.examples.truncate(EXAMPLES);
        }
        self.repaired += other.repaired;
        for (kind, rows) in other.written {
            self.wrote(kind, rows);
        }
    }
}
