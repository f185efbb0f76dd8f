//! Transfers, and what fans see of them.

use crate::{AccountKind, Amount, Holder, TransferSource};
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{Timestamp, UserId, typed_ids};

typed_ids! {
    /// A transfer. That of a record of points has the record's id.
    TransferId;
}

/// What a transfer says to the fan whose account it moves: one line of 1 to 200 characters.
///
/// # Errors
///
/// Says which rule the text breaks.
pub fn reason(text: &str) -> Result<String, TextError> {
    line(text, 1, 200)
}

/// A row of the journal: an amount on its way from one account to another of the same kind. It is never changed; what
/// was wrong is moved back by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Its id.
    pub id: TransferId,
    /// What is moved.
    pub kind: AccountKind,
    /// Whose account has less afterwards.
    pub debit: Holder,
    /// Whose account has more: another holder.
    pub credit: Holder,
    /// How much.
    pub amount: Amount,
    /// What it says to the fan, checked by [`reason`].
    pub reason: String,
    /// What it is for; no other transfer has the same.
    pub source: TransferSource,
    /// When.
    pub at: Timestamp,
}

impl Transfer {
    /// By how much it changes the fan's account of its kind; zero where it is not theirs.
    pub fn change_of(&self, fan: UserId) -> i64 {
        let share = |holder: Holder| if holder == Holder::Fan(fan) { self.amount.get() } else { 0 };
        share(self.credit) - share(self.debit)
    }
}

/// What became of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferOutcome {
    /// The amount is moved.
    Now {
        /// What is left on the account that paid, where it is a fan's.
        debit: Option<i64>,
        /// What is on the account that got it, where it is a fan's.
        credit: Option<i64>,
    },
    /// What it is for was paid before, and nothing is moved.
    Before,
    /// The fan who is to pay has only so much, and nothing is moved.
    Insufficient {
        /// What is on their account.
        has: i64,
    },
    /// The fan who is to get it has deleted their account, or there is none, and nothing is moved.
    NoFan,
}

/// What is on a fan's account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Balance {
    /// The account.
    pub kind: AccountKind,
    /// What is on it, zero or more.
    pub amount: i64,
}

/// A transfer as one of the two who are in it sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The transfer's id.
    pub id: TransferId,
    /// The account.
    pub kind: AccountKind,
    /// By how much it changed, never zero.
    pub change: i64,
    /// What was on it then.
    pub balance_after: i64,
    /// What for.
    pub reason: String,
    /// The source of the transfer.
    pub source: TransferSource,
    /// When.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::House;
    use terrace_kernel::Uuid;

    #[test]
    fn what_one_gets_another_gives() {
        let [from, to, other] = [1, 2, 3].map(|n| UserId::from_uuid(Uuid::from_u128(n)));
        let transfer = Transfer {
            id: TransferId::from_uuid(Uuid::from_u128(9)),
            kind: AccountKind::Coins,
            debit: Holder::Fan(from),
            credit: Holder::Fan(to),
            amount: Amount::new(5).unwrap(),
            reason: "A gift".to_owned(),
            source: TransferSource::operator("gift").unwrap(),
            at: Timestamp::from_micros(0),
        };
        assert_eq!([from, to, other].map(|fan| transfer.change_of(fan)), [-5, 5, 0]);
        let spent = Transfer { credit: Holder::House(House::Revenue), ..transfer };
        assert_eq!([from, to].map(|fan| spent.change_of(fan)), [-5, 0]);
    }
}
