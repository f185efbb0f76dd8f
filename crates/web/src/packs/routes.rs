//! Packs: the list, purchases and openings.

use crate::edge::{Shell, conditional_json, host};
use crate::error::{ApiError, Code, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, MaybeSignedIn, OptionalBody, PathId, Query, SignedIn};
use crate::packs::dto::{Pack, PackEnvelope, PackList};
use crate::packs::own_packs_dto::{OpenBody, OpenResult, PurchaseBody, PurchaseResult};
use crate::packs::pages::{PackPage, Shown};
use crate::payments::dto::CompleteBody;
use crate::platform::{PageQuery, created, done, keyed, needed, next_cursor, respond};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get, post, put};
use std::collections::HashMap;
use terrace_app::packs::{OpenPackRequest, PackOpened, PackPurchased, ReadHeld, ReadSupply};
use terrace_app::store::StoredAnswer;
use terrace_app::{App, PackBook};
use terrace_identity::Viewer;
use terrace_packs::{ClientSeed, Held, Pack as DomainPack, PackId, PurchaseId, Quantity};

const PACKS: &str = "packs";

fn no_pack() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such pack")
}

/// List packs.
///
/// Returns the packs on sale, in the order of the content; sold-out ones are not `available`. Odds and remaining
/// quantities are computed from the tables of the draw. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Packs",
    operation_id = "listPacks",
    params(PageQuery),
    responses(
        (status = 200, description = "A page of packs.", body = PackList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/packs")]
pub(crate) async fn list_packs(
    viewer: MaybeSignedIn,
    Query(query): Query<PageQuery>,
    kept: Data<PackPage>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let page = query.asked::<String>(&app, PACKS, "")?;
    let (book, now) = (app.pack_book().await?, app.now());
    let mut shown = after(&book, page.after.as_deref()).filter(|pack| pack.is_on_sale(now));
    let packs: Vec<_> = shown.by_ref().take(usize::from(page.limit.rows())).collect();
    let last = packs.last().filter(|_| shown.next().is_some()).map(|pack| pack.key.to_string());
    let ids: Vec<_> = packs.iter().map(|pack| pack.id).collect();
    let supply = app.query(ReadSupply { book: book.clone(), packs: ids.clone() }).await?;
    let next_cursor = next_cursor(&app, last.as_ref(), PACKS, "");
    let own = own_copies(&app, viewer.0.as_ref()).await?;
    let pack = |pack: &DomainPack, shown: &Shown| Pack::new(pack, &shown.supply, now).held(own.of(pack));
    let answer = |shown: &Shown| PackList {
        packs: packs.into_iter().map(|one| pack(one, shown)).collect(),
        next_cursor: shown.next_cursor.clone(),
    };
    let shown = Shown { book: book.clone(), packs: ids, next_cursor, supply };
    match &viewer.0 {
        Some(viewer) => conditional_json(Some(viewer), &answer(&shown)),
        None => kept.answer(shown, answer),
    }
}

/// What the reader has of each pack; `None` if the reader is signed out. It is never part of a cached page.
struct OwnCopies(Option<HashMap<PackId, Held>>);

impl OwnCopies {
    fn of(&self, pack: &DomainPack) -> Option<Held> {
        self.0.as_ref().map(|held| held.get(&pack.id).copied().unwrap_or_default())
    }
}

async fn own_copies(app: &App, viewer: Option<&Viewer>) -> Result<OwnCopies, ApiError> {
    Ok(OwnCopies(match viewer {
        Some(viewer) => Some(app.query(ReadHeld { user: viewer.user_id }).await?),
        None => None,
    }))
}

/// The packs after the one with this key. If the key no longer exists, all packs.
fn after<'b>(book: &'b PackBook, key: Option<&str>) -> impl Iterator<Item = &'b terrace_packs::Pack> {
    let place = key.and_then(|key| book.packs().iter().position(|pack| pack.key.as_str() == key));
    book.packs().iter().skip(place.map_or(0, |place| place.saturating_add(1)))
}

