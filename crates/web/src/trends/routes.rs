//! Trending topics and posts, and the feed in trending order.

use crate::error::{ApiError, Invalid};
use crate::extract::MaybeSignedIn;
use crate::platform::{asked, next_cursor};
use crate::room::dto::{Post, PostList};
use crate::trends::dto::TrendList;
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, get};
use terrace_app::App;
use terrace_app::room::FeedScope;
use terrace_app::trends::TrendingScope;

const TRENDING: &str = "trending";

/// Read trends.
///
/// The topics and posts that fans discuss most; of equally discussed ones, the newer first.
#[utoipa::path(
    tag = "Locker room",
    operation_id = "getTrends",
    responses((status = 200, description = "The trends.", body = TrendList)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/trends")]
pub(crate) async fn get_trends(viewer: MaybeSignedIn, app: Data<App>) -> Result<Json<TrendList>, ApiError> {
    let trends = app.trends(viewer.0.map(|viewer| viewer.user_id)).await?;
    Ok(Json(TrendList::from(&trends)))
}

/// The feed in the order `trending`.
pub(crate) async fn read_trending(
    viewer: MaybeSignedIn,
    scope: FeedScope,
    limit: Option<i64>,
    cursor: Option<&str>,
    app: &App,
) -> Result<HttpResponse, ApiError> {
    let (scope, filter) = match scope {
        FeedScope::All => (TrendingScope::All, "all".to_owned()),
        FeedScope::Team(team) => (TrendingScope::Team(team), team.to_string()),
        FeedScope::OwnTeams => (TrendingScope::OwnTeams, "own-teams".to_owned()),
        FeedScope::Following | FeedScope::InsteadOfFollowing => {
            return Err(Invalid::at("/sort", "trending goes with the scopes all and team"));
        }
    };
    let page = asked(app, limit, cursor, TRENDING, &filter)?;
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let feed = app.trending(scope, reader, page.limit, page.after).await?;
    Ok(HttpResponse::Ok().json(PostList {
        posts: feed.page.items.iter().map(Post::from).collect(),
        next_cursor: next_cursor(app, feed.page.next.as_ref(), TRENDING, &filter),
        stream_position: feed.position.get(),
        fallback: None,
    }))
}
