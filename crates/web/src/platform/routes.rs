//! Routes for operators' programs. The service also runs these refresh jobs on its own schedule.

use crate::boards::dto::{AwardBody, AwardResult};
use crate::edge::CronCaller;
use crate::error::{ApiError, Invalid};
use crate::extract::JsonBody;
use crate::payments::dto::PurchaseReconcileReport;
use crate::platform::dto::{LeaderboardSyncReport, QuestSyncReport};
use crate::trends::dto::SyncReport;
use actix_web::post;
use actix_web::web::{Data, Json};
use terrace_app::boards::AwardPoints;
use terrace_app::{App, OnDemand};
use terrace_scoring::{NewAward, Points, SourceKey, SourceKind, Writer, reason};

/// Refresh trends.
///
/// Of several concurrent calls, in any process, one does the work and the others wait for it.
#[utoipa::path(
    tag = "Platform",
    operation_id = "syncTrends",
    responses((status = 200, description = "The trends are current.", body = SyncReport)),
    security(("cron" = [])),
)]
#[post("/api/cron/sync-trends")]
pub(crate) async fn sync_trends(_: CronCaller, app: Data<App>) -> Result<Json<SyncReport>, ApiError> {
    Ok(Json(app.into_inner().sync_trends().await?.into()))
}

/// Synchronise leaderboards.
///
/// Starts and closes the seasons that are due, repairs leaderboards that differ from the points ledger, and completes
/// rank steps of quests for fans who have the rank. Of several concurrent calls, in any process, one does the work and
/// the others wait for it.
#[utoipa::path(
    tag = "Platform",
    operation_id = "syncLeaderboards",
    responses((status = 200, description = "The leaderboards are synchronised.", body = LeaderboardSyncReport)),
    security(("cron" = [])),
)]
#[post("/api/cron/sync-leaderboards")]
pub(crate) async fn sync_leaderboards(
    _: CronCaller,
    app: Data<App>,
    on_demand: Data<dyn OnDemand>,
) -> Result<Json<LeaderboardSyncReport>, ApiError> {
    Ok(Json(on_demand.sync_leaderboards(app.into_inner()).await?.into()))
}

/// Synchronise quests.
///
/// Completes fulfilled steps of started quests, including those fulfilled by the clock, a change of the content or
/// other fans' points, and grants the earned achievements. Of several concurrent calls, in any process, one does the
/// work and the others wait for it.
#[utoipa::path(
    tag = "Platform",
    operation_id = "syncQuests",
    responses((status = 200, description = "The quests are synchronised.", body = QuestSyncReport)),
    security(("cron" = [])),
)]
#[post("/api/cron/sync-quests")]
pub(crate) async fn sync_quests(
    _: CronCaller,
    app: Data<App>,
    on_demand: Data<dyn OnDemand>,
) -> Result<Json<QuestSyncReport>, ApiError> {
    Ok(Json(on_demand.sync_quests(app.into_inner()).await?.into()))
}

/// Reconcile purchases.
///
/// Completes purchases that were paid without a payment event, ends those that were not paid in time, and refunds what
/// is owed. Of several concurrent calls, in any process, one does the work and the others wait for it.
#[utoipa::path(
    tag = "Platform",
    operation_id = "reconcilePurchases",
    responses((status = 200, description = "The purchases are reconciled.", body = PurchaseReconcileReport)),
    security(("cron" = [])),
)]
#[post("/api/cron/reconcile-purchases")]
pub(crate) async fn reconcile_purchases(
    _: CronCaller,
    app: Data<App>,
    on_demand: Data<dyn OnDemand>,
) -> Result<Json<PurchaseReconcileReport>, ApiError> {
    Ok(Json(on_demand.reconcile_purchases(app.into_inner()).await?.into()))
}

/// Award points.
///
/// For events of the operator's other services, such as a used ticket or a played game. An event pays a fan once,
/// however often it is reported.
#[utoipa::path(
    tag = "Platform",
    operation_id = "awardPoints",
    request_body = AwardBody,
    responses((status = 200, description = "The points are recorded, now or before.", body = AwardResult)),
    security(("cron" = [])),
)]
#[post("/api/cron/award-points")]
pub(crate) async fn award_points(
    _: CronCaller,
    body: JsonBody<AwardBody>,
    app: Data<App>,
) -> Result<Json<AwardResult>, ApiError> {
    let AwardBody { user_id, amount, reason: words, source, team_id, at } = body.into_inner();
    let source: SourceKey = source.parse().map_err(|error| Invalid::at("/source", format!("{error}")))?;
    if !matches!(source.kind(), SourceKind::Game | SourceKind::Import) {
        return Err(Invalid::at("/source", "only games and imports are awarded from outside"));
    }
    let now = app.now();
    let at = at.map_or(now, |at| at.0);
    if at > now {
        return Err(Invalid::at("/at", "lies in the future"));
    }
    let award = NewAward {
        user: user_id.0,
        amount: Points::new(amount),
        reason: reason(&words).map_err(|error| Invalid::at("/reason", error.to_string()))?,
        source,
        at,
    };
    let team = team_id.map(|id| id.0);
    let given = app.execute(AwardPoints { awards: app.awards(), award, team, by: Writer::Service }).await?;
    Ok(Json(AwardResult::from(&given)))
}
