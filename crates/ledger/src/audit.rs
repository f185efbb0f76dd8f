//! Balances held against the journal, and the journal against the records of points.

use crate::{AccountKind, Balance};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use terrace_kernel::UserId;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LedgerCheck {
    /// A balance that is kept is the sum of its account's rows in the journal, and that is not below zero.
    Balances,
    /// Spendable points came from the house as the fan's records of points say, but for what was written off.
    Awards,
}

impl LedgerCheck {
    /// Every check.
    pub const ALL: [Self; 2] = [Self::Balances, Self::Awards];

    /// The stable name, as reports hold it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Balances => "ledger.balances",
            Self::Awards => "ledger.awards",
        }
    }
}

/// What the tables hold of a fan's balances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanLedger {
    /// The fan.
    pub user: UserId,
    /// The balances that are kept.
    pub balances: Vec<Balance>,
    /// What the journal's rows of each account come to.
    pub sums: Vec<Balance>,
    /// Spendable points that came from the house's issuance, less those that went back there.
    pub issued: i64,
    /// Points that were to be taken back and were written off.
    pub written_off: i64,
    /// The sum of the fan's records of points.
    pub recorded: i64,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFault {
    /// The check that found it.
    pub check: LedgerCheck,
    /// Whose account it is.
    pub user: UserId,
    /// What is wrong.
    pub words: String,
}

impl fmt::Display for LedgerFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fan {}: {}", self.user, self.words)
    }
}

/// What makes a fan's balances right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerMend {
    /// The fan.
    pub user: UserId,
    /// Balances as they are to be, before anything else.
    pub balances: Vec<Balance>,
    /// Spendable points that the records gave and the journal did not, or, below zero, the other way round.
    pub points: i64,
}

impl FanLedger {
    /// How many comparisons there are of each kind.
    pub fn checked(&self) -> BTreeMap<LedgerCheck, u64> {
        let accounts = u64::try_from(self.kinds().len()).unwrap_or(u64::MAX);
        BTreeMap::from([(LedgerCheck::Balances, accounts), (LedgerCheck::Awards, 1)])
    }

    /// What is wrong, and what would make it right; nothing of the latter for a journal whose own sum is below zero, of
    /// which nobody can say what became of the rest.
    pub fn audit(&self) -> (Vec<LedgerFault>, Option<LedgerMend>) {
        let mut faults = Vec::new();
        let mut mend = LedgerMend { user: self.user, balances: Vec::new(), points: 0 };
        for kind in self.kinds() {
            let (kept, sum) = (of(&self.balances, kind), of(&self.sums, kind));
            if sum < 0 {
                let words = format!("the journal of {kind} comes to {sum}, which nobody may have");
                faults.push(self.fault(LedgerCheck::Balances, words));
            } else if kept != sum {
                let words = format!("the balance of {kind} is {kept}, the journal says {sum}");
                faults.push(self.fault(LedgerCheck::Balances, words));
                mend.balances.push(Balance { kind, amount: sum });
            }
        }
        let moved = self.issued.saturating_sub(self.written_off);
        mend.points = self.recorded.saturating_sub(moved);
        if mend.points != 0 {
            let words = format!("the records of points come to {}, the journal moved {moved}", self.recorded);
            faults.push(self.fault(LedgerCheck::Awards, words));
        }
        let is_wanted = mend.points != 0 || !mend.balances.is_empty();
        (faults, is_wanted.then_some(mend))
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

    /// 10 points were given, 8 of them spent, and the 10 were taken back: 2 went back, and 8 are written off.
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
        for (nth, (damage, checks, mend)) in cases.into_iter().enumerate() {
            let mut fan = fan();
            damage(&mut fan);
            let (faults, found) = fan.audit();
            assert_eq!(faults.iter().map(|fault| fault.check).collect::<Vec<_>>(), checks, "case {nth}");
            assert_eq!(found.map(|mend| (mend.balances, mend.points)), mend, "case {nth}");
        }
    }
}
