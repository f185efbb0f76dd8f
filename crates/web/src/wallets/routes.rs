//! Requests for wallets, and their balances.

use crate::error::{ApiError, Code, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, PathId, SignedIn};
use crate::platform::{created, done, keyed, respond};
use crate::wallets::dto::{RequestWalletBody, TokenWallet, WalletBalances, WalletEnvelope};
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, get, post};
use terrace_app::App;
use terrace_app::store::StoredAnswer;
use terrace_app::wallets::{RequestWallet, WalletRequested};
use terrace_ledger::{Network, WalletId};

/// When a client may ask again for a wallet that no provider can make.
const NO_PROVIDER_RETRY: u64 = 3600;

fn requested(request: &WalletRequested) -> StoredAnswer {
    let envelope = WalletEnvelope { wallet: TokenWallet::from(&request.wallet) };
    if request.is_new {
        created(format!("/api/wallets/{}", request.wallet.id), &envelope)
    } else {
        done(&envelope)
    }
}

/// Request a wallet.
///
/// A fan has one wallet on a network: a repeated request returns the same one with 200, and requests it again if it has
/// failed. The provider makes it afterwards; `wallet.changed` on the account's stream reports it.
#[utoipa::path(
    tag = "Wallets",
    operation_id = "requestWallet",
    params(("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters.")),
    request_body = RequestWalletBody,
    responses(
        (status = 201, description = "The new wallet.", body = WalletEnvelope, headers(("Location" = String, description = "The URL of the wallet."))),
        (status = 200, description = "The wallet that the fan has on this network.", body = WalletEnvelope),
    ),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/wallets")]
pub(crate) async fn request_wallet(
    SignedIn(viewer): SignedIn,
    key: IdempotencyKey,
    body: JsonBody<RequestWalletBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/wallets";
    let request = keyed(key, Some(viewer.user_id), ROUTE, "", body.fingerprint());
    let RequestWalletBody { network } = body.into_inner();
    let network: Network = network.parse().map_err(|error| Invalid::at("/network", format!("{error}")))?;
    let networks = app
        .wallet_networks()
        .ok_or_else(|| ApiError::from(Code::WalletUnavailable).retry_after(NO_PROVIDER_RETRY))?;
    if !networks.contains(&network) {
        return Err(Invalid::at("/network", "wallets are not available on this network"));
    }
    let command = RequestWallet { user: viewer.user_id, network };
    Ok(respond(app.execute_once(command, request, requested).await?))
}

/// Read a wallet with its balances.
///
/// Balances are those of the provider's last report, which is at most 30 seconds old, or as old as `asOf` says if `stale`.
#[utoipa::path(
    tag = "Wallets",
    operation_id = "readWallet",
    params(("id" = uuid::Uuid, Path, description = "The id of the wallet.")),
    responses((status = 200, description = "The wallet.", body = WalletBalances)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/wallets/{id}")]
pub(crate) async fn read_wallet(
    SignedIn(viewer): SignedIn,
    PathId(wallet): PathId<WalletId>,
    app: Data<App>,
) -> Result<Json<WalletBalances>, ApiError> {
    let shown = app.into_inner().read_wallet(viewer.user_id, wallet).await?;
    Ok(Json(WalletBalances::from(&shown)))
}
