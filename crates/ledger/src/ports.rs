//! What the ledger needs from a store. A call that writes reports whether it took.

use crate::{Balance, Entry, FanLedger, LedgerMend, Transfer, TransferId, TransferOutcome, TransferSource};
use terrace_kernel::{Limit, Page, StoreError, TimeKey, Timestamp, UserId};

/// Reads the ledger.
pub trait LedgerRead {
    /// What is on a fan's accounts, in the order of [`crate::AccountKind`]; one that nothing ever came to is left out.
    fn balances(&mut self, user: UserId) -> Result<Vec<Balance>, StoreError>;

    /// What was moved on a fan's accounts, the newest first. One round trip.
    fn entries(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Entry, TimeKey>, StoreError>;

    /// The transfer of this source.
    fn transfer_of(&mut self, source: &TransferSource) -> Result<Option<Transfer>, StoreError>;
}

/// Writes the ledger. Records of points move spendable points themselves, where they are written.
pub trait LedgerWrite: LedgerRead {
    /// Moves an amount, once for its source, and never more than a fan has: the condition is in the write, whoever
    /// writes at the same time. The accounts are locked until the transaction ends, those of two fans in the order of
    /// their ids. One round trip on PostgreSQL, but a second or third where an account is new or the answer is no.
    fn transfer(&mut self, transfer: &Transfer) -> Result<TransferOutcome, StoreError>;

    /// What is on a fan's accounts, locked until the transaction ends. Where the caller has locked or written the
    /// fan's account as a whole, nothing comes to them meanwhile either.
    fn lock_balances(&mut self, user: UserId) -> Result<Vec<Balance>, StoreError>;
}

/// Reads what is kept of balances, to compare it.
pub trait LedgerAudit {
    /// What the tables hold of the accounts from `first` to `last`, both included, in a few statements. Whoever writes
    /// meanwhile may be seen in some and not in others, but for accounts that are held.
    fn ledger_between(&mut self, first: UserId, last: UserId) -> Result<Vec<FanLedger>, StoreError>;
}

/// Mends what is kept of balances.
pub trait LedgerRepairWrite: LedgerAudit {
    /// Locks the balances of fans, in the order of their ids, until the transaction ends. The caller holds the fans, so
    /// that no account of theirs comes to be meanwhile.
    fn hold_balances(&mut self, fans: &[UserId]) -> Result<(), StoreError>;

    /// Writes what makes the balances of a fan who is held right, and moves what their records of points did not, by a
    /// transfer with this id.
    fn mend_ledger(&mut self, mend: &LedgerMend, id: TransferId, at: Timestamp) -> Result<(), StoreError>;
}
