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
/// Whoever follows already goes on: nothing changes. A fan who is not there, or who cannot be seen because one of the
/// two blocks the other, is not found. To follow a team and to have it as the favourite team are two things.
#[utoipa::path(
    tag = "Fans",
    operation_id = "follow",
    request_body = FollowBody,
    responses((status = 200, description = "How it is now.", body = FollowState)),
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

/// Follow a fan or a team no more.
///
/// Whoever does not follow goes on like that: nothing changes.
#[utoipa::path(
    tag = "Fans",
    operation_id = "unfollow",
    request_body = FollowBody,
    responses((status = 200, description = "How it is now.", body = FollowState)),
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
    /// Whose list; one's own when left out.
    #[param(value_type = Option<uuid::Uuid>)]
    user_id: Option<String>,
    /// How many rows: 1 to 100, 25 when left out.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the page before.
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
/// The newest first. Accounts that are put aside, and fans whom one does not see, are left out, though counted.
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

/// List who and what is followed.
///
/// The newest first. Accounts that are put aside, and fans whom one does not see, are left out, though counted.
#[utoipa::path(
    tag = "Fans",
    operation_id = "listFollowing",
    params(FollowQuery),
    responses((status = 200, description = "A page of fans; on the first, the teams.", body = FollowingList)),
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
/// The follows in both directions end, and neither sees the other any more. Whoever blocks already goes on: nothing
/// changes. Who is blocked is not told.
#[utoipa::path(
    tag = "Fans",
    operation_id = "block",
    request_body = BlockBody,
    responses((status = 200, description = "How it is now.", body = BlockState)),
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

/// Block a fan no more.
///
/// The follows that the block ended do not come back. Whoever blocks nobody goes on like that: nothing changes.
#[utoipa::path(
    tag = "Fans",
    operation_id = "unblock",
    request_body = BlockBody,
    responses((status = 200, description = "How it is now.", body = BlockState)),
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

/// List whom one blocks.
#[utoipa::path(
    tag = "Fans",
    operation_id = "listBlocks",
    params(PageQuery),
    responses((status = 200, description = "A page of those whom one blocks.", body = BlockList)),
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
