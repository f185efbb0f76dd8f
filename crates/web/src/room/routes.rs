//! The locker room: the feed and its posts.

use crate::error::{ApiError, Code, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, MaybeSignedIn, PathId, Query, SignedIn};
use crate::platform::{asked, created, keyed, respond};
use crate::room::dto::{CreatePostBody, EditBody, Post, PostEnvelope, PostList, ReactBody, ReportBody};
use crate::room::lists::read_tagged;
use crate::room::pages::{FEED, FeedPages, filter, page_of};
use crate::trends;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, delete, get, patch, post};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::room::{
    Attachment, CreatePost, DeletePost, EditPost, FeedScope, GetPost, React, ReadFeed, ReportPost,
};
use terrace_app::store::StoredAnswer;
use terrace_identity::AuthorCard;
use terrace_kernel::{PostId, TeamId, UserId};
use terrace_social::{PostView, ReactionKind, image_alt, post_body, report_reason};
use utoipa::{IntoParams, ToSchema};

/// The part of the locker room to read.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// All posts.
    All,
    /// Posts of followed people, posts in the rooms of followed teams, and the caller's own.
    Following,
    /// The room of a team.
    Team,
}

/// The order of the feed.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Sort {
    /// Newest first.
    Recent,
    /// Trending posts first; see `/api/trends`.
    Trending,
}

/// The parameters of the feed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct FeedQuery {
    /// The part to read; by default all posts. `following`, and `team` without a team, require a session.
    #[param(inline)]
    scope: Option<Scope>,
    /// With `scope=team`: the team whose room is read; defaults to the caller's teams.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// A hashtag, with or without its `#`: only posts with it are read, newest first. Goes with `scope=all`.
    #[param(max_length = 255)]
    tag: Option<String>,
    /// The order; by default newest first.
    #[param(inline)]
    sort: Option<Sort>,
    /// The number of posts: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
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
/// Newest first. While a client pages through the feed, every post that existed at the first page appears exactly
/// once, even if others are posted meanwhile. With `scope=following`, a caller who follows no one gets all posts,
/// marked `fallback`. Trending posts belong to one ranking on all pages; after that ranking expires, its cursors are
/// refused with 400 `cursor_expired`.
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
    if let Some(tag) = &query.tag {
        if scope != FeedScope::All {
            return Err(ApiError::invalid_part("/tag", "goes with scope=all only"));
        }
        if matches!(query.sort, Some(Sort::Trending)) {
            return Err(Invalid::at("/sort", "trending does not go with a tag"));
        }
        let list = read_tagged(&app, tag, reader, query.limit, query.cursor.as_deref()).await?;
        return Ok(HttpResponse::Ok().json(list));
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
/// Creates a post in the common room, or in a team's room.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "createPost",
    params(("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters.")),
    request_body = CreatePostBody,
    responses((status = 201, description = "The post.", body = PostEnvelope, headers(("Location" = String, description = "The URL of the post.")))),
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
    let mut invalid = Invalid::default();
    let text = invalid.check("/body", post_body(&dto.body));
    let alt = dto.image_alt.as_deref().and_then(|alt| invalid.check("/imageAlt", image_alt(alt)));
    if alt.is_some() && dto.media_id.is_none() {
        invalid.add("/imageAlt", "goes with mediaId only");
    }
    let command = CreatePost {
        author: viewer.user_id,
        team: dto.team_id.map(|id| id.0),
        body: invalid.finish(text)?,
        media: dto.media_id.map(|id| Attachment { media: id.0, alt }),
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
    params(("id" = uuid::Uuid, Path, description = "The id of the post.")),
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

/// Edit one of the caller's posts.
///
/// Possible for 15 minutes after the post was created. The same text again changes nothing.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "editPost",
    params(("id" = uuid::Uuid, Path, description = "The id of the post.")),
    request_body = EditBody,
    responses((status = 200, description = "The updated post.", body = PostEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[patch("/api/locker-room/{id}")]
pub(crate) async fn edit_post(
    SignedIn(viewer): SignedIn,
    PathId(post): PathId<PostId>,
    body: JsonBody<EditBody>,
    app: Data<App>,
) -> Result<Json<PostEnvelope>, ApiError> {
    let text = post_body(&body.into_inner().body).map_err(|error| Invalid::at("/body", error.to_string()))?;
    let view = app.execute(EditPost { user: viewer.user_id, post, body: text }).await?;
    Ok(Json(envelope(&view)))
}

/// Delete one of the caller's posts.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "deletePost",
    params(("id" = uuid::Uuid, Path, description = "The id of the post.")),
    responses((status = 204, description = "The post is deleted.")),
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
/// Each fan has at most one reaction to a post: the same kind again changes nothing, another kind replaces it.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "react",
    params(("id" = uuid::Uuid, Path, description = "The id of the post.")),
    request_body = ReactBody,
    responses((status = 200, description = "The updated post.", body = PostEnvelope)),
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

/// Remove a reaction.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "takeReactionBack",
    params(("id" = uuid::Uuid, Path, description = "The id of the post.")),
    responses((status = 200, description = "The updated post.", body = PostEnvelope)),
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
/// Each fan can report a post once: a second report changes nothing.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "reportPost",
    params(("id" = uuid::Uuid, Path, description = "The id of the post.")),
    request_body = ReportBody,
    responses((status = 204, description = "The report is recorded.")),
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
