//! The purchases, opened packs and collectibles of the signed-in account.

use crate::error::{ApiError, Code};
use crate::extract::{PathId, Query, SignedIn};
use crate::packs::dto::Rarity;
use crate::packs::own_packs_dto::{
    OwnedCollectible, OwnedList, Purchase, PurchaseEnvelope, PurchaseList, PurchaseResult, UserPack,
    UserPackList, UserPackStatus,
};
use crate::platform::{PageQuery, PageRequest, asked, next_cursor};
use actix_web::web::{Data, Json};
use actix_web::{delete, get};
use serde::Deserialize;
use std::fmt::Display;
use std::str::FromStr;
use terrace_app::App;
use terrace_app::accounts::NotFound;
use terrace_app::packs::{GetPurchase, ListCopies, ListOwned, ListPurchases};
use terrace_kernel::{Failure, TimeKey, UserId};
use terrace_packs::{CopyList, OwnedFilter, PurchaseId, UserPackState};
use utoipa::IntoParams;

const BOUGHT: &str = "user-packs";
const OPENED: &str = "opened-packs";
const COLLECTIBLES: &str = "collectibles";
const PURCHASES: &str = "purchases";

/// The parameters of the list of copies.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct CopyQuery {
    /// Only copies in this state: `sealed`, `opened` or `revoked`.
    #[param(value_type = Option<UserPackStatus>, inline)]
    status: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// List the caller's packs.
