//! Imports of accounts and follows.

use terrace_identity::ports::NewAccount;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Brings in fans who cannot sign in yet, and their follows, many at a time.
pub trait FollowImportWrite {
    /// Creates those of the accounts whose ids and names are free, as of people who were seen at the time of their
    /// creation; says which.
    fn insert_accounts(&mut self, accounts: &[NewAccount]) -> Result<Vec<UserId>, StoreError>;

    /// Those of these accounts that are active, locked in the order of their ids until the transaction ends.
    fn lock_active(&mut self, users: &[UserId]) -> Result<Vec<UserId>, StoreError>;

    /// Creates those of these follows that there are not, but none beside a block; says which. The caller has locked
    /// everybody concerned and counts them with [`Self::count_follows`].
    fn insert_follows(
        &mut self,
        follows: &[(UserId, UserId)],
        at: Timestamp,
    ) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// Counts these follows, which the caller has inserted, on both sides.
    fn count_follows(&mut self, follows: &[(UserId, UserId)]) -> Result<(), StoreError>;
}
