//! Who follows and who blocks whom.

use crate::dto::{IdText, Time, UserCard, given};
use crate::teams::dto::Team;
use serde::{Deserialize, Serialize};
use terrace_app::graph::Following;
use terrace_identity::AuthorCard;
use terrace_kernel::{TeamId, UserId};
use terrace_social::{Blocked, FollowEdge, FollowedTeam};
use utoipa::ToSchema;

/// Whom or what to follow, or to follow no more: exactly one of the two.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(min_properties = 1, max_properties = 1)]
pub(crate) struct FollowBody {
    /// A fan.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) user_id: Option<IdText<UserId>>,
    /// A team.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) team_id: Option<IdText<TeamId>>,
}

/// Whom to block, or to block no more.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BlockBody {
    /// A fan.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) user_id: IdText<UserId>,
}

/// How one stands to a fan or a team now.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowState {
    /// Whether one follows.
    following: bool,
    /// How many fans follow the same.
    follower_count: i64,
}

impl From<Following> for FollowState {
    fn from(following: Following) -> Self {
        Self { following: following.following, follower_count: following.follower_count }
    }
}

/// Whether one blocks a fan now.
#[derive(Serialize, ToSchema)]
pub(crate) struct BlockState {
    /// Whether one does.
    pub(crate) blocked: bool,
}

/// A fan in a list of followers, or of those who are followed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowEntry {
    /// Who.
    user: UserCard,
    /// Whether it is mutual: among followers, that whose list it is follows them too; among those who are followed,
    /// that they follow back.
    follows_back: bool,
    /// Whether the one who reads the list follows them.
    following: bool,
    /// Since when.
    since: Time,
}

impl From<&FollowEdge<AuthorCard>> for FollowEntry {
    fn from(edge: &FollowEdge<AuthorCard>) -> Self {
        Self {
            user: UserCard::from(&edge.user),
            follows_back: edge.mutual,
            following: edge.following,
            since: Time(edge.since),
        }
    }
}

/// A team that is followed.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamEntry {
    /// The team.
    team: Team,
    /// Since when.
    since: Time,
}

impl From<&FollowedTeam<terrace_identity::Team>> for TeamEntry {
    fn from(followed: &FollowedTeam<terrace_identity::Team>) -> Self {
        Self { team: Team::from(&followed.team), since: Time(followed.since) }
    }
}

/// A page of followers, the newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowerList {
    /// Who follows.
    pub(crate) followers: Vec<FollowEntry>,
    /// How many there are, as the profile counts them: those whom one does not see included.
    pub(crate) total: i64,
    /// Where the next page starts; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// A page of those who are followed, the newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowingList {
    /// Fans who are followed.
    pub(crate) following: Vec<FollowEntry>,
    /// Teams that are followed, the newest first: all of them on the first page, none on the others.
    pub(crate) teams: Vec<TeamEntry>,
    /// How many fans there are, as the profile counts them: those whom one does not see included.
    pub(crate) total: i64,
    /// Where the next page of fans starts; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// Somebody whom one blocks.
#[derive(Serialize, ToSchema)]
pub(crate) struct BlockEntry {
    /// Who.
    user: UserCard,
    /// Since when.
    since: Time,
}

impl From<&Blocked<AuthorCard>> for BlockEntry {
    fn from(blocked: &Blocked<AuthorCard>) -> Self {
        Self { user: UserCard::from(&blocked.user), since: Time(blocked.since) }
    }
}

/// A page of those whom one blocks, in the order of their ids.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockList {
    /// Who is blocked.
    pub(crate) blocks: Vec<BlockEntry>,
    /// Where the next page starts; null on the last.
    pub(crate) next_cursor: Option<String>,
}