/// Read a pack.
///
/// Returns any pack that was ever on sale, with its contents: the probability of each collectible in each slot, and
/// how many copies of limited editions were minted and are left.
#[utoipa::path(
    tag = "Packs",
    operation_id = "getPack",
    params(("id" = uuid::Uuid, Path, description = "The id of the pack.")),
    responses(
        (status = 200, description = "The pack.", body = PackEnvelope),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/packs/{id}")]
pub(crate) async fn get_pack(
    viewer: MaybeSignedIn,
    PathId(pack): PathId<PackId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let (book, now) = (app.pack_book().await?, app.now());
    let pack = book.pack(pack).filter(|pack| pack.was_on_sale(now)).ok_or_else(no_pack)?;
    let supply = app.query(ReadSupply { book: book.clone(), packs: vec![pack.id] }).await?;
    let own = own_copies(&app, viewer.0.as_ref()).await?;
    let body = PackEnvelope { pack: Pack::in_full(pack, &book, &supply, now).held(own.of(pack)) };
    conditional_json(viewer.0.as_ref(), &body)
}

/// Buy copies of a pack.
///
/// A purchase for points or coins completes immediately. Each copy comes with the hash of the server seed of its draw.
/// A purchase for money stays `pending` for 30 minutes and is paid at its `checkoutUrl`; it reserves its stock
/// meanwhile. A fan may have at most 3 pending purchases. An account that is less than a day old may hold at most one
/// unpaid copy of a limited pack, and all such accounts together at most a quarter of what is left. After three unpaid
/// purchases of limited packs within a day, further ones are refused with 429 `too_many_abandoned`.
#[utoipa::path(
    tag = "Packs",
    operation_id = "purchasePack",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the pack."),
        ("Idempotency-Key" = String, Header, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters."),
    ),
    request_body = PurchaseBody,
    responses((status = 201, description = "The purchase.", body = PurchaseResult, headers(("Location" = String, description = "The URL of the purchase.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/packs/{id}/purchase")]
pub(crate) async fn purchase_pack(
    SignedIn(viewer): SignedIn,
    PathId(pack): PathId<PackId>,
    key: IdempotencyKey,
    body: OptionalBody<PurchaseBody>,
    http: HttpRequest,
    app: Data<App>,
    shell: Data<Shell>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/packs/{id}/purchase";
    needed(&key)?;
    let body = body.into_body();
    let request = keyed(key, Some(viewer.user_id), ROUTE, &pack.to_string(), body.fingerprint());
    let quantity = body.into_inner().quantity.map_or(Ok(Quantity::ONE), Quantity::new);
    let quantity = quantity.map_err(|error| Invalid::at("/quantity", error.to_string()))?;
    let command = app.purchase_pack(viewer.user_id, pack, quantity).await?;
    let render = if command.is_for_money() {
        shell.check_purchase(&http)?;
        before_checkout
    } else {
        purchased
    };
    let mut answered = app.execute_once(command, request.clone(), render).await?;
    if let Ok(purchase) = answered.answer.body.parse::<PurchaseId>() {
        // The purchase is new, or the process that stored it stopped before the checkout. The checkout is begun between
        // transactions and replaces the stored answer.
        let site = host::loopback_origin(&http, shell.config());
        answered.answer = app.begin_checkout(viewer.user_id, purchase, site, request, purchased).await?;
    }
    Ok(respond(answered))
}

/// Complete the purchase of a pack.
///
/// Returns the copies once the payment is confirmed; repeated requests return the same copies. Before that, the
/// response is 409 `payment_pending`; if the purchase failed, the response names the reason. A purchase for points or
/// coins is already complete.
#[utoipa::path(
    tag = "Packs",
    operation_id = "completePurchase",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the pack."),
        ("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters."),
    ),
    request_body = CompleteBody,
    responses((status = 200, description = "The purchase and its copies.", body = PurchaseResult)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[put("/api/packs/{id}/purchase")]
pub(crate) async fn complete_purchase(
    SignedIn(viewer): SignedIn,
    PathId(pack): PathId<PackId>,
    key: IdempotencyKey,
    body: JsonBody<CompleteBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "PUT /api/packs/{id}/purchase";
    let request = keyed(key, Some(viewer.user_id), ROUTE, &pack.to_string(), body.fingerprint());
    let purchase = body.into_inner().purchase_id.0;
    let command = app.complete_purchase(viewer.user_id, pack, purchase).await?;
    Ok(respond(app.execute_once(command, request, completed).await?))
}

fn completed(outcome: &PackPurchased) -> StoredAnswer {
    done(&PurchaseResult::from(outcome))
}

fn purchased(outcome: &PackPurchased) -> StoredAnswer {
    created(format!("/api/user/purchases/{}", outcome.purchase.id), &PurchaseResult::from(outcome))
}

/// What is stored for a purchase for money until its checkout has begun: its id, which no response shows.
fn before_checkout(outcome: &PackPurchased) -> StoredAnswer {
    StoredAnswer { created: None, body: outcome.purchase.id.to_string() }
}

/// Open a copy of a pack.
///
/// The content follows from the server seed, whose hash was published at the purchase, the caller's `clientSeed` and
/// the published tables; the proof contains all of them. For a copy that is already open, the response returns its
/// content, whatever the seed. An `Idempotency-Key` is required if no copy is named.
#[utoipa::path(
    tag = "Packs",
    operation_id = "openPack",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the pack."),
        ("Idempotency-Key" = Option<String>, Header, nullable = false, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters."),
    ),
    request_body = OpenBody,
    responses((status = 200, description = "The content of the copy.", body = OpenResult)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/packs/{id}/open")]
pub(crate) async fn open_pack(
    SignedIn(viewer): SignedIn,
    PathId(pack): PathId<PackId>,
    key: IdempotencyKey,
    body: OptionalBody<OpenBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/packs/{id}/open";
    let body = body.into_body();
    let fingerprint = body.fingerprint();
    let OpenBody { user_pack_id, client_seed } = body.into_inner();
    if user_pack_id.is_none() {
        needed(&key)?;
    }
    let request = keyed(key, Some(viewer.user_id), ROUTE, &pack.to_string(), fingerprint);
    let client_seed = client_seed.map(|text| text.parse::<ClientSeed>()).transpose();
    let client_seed = client_seed.map_err(|error| Invalid::at("/clientSeed", error.to_string()))?;
    let opening = OpenPackRequest { pack, copy: user_pack_id.map(|id| id.0), client_seed };
    let command = app.open_pack(viewer.user_id, opening).await?;
    Ok(respond(app.execute_once(command, request, opened).await?))
}

fn opened(outcome: &PackOpened) -> StoredAnswer {
    done(&OpenResult::from(outcome))
}
