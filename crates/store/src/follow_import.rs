//! Imports of accounts and follows.

use terrace_identity::ports::NewAccount;
use terrace_kernel::{StoreError, Timestamp, UserId};

/// Imports fans who cannot sign in yet, and their follows, in bulk.
pub trait FollowImportWrite {
    /// Creates those accounts whose ids and names are free, with their creation time as the time they were last seen;
    /// returns the created ids.
    fn insert_accounts(&mut self, accounts: &[NewAccount]) -> Result<Vec<UserId>, StoreError>;

    /// Returns the subset of these accounts that are active, locked in ascending order of id until the transaction
    /// ends.
    fn lock_active(&mut self, users: &[UserId]) -> Result<Vec<UserId>, StoreError>;

    /// Creates those follows that do not exist yet, except where either account blocks the other; returns
    /// the created ones. The caller has locked all accounts involved and updates their counters with
    /// [`Self::count_follows`].
    fn insert_follows(
        &mut self,
        follows: &[(UserId, UserId)],
        at: Timestamp,
    ) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// Updates the counters of both sides for these follows, which the caller has inserted.
    fn count_follows(&mut self, follows: &[(UserId, UserId)]) -> Result<(), StoreError>;
}
