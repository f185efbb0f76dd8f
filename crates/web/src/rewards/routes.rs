//! Rewards, the claims of the signed-in account, and the redemption of codes at tills.

use crate::edge::{Shell, bearer, check_query, conditional_json};
use crate::error::{ApiError, Code, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, MaybeSignedIn, PathId, Query, SignedIn};
use crate::platform::{PageQuery, asked, created, keyed, needed, next_cursor, respond};
use crate::rewards::ClaimStatus;
use crate::rewards::dto::{
    Claim, ClaimEnvelope, ClaimPage, RedeemBody, RedemptionResult, Reward, RewardEnvelope, RewardPage,
};
use crate::rewards::refusals::{no_claim, no_reward};
use actix_web::dev::Payload;
use actix_web::web::{Data, Json};
use actix_web::{FromRequest, HttpRequest, HttpResponse, get, post};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::future::Future;
use std::pin::Pin;
use terrace_app::App;
use terrace_app::rewards::{ListClaims, UseClaim};
use terrace_identity::{Token, TokenKind};
use terrace_kernel::UserId;
use terrace_rewards::{ClaimId, ClaimStatus as DomainStatus, Code as RewardCode, RewardId, Till};
use utoipa::IntoParams;

const REWARDS: &str = "rewards";
const CLAIMS: &str = "claims";

