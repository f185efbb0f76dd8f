//! The store operations that the ledger needs. A write reports whether it took effect.

use crate::{
    AccountKind, Balance, Booking, Entry, FanLedger, LedgerRepair, Period, StatementEnds, StatementEntry,
    Transfer, TransferId, TransferOutcome, TransferSource,
};
use std::collections::HashMap;
use terrace_kernel::{Currency, Limit, Page, StoreError, TimeKey, Timestamp, UserId};

/// Read access to the ledger.
pub trait LedgerRead {
    /// The balances of a fan's accounts, in the order of [`crate::AccountKind`]. An account that never received
    /// anything is left out.
    fn balances(&mut self, user: UserId) -> Result<Vec<Balance>, StoreError>;

    /// The entries of a fan's accounts, newest first. One round trip.
    fn entries(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Entry, TimeKey>, StoreError>;

    /// The ends of the statement of a fan's money account; both are zero if it never had an entry. One round trip.
    fn statement_ends(
        &mut self,
        user: UserId,
        currency: Currency,
        period: Period,
    ) -> Result<StatementEnds, StoreError>;

    /// The entries of a fan's money account whose numbers are above `after` and at most `last`, in their order: up to one
    /// more than `limit`. One round trip.
    fn statement_entries(
        &mut self,
        user: UserId,
        currency: Currency,
        after: i64,
        last: i64,
        limit: Limit,
    ) -> Result<Vec<StatementEntry>, StoreError>;

    /// The transfer with this source, if there is one.
    fn transfer_of(&mut self, source: &TransferSource) -> Result<Option<Transfer>, StoreError>;
}

/// Write access to the ledger. Writing a record of points also moves spendable points, without a call to this trait.
pub trait LedgerWrite: LedgerRead {
    /// Moves an amount, at most once for each source and never more than a fan has. The write itself checks the
    /// balance, so concurrent writers cannot overdraw it. The accounts are locked until the transaction ends, those of
    /// two fans in the order of their ids. One round trip on PostgreSQL, plus one or two if an account is new or the
    /// transfer is rejected.
    fn transfer(&mut self, transfer: &Transfer) -> Result<TransferOutcome, StoreError>;

    /// The balances of a fan's accounts, locked until the transaction ends. If the caller has also locked or written
    /// the fan's user account, no new ledger account can be created in the meantime.
    fn lock_balances(&mut self, user: UserId) -> Result<Vec<Balance>, StoreError>;
}

/// Payments of several fans at once. No list names a fan twice. On PostgreSQL each method is one statement.
pub trait LedgerBatch {
    /// The balances of one account of each of these fans, locked until the transaction ends, in the order of the fans'
    /// ids. A fan without this account is missing. The caller has locked the fans' user accounts.
    fn lock_balances_of(
        &mut self,
        accounts: &[(UserId, AccountKind)],
    ) -> Result<HashMap<UserId, i64>, StoreError>;

    /// [`LedgerWrite::transfer`] from fans to accounts of the service; returns the new balances. Nothing is moved for a
    /// fan who is missing, whose balance is too low. The balances must be locked, and no source may have been paid.
    fn pay_all(&mut self, transfers: &[Transfer]) -> Result<HashMap<UserId, i64>, StoreError>;

    /// [`LedgerWrite::transfer`] of points or coins from accounts of the service to fans; returns the new balances. The
    /// caller has locked the fans' user accounts, and no source may have been transferred.
    fn credit_all(&mut self, transfers: &[Transfer]) -> Result<HashMap<UserId, i64>, StoreError>;
}

/// Reads the stored state of the ledger for the audit.
pub trait LedgerAudit {
    /// The stored values of the fans from `first` to `last`, both inclusive, in a few statements. Concurrent writes may
    /// be visible to some of the statements and not to others, except for fans that the caller has locked.
    fn ledger_between(&mut self, first: UserId, last: UserId) -> Result<Vec<FanLedger>, StoreError>;
}

/// Repairs stored balances.
pub trait LedgerRepairWrite: LedgerAudit {
    /// Locks the balances of `fans`, in the order of their ids, until the transaction ends. The caller has already
    /// locked the fans' user accounts, so that no ledger account can be created for them in the meantime.
    fn hold_balances(&mut self, fans: &[UserId]) -> Result<(), StoreError>;

    /// The transfers of a locked fan's money account in the journal, with their present numbers.
    fn bookings(&mut self, user: UserId, currency: Currency) -> Result<Vec<Booking>, StoreError>;

    /// Replaces the entries of a locked fan's money account.
    fn write_entries(
        &mut self,
        user: UserId,
        currency: Currency,
        entries: &[StatementEntry],
    ) -> Result<(), StoreError>;

    /// Writes the correct balances of a locked fan, and moves the points that differ from the fan's records of points,
    /// in a transfer with this id.
    fn write_ledger_repair(
        &mut self,
        repair: &LedgerRepair,
        id: TransferId,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
