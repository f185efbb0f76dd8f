//! Wheels: the list, spins and their proofs.

use crate::edge::conditional_json;
use crate::error::{ApiError, Invalid};
use crate::extract::{IdempotencyKey, JsonBody, MaybeSignedIn, PathId, Query, SignedIn};
use crate::platform::{PageQuery, created, keyed, needed, next_cursor, respond};
use crate::wheels::dto::{
    Reader, SpinBody, SpinEntry, SpinList, SpinPay, SpinResult, Wheel, WheelEnvelope, WheelList,
};
use crate::wheels::refusals::no_wheel;
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, get, post};
use std::sync::Arc;
use terrace_app::App;
use terrace_app::store::StoredAnswer;
use terrace_app::wheels::{
    FanAtWheels, ListSpins, ReadFanAtWheels, ReadSegmentsGiven, SpinWheelRequest, WheelBook, WheelSeeds,
    WheelSpun,
};
use terrace_games::{Wheel as DomainWheel, WheelId};
use terrace_identity::Viewer;
use terrace_kernel::UserId;

const WHEELS: &str = "wheels";
const SPINS: &str = "spins";

/// The wheels after the one with this key. If the key no longer exists, all wheels.
fn after<'b>(book: &'b WheelBook, key: Option<&str>) -> impl Iterator<Item = &'b DomainWheel> {
    let place = key.and_then(|key| book.wheels().iter().position(|wheel| wheel.key.as_str() == key));
    book.wheels().iter().skip(place.map_or(0, |place| place.saturating_add(1)))
}

/// What a reader's own part of wheels needs; `None` if the reader is signed out.
struct Own(Option<(UserId, FanAtWheels, Arc<WheelSeeds>)>);

impl Own {
    async fn read(app: &App, viewer: Option<&Viewer>) -> Result<Self, ApiError> {
        let Some(viewer) = viewer else { return Ok(Self(None)) };
        let fan = app.query(ReadFanAtWheels { user: viewer.user_id }).await?;
        let seeds = app.wheel_seeds()?;
        Ok(Self(fan.map(|fan| (viewer.user_id, fan, seeds))))
    }

    fn reader(&self) -> Option<Reader<'_>> {
        self.0.as_ref().map(|(user, fan, seeds)| Reader { user: *user, fan, seeds })
    }
}

/// List wheels.
///
/// Returns the wheels that can be spun now, in the order of the content, with the odds of their segments. `me` has the hash
/// of the server seed of the reader's next spin. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Wheels",
    operation_id = "listWheels",
    params(PageQuery),
    responses(
        (status = 200, description = "A page of wheels.", body = WheelList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/wheel")]
pub(crate) async fn list_wheels(
    viewer: MaybeSignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let page = query.asked::<String>(&app, WHEELS, "")?;
    let (book, now) = (app.wheel_book().await?, app.now());
    let given = app.query(ReadSegmentsGiven).await?;
    let own = Own::read(&app, viewer.0.as_ref()).await?;
    let reader = own.reader();
    let mut shown = after(&book, page.after.as_deref()).filter(|wheel| wheel.is_open(now));
    let wheels: Vec<_> = shown.by_ref().take(usize::from(page.limit.rows())).collect();
    let last = wheels.last().filter(|_| shown.next().is_some()).map(|wheel| wheel.key.to_string());
    let body = WheelList {
        wheels: wheels.into_iter().map(|wheel| Wheel::new(wheel, &given, reader.as_ref())).collect(),
        next_cursor: next_cursor(&app, last.as_ref(), WHEELS, ""),
    };
    conditional_json(viewer.0.as_ref(), &body)
}

/// Read a wheel.
#[utoipa::path(
    tag = "Wheels",
    operation_id = "getWheel",
    params(("id" = uuid::Uuid, Path, description = "The id of the wheel.")),
    responses(
        (status = 200, description = "The wheel.", body = WheelEnvelope),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/wheel/{id}")]
pub(crate) async fn get_wheel(
    viewer: MaybeSignedIn,
    PathId(wheel): PathId<WheelId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let (book, now) = (app.wheel_book().await?, app.now());
    let wheel = book.wheel(wheel).filter(|wheel| wheel.was_open(now));
    let wheel = wheel.ok_or_else(no_wheel)?;
    let given = app.query(ReadSegmentsGiven).await?;
    let own = Own::read(&app, viewer.0.as_ref()).await?;
    let body = WheelEnvelope { wheel: Wheel::new(wheel, &given, own.reader().as_ref()) };
    conditional_json(viewer.0.as_ref(), &body)
}

fn spun(outcome: &WheelSpun) -> StoredAnswer {
    created("/api/user/spins".to_owned(), &SpinResult::new(outcome))
}

/// Spin a wheel.
///
/// A free spin is given once on each of the fan's local dates, as visits are paid; any other costs the wheel's price. The
/// server seed must be the one whose hash was shown; after another spin it is 409 `seed_changed`. The answer reveals it, so
/// that everybody can recompute the draw. What the segment gives is given in the same transaction.
#[utoipa::path(
    tag = "Wheels",
    operation_id = "spinWheel",
    params(
        ("id" = uuid::Uuid, Path, description = "The id of the wheel."),
        ("Idempotency-Key" = String, Header, max_length = 128, pattern = "^[!-~]+$", description = "The client's name for this request, 1 to 128 visible ASCII characters."),
    ),
    request_body = SpinBody,
    responses((status = 201, description = "The spin.", body = SpinResult, headers(("Location" = String, description = "The URL of the list of spins.")))),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/wheel/{id}/spin")]
pub(crate) async fn spin_wheel(
    SignedIn(viewer): SignedIn,
    PathId(wheel): PathId<WheelId>,
    key: IdempotencyKey,
    body: JsonBody<SpinBody>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    const ROUTE: &str = "POST /api/wheel/{id}/spin";
    needed(&key)?;
    let request = keyed(key, Some(viewer.user_id), ROUTE, &wheel.to_string(), body.fingerprint());
    let SpinBody { pay, server_seed_hash, client_seed } = body.into_inner();
    let mut invalid = Invalid::default();
    let seed_hash = invalid.check("/serverSeedHash", server_seed_hash.parse());
    let client_seed = invalid.check("/clientSeed", client_seed.parse());
    let (seed_hash, client_seed) = invalid.finish(seed_hash.zip(client_seed))?;
    let asked = SpinWheelRequest { is_free: pay == SpinPay::Free, seed_hash, client_seed };
    let command = app.spin_wheel(viewer.user_id, wheel, asked).await?;
    Ok(respond(app.execute_once(command, request, spun).await?))
}

/// List the caller's spins.
///
/// Newest first, each with its proof.
#[utoipa::path(
    tag = "Wheels",
    operation_id = "listSpins",
    params(PageQuery),
    responses((status = 200, description = "A page of spins.", body = SpinList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/spins")]
pub(crate) async fn list_spins(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<SpinList>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.asked(&app, SPINS, &filter)?;
    let found = app.query(ListSpins { user: viewer.user_id, limit: page.limit, after: page.after }).await?;
    let seeds = app.wheel_seeds()?;
    Ok(Json(SpinList {
        spins: found.items.iter().filter_map(|(spin, table)| SpinEntry::new(spin, table, &seeds)).collect(),
        next_cursor: next_cursor(&app, found.next.as_ref(), SPINS, &filter),
    }))
}
