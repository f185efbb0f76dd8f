//! Follows of people and teams, blocks and recommendations.

mod block_user;
mod dismiss;
mod erasure;
pub mod export;
mod follow_team;
mod follow_user;
mod live;
mod queries;
mod recommended;
mod relations;

pub use block_user::{BlockRefusal, BlockUser, UnblockUser};
pub use dismiss::{Dismiss, DismissRefusal};
pub(crate) use erasure::ERASURE;
pub use follow_team::{FollowTeam, FollowTeamRefusal, UnfollowTeam};
pub use follow_user::{FollowRefusal, FollowUser, Following, UnfollowUser, end_follow, follows_imported};
pub(crate) use live::Graph;
pub use queries::{FollowPage, ListBlocks, ListFollowers, ListFollowing};
pub use recommended::{RecommendRefusal, Suggestion, SuggestionReason};
pub use relations::ReadRelations;
