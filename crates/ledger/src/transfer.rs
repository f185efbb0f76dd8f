//! Transfers, and the entries that fans see.

use crate::{AccountKind, Amount, Holder, TransferSource};
use terrace_kernel::text::{TextError, line};
use terrace_kernel::{Timestamp, UserId, typed_ids};

typed_ids! {
    /// Id of a transfer. The transfer of a record of points has the id of that record.
    TransferId;
}

/// Validates the reason of a transfer, which is shown to the fan whose account it changes: one line of 1 to 200
/// characters.
///
/// # Errors
///
/// Returns the rule that the text violates.
pub fn reason(text: &str) -> Result<String, TextError> {
    line(text, 1, 200)
}

/// A row of the journal: it moves an amount between two accounts of the same kind. Rows are never changed; a correction
/// is another transfer in the opposite direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Id of the transfer.
    pub id: TransferId,
    /// Kind of both accounts.
    pub kind: AccountKind,
    /// Holder of the account that is debited.
    pub debit: Holder,
    /// Holder of the account that is credited, different from `debit`.
    pub credit: Holder,
    /// The amount that is moved.
    pub amount: Amount,
    /// The reason that is shown to the fan, validated by [`reason`].
    pub reason: String,
    /// The cause of the transfer; no other transfer has the same source.
    pub source: TransferSource,
    /// The time of the transfer.
    pub at: Timestamp,
}

impl Transfer {
    /// The change of the fan's balance of this kind; zero if the fan is neither debited nor credited.
    pub fn change_of(&self, fan: UserId) -> i64 {
        let share = |holder: Holder| if holder == Holder::Fan(fan) { self.amount.get() } else { 0 };
        share(self.credit) - share(self.debit)
    }
}

/// The result of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransferOutcome {
    /// The amount was moved.
    Now {
        /// The new balance of the debited account, if a fan holds it.
        debit: Option<i64>,
        /// The new balance of the credited account, if a fan holds it.
        credit: Option<i64>,
    },
    /// A transfer with this source already exists; nothing was moved.
    Before,
    /// The balance of the debited fan is too low; nothing was moved.
    Insufficient {
        /// The balance of the debited account.
        has: i64,
    },
    /// The credited fan does not exist or has deleted their account; nothing was moved.
    NoFan,
}

/// The balance of one of a fan's accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Balance {
    /// Kind of the account.
    pub kind: AccountKind,
    /// The balance, zero or more.
    pub amount: i64,
}

/// A transfer from the point of view of one of its two holders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Id of the transfer.
    pub id: TransferId,
    /// Kind of the account.
    pub kind: AccountKind,
    /// The change of the balance, never zero.
    pub change: i64,
    /// The balance after the transfer.
    pub balance_after: i64,
    /// The reason of the transfer.
    pub reason: String,
    /// The source of the transfer.
    pub source: TransferSource,
    /// The time of the transfer.
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
