//! The graph of follows, team follows and blocks (spec §1 rules 3, 4 and 6): its entities and the ports that store
//! them. One call is one round trip; a conditional write returns whether it wrote. The store joins in `A`, the card of
//! a fan, and `T`, a team.

use crate::Erased;
use std::collections::HashSet;
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// The relationship between a viewer and another fan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Relationship {
    /// The viewer follows the other fan.
    pub following: bool,
    /// The other fan follows the viewer.
    pub follows_you: bool,
    /// One of the two blocks the other, so that neither is shown to the other.
    pub hidden: bool,
}

/// The relations of a reader to several fans; each list is in no order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Relations {
    /// Fans whom the reader follows.
    pub following: Vec<UserId>,
    /// Fans who follow the reader.
    pub followed_by: Vec<UserId>,
    /// Fans whom the reader blocks.
    pub blocked: Vec<UserId>,
}

/// Two accounts whose rows are locked until the transaction ends: meanwhile no other transaction can write a follow or
/// a block between them, or close one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedPair {
    /// Whether the acting account is active.
    pub actor_active: bool,
    /// Whether the other account is active.
    pub other_active: bool,
    /// How many fans follow the other account.
    pub other_followers: i64,
}

/// A fan in a list of followers or of followed fans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowEdge<A> {
    /// Id of the listed fan.
    pub id: UserId,
    /// Card of the listed fan.
    pub user: A,
    /// Whether the follow is mutual: the edge in the other direction exists too.
    pub mutual: bool,
    /// Whether the reader of the list follows the listed fan.
    pub following: bool,
    /// When the follow began.
    pub since: Timestamp,
}

impl<A> FollowEdge<A> {
    /// The sort key of the edge in its list.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.since, id: self.id.as_uuid() }
    }
}

/// A team that a fan follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedTeam<T> {
    /// The followed team.
    pub team: T,
    /// When the follow began.
    pub since: Timestamp,
}

/// A fan that another fan blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked<A> {
    /// Id of the blocked fan.
    pub id: UserId,
    /// Card of the blocked fan.
    pub user: A,
    /// When the block began.
    pub since: Timestamp,
}

/// Reads the graph of fans. Lists leave out accounts that are not active and fans who are hidden from the reader.
pub trait GraphRead<A> {
    /// The fans in `others` that a block hides from `reader`, in no order.
    fn hidden_among(&mut self, reader: UserId, others: &[UserId]) -> Result<Vec<UserId>, StoreError>;

    /// Those of these pairs of fans who are hidden from each other by a block.
    fn hidden_pairs(&mut self, pairs: &[(UserId, UserId)]) -> Result<HashSet<(UserId, UserId)>, StoreError>;

    /// All fans hidden from `reader` by a block in either direction, in no order.
    fn hidden_from(&mut self, reader: UserId) -> Result<Vec<UserId>, StoreError>;

    /// Those of `others` whom `reader` follows, who follow `reader`, and whom `reader` blocks.
    fn relations(&mut self, reader: UserId, others: &[UserId]) -> Result<Relations, StoreError>;

    /// The relationship between `viewer` and `other`.
    fn ties(&mut self, viewer: UserId, other: UserId) -> Result<Relationship, StoreError>;

