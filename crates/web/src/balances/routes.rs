//! Balances: spendable points, coins and money.

use crate::balances::dto::{CashBalance, WalletPage};
use crate::error::ApiError;
use crate::extract::{Query, SignedIn};
use crate::platform::{PageQuery, next_cursor};
use actix_web::get;
use actix_web::web::{Data, Json};
use terrace_app::App;
use terrace_app::balances::{ReadCash, ReadWallets};

/// The name of the list in cursors.
const ENTRIES: &str = "wallets";

/// Read the caller's balances and wallets.
///
/// Returns the balances with their entries, and the wallets. Every record of points adds the same amount to the points balance;
/// spending points does not affect leaderboards.
#[utoipa::path(
    tag = "Balances",
    operation_id = "readWallets",
    params(PageQuery),
    responses((status = 200, description = "The accounts, and a page of the entries.", body = WalletPage)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/wallets")]
pub(crate) async fn read_wallets(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<WalletPage>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.asked(&app, ENTRIES, &filter)?;
    let wallets =
        app.query(ReadWallets { user: viewer.user_id, limit: page.limit, after: page.after }).await?;
    let next = next_cursor(&app, wallets.entries.next.as_ref(), ENTRIES, &filter);
    Ok(Json(WalletPage::new(&wallets, app.wallet_networks().unwrap_or_default(), next)))
}

/// Read the caller's balance in money.
#[utoipa::path(
    tag = "Balances",
    operation_id = "readCashBalance",
    responses((status = 200, description = "The amount; zero if there never was any.", body = CashBalance)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/cash-balance")]
pub(crate) async fn read_cash_balance(
    SignedIn(viewer): SignedIn,
    app: Data<App>,
) -> Result<Json<CashBalance>, ApiError> {
    let currency = app.club().await?.club.currency;
    let account = app.query(ReadCash { user: viewer.user_id, currency }).await?;
    Ok(Json(CashBalance::new(account, currency)))
}
