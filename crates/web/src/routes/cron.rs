//! What an operator's timer can ask for. The program does the same by itself on a schedule.

use crate::cron::CronCaller;
use crate::dto::trends::SyncReport;
use crate::error::ApiError;
use actix_web::post;
use actix_web::web::{Data, Json};
use terrace_app::App;

/// Refresh what is trending.
///
/// Of several calls at once, in any process, one does the work; the others wait for it.
#[utoipa::path(
    tag = "Platform",
    operation_id = "syncTrends",
    responses((status = 200, description = "It is fresh.", body = SyncReport)),
    security(("cron" = [])),
)]
#[post("/api/cron/sync-trends")]
pub(crate) async fn sync_trends(_: CronCaller, app: Data<App>) -> Result<Json<SyncReport>, ApiError> {
    Ok(Json(app.into_inner().sync_trends().await?.into()))
}
