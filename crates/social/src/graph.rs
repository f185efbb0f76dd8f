//! Who follows whom, which teams, and who blocks whom (spec §1 rules 3, 4 and 6): the entities and the ports through
//! which they are stored. One call is one round trip; a call that writes says whether it took. `A` is the card of a
//! fan and `T` a team, both of which the store joins in.

use crate::Erased;
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// How another fan stands to the one who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Relationship {
    /// Whoever looks follows the other.
    pub following: bool,
    /// The other follows whoever looks.
    pub follows_you: bool,
    /// One of the two blocks the other, so that neither is shown to the other.
    pub hidden: bool,
}

/// Two accounts whose rows are locked until the transaction ends: nobody else writes a follow or a block between
/// them, or closes one of them, meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedPair {
    /// Whether the one who acts is active.
    pub actor_active: bool,
    /// Whether the other is.
    pub other_active: bool,
    /// How many fans follow the other.
    pub other_followers: i64,
}

/// A fan in a list of followers, or of those who are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowEdge<A> {
    /// Who.
    pub id: UserId,
    /// What is shown of them.
    pub user: A,
    /// Whether it is mutual: the edge in the other direction exists too.
    pub mutual: bool,
    /// Whether whoever reads the list follows them.
    pub following: bool,
    /// Since when.
    pub since: Timestamp,
}

impl<A> FollowEdge<A> {
    /// Its place in its list.
    pub fn key(&self) -> TimeKey {
        TimeKey { at: self.since, id: self.id.as_uuid() }
    }
}

/// A team that a fan follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedTeam<T> {
    /// The team.
    pub team: T,
    /// Since when.
    pub since: Timestamp,
}

/// Somebody whom a fan blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked<A> {
    /// Who.
    pub id: UserId,
    /// What is shown of them.
    pub user: A,
    /// Since when.
    pub since: Timestamp,
}

/// Reads the graph of fans. Its lists leave out accounts that are not active, and whoever the reader does not see.
pub trait GraphRead<A> {
    /// Those of `others` whom a block hides from `reader`, in no order.
    fn hidden_among(&mut self, reader: UserId, others: &[UserId]) -> Result<Vec<UserId>, StoreError>;

    /// Everybody whom a block hides from `reader`, whoever of the two blocks, in no order.
    fn hidden_from(&mut self, reader: UserId) -> Result<Vec<UserId>, StoreError>;

    /// How `other` stands to `viewer`.
    fn ties(&mut self, viewer: UserId, other: UserId) -> Result<Relationship, StoreError>;

    /// Who follows `of`, the newest first, as `reader` sees them.
    fn list_followers(
        &mut self,
        of: UserId,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<FollowEdge<A>>, StoreError>;

    /// Whom `of` follows, the newest first, as `reader` sees them.
    fn list_followed(
        &mut self,
        of: UserId,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<FollowEdge<A>>, StoreError>;

    /// Whom `fan` blocks, in the order of their ids, after `after`.
    fn list_blocked(
        &mut self,
        fan: UserId,
        limit: Limit,
        after: Option<UserId>,
    ) -> Result<Page<Blocked<A>, UserId>, StoreError>;
}

/// Writes the graph of fans. Whoever changes an edge or adds a block has called [`GraphWrite::lock_pair`] before.
pub trait GraphWrite<A>: GraphRead<A> {
    /// Locks two accounts in the order of their ids, the same for everybody; none when one of them does not exist.
    fn lock_pair(&mut self, actor: UserId, other: UserId) -> Result<Option<LockedPair>, StoreError>;

    /// Adds that `fan` follows `other`, unless they do or one of the two blocks the other; says whether it did. The counters follow by
    /// [`GraphWrite::add_to_follow_counts`].
    fn insert_follow(&mut self, fan: UserId, other: UserId, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes that `fan` follows `other`; says whether they did.
    fn delete_follow(&mut self, fan: UserId, other: UserId) -> Result<bool, StoreError>;

    /// Adds `by` to how many `fan` follows, and to how many follow `other`.
    fn add_to_follow_counts(&mut self, fan: UserId, other: UserId, by: i64) -> Result<(), StoreError>;

    /// Adds that `fan` blocks `other`; says whether it is new. The caller ends the follows.
    fn insert_block(&mut self, fan: UserId, other: UserId, at: Timestamp) -> Result<bool, StoreError>;

    /// Lifts that `fan` blocks `other`, locked or not; says whether they did.
    fn delete_block(&mut self, fan: UserId, other: UserId) -> Result<bool, StoreError>;
}

/// Reads which teams fans follow.
pub trait TeamFollowRead<T> {
    /// The teams that a fan follows, the newest first; all of them, because a catalogue is not large.
    fn list_followed_teams(&mut self, fan: UserId) -> Result<Vec<FollowedTeam<T>>, StoreError>;
}

/// Writes which teams fans follow.
pub trait TeamFollowWrite {
    /// Notes that an active fan follows a team that exists, unless they do already; says whether it did. The counter
    /// follows by [`TeamFollowWrite::add_to_team_followers`].
    fn insert_team_follow(&mut self, fan: UserId, team: TeamId, at: Timestamp) -> Result<bool, StoreError>;

    /// Notes that a fan follows a team no more; says whether they did.
    fn delete_team_follow(&mut self, fan: UserId, team: TeamId) -> Result<bool, StoreError>;

    /// Adds `by` to how many fans follow the team, and says how many do; none when there is no such team. Locks the
    /// team until the transaction ends, so it comes last.
    fn add_to_team_followers(&mut self, team: TeamId, by: i64) -> Result<Option<i64>, StoreError>;
}

/// Somebody whom a fan follows, blocks or dismissed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnTie {
    /// Who.
    pub user: UserId,
    /// Since when.
    pub since: Timestamp,
}

/// A team that a fan follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnTeamFollow {
    /// The team.
    pub team: TeamId,
    /// Since when.
    pub since: Timestamp,
}

/// Reads what one fan has written into the graph, hidden or not, in the order of the ids, up to `limit` rows after
/// `after`.
pub trait OwnGraphRead {
    /// Whom they follow.
    fn own_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError>;

    /// Which teams they follow.
    fn own_team_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<TeamId>,
    ) -> Result<Vec<OwnTeamFollow>, StoreError>;

    /// Whom they block.
    fn own_blocks(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError>;

    /// Whom they do not want to see recommended again.
    fn own_dismissals(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError>;
}

/// An edge that went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedFollow {
    /// Who followed.
    pub follower: UserId,
    /// Whom.
    pub followee: UserId,
}

/// Removes what a fan who is gone has left in the graph, up to `limit` rows at a time, with the counters of others.
/// Locks accounts in the order of their ids, as [`GraphWrite::lock_pair`] does.
pub trait GraphErasure {
    /// Removes whom the fan follows.
    fn erase_followed(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedFollow>, StoreError>;

    /// Removes who follows the fan.
    fn erase_followers(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedFollow>, StoreError>;

    /// Removes which teams the fan follows.
    fn erase_team_follows(&mut self, fan: UserId, limit: u32) -> Result<Erased<TeamId>, StoreError>;

    /// Removes blocks by the fan and of the fan; says how many.
    fn erase_blocks(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError>;

    /// Removes dismissals by the fan and of the fan; says how many.
    fn erase_dismissals(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError>;
}
