//! The dashboard of the signed-in account.

use crate::dashboard::dto::Dashboard;
use crate::dashboard::pages::DashboardPages;
use crate::edge::{Tag, TaggedJson};
use crate::error::{ApiError, Code};
use crate::extract::SignedIn;
use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use terrace_app::App;
use terrace_app::accounts::NotFound;
use terrace_identity::Viewer;
use terrace_kernel::Failure;

/// Read the caller's dashboard.
///
/// A summary of what the other routes answer in full, each part as they answer it at the same moment. The ranks are exact
/// as of `streamPosition`, and a stream that continues from there misses no later change; everything else is one state of
/// the database, in which all changes up to that position are contained. A response is repeated for a second at most, and
/// only while nothing of the caller changes. Reading it changes nothing: a daily visit is recorded with
/// `POST /api/quests/daily-visit`. Responses carry an `ETag`, which does not depend on `streamPosition`.
#[utoipa::path(
    tag = "Dashboard",
    operation_id = "readDashboard",
    responses(
        (status = 200, description = "The dashboard.", body = Dashboard),
        (status = 304, description = "Nothing has changed."),
    ),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/dashboard")]
pub(crate) async fn read_dashboard(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
    pages: Data<DashboardPages>,
) -> Result<HttpResponse, ApiError> {
    pages.answer(&app, viewer.user_id, async || encode(&app, &viewer).await).await
}

async fn encode(app: &App, viewer: &Viewer) -> Result<TaggedJson, ApiError> {
    let found = app.dashboard(viewer.user_id).await.map_err(|failure| match failure {
        // The account was deleted after its session was checked.
        Failure::Refused(NotFound) => Code::AuthenticationRequired.into(),
        Failure::Broken(error) => ApiError::from(error),
    })?;
    let (packs, rewards) = (app.pack_book().await?, app.reward_book().await?);
    let dashboard = Dashboard::new(&found, &packs, &rewards, &app.club().await?.levels);
    let body = serde_json::to_vec(&dashboard).map_err(ApiError::internal)?;
    let tag = Tag::without_position(Some(viewer), &body, found.position)?;
    Ok(TaggedJson { tag, body: body.into() })
}
