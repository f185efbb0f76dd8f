//! Who follows and who blocks whom.

use crate::dto::{IdText, Time, UserCard, given};
use crate::teams::dto::Team;
use serde::{Deserialize, Serialize};
use terrace_app::graph::Following;
use terrace_identity::AuthorCard;
use terrace_kernel::{TeamId, UserId};
use terrace_social::{Blocked, FollowEdge, FollowedTeam};
use utoipa::ToSchema;

/// The fan or team to follow or unfollow: exactly one of the two fields.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(min_properties = 1, max_properties = 1)]
pub(crate) struct FollowBody {
    /// The id of a fan.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) user_id: Option<IdText<UserId>>,
    /// The id of a team.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, value_type = Option<uuid::Uuid>)]
    pub(crate) team_id: Option<IdText<TeamId>>,
}

/// The fan to block or unblock.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct BlockBody {
    /// The id of a fan.
    #[schema(value_type = uuid::Uuid)]
    pub(crate) user_id: IdText<UserId>,
}

/// The caller's relation to a fan or team.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowState {
    /// Whether the caller follows the fan or team.
    following: bool,
    /// The number of followers of the fan or team.
    follower_count: i64,
}

impl From<Following> for FollowState {
    fn from(following: Following) -> Self {
        Self { following: following.following, follower_count: following.follower_count }
    }
}

/// Whether the caller blocks a fan.
#[derive(Serialize, ToSchema)]
pub(crate) struct BlockState {
    /// Whether the caller blocks the fan.
    pub(crate) blocked: bool,
}

/// A fan in a list of followers or of followed fans.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowEntry {
    /// The fan.
    user: UserCard,
    /// Whether the follow is mutual: among followers, whether the owner of the list follows back; among followed fans,
    /// whether they follow back.
    follows_back: bool,
    /// Whether the reader of the list follows the fan.
    following: bool,
    /// Since when the follow exists.
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

/// A followed team.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamEntry {
    /// The team.
    team: Team,
    /// Since when the follow exists.
    since: Time,
}

impl From<&FollowedTeam<terrace_identity::Team>> for TeamEntry {
    fn from(followed: &FollowedTeam<terrace_identity::Team>) -> Self {
        Self { team: Team::from(&followed.team), since: Time(followed.since) }
    }
}

/// A page of followers, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowerList {
    /// The followers.
    pub(crate) followers: Vec<FollowEntry>,
    /// The total number, as in the profile; includes fans that the reader cannot see.
    pub(crate) total: i64,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A page of followed fans, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FollowingList {
    /// The followed fans.
    pub(crate) following: Vec<FollowEntry>,
    /// The followed teams, newest first: all of them on the first page, none on later pages.
    pub(crate) teams: Vec<TeamEntry>,
    /// The total number of fans, as in the profile; includes fans that the reader cannot see.
    pub(crate) total: i64,
    /// The cursor of the next page of fans; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A blocked fan.
#[derive(Serialize, ToSchema)]
pub(crate) struct BlockEntry {
    /// The fan.
    user: UserCard,
    /// Since when the block exists.
    since: Time,
}

impl From<&Blocked<AuthorCard>> for BlockEntry {
    fn from(blocked: &Blocked<AuthorCard>) -> Self {
        Self { user: UserCard::from(&blocked.user), since: Time(blocked.since) }
    }
}

/// A page of blocked fans, ordered by id.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BlockList {
    /// The blocked fans.
    pub(crate) blocks: Vec<BlockEntry>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}
