//! Shared parts of the scans through accounts, of `points` and of `balances`: portion sizes
//! and reports.

use std::collections::BTreeMap;
use std::fmt::Display;
use terrace_kernel::{UserId, num};

/// Accounts that one query checks.
pub(crate) const PORTION: u32 = 2_000;
/// Maximum number of accounts that one transaction locks.
pub(crate) const HELD: usize = 200;
/// Maximum number of faults of a kind that a report contains.
const EXAMPLES: usize = 10;

/// Result of one check of points or balances.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// Number of rows checked.
    pub checked: u64,
    /// Number of rows that are wrong or missing.
    pub wrong: u64,
    /// Descriptions of up to ten of these rows.
    pub examples: Vec<String>,
}

/// Result of a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkReport<C: Ord> {
    /// Result of each check.
    pub checks: BTreeMap<C, CheckReport>,
    /// Number of fans whose rows were repaired, or would be.
    pub repaired: u64,
}

impl<C: Ord> WalkReport<C> {
    /// Creates a report that lists these checks, even if they find nothing.
    pub(crate) fn of(checks: impl IntoIterator<Item = C>) -> Self {
        let checks = checks.into_iter().map(|check| (check, CheckReport::default())).collect();
        Self { checks, repaired: 0 }
    }

    /// Number of wrong rows, before any repair.
    pub fn wrong(&self) -> u64 {
        self.checks.values().map(|checked| checked.wrong).sum()
    }

    /// Adds to the number of rows checked.
    pub(crate) fn count(&mut self, checked: BTreeMap<C, u64>) {
        for (check, count) in checked {
            self.checks.entry(check).or_default().checked += count;
        }
    }

    /// Adds a fault.
    pub(crate) fn note(&mut self, check: C, fault: &impl Display) {
        let checked = self.checks.entry(check).or_default();
        checked.wrong += 1;
        if checked.examples.len() < EXAMPLES {
            checked.examples.push(fault.to_string());
        }
    }

    /// Adds the result of checking suspects under a lock.
    pub(crate) fn settled<F: Display>(&mut self, settled: &Settled<F>, check: impl Fn(&F) -> C) {
        self.repaired += settled.repaired;
        for fault in &settled.faults {
            self.note(check(fault), fault);
        }
    }
}

/// Result of checking the next accounts.
pub(crate) struct Portion<C> {
    /// Number of rows checked, by check.
    pub(crate) checked: BTreeMap<C, u64>,
    /// Number of accounts.
    pub(crate) fans: u64,
    /// Accounts with a suspected fault, in ascending order of id.
    pub(crate) suspects: Vec<UserId>,
    /// The last account: the next portion starts after it.
    pub(crate) last: UserId,
}

impl<C: Ord> Portion<C> {
    /// A portion of `fans` accounts, of which none is checked yet.
    pub(crate) fn of(fans: usize, last: UserId) -> Self {
        Self { checked: BTreeMap::new(), fans: num::to_u64(fans), suspects: Vec::new(), last }
    }

    /// Adds the audit of one account.
    pub(crate) fn audited(
        &mut self,
        fan: UserId,
        checked: impl IntoIterator<Item = (C, u64)>,
        is_wrong: bool,
    ) {
        for (check, count) in checked {
            *self.checked.entry(check).or_default() += count;
        }
        if is_wrong {
            self.suspects.push(fan);
        }
    }
}

/// Confirmed faults of locked accounts.
pub(crate) struct Settled<F> {
    pub(crate) faults: Vec<F>,
    /// Number of fans who were repaired, or would be.
    pub(crate) repaired: u64,
}

impl<F> Default for Settled<F> {
    fn default() -> Self {
        Self { faults: Vec::new(), repaired: 0 }
    }
}