    /// The followers of `of`, newest first, as `reader` sees them.
    fn list_followers(
        &mut self,
        of: UserId,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<FollowEdge<A>>, StoreError>;

    /// The fans followed by `of`, newest first, as `reader` sees them.
    fn list_followed(
        &mut self,
        of: UserId,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<FollowEdge<A>>, StoreError>;

    /// The fans blocked by `fan` after `after`, ordered by id.
    fn list_blocked(
        &mut self,
        fan: UserId,
        limit: Limit,
        after: Option<UserId>,
    ) -> Result<Page<Blocked<A>, UserId>, StoreError>;
}

/// Writes the graph of fans. Callers must call [`GraphWrite::lock_pair`] before they change a follow or add a block.
pub trait GraphWrite<A>: GraphRead<A> {
    /// Locks two accounts, always in the order of their ids; `None` if one of them does not exist.
    fn lock_pair(&mut self, actor: UserId, other: UserId) -> Result<Option<LockedPair>, StoreError>;

    /// Inserts the follow of `other` by `fan`, unless it exists or one of the two blocks the other; returns whether it
    /// did. The counters are updated by [`GraphWrite::add_to_follow_counts`].
    fn insert_follow(&mut self, fan: UserId, other: UserId, at: Timestamp) -> Result<bool, StoreError>;

    /// Deletes the follow of `other` by `fan`; returns whether it existed.
    fn delete_follow(&mut self, fan: UserId, other: UserId) -> Result<bool, StoreError>;

    /// Adds `by` to the following count of `fan` and to the follower count of `other`.
    fn add_to_follow_counts(&mut self, fan: UserId, other: UserId, by: i64) -> Result<(), StoreError>;

    /// Inserts the block of `other` by `fan`; returns whether it is new. The caller deletes the follows between them.
    fn insert_block(&mut self, fan: UserId, other: UserId, at: Timestamp) -> Result<bool, StoreError>;

    /// Deletes the block of `other` by `fan`; needs no lock. Returns whether it existed.
    fn delete_block(&mut self, fan: UserId, other: UserId) -> Result<bool, StoreError>;
}

/// Reads team follows.
pub trait TeamFollowRead<T> {
    /// The teams that a fan follows, newest first; not paginated, because the catalogue of teams is small.
    fn list_followed_teams(&mut self, fan: UserId) -> Result<Vec<FollowedTeam<T>>, StoreError>;
}

/// Writes team follows.
pub trait TeamFollowWrite {
    /// Inserts a team follow, unless it exists, the fan is not active or there is no such team; returns whether it did.
    /// The counter is updated by [`TeamFollowWrite::add_to_team_followers`].
    fn insert_team_follow(&mut self, fan: UserId, team: TeamId, at: Timestamp) -> Result<bool, StoreError>;

    /// Deletes a team follow; returns whether it existed.
    fn delete_team_follow(&mut self, fan: UserId, team: TeamId) -> Result<bool, StoreError>;

    /// Adds `by` to the follower count of the team and returns the new count; `None` if there is no such team. Locks
    /// the team until the transaction ends, so call it last.
    fn add_to_team_followers(&mut self, team: TeamId, by: i64) -> Result<Option<i64>, StoreError>;
}

/// An edge to another fan: a follow, a block or a dismissal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnTie {
    /// Id of the other fan.
    pub user: UserId,
    /// When the edge was created.
    pub since: Timestamp,
}

/// A team that a fan follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnTeamFollow {
    /// Id of the team.
    pub team: TeamId,
    /// When the follow began.
    pub since: Timestamp,
}

/// Reads the edges that one fan created, hidden or not, ordered by id, up to `limit` rows after `after`.
pub trait OwnGraphRead {
    /// The fans that the fan follows.
    fn own_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError>;

    /// The teams that the fan follows.
    fn own_team_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<TeamId>,
    ) -> Result<Vec<OwnTeamFollow>, StoreError>;

    /// The fans that the fan blocks.
    fn own_blocks(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError>;

    /// The fans dismissed from the fan's recommendations.
    fn own_dismissals(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError>;
}

/// A removed follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedFollow {
    /// Id of the follower.
    pub follower: UserId,
    /// Id of the followed fan.
    pub followee: UserId,
}

/// Removes the edges of a deleted account, up to `limit` rows at a time, and updates the counters of other accounts.
/// Locks accounts in the order of their ids, as [`GraphWrite::lock_pair`] does.
pub trait GraphErasure {
    /// Removes follows by the fan.
    fn erase_followed(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedFollow>, StoreError>;

    /// Removes follows of the fan.
    fn erase_followers(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedFollow>, StoreError>;

    /// Removes team follows by the fan.
    fn erase_team_follows(&mut self, fan: UserId, limit: u32) -> Result<Erased<TeamId>, StoreError>;

    /// Removes blocks by the fan and of the fan; returns how many.
    fn erase_blocks(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError>;

    /// Removes dismissals by the fan and of the fan; returns how many.
    fn erase_dismissals(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError>;
}
