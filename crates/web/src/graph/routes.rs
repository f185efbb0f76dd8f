//! Follows and blocks.

use crate::error::ApiError;
use crate::extract::{JsonBody, Query, SignedIn};
use crate::graph::dto::{
    BlockBody, BlockEntry, BlockList, BlockState, FollowBody, FollowEntry, FollowState, FollowerList,
    FollowingList, TeamEntry,
};
use crate::platform::{PageQuery, asked, next_cursor};
use actix_web::web::{Data, Json};
use actix_web::{delete, get, post};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::graph::{
    BlockUser, FollowTeam, FollowUser, ListBlocks, ListFollowers, ListFollowing, UnblockUser, UnfollowTeam,
    UnfollowUser,
};
use terrace_kernel::{TeamId, UserId};
use utoipa::IntoParams;

const FOLLOWERS: &str = "followers";
const FOLLOWING: &str = "following";
const BLOCKS: &str = "blocks";

/// The object of a follow.
enum Target {
    User(UserId),
    Team(TeamId),
}

impl FollowBody {
    fn target(self) -> Result<Target, ApiError> {
        match (self.user_id, self.team_id) {
            (Some(user), None) => Ok(Target::User(user.0)),
            (None, Some(team)) => Ok(Target::Team(team.0)),
            (Some(_), Some(_)) => Err(ApiError::invalid_part("/teamId", "goes without userId only")),
            (None, None) => Err(ApiError::invalid_part("/userId", "userId or teamId is needed")),
        }
    }
}

