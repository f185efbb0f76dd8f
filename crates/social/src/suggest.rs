//! The ports of recommendations: loading and querying the follow graph, and the final checks that only the database can
//! make.

use std::collections::HashMap;
use terrace_kernel::{LeagueId, StoreError, TeamId, Timestamp, UserId};

/// The attributes of an account that the follow graph needs. A scan lists only accounts that are not active or have a
/// favourite team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Id of the account.
    pub user: UserId,
    /// Whether the account is active and therefore visible.
    pub is_active: bool,
    /// The favourite team.
    pub favorite_team: Option<TeamId>,
}

/// The edges of one account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edges {
    /// The follows from and to the account, as (follower, followed) pairs, among active accounts.
    pub follows: Vec<(UserId, UserId)>,
    /// The teams that the account follows.
    pub teams: Vec<TeamId>,
}

/// Reads the follow graph: as a whole, in batches ordered by id, or selected parts. Accounts that are not active have
/// no edges here, except in the batches.
pub trait FollowGraphRead {
    /// Up to `limit` accounts after `after` that are not active or have a favourite team.
    fn members(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<Member>, StoreError>;

    /// Up to `limit` follows after `after`, as (follower, followed) pairs.
    fn follows(
        &mut self,
        after: Option<(UserId, UserId)>,
        limit: u32,
    ) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// Up to `limit` team follows after `after`.
    fn team_follows(
        &mut self,
        after: Option<(UserId, TeamId)>,
        limit: u32,
    ) -> Result<Vec<(UserId, TeamId)>, StoreError>;

    /// The league of each team.
    fn team_leagues(&mut self) -> Result<HashMap<TeamId, LeagueId>, StoreError>;

    /// The existing follows among `asked`.
    fn follows_among(&mut self, asked: &[(UserId, UserId)]) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// The existing team follows among `asked`.
    fn team_follows_among(&mut self, asked: &[(UserId, TeamId)])
    -> Result<Vec<(UserId, TeamId)>, StoreError>;

    /// The existing accounts among `asked`.
    fn members_among(&mut self, asked: &[UserId]) -> Result<Vec<Member>, StoreError>;

    /// The edges of an account; `None` if it has more than `limit` follows in either direction.
    fn edges_of(&mut self, user: UserId, limit: u32) -> Result<Option<Edges>, StoreError>;
}

/// Why a person may be suggested to a viewer, as far as the database can determine cheaply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acquaintance {
    /// The person follows the viewer.
    FollowsYou,
    /// The person supports this team, which the viewer supports too.
    SupportsTeam(TeamId),
    /// The account is new.
    New,
}

/// The display names of teams and leagues.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of teams.
    pub teams: HashMap<TeamId, String>,
    /// Names of leagues.
    pub leagues: HashMap<LeagueId, String>,
}

/// Reads recommendations. The store joins in `A`, the card of a person.
pub trait SuggestionRead<A> {
    /// The cards of the `candidates` that may currently be recommended to `viewer`, in no order: not the viewer,
    /// active, seen at `since` or later, not followed, not dismissed, and with no block between the two.
    fn suggestible(
        &mut self,
        viewer: UserId,
        candidates: &[UserId],
        since: Timestamp,
    ) -> Result<Vec<(UserId, A)>, StoreError>;

    /// Fallback candidates that need no graph: some of the viewer's followers, of the supporters of the viewer's teams,
    /// and of the newest accounts; up to `limit` of each, in this order.
    fn people_about(&mut self, viewer: UserId, limit: u32)
    -> Result<Vec<(UserId, Acquaintance)>, StoreError>;

    /// The names of these teams and leagues.
    fn names_of(&mut self, teams: &[TeamId], leagues: &[LeagueId]) -> Result<Names, StoreError>;
}

/// Writes dismissals: fans that are not to be recommended to a user again.
pub trait DismissalWrite {
    /// Inserts the dismissal of `dismissed` by `user`; repeating it has no effect. `false` if `dismissed` is not
    /// visible to `user`: the account is unknown, not active or `user`'s own, or there is a block between the two.
    fn dismiss(&mut self, user: UserId, dismissed: UserId, at: Timestamp) -> Result<bool, StoreError>;
}
