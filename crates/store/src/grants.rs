//! Ports of grants: what fans were given, for what, and whether it was taken back.

use terrace_kernel::{Grant, GrantId, GrantSource, Limit, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_packs::{Owned, UserPack};

/// Something that a fan was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenGrant {
    /// Its id.
    pub id: GrantId,
    /// What it was given for.
    pub source: GrantSource,
    /// The fan.
    pub user: UserId,
    /// Its number among the grants of the source, from 0.
    pub place: u32,
    /// What was given.
    pub grant: Grant,
    /// When it was given.
    pub given_at: Timestamp,
    /// When it was taken back, if it was.
    pub taken_back_at: Option<Timestamp>,
}

/// Reads what was given.
pub trait GrantRead {
    /// What these sources gave a fan, including what was taken back, in the order of the sources and of their grants.
    fn grants_of(&mut self, user: UserId, sources: &[GrantSource]) -> Result<Vec<GivenGrant>, StoreError>;

    /// What a fan was given, the newest first.
    fn grants(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<GivenGrant>, StoreError>;

    /// The copies of packs that were given by these grants, in the order of their ids.
    fn granted_copies(&mut self, grants: &[GrantId]) -> Result<Vec<UserPack>, StoreError>;
}

/// Writes what was given.
pub trait GrantWrite: GrantRead {
    /// Inserts grants, except those whose source and place have given to the fan before; a source waits for a concurrent
    /// transaction that gives for it. Returns the ids of what was inserted.
    fn insert_grants(&mut self, grants: &[GivenGrant]) -> Result<Vec<GrantId>, StoreError>;

    /// Deletes grants that this transaction has inserted.
    fn delete_grants(&mut self, grants: &[GrantId]) -> Result<(), StoreError>;

    /// Marks as taken back what these sources gave a fan, and returns what was not taken back before.
    fn mark_taken_back(
        &mut self,
        user: UserId,
        sources: &[GrantSource],
        at: Timestamp,
    ) -> Result<Vec<GivenGrant>, StoreError>;

    /// Inserts collectibles that were given without a pack; the minter is notified if `has_minter`. The caller holds the
    /// lock on the fan's account.
    fn insert_granted(&mut self, owned: &[Owned], has_minter: bool, at: Timestamp) -> Result<(), StoreError>;

    /// Revokes the collectibles of a grant, as [`terrace_packs::OpeningWrite::revoke_owned`] does those of a copy.
    fn revoke_granted(&mut self, grant: GrantId, at: Timestamp) -> Result<u64, StoreError>;
}
