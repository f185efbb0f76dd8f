//! Lists of posts with one topic, or by one author.

use crate::error::{ApiError, Invalid};
use crate::extract::{MaybeSignedIn, PathId, Query};
use crate::platform::{PageQuery, asked, next_cursor};
use crate::room::dto::{Post, PostList};
use crate::room::pages::FEED;
use actix_web::get;
use actix_web::web::{Data, Json};
use terrace_app::App;
use terrace_app::room::{ListedPosts, ReadPostsOf, ReadTagged};
use terrace_kernel::UserId;
use terrace_social::Tag;

const POSTS_OF: &str = "posts-of";

fn list(app: &App, listed: &ListedPosts, name: &'static str, filter: &str) -> PostList {
    PostList {
        posts: listed.page.items.iter().map(Post::from).collect(),
        next_cursor: next_cursor(app, listed.page.next.as_ref(), name, filter),
        stream_position: listed.position.get(),
        fallback: None,
    }
}

/// The feed of the posts with a topic.
pub(super) async fn read_tagged(
    app: &App,
    tag: &str,
    reader: Option<UserId>,
    limit: Option<i64>,
    cursor: Option<&str>,
) -> Result<PostList, ApiError> {
    let Some(tag) = Tag::named(tag) else {
        return Err(Invalid::at(
            "/tag",
            "must be a hashtag: 1 to 50 letters, digits and underscores, one of them a letter",
        ));
    };
    let filter = format!("#{tag}");
    let page = asked(app, limit, cursor, FEED, &filter)?;
    let listed = app.query(ReadTagged { tag, reader, limit: page.limit, after: page.after }).await;
    Ok(list(app, &listed?, FEED, &filter))
}

/// List the posts of a fan.
///
/// Newest first. A fan who is hidden because one of the two blocks the other is not found.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "listPostsOf",
    params(("id" = uuid::Uuid, Path, description = "The id of the account."), PageQuery),
    responses((status = 200, description = "A page of posts.", body = PostList)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/users/{id}/posts")]
pub(crate) async fn list_posts_of(
    viewer: MaybeSignedIn,
    PathId(author): PathId<UserId>,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<PostList>, ApiError> {
    let filter = author.to_string();
    let page = query.asked(&app, POSTS_OF, &filter)?;
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let listed = app.query(ReadPostsOf { author, reader, limit: page.limit, after: page.after }).await?;
    Ok(Json(list(&app, &listed, POSTS_OF, &filter)))
}