///
/// All copies, or those in one state, newest first.
#[utoipa::path(
    tag = "Packs",
    operation_id = "listOwnPacks",
    params(CopyQuery),
    responses((status = 200, description = "A page of copies.", body = UserPackList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/packs")]
pub(crate) async fn list_own_packs(
    SignedIn(viewer): SignedIn,
    Query(query): Query<CopyQuery>,
    app: Data<App>,
) -> Result<Json<UserPackList>, ApiError> {
    let status: Option<UserPackState> = read("status", query.status.as_deref())?;
    let user = viewer.user_id.to_string();
    let filter = status.map_or_else(|| user.clone(), |status| format!("{user} {status}"));
    let page = asked(&app, query.limit, query.cursor.as_deref(), BOUGHT, &filter)?;
    copies(&app, viewer.user_id, CopyList::Bought(status), page, (BOUGHT, &filter)).await
}

/// List the caller's opened packs.
///
/// The last opened copy first.
#[utoipa::path(
    tag = "Packs",
    operation_id = "listOpenedPacks",
    params(PageQuery),
    responses((status = 200, description = "A page of copies.", body = UserPackList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/packs/opened")]
pub(crate) async fn list_opened_packs(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<UserPackList>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.asked(&app, OPENED, &filter)?;
    copies(&app, viewer.user_id, CopyList::Opened, page, (OPENED, &filter)).await
}

async fn copies(
    app: &App,
    user: UserId,
    list: CopyList,
    page: PageRequest<TimeKey>,
    (name, filter): (&'static str, &str),
) -> Result<Json<UserPackList>, ApiError> {
    let found = app.query(ListCopies { user, list, limit: page.limit, after: page.after }).await?;
    let book = app.pack_book().await?;
    Ok(Json(UserPackList {
        packs: found.items.iter().map(|copy| UserPack::new(copy, &book)).collect(),
        next_cursor: next_cursor(app, found.next.as_ref(), name, filter),
    }))
}

/// The parameters of the list of collectibles.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OwnedQuery {
    /// Only collectibles of this rarity: `common`, `uncommon`, `rare`, `epic` or `legendary`.
    #[param(value_type = Option<Rarity>, inline)]
    rarity: Option<String>,
    /// Only collectibles of this team.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

pub(super) fn read<T: FromStr<Err: Display>>(name: &str, text: Option<&str>) -> Result<Option<T>, ApiError> {
    let read = text.map(str::parse).transpose();
    read.map_err(|error: T::Err| ApiError::invalid_part(format!("/{name}"), error.to_string()))
}

/// List the caller's collectibles.
///
/// Newest first.
#[utoipa::path(
    tag = "Packs",
    operation_id = "listCollectibles",
    params(OwnedQuery),
    responses((status = 200, description = "A page of collectibles.", body = OwnedList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/collectibles")]
pub(crate) async fn list_collectibles(
    SignedIn(viewer): SignedIn,
    Query(query): Query<OwnedQuery>,
    app: Data<App>,
) -> Result<Json<OwnedList>, ApiError> {
    let filter = OwnedFilter {
        rarity: read("rarity", query.rarity.as_deref())?,
        team: read("teamId", query.team_id.as_deref())?,
    };
    let name = format!("{} {:?} {:?}", viewer.user_id, filter.rarity, filter.team);
    let page = asked(&app, query.limit, query.cursor.as_deref(), COLLECTIBLES, &name)?;
    let asked = ListOwned { user: viewer.user_id, filter, limit: page.limit, after: page.after };
    let owned = app.query(asked).await?;
    let book = app.pack_book().await?;
    Ok(Json(OwnedList {
        collectibles: owned.items.iter().map(|owned| OwnedCollectible::new(owned, &book)).collect(),
        next_cursor: next_cursor(&app, owned.next.as_ref(), COLLECTIBLES, &name),
    }))
}

/// List the caller's purchases.
///
/// Newest first.
#[utoipa::path(
    tag = "Packs",
    operation_id = "listPurchases",
    params(PageQuery),
    responses((status = 200, description = "A page of purchases.", body = PurchaseList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/purchases")]
pub(crate) async fn list_purchases(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<PurchaseList>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.asked(&app, PURCHASES, &filter)?;
    let asked = ListPurchases { user: viewer.user_id, limit: page.limit, after: page.after };
    let purchases = app.query(asked).await?;
    let book = app.pack_book().await?;
    Ok(Json(PurchaseList {
        purchases: purchases.items.iter().map(|purchase| Purchase::new(purchase, &book)).collect(),
        next_cursor: next_cursor(&app, purchases.next.as_ref(), PURCHASES, &filter),
    }))
}

/// Give up a pending purchase.
///
/// Closes the checkout at the payment provider first, so that the purchase can no longer be paid, and releases its stock.
/// A purchase that is not pending is refused. A payment that arrives nevertheless is refunded.
#[utoipa::path(
    tag = "Packs",
    operation_id = "cancelPurchase",
    params(("id" = uuid::Uuid, Path, description = "The id of the purchase.")),
    responses((status = 200, description = "The cancelled purchase.", body = PurchaseEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/user/purchases/{id}")]
pub(crate) async fn cancel_purchase(
    SignedIn(viewer): SignedIn,
    PathId(purchase): PathId<PurchaseId>,
    app: Data<App>,
) -> Result<Json<PurchaseEnvelope>, ApiError> {
    let purchase = app.cancel_purchase(viewer.user_id, purchase).await?;
    let book = app.pack_book().await?;
    Ok(Json(PurchaseEnvelope { purchase: Purchase::new(&purchase, &book) }))
}

/// Read one of the caller's purchases.
///
/// Includes the copies that were bought.
#[utoipa::path(
    tag = "Packs",
    operation_id = "getPurchase",
    params(("id" = uuid::Uuid, Path, description = "The id of the purchase.")),
    responses((status = 200, description = "The purchase.", body = PurchaseResult)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/purchases/{id}")]
pub(crate) async fn get_purchase(
    SignedIn(viewer): SignedIn,
    PathId(purchase): PathId<PurchaseId>,
    app: Data<App>,
) -> Result<Json<PurchaseResult>, ApiError> {
    let asked = GetPurchase { user: viewer.user_id, purchase };
    let (purchase, copies) = app.query(asked).await.map_err(|failure| match failure {
        Failure::Refused(NotFound) => ApiError::new(Code::NotFound, "you have no such purchase"),
        Failure::Broken(error) => error.into(),
    })?;
    let book = app.pack_book().await?;
    Ok(Json(PurchaseResult::new(&purchase, &copies, &book)))
}
