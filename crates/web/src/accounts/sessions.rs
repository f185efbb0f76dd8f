//! The sessions of the signed-in account.

use crate::accounts::dto::{Session, SessionList};
use crate::error::ApiError;
use crate::extract::{PathId, Query, SignedIn};
use crate::platform::{PageQuery, next_cursor};
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, delete, get};
use terrace_app::App;
use terrace_app::accounts::ListSessions;
use terrace_kernel::SessionId;

const SESSIONS: &str = "sessions";

/// List the caller's sessions.
///
/// Active sessions, newest first.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "listSessions",
    params(PageQuery),
    responses((status = 200, description = "A page of sessions.", body = SessionList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/sessions")]
pub(crate) async fn list_sessions(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<SessionList>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.asked(&app, SESSIONS, &filter)?;
    let sessions =
        app.query(ListSessions { user: viewer.user_id, limit: page.limit, after: page.after }).await?;
    Ok(Json(SessionList {
        sessions: sessions.items.iter().map(|session| Session::new(session, viewer.session_id)).collect(),
        next_cursor: next_cursor(&app, sessions.next.as_ref(), SESSIONS, &filter),
    }))
}

/// End one of the caller's sessions.
#[utoipa::path(
    tag = "Accounts",
    operation_id = "endSession",
    params(("id" = uuid::Uuid, Path, description = "The id of the session.")),
    responses((status = 204, description = "The session has ended.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/user/sessions/{id}")]
pub(crate) async fn end_session(
    SignedIn(viewer): SignedIn,
    PathId(session): PathId<SessionId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    app.end_session(viewer.user_id, session).await?;
    Ok(HttpResponse::NoContent().finish())
}
