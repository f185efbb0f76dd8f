//! What the walks through accounts have in common, that of points (`upkeep`) and that of balances (`ledger_upkeep`): how much
//! they look at and hold at a time, and what they come to.

use std::collections::BTreeMap;
use std::fmt::Display;
use terrace_kernel::UserId;

/// Accounts that one query looks at.
pub(crate) const PORTION: u32 = 2_000;
/// Accounts that one transaction holds at most.
pub(crate) const HELD: usize = 200;
/// Disagreements of a kind that a report shows.
const EXAMPLES: usize = 10;

/// What one check of points or balances found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// How many rows it looked at.
    pub checked: u64,
    /// How many of them are wrong, or missing.
    pub wrong: u64,
    /// Up to ten of those, in words.
    pub examples: Vec<String>,
}

/// What a walk found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkReport<C: Ord> {
    /// What each check found.
    pub checks: BTreeMap<C, CheckReport>,
    /// How many fans' rows were made right, or would be.
    pub mended: u64,
}

impl<C: Ord> WalkReport<C> {
    /// One in which these checks stand, whatever they find.
    pub(crate) fn of(checks: impl IntoIterator<Item = C>) -> Self {
        let checks = checks.into_iter().map(|check| (check, CheckReport::default())).collect();
        Self { checks, mended: 0 }
    }

    /// How much is wrong, or was before it was mended.
    pub fn wrong(&self) -> u64 {
        self.checks.values().map(|checked| checked.wrong).sum()
    }

    /// So many rows more were looked at.
    pub(crate) fn count(&mut self, checked: BTreeMap<C, u64>) {
        for (check, count) in checked {
            self.checks.entry(check).or_default().checked += count;
        }
    }

    /// One of them is wrong.
    pub(crate) fn note(&mut self, check: C, fault: &impl Display) {
        let checked = self.checks.entry(check).or_default();
        checked.wrong += 1;
        if checked.examples.len() < EXAMPLES {
            checked.examples.push(fault.to_string());
        }
    }

    /// Those who were suspected were looked at while they were held.
    pub(crate) fn settled<F: Display>(&mut self, settled: &Settled<F>, check: impl Fn(&F) -> C) {
        self.mended += settled.mended;
        for fault in &settled.faults {
            self.note(check(fault), fault);
        }
    }
}

/// What one look at the next accounts came to.
pub(crate) struct Portion<C> {
    /// How many rows each check looked at.
    pub(crate) checked: BTreeMap<C, u64>,
    /// How many accounts.
    pub(crate) fans: u64,
    /// Those with which something seems wrong, in the order of their ids.
    pub(crate) suspects: Vec<UserId>,
    /// The last account: the next look begins behind it.
    pub(crate) last: UserId,
}

/// What is wrong indeed with accounts that were held.
pub(crate) struct Settled<F> {
    pub(crate) faults: Vec<F>,
    /// Of how many fans it was, or would be, made right.
    pub(crate) mended: u64,
}

/// Of nobody.
impl<F> Default for Settled<F> {
    fn default() -> Self {
        Self { faults: Vec::new(), mended: 0 }
    }
}
