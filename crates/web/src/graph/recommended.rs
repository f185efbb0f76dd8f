//! Recommended accounts to follow, and their dismissal.

use crate::error::{ApiError, Invalid};
use crate::extract::{PathId, Query, SignedIn};
use crate::graph::recommended_dto::{Recommended, RecommendedList};
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, delete, get};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::graph::Dismiss;
use terrace_kernel::{Limit, UserId};
use utoipa::IntoParams;

/// The parameters of recommendations.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecommendedQuery {
    /// The number of people: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
}

/// Recommend people to follow.
///
/// Best first. Excludes the caller; fans that the caller follows, blocks or has dismissed; fans who block the caller;
/// and fans without a session in the last 90 days.
#[utoipa::path(
    tag = "Fans",
    operation_id = "readRecommended",
    params(RecommendedQuery),
    responses((status = 200, description = "People to follow.", body = RecommendedList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/recommended")]
pub(crate) async fn read_recommended(
    SignedIn(viewer): SignedIn,
    Query(query): Query<RecommendedQuery>,
    app: Data<App>,
) -> Result<Json<RecommendedList>, ApiError> {
    let limit = match query.limit {
        None => Limit::default(),
        Some(rows) => Limit::new(rows).map_err(|error| Invalid::at("/limit", error.to_string()))?,
    };
    let suggestions = app.recommended(viewer.user_id, limit).await?;
    Ok(Json(RecommendedList { users: suggestions.iter().map(Recommended::from).collect() }))
}

/// Dismiss a recommendation.
///
/// The dismissal is permanent; repeating it changes nothing.
#[utoipa::path(
    tag = "Fans",
    operation_id = "dismissRecommended",
    params(("userId" = uuid::Uuid, Path, description = "The id of the fan.")),
    responses((status = 204, description = "The fan is no longer recommended.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/user/recommended/{userId}")]
pub(crate) async fn dismiss_recommended(
    SignedIn(viewer): SignedIn,
    PathId(dismissed): PathId<UserId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    app.execute(Dismiss { user: viewer.user_id, dismissed }).await?;
    Ok(HttpResponse::NoContent().finish())
}
