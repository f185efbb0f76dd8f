//! The locker room: the feed and its posts.

use crate::error::{ApiError, Code, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, MaybeSignedIn, PathId, Query, SignedIn};
use crate::platform::{asked, created, keyed, respond};
use crate::room::dto::{CreatePostBody, Post, PostEnvelope, PostList, ReactBody, ReportBody};
use crate::room::pages::{FEED, FeedPages, filter, page_of};
use crate::trends;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, delete, get, post};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::room::{CreatePost, DeletePost, FeedScope, GetPost, React, ReadFeed, ReportPost};
use terrace_app::store::StoredAnswer;
use terrace_identity::AuthorCard;
use terrace_kernel::{PostId, TeamId, UserId};
use terrace_social::{PostView, ReactionKind, post_body, report_reason};
use utoipa::{IntoParams, ToSchema};

/// Which part of the locker room is read.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Everybody's posts.
    All,
    /// Of the people and in the rooms of the teams that one follows, and one's own.
    Following,
    /// The room of a team.
    Team,
}

/// In which order the feed is read.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    /// Newest first.
    Recent,
    /// What is talked about first; see `/api/trends`.
    Trending,
}

/// The parameters of the feed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FeedQuery {
    /// Which part is read; everybody's posts when left out. `following`, and `team` without a team, take a session.
    #[param(inline)]
    scope: Option<Scope>,
    /// With `scope=team`: which team's room; one's own teams' when left out.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// In which order; newest first when left out.
    #[param(inline)]
    sort: Option<Sort>,
    /// How many posts: 1 to 100, 25 when left out.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
}

/// The requested part of the locker room.
pub(crate) fn feed_scope(scope: Option<Scope>, team: Option<&str>) -> Result<FeedScope, ApiError> {
    let team = team
        .map(str::parse::<TeamId>)
        .transpose()
        .map_err(|error| ApiError::invalid_part("/teamId", error.to_string()))?;
    match (scope.unwrap_or(Scope::All), team) {
        (Scope::All, None) => Ok(FeedScope::All),
        (Scope::Following, None) => Ok(FeedScope::Following),
        (Scope::All | Scope::Following, Some(_)) => {
            Err(ApiError::invalid_part("/teamId", "goes with scope=team only"))
        }
        (Scope::Team, Some(team)) => Ok(FeedScope::Team(team)),
        (Scope::Team, None) => Ok(FeedScope::OwnTeams),
    }
}

impl FeedQuery {
    /// The requested page. A cursor of the fallback, for readers who follow nothing, continues the fallback.
    fn page(&self, app: &App, scope: FeedScope, reader: Option<UserId>) -> Result<ReadFeed, ApiError> {
        let page = |scope| {
            let page = asked(app, self.limit, self.cursor.as_deref(), FEED, &filter(scope))?;
            Ok(ReadFeed { scope, reader, limit: page.limit, after: page.after })
        };
        match page(scope) {
            Err(_) if scope == FeedScope::Following => page(FeedScope::InsteadOfFollowing),
            result => result,
        }
    }
}

/// Read the feed.
///
/// Newest first. Every post that existed when the first page was read appears exactly once while one pages on,
/// whatever is posted meanwhile. Who follows nobody gets everybody's posts with `scope=following`, marked `fallback`.
/// Trending posts are those of one ranking, on every page; once it is gone, its cursors are 400 `cursor_expired`.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "readFeed",
    params(FeedQuery),
    responses((status = 200, description = "A page of posts.", body = PostList)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/locker-room")]
pub(crate) async fn read_feed(
    viewer: MaybeSignedIn,
    Query(query): Query<FeedQuery>,
    pages: Data<FeedPages>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let scope = feed_scope(query.scope, query.team_id.as_deref())?;
    let reader = viewer.0.map(|viewer| viewer.user_id);
    if scope.is_personal() && reader.is_none() {
        return Err(Code::AuthenticationRequired.into());
    }
    match query.sort {
        None | Some(Sort::Recent) => {}
        Some(Sort::Trending) => {
            return trends::routes::read_trending(viewer, scope, query.limit, query.cursor.as_deref(), &app)
                .await;
        }
    }
    let asked = query.page(&app, scope, reader)?;
    if asked.scope.is_personal() {
        return Ok(HttpResponse::Ok().json(page_of(&app, &app.query(asked).await?)));
    }
    let body = pages.body(&app, asked).await?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(body))
}

