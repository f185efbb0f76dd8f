//! The comments of a post.

use crate::dto::IdText;
use crate::error::{ApiError, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, MaybeSignedIn, PathId, PathIds, Query, SignedIn};
use crate::platform::{PageQuery, created, keyed, next_cursor, respond};
use crate::room::dto::{Comment, CommentEnvelope, CommentList, CreateCommentBody, EditBody, ReportBody};
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, delete, get, patch, post};
use terrace_app::App;
use terrace_app::room::{
    CommentCreated, CreateComment, CreateReply, DeleteComment, EditComment, GetComment, LikeComment,
    ListComments, ReportComment,
};
use terrace_app::store::StoredAnswer;
use terrace_kernel::{CommentId, PostId};
use terrace_social::{comment_body, report_reason};

const COMMENTS: &str = "comments";

/// List the comments of a post.
///
/// Oldest first.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "listComments",
    params(("id" = uuid::Uuid, Path, description = "The id of the post."), PageQuery),
    responses((status = 200, description = "A page of comments.", body = CommentList)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/locker-room/{id}/comments")]
pub(crate) async fn list_comments(
    viewer: MaybeSignedIn,
    PathId(post): PathId<PostId>,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<CommentList>, ApiError> {
    let filter = post.to_string();
    let page = query.asked(&app, COMMENTS, &filter)?;
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let comments = app.query(ListComments { post, reader, limit: page.limit, after: page.after }).await?;
    Ok(Json(CommentList {
        comments: comments.items.iter().map(Comment::from).collect(),
        next_cursor: next_cursor(&app, comments.next.as_ref(), COMMENTS, &filter),
    }))
}

/// Comment on a post.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "createComment",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the post."),
        ("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters."),
    ),
    request_body = CreateCommentBody,
    responses((status = 201, description = "The comment.", body = CommentEnvelope, headers(("Location" = String, description = "The URL of the comment.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/locker-room/{id}/comments")]
pub(crate) async fn create_comment(
    SignedIn(viewer): SignedIn,
    PathId(post): PathId<PostId>,
    key: IdempotencyKey,
    body: JsonBody<CreateCommentBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/locker-room/{id}/comments";
    let request = keyed(key, Some(viewer.user_id), ROUTE, &post.to_string(), body.fingerprint());
    let dto = body.into_inner();
    let text = comment_body(&dto.body).map_err(|error| Invalid::at("/body", error.to_string()))?;
    let comment = CreateComment { author: viewer.user_id, post, body: text };
    Ok(respond(match dto.reply_to {
        None => app.execute_once(comment, request, comment_created).await?,
        Some(IdText(reply_to)) => {
            app.execute_once(CreateReply { comment, reply_to }, request, comment_created).await?
        }
    }))
}

fn comment_created(outcome: &CommentCreated) -> StoredAnswer {
    let comment = &outcome.comment;
    created(
        format!("/api/locker-room/{}/comments/{}", comment.post, comment.id),
        &CommentEnvelope { comment: Comment::from(comment) },
    )
}

/// Read a comment.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "getComment",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the post."),
        ("commentId" = uuid::Uuid, Path, description = "The id of the comment."),
    ),
    responses((status = 200, description = "The comment.", body = CommentEnvelope)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/locker-room/{id}/comments/{commentId}")]
pub(crate) async fn get_comment(
    viewer: MaybeSignedIn,
    PathIds(post, comment): PathIds<PostId, CommentId>,
    app: Data<App>,
) -> Result<Json<CommentEnvelope>, ApiError> {
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let comment = app.query(GetComment { post, comment, reader }).await?;
    Ok(Json(CommentEnvelope { comment: Comment::from(&comment) }))
}

/// Edit one of the caller's comments.
///
/// Possible for 15 minutes after the comment was created. The same text again changes nothing.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "editComment",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the post."),
        ("commentId" = uuid::Uuid, Path, description = "The id of the comment."),
    ),
    request_body = EditBody,
    responses((status = 200, description = "The updated comment.", body = CommentEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[patch("/api/locker-room/{id}/comments/{commentId}")]
pub(crate) async fn edit_comment(
    SignedIn(viewer): SignedIn,
    PathIds(post, comment): PathIds<PostId, CommentId>,
    body: JsonBody<EditBody>,
    app: Data<App>,
) -> Result<Json<CommentEnvelope>, ApiError> {
    let text =
        comment_body(&body.into_inner().body).map_err(|error| Invalid::at("/body", error.to_string()))?;
    let comment = app.execute(EditComment { user: viewer.user_id, post, comment, body: text }).await?;
    Ok(Json(CommentEnvelope { comment: Comment::from(&comment) }))
}

/// Delete one of the caller's comments.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "deleteComment",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the post."),
        ("commentId" = uuid::Uuid, Path, description = "The id of the comment."),
    ),
    responses((status = 204, description = "The comment is deleted.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/locker-room/{id}/comments/{commentId}")]
pub(crate) async fn delete_comment(
    SignedIn(viewer): SignedIn,
    PathIds(post, comment): PathIds<PostId, CommentId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    app.execute(DeleteComment { user: viewer.user_id, post, comment }).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Like a comment.
///
/// Each fan likes a comment at most once: a second like changes nothing.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "likeComment",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the post."),
        ("commentId" = uuid::Uuid, Path, description = "The id of the comment."),
    ),
    responses((status = 200, description = "The updated comment.", body = CommentEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/locker-room/{id}/comments/{commentId}/like")]
pub(crate) async fn like_comment(
    SignedIn(viewer): SignedIn,
    PathIds(post, comment): PathIds<PostId, CommentId>,
    app: Data<App>,
) -> Result<Json<CommentEnvelope>, ApiError> {
    let comment = app.execute(LikeComment { fan: viewer.user_id, post, comment, likes: true }).await?;
    Ok(Json(CommentEnvelope { comment: Comment::from(&comment) }))
}

/// Remove a like of a comment.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "unlikeComment",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the post."),
        ("commentId" = uuid::Uuid, Path, description = "The id of the comment."),
    ),
    responses((status = 200, description = "The updated comment.", body = CommentEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/locker-room/{id}/comments/{commentId}/like")]
pub(crate) async fn unlike_comment(
    SignedIn(viewer): SignedIn,
    PathIds(post, comment): PathIds<PostId, CommentId>,
    app: Data<App>,
) -> Result<Json<CommentEnvelope>, ApiError> {
    let comment = app.execute(LikeComment { fan: viewer.user_id, post, comment, likes: false }).await?;
    Ok(Json(CommentEnvelope { comment: Comment::from(&comment) }))
}

/// Report a comment.
///
/// Each fan can report a comment once: a second report changes nothing.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "reportComment",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the post."),
        ("commentId" = uuid::Uuid, Path, description = "The id of the comment."),
    ),
    request_body = ReportBody,
    responses((status = 204, description = "The report is recorded.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/locker-room/{id}/comments/{commentId}/report")]
pub(crate) async fn report_comment(
    SignedIn(viewer): SignedIn,
    PathIds(post, comment): PathIds<PostId, CommentId>,
    body: JsonBody<ReportBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let reason = report_reason(&body.into_inner().reason)
        .map_err(|error| Invalid::at("/reason", error.to_string()))?;
    app.execute(ReportComment { fan: viewer.user_id, post, comment, reason }).await?;
    Ok(HttpResponse::NoContent().finish())
}