/// Follow a fan or a team.
///
/// Following again changes nothing. A fan who does not exist, or who is hidden because one of the two blocks the
/// other, is not found. Following a team and choosing it as the favourite team are independent.
#[utoipa::path(
    tag = "Fans",
    operation_id = "follow",
    request_body = FollowBody,
    responses((status = 200, description = "The current state.", body = FollowState)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/user/follow")]
pub(crate) async fn follow(
    SignedIn(viewer): SignedIn,
    body: JsonBody<FollowBody>,
    app: Data<App>,
) -> Result<Json<FollowState>, ApiError> {
    let fan = viewer.user_id;
    let following = match body.into_inner().target()? {
        Target::User(other) => app.execute(FollowUser { fan, other }).await?,
        Target::Team(team) => app.execute(FollowTeam { fan, team }).await?,
    };
    Ok(Json(following.into()))
}

/// Unfollow a fan or a team.
///
/// If the caller does not follow, nothing changes.
#[utoipa::path(
    tag = "Fans",
    operation_id = "unfollow",
    request_body = FollowBody,
    responses((status = 200, description = "The current state.", body = FollowState)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/user/follow")]
pub(crate) async fn unfollow(
    SignedIn(viewer): SignedIn,
    body: JsonBody<FollowBody>,
    app: Data<App>,
) -> Result<Json<FollowState>, ApiError> {
    let fan = viewer.user_id;
    let following = match body.into_inner().target()? {
        Target::User(other) => app.execute(UnfollowUser { fan, other }).await?,
        Target::Team(team) => app.execute(UnfollowTeam { fan, team }).await?,
    };
    Ok(Json(following.into()))
}

/// The parameters of the lists of followers and of those who are followed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FollowQuery {
    /// The id of the owner of the list; defaults to the caller.
    #[param(value_type = Option<uuid::Uuid>)]
    user_id: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

impl FollowQuery {
    /// The account whose list is requested.
    fn of(&self, reader: UserId) -> Result<UserId, ApiError> {
        match self.user_id.as_deref() {
            None => Ok(reader),
            Some(text) => text.parse().map_err(|error: terrace_kernel::MalformedId| {
                ApiError::invalid_part("/userId", error.to_string())
            }),
        }
    }
}

/// List followers.
///
/// Newest first. Omits suspended accounts and fans that the reader cannot see, though the total includes them.
#[utoipa::path(
    tag = "Fans",
    operation_id = "listFollowers",
    params(FollowQuery),
    responses((status = 200, description = "A page of followers.", body = FollowerList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/followers")]
pub(crate) async fn list_followers(
    SignedIn(viewer): SignedIn,
    Query(query): Query<FollowQuery>,
    app: Data<App>,
) -> Result<Json<FollowerList>, ApiError> {
    let reader = viewer.user_id;
    let of = query.of(reader)?;
    let filter = of.to_string();
    let page = asked(&app, query.limit, query.cursor.as_deref(), FOLLOWERS, &filter)?;
    let found = app.query(ListFollowers { of, reader, limit: page.limit, after: page.after }).await?;
    Ok(Json(FollowerList {
        followers: found.page.items.iter().map(FollowEntry::from).collect(),
        total: found.total,
        next_cursor: next_cursor(&app, found.page.next.as_ref(), FOLLOWERS, &filter),
    }))
}

/// List followed fans and teams.
///
/// Newest first. Omits suspended accounts and fans that the reader cannot see, though the total includes them.
#[utoipa::path(
    tag = "Fans",
    operation_id = "listFollowing",
    params(FollowQuery),
    responses((status = 200, description = "A page of fans; the first page also has the teams.", body = FollowingList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/following")]
pub(crate) async fn list_following(
    SignedIn(viewer): SignedIn,
    Query(query): Query<FollowQuery>,
    app: Data<App>,
) -> Result<Json<FollowingList>, ApiError> {
    let reader = viewer.user_id;
    let of = query.of(reader)?;
    let filter = of.to_string();
    let page = asked(&app, query.limit, query.cursor.as_deref(), FOLLOWING, &filter)?;
    let found = app.query(ListFollowing { of, reader, limit: page.limit, after: page.after }).await?;
    Ok(Json(FollowingList {
        following: found.page.items.iter().map(FollowEntry::from).collect(),
        teams: found.teams.iter().map(TeamEntry::from).collect(),
        total: found.total,
        next_cursor: next_cursor(&app, found.page.next.as_ref(), FOLLOWING, &filter),
    }))
}

/// Block a fan.
///
/// Ends the follows in both directions and hides the two fans from each other. Blocking again changes nothing. The
/// blocked fan is not notified.
#[utoipa::path(
    tag = "Fans",
    operation_id = "block",
    request_body = BlockBody,
    responses((status = 200, description = "The current state.", body = BlockState)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/user/block")]
pub(crate) async fn block(
    SignedIn(viewer): SignedIn,
    body: JsonBody<BlockBody>,
    app: Data<App>,
) -> Result<Json<BlockState>, ApiError> {
    let other = body.into_inner().user_id.0;
    app.execute(BlockUser { fan: viewer.user_id, other }).await?;
    Ok(Json(BlockState { blocked: true }))
}

/// Unblock a fan.
///
/// The follows that the block ended are not restored. If the caller does not block the fan, nothing changes.
#[utoipa::path(
    tag = "Fans",
    operation_id = "unblock",
    request_body = BlockBody,
    responses((status = 200, description = "The current state.", body = BlockState)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/user/block")]
pub(crate) async fn unblock(
    SignedIn(viewer): SignedIn,
    body: JsonBody<BlockBody>,
    app: Data<App>,
) -> Result<Json<BlockState>, ApiError> {
    let other = body.into_inner().user_id.0;
    app.execute(UnblockUser { fan: viewer.user_id, other }).await?;
    Ok(Json(BlockState { blocked: false }))
}

/// List blocked fans.
#[utoipa::path(
    tag = "Fans",
    operation_id = "listBlocks",
    params(PageQuery),
    responses((status = 200, description = "A page of blocked fans.", body = BlockList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/blocks")]
pub(crate) async fn list_blocks(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<BlockList>, ApiError> {
    let fan = viewer.user_id;
    let filter = fan.to_string();
    let page = query.asked(&app, BLOCKS, &filter)?;
    let found = app.query(ListBlocks { fan, limit: page.limit, after: page.after }).await?;
    Ok(Json(BlockList {
        blocks: found.items.iter().map(BlockEntry::from).collect(),
        next_cursor: next_cursor(&app, found.next.as_ref(), BLOCKS, &filter),
    }))
}
