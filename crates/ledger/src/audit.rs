//! Compares stored balances with the journal, and the journal with the records of points.

use crate::{AccountKind, Balance};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use terrace_kernel::{UserId, num};

/// A check of the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LedgerCheck {
    /// Each stored balance equals the sum of its account's rows in the journal, and that sum is not negative.
    Balances,
    /// The spendable points issued to a fan equal the fan's records of points, except for points that were written off.
    Awards,
}

impl LedgerCheck {
    /// All checks.
    pub const ALL: [Self; 2] = [Self::Balances, Self::Awards];

    /// The stable name, as used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Balances => "ledger.balances",
            Self::Awards => "ledger.awards",
        }
    }
}

/// The stored values that the audit compares for one fan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanLedger {
    /// Id of the fan.
    pub user: UserId,
    /// The stored balances.
    pub balances: Vec<Balance>,
    /// The sum of the journal's rows, for each account.
    pub sums: Vec<Balance>,
    /// Spendable points issued to the fan by the service, minus those returned to issuance.
    pub issued: i64,
    /// Points that a reversal had to take back and that were written off instead.
    pub written_off: i64,
    /// The sum of the fan's records of points.
    pub recorded: i64,
}

/// One inconsistency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFault {
    /// The check that failed.
    pub check: LedgerCheck,
    /// Id of the fan who holds the account.
    pub user: UserId,
    /// A description of the inconsistency, for the log.
    pub words: String,
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fan {}: {}", self.user, self.words)
    }
}

/// The changes that repair a fan's balances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRepair {
    /// Id of the fan.
    pub user: UserId,
    /// The correct balances, to be written before `points` is moved.
    pub balances: Vec<Balance>,
    /// Spendable points that the records of points grant and the journal lacks; negative if the journal has too many.
    pub points: i64,
}

impl FanLedger {
    /// The number of comparisons of each check.
    pub fn checked(&self) -> BTreeMap<LedgerCheck, u64> {
        let accounts = num::to_u64(self.kinds().len());
        BTreeMap::from([(LedgerCheck::Balances, accounts), (LedgerCheck::Awards, 1)])
    }

    /// Returns the inconsistencies and their repair. There is no repair if the sum of the journal's own rows is
    /// negative, because the missing rows cannot be reconstructed.
    pub fn audit(&self) -> (Vec<LedgerFault>, Option<LedgerRepair>) {
        let mut faults = Vec::new();
        let mut repair = LedgerRepair { user: self.user, balances: Vec::new(), points: 0 };
        for kind in self.kinds() {
            let (kept, sum) = (of(&self.balances, kind), of(&self.sums, kind));
            if sum < 0 {
                let words = format!("the journal of {kind} comes to {sum}, which is out of bounds");
                faults.push(self.fault(LedgerCheck::Balances, words));
            } else if kept != sum {
                let words = format!("the balance of {kind} is {kept}, the journal has {sum}");
                faults.push(self.fault(LedgerCheck::Balances, words));
                repair.balances.push(Balance { kind, amount: sum });
            }
        }
        let moved = self.issued.saturating_sub(self.written_off);
        repair.points = self.recorded.saturating_sub(moved);
        if repair.points != 0 {
            let words = format!("the records of points come to {}, the journal moved {moved}", self.recorded);
            faults.push(self.fault(LedgerCheck::Awards, words));
        }
        let is_wanted = repair.points != 0 || !repair.balances.is_empty();
        (faults, is_wanted.then_some(repair))
    }

    fn kinds(&self) -> BTreeSet<AccountKind> {
        self.balances.iter().chain(&self.sums).map(|balance| balance.kind).collect()
    }

    fn fault(&self, check: LedgerCheck, words: String) -> LedgerFault {
        LedgerFault { check, user: self.user, words }
    }
}

fn of(balances: &[Balance], kind: AccountKind) -> i64 {
    balances.iter().find(|balance| balance.kind == kind).map_or(0, |balance| balance.amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::Uuid;

    fn points(amount: i64) -> Vec<Balance> {
        vec![Balance { kind: AccountKind::Points, amount }]
    }

    /// The fan was awarded 10 points and spent 8; then the award was reversed. 2 points were returned and 8 written
    /// off.
    fn fan() -> FanLedger {
        FanLedger {
            user: UserId::from_uuid(Uuid::from_u128(5)),
            balances: points(0),
            sums: points(0),
            issued: 8,
            written_off: 8,
            recorded: 0,
        }
    }

    #[test]
    fn what_was_written_off_is_no_fault() {
        assert_eq!(fan().audit(), (vec![], None));
        assert_eq!(fan().checked(), BTreeMap::from([(LedgerCheck::Balances, 1), (LedgerCheck::Awards, 1)]));
    }

    #[test]
    fn each_damage_is_found_and_says_what_would_be_right() {
        type Damage = fn(&mut FanLedger);
        type Right = Option<(Vec<Balance>, i64)>;
        let cases: [(Damage, Vec<LedgerCheck>, Right); 5] = [
            (|fan| fan.balances = points(3), vec![LedgerCheck::Balances], Some((points(0), 0))),
            (|fan| fan.sums = points(3), vec![LedgerCheck::Balances], Some((points(3), 0))),
            (|fan| fan.sums = points(-3), vec![LedgerCheck::Balances], None),
            (|fan| fan.recorded = 4, vec![LedgerCheck::Awards], Some((vec![], 4))),
            (|fan| fan.written_off = 7, vec![LedgerCheck::Awards], Some((vec![], -1))),
        ];
        for (nth, (damage, checks, repair)) in cases.into_iter().enumerate() {
            let mut fan = fan();
            damage(&mut fan);
            let (faults, found) = fan.audit();
            assert_eq!(faults.iter().map(|fault| fault.check).collect::<Vec<_>>(), checks, "case {nth}");
            assert_eq!(found.map(|repair| (repair.balances, repair.points)), repair, "case {nth}");
        }
    }
}
