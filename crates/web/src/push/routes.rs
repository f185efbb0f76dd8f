//! The service's key, and the subscription of the session.

use crate::error::{ApiError, Invalid};
use crate::extract::{JsonBody, SignedIn};
use crate::push::dto::{PushKey, PushSubscriptionBody};
use crate::push::refusals::unavailable;
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, delete, get, put};
use terrace_app::App;
use terrace_app::push::{
    DeletePushSubscription, NewPushSubscription, PushEndpoint, PushKeys, PutPushSubscription,
};
use terrace_identity::Viewer;

/// Read the key for push messages.
///
/// Browsers subscribe at their push service with it. 503 `push_unavailable` if the service sends no push messages.
#[utoipa::path(
    tag = "Notifications",
    operation_id = "readPushKey",
    responses((status = 200, description = "The key.", body = PushKey)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/push/key")]
pub(crate) async fn read_push_key(_: SignedIn, app: Data<App>) -> Result<Json<PushKey>, ApiError> {
    Ok(Json(app.push_key().ok_or_else(unavailable)?.into()))
}

fn subscription(viewer: &Viewer, body: PushSubscriptionBody) -> Result<NewPushSubscription, ApiError> {
    let mut invalid = Invalid::default();
    let endpoint = invalid.check("/endpoint", body.endpoint.parse::<PushEndpoint>());
    let p256dh = invalid.check("/keys/p256dh", PushKeys::parse_p256dh(&body.keys.p256dh));
    let auth = invalid.check("/keys/auth", PushKeys::parse_auth(&body.keys.auth));
    let (endpoint, (p256dh, auth)) = invalid.finish(endpoint.zip(p256dh.zip(auth)))?;
    Ok(NewPushSubscription {
        session: viewer.session_id,
        user: viewer.user_id,
        endpoint,
        keys: PushKeys { p256dh, auth },
        key_id: body.key_id,
    })
}

/// Store the subscription of this session.
///
/// A session has one subscription; it replaces the one before. It ends with the session. An endpoint belongs to the session
/// that stored it last. 503 `push_unavailable` if the service sends no push messages.
#[utoipa::path(
    tag = "Notifications",
    operation_id = "putPushSubscription",
    request_body = PushSubscriptionBody,
    responses((status = 204, description = "The subscription is stored.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/push/subscription")]
pub(crate) async fn put_push_subscription(
    SignedIn(viewer): SignedIn,
    body: JsonBody<PushSubscriptionBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let subscription = subscription(&viewer, body.into_inner())?;
    app.check_push(&subscription).ok_or_else(unavailable)??;
    app.execute(PutPushSubscription(subscription)).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Delete the subscription of this session.
///
/// The same without a subscription.
#[utoipa::path(
    tag = "Notifications",
    operation_id = "deletePushSubscription",
    responses((status = 204, description = "The session has no subscription.")),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/push/subscription")]
pub(crate) async fn delete_push_subscription(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    app.execute(DeletePushSubscription(viewer.session_id)).await?;
    Ok(HttpResponse::NoContent().finish())
}
