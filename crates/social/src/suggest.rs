//! The ports behind recommendations: the follow graph as it is loaded and looked up, and what the database has the
//! last word on.

use std::collections::HashMap;
use terrace_kernel::{LeagueId, StoreError, TeamId, Timestamp, UserId};

/// What matters of an account for the follow graph. Only accounts are told of which something stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// The account.
    pub user: UserId,
    /// Whether anything of it is shown.
    pub is_active: bool,
    /// The favourite team.
    pub favorite_team: Option<TeamId>,
}

/// Somebody's edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edges {
    /// Whom they follow, and who follows them, among active accounts.
    pub follows: Vec<(UserId, UserId)>,
    /// Which teams they follow.
    pub teams: Vec<TeamId>,
}

/// Reads the follow graph: as a whole in portions, whose order is that of ids, or what is asked for. An account that
/// is not active has no edges here, but in the portions.
pub trait FollowGraphRead {
    /// Up to `limit` accounts after `after` that are not active or have a favourite team.
    fn members(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<Member>, StoreError>;

    /// Up to `limit` follows after `after`: who, and whom.
    fn follows(
        &mut self,
        after: Option<(UserId, UserId)>,
        limit: u32,
    ) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// Up to `limit` follows of teams after `after`.
    fn team_follows(
        &mut self,
        after: Option<(UserId, TeamId)>,
        limit: u32,
    ) -> Result<Vec<(UserId, TeamId)>, StoreError>;

    /// Which league each team plays in.
    fn team_leagues(&mut self) -> Result<HashMap<TeamId, LeagueId>, StoreError>;

    /// Those of these follows that there are.
    fn follows_among(&mut self, asked: &[(UserId, UserId)]) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// Those of these follows of teams that there are.
    fn team_follows_among(&mut self, asked: &[(UserId, TeamId)])
    -> Result<Vec<(UserId, TeamId)>, StoreError>;

    /// These accounts; all of them that there are.
    fn members_among(&mut self, asked: &[UserId]) -> Result<Vec<Member>, StoreError>;

    /// The follows from and to an account, as long as there are no more than `limit` of either.
    fn edges_of(&mut self, user: UserId, limit: u32) -> Result<Option<Edges>, StoreError>;
}

/// Why somebody may be there for somebody else, as far as the database knows without looking far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acquaintance {
    /// They follow one.
    FollowsYou,
    /// They support this team, which one supports too.
    SupportsTeam(TeamId),
    /// They are new.
    New,
}

/// What teams and leagues are called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    /// Of teams.
    pub teams: HashMap<TeamId, String>,
    /// Of leagues.
    pub leagues: HashMap<LeagueId, String>,
}

/// Reads whom to recommend. `A` is the card of a person, which the store joins in.
pub trait SuggestionRead<A> {
    /// The cards of those of `candidates` who may be recommended to `viewer` as things are now: not the viewer,
    /// active, seen at `since` or later, not followed, not dismissed, and with no block between the two. In no order.
    fn suggestible(
        &mut self,
        viewer: UserId,
        candidates: &[UserId],
        since: Timestamp,
    ) -> Result<Vec<(UserId, A)>, StoreError>;

    /// People who may be there although no graph knows of them: some of those who follow `viewer`, of those who
    /// support a team of theirs, and of the newest accounts; up to `limit` of each, in this order.
    fn people_about(&mut self, viewer: UserId, limit: u32)
    -> Result<Vec<(UserId, Acquaintance)>, StoreError>;

    /// What these teams and leagues are called.
    fn names_of(&mut self, teams: &[TeamId], leagues: &[LeagueId]) -> Result<Names, StoreError>;
}

/// Writes whom somebody does not want to see recommended again.
pub trait DismissalWrite {
    /// Notes that `user` does not want to see `dismissed` again; a second time changes nothing. `false` when there is
    /// nobody to be seen: the account is unknown, not active or `user`'s own, or there is a block between the two.
    fn dismiss(&mut self, user: UserId, dismissed: UserId, at: Timestamp) -> Result<bool, StoreError>;
}
