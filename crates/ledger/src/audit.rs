//! Compares stored balances with the journal, and the journal with the records of points.

use crate::{AccountKind, Balance};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use terrace_kernel::{Currency, UserId, num};

/// A check of the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LedgerCheck {
    /// Each stored balance equals the sum of its account's rows in the journal, and that sum is not negative.
    Balances,
    /// The spendable points issued to a fan equal the fan's records of points, except for points that were written off.
    Awards,
    /// The entries of each money account are numbered without gaps, are those of the journal, and lead to its balance.
    Statements,
}

impl LedgerCheck {
    /// All checks.
    pub const ALL: [Self; 3] = [Self::Balances, Self::Awards, Self::Statements];

    /// The stable name, as used in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Balances => "ledger.balances",
            Self::Awards => "ledger.awards",
            Self::Statements => "ledger.statements",
        }
    }
}

/// The entries of a money account beside its transfers in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountEntries {
    /// The currency of the account.
    pub currency: Currency,
    /// The number of the last entry, as the account stores it.
    pub counted: i64,
    /// How many entries there are.
    pub entries: i64,
    /// The highest number of an entry.
    pub last: i64,
    /// The sum of the entries.
    pub sum: i64,
    /// Entries whose balance is not the previous one plus their change, or that are earlier than the previous one.
    pub broken: i64,
    /// How many transfers of the account the journal has.
    pub transfers: i64,
    /// The sum of these transfers.
    pub moved: i64,
}

impl AccountEntries {
    /// Whether the entries are numbered without gaps and agree with the journal.
    pub fn is_sound(&self) -> bool {
        let numbers = [self.counted, self.entries, self.last];
        numbers.iter().all(|number| *number == self.transfers) && self.sum == self.moved && self.broken == 0
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
    /// The entries of the money accounts.
    pub entries: Vec<AccountEntries>,
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
    /// The money accounts whose entries are to be numbered anew.
    pub statements: Vec<Currency>,
}

impl FanLedger {
    /// The number of comparisons of each check.
    pub fn checked(&self) -> BTreeMap<LedgerCheck, u64> {
        let accounts = num::to_u64(self.kinds().len());
        let statements = num::to_u64(self.entries.len());
        BTreeMap::from([
            (LedgerCheck::Balances, accounts),
            (LedgerCheck::Awards, 1),
            (LedgerCheck::Statements, statements),
        ])
    }

    /// Returns the inconsistencies and their repair. There is no repair if the sum of the journal's own rows is
    /// negative, because the missing rows cannot be reconstructed.
    pub fn audit(&self) -> (Vec<LedgerFault>, Option<LedgerRepair>) {
        let mut faults = Vec::new();
        let mut repair =
            LedgerRepair { user: self.user, balances: Vec::new(), points: 0, statements: Vec::new() };
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
        for account in self.entries.iter().filter(|account| !account.is_sound()) {
            let words =
                format!("the entries of {} are not those of the journal: {account:?}", account.currency);
            faults.push(self.fault(LedgerCheck::Statements, words));
            repair.statements.push(account.currency);
        }
        let is_wanted = repair.points != 0 || !repair.balances.is_empty() || !repair.statements.is_empty();
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
            entries: vec![],
        }
    }

    #[test]
    fn what_was_written_off_is_no_fault() {
        assert_eq!(fan().audit(), (vec![], None));
        assert_eq!(
            fan().checked(),
            BTreeMap::from([
                (LedgerCheck::Balances, 1),
                (LedgerCheck::Awards, 1),
                (LedgerCheck::Statements, 0)
            ])
        );
    }

    #[test]
    fn entries_are_as_many_as_transfers_and_lead_to_their_sum() {
        let sound = AccountEntries {
            currency: Currency::EUR,
            counted: 3,
            entries: 3,
            last: 3,
            sum: 5,
            broken: 0,
            transfers: 3,
            moved: 5,
        };
        assert!(sound.is_sound());
        for wrong in [
            AccountEntries { counted: 2, ..sound },
            AccountEntries { entries: 2, ..sound },
            AccountEntries { last: 4, ..sound },
            AccountEntries { sum: 6, ..sound },
            AccountEntries { broken: 1, ..sound },
            AccountEntries { transfers: 4, ..sound },
            AccountEntries { moved: 4, ..sound },
        ] {
            let fan = FanLedger { entries: vec![wrong], ..fan() };
            let (faults, repair) = fan.audit();
            assert_eq!(faults.iter().map(|fault| fault.check).collect::<Vec<_>>(), [LedgerCheck::Statements]);
            assert_eq!(repair.map(|repair| repair.statements), Some(vec![Currency::EUR]), "{wrong:?}");
        }
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
