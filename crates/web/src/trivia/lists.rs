//! Lists of rounds, and the standings of a round.

use crate::error::ApiError;
use crate::extract::{MaybeSignedIn, PathId, Query, SignedIn};
use crate::platform::{PageQuery, asked, next_cursor};
use crate::trivia::dto::{Round, RoundList, StandingList};
use actix_web::get;
use actix_web::web::{Data, Json};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::trivia::{ListOwnRounds, ListRounds, ReadStandings};
use terrace_games::{RoundId, RoundList as DomainList, StandingKey};
use terrace_kernel::TimeKey;
use utoipa::{IntoParams, ToSchema};

const ROUNDS: &str = "rounds";
const OWN_ROUNDS: &str = "own-rounds";
const STANDINGS: &str = "round-standings";

/// Which rounds a list has.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ListStatus {
    /// Those that are open or to come, the earliest start first.
    #[default]
    Current,
    /// Those that are over or were cancelled, the latest end first.
    Past,
}

/// The parameters of the list of rounds.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RoundsQuery {
    /// `current`, the default: rounds that are open or to come, the earliest start first; `past`: those that are over or
    /// were cancelled, the latest end first.
    #[param(inline)]
    status: Option<ListStatus>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// List rounds of trivia.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "listRounds",
    params(RoundsQuery),
    responses((status = 200, description = "A page of rounds.", body = RoundList)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/trivia")]
pub(crate) async fn list_rounds(
    viewer: MaybeSignedIn,
    Query(query): Query<RoundsQuery>,
    app: Data<App>,
) -> Result<Json<RoundList>, ApiError> {
    let (list, filter) = match query.status.unwrap_or_default() {
        ListStatus::Current => (DomainList::Current, "current"),
        ListStatus::Past => (DomainList::Past, "past"),
    };
    let page = asked::<TimeKey>(&app, query.limit, query.cursor.as_deref(), ROUNDS, filter)?;
    let now = app.now();
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let found = app.query(ListRounds { list, reader, limit: page.limit, after: page.after }).await?;
    Ok(Json(RoundList {
        rounds: found.items.iter().map(|view| Round::new(view, now)).collect(),
        next_cursor: next_cursor(&app, found.next.as_ref(), ROUNDS, filter),
    }))
}

/// List the rounds that the caller has joined.
///
/// The latest first. The score has only the answers whose results are known.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "listOwnRounds",
    params(PageQuery),
    responses((status = 200, description = "A page of rounds.", body = RoundList)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/rounds")]
pub(crate) async fn list_own_rounds(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<RoundList>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.asked::<TimeKey>(&app, OWN_ROUNDS, &filter)?;
    let now = app.now();
    let read = ListOwnRounds { user: viewer.user_id, limit: page.limit, after: page.after };
    let found = app.query(read).await?;
    Ok(Json(RoundList {
        rounds: found.items.iter().map(|view| Round::new(view, now)).collect(),
        next_cursor: next_cursor(&app, found.next.as_ref(), OWN_ROUNDS, &filter),
    }))
}

/// Read the standings of a round.
///
/// By score, then time, then who joined first. Of a live round only the questions that have closed count.
#[utoipa::path(
    tag = "Trivia",
    operation_id = "readStandings",
    params(("id" = uuid::Uuid, Path, description = "The id of the round."), PageQuery),
    responses((status = 200, description = "A page of the standings.", body = StandingList)),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/trivia/{id}/leaderboard")]
pub(crate) async fn read_standings(
    viewer: MaybeSignedIn,
    PathId(round): PathId<RoundId>,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<StandingList>, ApiError> {
    let filter = round.to_string();
    let page = query.asked::<StandingKey>(&app, STANDINGS, &filter)?;
    let reader = viewer.0.map(|viewer| viewer.user_id);
    let found = app.query(ReadStandings { round, reader, limit: page.limit, after: page.after }).await?;
    let next = next_cursor(&app, found.next.as_ref(), STANDINGS, &filter);
    Ok(Json(StandingList::new(&found, next)))
}