/// Create a post.
///
/// In everybody's room, or in a team's.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "createPost",
    params(("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters.")),
    request_body = CreatePostBody,
    responses((status = 201, description = "The post.", body = PostEnvelope, headers(("Location" = String, description = "Where the post is.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/locker-room")]
pub(crate) async fn create_post(
    SignedIn(viewer): SignedIn,
    key: IdempotencyKey,
    body: JsonBody<CreatePostBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/locker-room";
    let request = keyed(key, Some(viewer.user_id), ROUTE, "", body.fingerprint());
    let dto = body.into_inner();
    let text = post_body(&dto.body).map_err(|error| Invalid::at("/body", error.to_string()))?;
    let command = CreatePost {
        author: viewer.user_id,
        team: dto.team_id.map(|id| id.0),
        body: text,
        media: dto.media_id.map(|id| id.0),
    };
    Ok(respond(app.execute_once(command, request, post_created).await?))
}

fn post_created(view: &PostView<AuthorCard>) -> StoredAnswer {
    created(format!("/api/locker-room/{}", view.post.id), &envelope(view))
}

fn envelope(view: &PostView<AuthorCard>) -> PostEnvelope {
    PostEnvelope { post: Post::from(view) }
}

/// Read a post.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "getPost",
    params(("id" = uuid::Uuid, Path, description = "The post.")),
    responses((status = 200, description = "The post.", body = PostEnvelope)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/locker-room/{id}")]
pub(crate) async fn get_post(
    viewer: MaybeSignedIn,
    PathId(post): PathId<PostId>,
    app: Data<App>,
) -> Result<Json<PostEnvelope>, ApiError> {
    let reader = viewer.0.map(|viewer| viewer.user_id);
    Ok(Json(envelope(&app.query(GetPost { post, reader }).await?)))
}

/// Delete a post of one's own.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "deletePost",
    params(("id" = uuid::Uuid, Path, description = "The post.")),
    responses((status = 204, description = "It is gone.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/locker-room/{id}")]
pub(crate) async fn delete_post(
    SignedIn(viewer): SignedIn,
    PathId(post): PathId<PostId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    app.execute(DeletePost { user: viewer.user_id, post }).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// React to a post.
///
/// One reaction per fan and post: the same kind again changes nothing, another replaces it.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "react",
    params(("id" = uuid::Uuid, Path, description = "The post.")),
    request_body = ReactBody,
    responses((status = 200, description = "The post as it is now.", body = PostEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/locker-room/{id}/react")]
pub(crate) async fn react(
    SignedIn(viewer): SignedIn,
    PathId(post): PathId<PostId>,
    body: JsonBody<ReactBody>,
    app: Data<App>,
) -> Result<Json<PostEnvelope>, ApiError> {
    let kind = body
        .into_inner()
        .kind
        .parse::<ReactionKind>()
        .map_err(|_| Invalid::at("/kind", "must be one of like, love, fire, clap, laugh, sad"))?;
    let view = app.execute(React { fan: viewer.user_id, post, kind: Some(kind) }).await?;
    Ok(Json(envelope(&view)))
}

/// Take a reaction back.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "takeReactionBack",
    params(("id" = uuid::Uuid, Path, description = "The post.")),
    responses((status = 200, description = "The post as it is now.", body = PostEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/locker-room/{id}/react")]
pub(crate) async fn take_reaction_back(
    SignedIn(viewer): SignedIn,
    PathId(post): PathId<PostId>,
    app: Data<App>,
) -> Result<Json<PostEnvelope>, ApiError> {
    let view = app.execute(React { fan: viewer.user_id, post, kind: None }).await?;
    Ok(Json(envelope(&view)))
}

/// Report a post.
///
/// Once per fan and post: a second report changes nothing.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "reportPost",
    params(("id" = uuid::Uuid, Path, description = "The post.")),
    request_body = ReportBody,
    responses((status = 204, description = "It is noted.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/locker-room/{id}/report")]
pub(crate) async fn report_post(
    SignedIn(viewer): SignedIn,
    PathId(post): PathId<PostId>,
    body: JsonBody<ReportBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let reason = report_reason(&body.into_inner().reason)
        .map_err(|error| Invalid::at("/reason", error.to_string()))?;
    app.execute(ReportPost { fan: viewer.user_id, post, reason }).await?;
    Ok(HttpResponse::NoContent().finish())
}
