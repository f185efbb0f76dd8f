//! The inbox of the caller, read marks and preferences.

use crate::error::ApiError;
use crate::extract::{JsonBody, Query, SignedIn};
use crate::notifications::dto::{
    NotificationList, NotificationPreferences, NotificationPreferencesBody, ReadNotificationsBody,
    UnreadNotifications,
};
use crate::platform::{PageQuery, next_cursor};
use actix_web::web::{Data, Json};
use actix_web::{get, post, put};
use terrace_app::App;
use terrace_app::notifications::{MarkRead, ReadPreferences, SetPreferences};

const NOTIFICATIONS: &str = "notifications";

/// List the caller's notifications.
///
/// What happened of one kind about one subject within a day is one notification, in the place of its first event. One that
/// changed after it was read is unread again. What was deleted or is hidden from the caller is not listed.
#[utoipa::path(
    tag = "Notifications",
    operation_id = "listNotifications",
    params(PageQuery),
    responses((status = 200, description = "The notifications.", body = NotificationList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/notifications")]
pub(crate) async fn read_notifications(
    SignedIn(viewer): SignedIn,
    query: Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<NotificationList>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.0.asked(&app, NOTIFICATIONS, &filter)?;
    let inbox = app.read_inbox(viewer.user_id, page.limit, page.after).await?;
    let next = next_cursor(&app, inbox.page.next.as_ref(), NOTIFICATIONS, &filter);
    Ok(Json(NotificationList::new(&inbox, next)))
}

/// Mark notifications as read.
///
/// All up to the `streamPosition` of a list, or single ones. Marking them again changes nothing. Other sessions of the
/// account get `notification.read`.
#[utoipa::path(
    tag = "Notifications",
    operation_id = "readNotifications",
    request_body = ReadNotificationsBody,
    responses((status = 200, description = "The number of unread notifications.", body = UnreadNotifications)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/notifications/read")]
pub(crate) async fn mark_notifications_read(
    SignedIn(viewer): SignedIn,
    body: JsonBody<ReadNotificationsBody>,
    app: Data<App>,
) -> Result<Json<UnreadNotifications>, ApiError> {
    let mark = body.into_inner().mark()?;
    let unread = terrace_app::into_infallible(app.execute(MarkRead { user: viewer.user_id, mark }).await)?;
    Ok(Json(UnreadNotifications { unread }))
}

/// Read the caller's preferences.
#[utoipa::path(
    tag = "Notifications",
    operation_id = "readNotificationPreferences",
    responses((status = 200, description = "The preferences.", body = NotificationPreferences)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/notifications/preferences")]
pub(crate) async fn read_preferences(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<Json<NotificationPreferences>, ApiError> {
    let read = app.query(ReadPreferences { user: viewer.user_id }).await;
    Ok(Json(NotificationPreferences::from(&terrace_app::into_infallible(read)?)))
}

/// Replace the caller's preferences.
///
/// They apply to what happens from then on.
#[utoipa::path(
    tag = "Notifications",
    operation_id = "setNotificationPreferences",
    request_body = NotificationPreferencesBody,
    responses((status = 200, description = "The preferences.", body = NotificationPreferences)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/notifications/preferences")]
pub(crate) async fn set_preferences(
    SignedIn(viewer): SignedIn,
    body: JsonBody<NotificationPreferencesBody>,
    app: Data<App>,
) -> Result<Json<NotificationPreferences>, ApiError> {
    let preferences = body.into_inner().preferences()?;
    let set = SetPreferences { user: viewer.user_id, preferences: preferences.clone() };
    app.execute(set).await?;
    Ok(Json(NotificationPreferences::from(&preferences)))
}