/// List rewards.
///
/// Returns the rewards that are open, in the order of the content. For a signed-in reader, `claimable` and `why` say what a
/// claim would get. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Rewards",
    operation_id = "listRewards",
    params(PageQuery),
    responses(
        (status = 200, description = "A page of rewards.", body = RewardPage),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/rewards")]
pub(crate) async fn list_rewards(
    viewer: MaybeSignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let page = query.asked::<String>(&app, REWARDS, "")?;
    let (book, now) = (app.reward_book().await?, app.now());
    let place = page.after.as_deref();
    let place = place.and_then(|key| book.rewards().iter().position(|reward| reward.key.as_str() == key));
    let rest = book.rewards().iter().skip(place.map_or(0, |place| place.saturating_add(1)));
    let mut open = rest.filter(|reward| reward.is_open(now));
    let rewards: Vec<_> = open.by_ref().take(usize::from(page.limit.rows())).collect();
    let last = rewards.last().filter(|_| open.next().is_some()).map(|reward| reward.key.to_string());
    let ids = rewards.iter().map(|reward| reward.id).collect();
    let user = viewer.0.as_ref().map(|viewer| viewer.user_id);
    let shown = app.show_rewards(user, book.clone(), ids).await?;
    let quests = app.quest_book().await?;
    let body = RewardPage {
        rewards: shown.iter().map(|one| Reward::new(one, &quests)).collect(),
        next_cursor: next_cursor(&app, last.as_ref(), REWARDS, ""),
    };
    conditional_json(viewer.0.as_ref(), &body)
}

/// Read a reward.
///
/// Returns any reward that is or was open.
#[utoipa::path(
    tag = "Rewards",
    operation_id = "getReward",
    params(("id" = uuid::Uuid, Path, description = "The id of the reward.")),
    responses(
        (status = 200, description = "The reward.", body = RewardEnvelope),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/rewards/{id}")]
pub(crate) async fn get_reward(
    viewer: MaybeSignedIn,
    PathId(reward): PathId<RewardId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let (book, now) = (app.reward_book().await?, app.now());
    let known = book.reward(reward).filter(|reward| reward.was_open(now)).map(|reward| reward.id);
    let ids = vec![known.ok_or_else(no_reward)?];
    let user = viewer.0.as_ref().map(|viewer| viewer.user_id);
    let shown = app.show_rewards(user, book.clone(), ids).await?;
    let quests = app.quest_book().await?;
    let reward = shown.first().map(|one| Reward::new(one, &quests)).ok_or_else(no_reward)?;
    conditional_json(viewer.0.as_ref(), &RewardEnvelope { reward })
}

/// Claim a reward.
///
/// The cost is paid, and the fan has a code or goods. A refusal costs nothing: 409 with `reward_closed`, `account_too_new`
/// (a limited reward needs an account of 24 hours), `requirement_not_met`, `limit_reached`, `sold_out` or
/// `insufficient_balance`, of which the first one in this order is named. A repeated request with the same key returns the same
/// claim in its present state.
#[utoipa::path(
    tag = "Rewards",
    operation_id = "claimReward",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the reward."),
        ("Idempotency-Key" = String, Header, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters."),
    ),
    responses((status = 201, description = "The claim.", body = ClaimEnvelope, headers(("Location" = String, description = "The URL of the claim.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/rewards/{id}/claim")]
pub(crate) async fn claim_reward(
    SignedIn(viewer): SignedIn,
    PathId(reward): PathId<RewardId>,
    key: IdempotencyKey,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/rewards/{id}/claim";
    needed(&key)?;
    let nothing = Sha256::digest([]).into();
    let request = keyed(key, Some(viewer.user_id), ROUTE, &reward.to_string(), nothing);
    let mut answered = app.claim_reward(viewer.user_id, reward, request).await?;
    // What is stored is the id of the claim, so that no code lies in clear.
    let claim: ClaimId = answered.answer.body.parse().map_err(ApiError::internal)?;
    let envelope = read_claim(&app, viewer.user_id, claim).await?;
    answered.answer = created(format!("/api/user/rewards/{claim}"), &envelope);
    Ok(respond(answered))
}

async fn read_claim(app: &App, user: UserId, claim: ClaimId) -> Result<ClaimEnvelope, ApiError> {
    let shown = app.find_claim(user, claim).await?.ok_or_else(no_claim)?;
    let book = app.reward_book().await?;
    Ok(ClaimEnvelope { claim: Claim::new(&shown, &book) })
}

/// The parameters of the list of claims.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ClaimQuery {
    /// Only claims in this state.
    #[param(value_type = Option<ClaimStatus>, inline)]
    status: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// List the caller's claims.
#[utoipa::path(
    tag = "Rewards",
    operation_id = "listClaims",
    params(ClaimQuery),
    responses((status = 200, description = "A page of claims, the newest first.", body = ClaimPage)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/rewards")]
pub(crate) async fn list_claims(
    SignedIn(viewer): SignedIn,
    Query(query): Query<ClaimQuery>,
    app: Data<App>,
) -> Result<Json<ClaimPage>, ApiError> {
    let status: Option<DomainStatus> = query
        .status
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|_| ApiError::invalid_part("/status", "there is no such state"))?;
    let filter = status.map_or("", DomainStatus::as_str);
    let page = asked(&app, query.limit, query.cursor.as_deref(), CLAIMS, filter)?;
    let list = ListClaims {
        user: Some(viewer.user_id),
        reward: None,
        status,
        limit: page.limit,
        after: page.after,
        cipher: Some(app.code_cipher()?),
    };
    let page = app.query(list).await?;
    let book = app.reward_book().await?;
    Ok(Json(ClaimPage {
        claims: page.items.iter().map(|shown| Claim::new(shown, &book)).collect(),
        next_cursor: next_cursor(&app, page.next.as_ref(), CLAIMS, filter),
    }))
}

/// Read a claim of the caller.
#[utoipa::path(
    tag = "Rewards",
    operation_id = "getClaim",
    params(("id" = uuid::Uuid, Path, description = "The id of the claim.")),
    responses((status = 200, description = "The claim.", body = ClaimEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/rewards/{id}")]
pub(crate) async fn get_claim(
    SignedIn(viewer): SignedIn,
    PathId(claim): PathId<ClaimId>,
    app: Data<App>,
) -> Result<Json<ClaimEnvelope>, ApiError> {
    Ok(Json(read_claim(&app, viewer.user_id, claim).await?))
}

/// Use a claim of the caller.
///
/// For a code that is used elsewhere than at a till of the club. A claim is used once: 409 with `claim_used`, `claim_expired`
/// or `claim_revoked` otherwise.
#[utoipa::path(
    tag = "Rewards",
    operation_id = "useClaim",
    params(("id" = uuid::Uuid, Path, description = "The id of the claim.")),
    responses((status = 200, description = "The claim, now used.", body = ClaimEnvelope)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/user/rewards/{id}/use")]
pub(crate) async fn use_claim(
    SignedIn(viewer): SignedIn,
    PathId(claim): PathId<ClaimId>,
    app: Data<App>,
) -> Result<Json<ClaimEnvelope>, ApiError> {
    app.execute(UseClaim { user: viewer.user_id, claim }).await?;
    Ok(Json(read_claim(&app, viewer.user_id, claim).await?))
}

/// The till whose token the request has. Always the first argument of its handler. Rejections: 401
/// `authentication_required` without a token, 401 `invalid_token` with another one, 429 beyond the limit of the till.
pub(crate) struct AtTill(Till);

impl FromRequest for AtTill {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(req: &HttpRequest, _: &mut Payload) -> Self::Future {
        let req = req.clone();
        Box::pin(async move {
            let (Some(app), Some(shell)) = (req.app_data::<Data<App>>(), req.app_data::<Data<Shell>>())
            else {
                return Err(Code::Internal.into());
            };
            let Some(offered) = bearer(req.headers()) else {
                shell.check_forgery(&req)?;
                return Err(Code::AuthenticationRequired.into());
            };
            let token =
                std::str::from_utf8(offered).ok().and_then(|text| Token::present(TokenKind::Till, text));
            let till = match token {
                Some(token) => app.find_till(token).await?,
                None => None,
            };
            let Some(till) = till else {
                shell.check_forgery(&req)?;
                return Err(Code::InvalidToken.into());
            };
            check_query(&req, shell, true)?;
            shell.check_redemption(till.id)?;
            Ok(Self(till))
        })
    }
}

/// Redeem a code at a till.
///
/// The bearer token is that of a till, which an operator adds with `terrace till add`; it is valid here only. `redeemed` is
/// true exactly once, however many tills send the code at the same time; afterwards the response says when it was used. 404 if
/// no claim has the code, 409 `claim_expired` or `claim_revoked` if it can no longer be used.
#[utoipa::path(
    tag = "Rewards",
    operation_id = "redeemCode",
    request_body = RedeemBody,
    responses((status = 200, description = "Whether the code was redeemed, and when.", body = RedemptionResult)),
    security(("till" = [])),
)]
#[post("/api/redemptions")]
pub(crate) async fn redeem_code(
    AtTill(till): AtTill,
    body: JsonBody<RedeemBody>,
    app: Data<App>,
) -> Result<Json<RedemptionResult>, ApiError> {
    let code = RewardCode::parse(&body.into_inner().code);
    let code = code.map_err(|error| Invalid::at("/code", error.to_string()))?;
    let redemption = app.redeem_code(till.id, code).await?;
    let book = app.reward_book().await?;
    Ok(Json(RedemptionResult::new(&redemption, &book)))
}
