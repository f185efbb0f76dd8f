//! Checkout, and the orders of the signed-in account.

use crate::edge::{Shell, host};
use crate::error::ApiError;
use crate::extract::{IdempotencyKey, JsonBody, PathId, Query, SignedIn};
use crate::platform::{asked, created, keyed, needed, next_cursor, respond};
use crate::shop::cart_dto::{Cart, MergedCart};
use crate::shop::order_dto::{CheckoutBody, CompleteOrderBody, Order, OrderEnvelope, OrderList, OrderStatus};
use actix_web::web::{Data, Json};
use actix_web::{HttpRequest, HttpResponse, get, post, put};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::shop::{FindOrder, ListOrders, ShownOrder};
use terrace_app::store::StoredAnswer;
use terrace_shop::{OrderId, OrderState};
use utoipa::IntoParams;

const ORDERS: &str = "orders";

fn placed(shown: &ShownOrder) -> StoredAnswer {
    created(format!("/api/user/orders/{}", shown.order.id), &OrderEnvelope::from(shown))
}

/// What is stored for an order that needs a card until its checkout has begun: its id, which no response shows.
fn before_checkout(shown: &ShownOrder) -> StoredAnswer {
    if shown.order.state == OrderState::Pending {
        return StoredAnswer { created: None, body: shown.order.id.to_string() };
    }
    placed(shown)
}

/// Order the caller's cart.
///
/// `quote` is that of the cart which the fan has seen; if anything has changed since then, the response is 409
/// `quote_changed` with the new cart, and nothing happens. What needs no card is paid at once. Otherwise the order is
/// `pending` for 35 minutes and is paid at its `checkoutUrl`; stock, points and coins are reserved meanwhile. A fan may have
/// at most 3 pending orders and purchases. After three unpaid orders within a day, further ones are refused with 429
/// `too_many_abandoned`.
#[utoipa::path(
    tag = "Shop",
    operation_id = "checkOut",
    params(
        ("Idempotency-Key" = String, Header, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters."),
    ),
    request_body = CheckoutBody,
    responses((status = 201, description = "The order.", body = OrderEnvelope, headers(("Location" = String, description = "The URL of the order.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/checkout")]
pub(crate) async fn check_out(
    SignedIn(viewer): SignedIn,
    key: IdempotencyKey,
    body: JsonBody<CheckoutBody>,
    http: HttpRequest,
    app: Data<App>,
    shell: Data<Shell>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/checkout";
    needed(&key)?;
    let request = keyed(key, Some(viewer.user_id), ROUTE, "", body.fingerprint());
    let CheckoutBody { quote, use_balance } = body.into_inner();
    shell.check_purchase(&http)?;
    let (user, render) = (viewer.user_id, before_checkout);
    let mut answered = app.place_order(user, quote, use_balance, request.clone(), render).await?;
    if let Ok(order) = answered.answer.body.parse::<OrderId>() {
        // The order is new, or the process that stored it stopped before the checkout. The checkout is begun between
        // transactions and replaces the stored answer.
        let site = host::loopback_origin(&http, shell.config());
        answered.answer = app.begin_order_checkout(user, order, site, request, placed).await?;
    }
    Ok(respond(answered))
}

/// Complete an order.
///
/// Returns the order once it is paid; repeated requests return the same. Before that, the response is 409
/// `payment_pending`; if the order has ended, the response names the reason.
#[utoipa::path(
    tag = "Shop",
    operation_id = "completeOrder",
    request_body = CompleteOrderBody,
    responses((status = 200, description = "The order.", body = OrderEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/checkout")]
pub(crate) async fn complete_order(
    SignedIn(viewer): SignedIn,
    body: JsonBody<CompleteOrderBody>,
    app: Data<App>,
) -> Result<Json<OrderEnvelope>, ApiError> {
    let order = body.into_inner().order_id.0;
    let shown = app.complete_order(viewer.user_id, order).await?;
    Ok(Json(OrderEnvelope::from(&shown)))
}

/// The parameters of the list of orders.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct OrderQuery {
    /// Only orders in this state.
    #[param(value_type = Option<OrderStatus>, inline)]
    status: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// List the caller's orders.
#[utoipa::path(
    tag = "Shop",
    operation_id = "listOrders",
    params(OrderQuery),
    responses((status = 200, description = "A page of orders, the newest first.", body = OrderList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/orders")]
pub(crate) async fn list_orders(
    SignedIn(viewer): SignedIn,
    Query(query): Query<OrderQuery>,
    app: Data<App>,
) -> Result<Json<OrderList>, ApiError> {
    let state: Option<OrderState> = query
        .status
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|_| ApiError::invalid_part("/status", "there is no such state"))?;
    let filter = state.map_or("", OrderState::as_str);
    let page = asked(&app, query.limit, query.cursor.as_deref(), ORDERS, filter)?;
    let list = ListOrders { user: Some(viewer.user_id), state, limit: page.limit, after: page.after };
    let page = app.query(list).await?;
    Ok(Json(OrderList {
        orders: page.items.iter().map(Order::from).collect(),
        next_cursor: next_cursor(&app, page.next.as_ref(), ORDERS, filter),
    }))
}

/// Read an order of the caller.
#[utoipa::path(
    tag = "Shop",
    operation_id = "getOrder",
    params(("id" = uuid::Uuid, Path, description = "The id of the order.")),
    responses((status = 200, description = "The order.", body = OrderEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/orders/{id}")]
pub(crate) async fn get_order(
    SignedIn(viewer): SignedIn,
    PathId(order): PathId<OrderId>,
    app: Data<App>,
) -> Result<Json<OrderEnvelope>, ApiError> {
    let found = app.query(FindOrder { user: viewer.user_id, order }).await?;
    let shown = found.ok_or_else(crate::shop::refusals::no_order)?;
    Ok(Json(OrderEnvelope::from(&shown)))
}

/// Cancel an order of the caller.
///
/// A pending order ends, and its lines return to the cart. A paid one of which nothing was sent is refunded within 14 days:
/// each part goes back in its kind, and what the order granted is taken back. 409 `already_paid` means that the money came
/// meanwhile; the same request then asks for the refund.
#[utoipa::path(
    tag = "Shop",
    operation_id = "cancelOrder",
    params(("id" = uuid::Uuid, Path, description = "The id of the order.")),
    responses((status = 200, description = "The order.", body = OrderEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/user/orders/{id}/cancel")]
pub(crate) async fn cancel_order(
    SignedIn(viewer): SignedIn,
    PathId(order): PathId<OrderId>,
    app: Data<App>,
) -> Result<Json<OrderEnvelope>, ApiError> {
    let shown = app.cancel_order(viewer.user_id, order).await?;
    Ok(Json(OrderEnvelope::from(&shown)))
}

/// Put the lines of an order into the caller's cart again.
///
/// Of each variant the greater quantity counts. What is no longer sold is skipped.
#[utoipa::path(
    tag = "Shop",
    operation_id = "reorder",
    params(("id" = uuid::Uuid, Path, description = "The id of the order.")),
    responses((status = 200, description = "The cart.", body = MergedCart)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/user/orders/{id}/reorder")]
pub(crate) async fn reorder(
    SignedIn(viewer): SignedIn,
    PathId(order): PathId<OrderId>,
    app: Data<App>,
) -> Result<Json<MergedCart>, ApiError> {
    let merged = app.reorder(viewer.user_id, order).await?;
    Ok(Json(MergedCart {
        cart: Cart::new(&merged.cart),
        skipped: merged.skipped.iter().map(|id| id.as_uuid()).collect(),
    }))
}
