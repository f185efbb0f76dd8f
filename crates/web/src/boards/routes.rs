//! Leaderboards, and the points of the signed-in account.

use crate::boards::dto::{
    JoinBody, JoinedBoard, Leaderboard, LeaderboardList, LeaderboardPage, OwnStanding, PointsPage, Season,
    SeasonList,
};
use crate::boards::pages::{BoardPages, LEADERBOARD};
use crate::cursor::BoardPlace;
use crate::edge::conditional_json;
use crate::error::{ApiError, Code};
use crate::extract::{JsonBody, MaybeSignedIn, Query, SignedIn};
use crate::platform::{PageQuery, asked, next_cursor};
use actix_web::web::{Data, Json};
use actix_web::{HttpResponse, delete, get, post};
use serde::Deserialize;
use terrace_app::boards::{BoardChoice, ChangeBoardMembership, ReadOwnPoints};
use terrace_app::{App, ReadBoard};
use terrace_kernel::{MalformedId, UserId};
use terrace_scoring::{BoardId, SeasonId};
use utoipa::IntoParams;

const POINTS: &str = "points";
const SEASONS: &str = "seasons";

/// The parameters of a board.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct BoardQuery {
    /// The id of the leaderboard; without it and without `teamId`, the global one.
    #[param(value_type = Option<uuid::Uuid>)]
    leaderboard_id: Option<String>,
    /// The team whose leaderboard is requested; it is created on the first request.
    #[param(value_type = Option<uuid::Uuid>)]
    team_id: Option<String>,
    /// `me` or a fan's id: the rows around the fan instead of the top rows; empty if the fan is not listed.
    around: Option<String>,
    /// The id of the season; defaults to the active one, or to the last one between seasons.
    #[param(value_type = Option<uuid::Uuid>)]
    season_id: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` or `previousCursor` of another page.
    cursor: Option<String>,
}

pub(crate) fn id<I: std::str::FromStr<Err = MalformedId>>(
    text: Option<&str>,
    pointer: &str,
) -> Result<Option<I>, ApiError> {
    text.map(str::parse::<I>).transpose().map_err(|error| ApiError::invalid_part(pointer, error.to_string()))
}

pub(crate) fn choice(
    board: Option<BoardId>,
    team: Option<terrace_kernel::TeamId>,
) -> Result<BoardChoice, ApiError> {
    match (board, team) {
        (None, None) => Ok(BoardChoice::Global),
        (Some(board), None) => Ok(BoardChoice::Board(board)),
        (None, Some(team)) => Ok(BoardChoice::Team(team)),
        (Some(_), Some(_)) => Err(ApiError::invalid_part("/teamId", "goes without leaderboardId only")),
    }
}

impl BoardQuery {
    fn around(&self, reader: Option<UserId>) -> Result<Option<UserId>, ApiError> {
        match self.around.as_deref() {
            None => Ok(None),
            Some(_) if self.cursor.is_some() => {
                Err(ApiError::invalid_part("/cursor", "goes without around only"))
            }
            Some("me") => reader.map(Some).ok_or(Code::AuthenticationRequired.into()),
            Some(text) => text.parse().map(Some).map_err(|error: MalformedId| {
                ApiError::invalid_part("/around", format!("neither \"me\" nor an id: {error}"))
            }),
        }
    }
}

/// Read a leaderboard.
///
/// The global one, a team's, or any by its id, in the active season or a closed one. A page is exact as of its
/// `version`; paging by cursor neither repeats nor skips a fan whose points do not change. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Leaderboard",
    operation_id = "readLeaderboard",
    params(BoardQuery),
    responses(
        (status = 200, description = "A page of the leaderboard.", body = LeaderboardPage),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/leaderboard")]
pub(crate) async fn read_leaderboard(
    viewer: MaybeSignedIn,
    Query(query): Query<BoardQuery>,
    app: Data<App>,
    pages: Data<BoardPages>,
) -> Result<HttpResponse, ApiError> {
    let reader = viewer.0.as_ref().map(|viewer| viewer.user_id);
    let board = choice(
        id(query.leaderboard_id.as_deref(), "/leaderboardId")?,
        id(query.team_id.as_deref(), "/teamId")?,
    )?;
    let season: Option<SeasonId> = id(query.season_id.as_deref(), "/seasonId")?;
    let around = query.around(reader)?;
    // Validated before the board is looked up, because a lookup may create the board and a bad request must
    // not.
    let page = asked::<BoardPlace>(&app, query.limit, None, LEADERBOARD, "")?;
    let now = app.boards_now(reader).await;
    let shown = app.find_board(now, board, season).await?;
    let place = match query.cursor.as_deref() {
        Some(cursor) => {
            asked(&app, query.limit, Some(cursor), LEADERBOARD, &BoardPages::filter(&shown))?.after
        }
        None => None,
    };
    let (after, before) = match place {
        None => (None, None),
        Some(BoardPlace::After(key)) => (Some(key), None),
        Some(BoardPlace::Before(key)) => (None, Some(key)),
    };
    let asked = ReadBoard { board, season, around, limit: page.limit, after, before, reader };
    pages.answer(&app, now, &shown, asked, viewer.0.as_ref()).await
}

/// List seasons.
///
/// Ordered by their start, latest first. The time before seasons were counted is not a season. Responses carry an
/// `ETag`.
#[utoipa::path(
    tag = "Leaderboard",
    operation_id = "listSeasons",
    params(PageQuery),
    responses(
        (status = 200, description = "A page of seasons.", body = SeasonList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/seasons")]
pub(crate) async fn list_seasons(
    viewer: MaybeSignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let page = query.asked(&app, SEASONS, "")?;
    let reader = viewer.0.as_ref().map(|viewer| viewer.user_id);
    let seasons = app.seasons(app.boards_now(reader).await).await?;
    let seasons = seasons.page(page.limit, page.after);
    let body = SeasonList {
        seasons: seasons.items.iter().copied().map(Season::from).collect(),
        next_cursor: next_cursor(&app, seasons.next.as_ref(), SEASONS, ""),
    };
    conditional_json(viewer.0.as_ref(), &body)
}

/// List leaderboards.
#[utoipa::path(
    tag = "Leaderboard",
    operation_id = "listLeaderboards",
    responses(
        (status = 200, description = "All leaderboards of the season.", body = LeaderboardList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/leaderboards")]
pub(crate) async fn list_leaderboards(
    viewer: MaybeSignedIn,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let reader = viewer.0.as_ref().map(|viewer| viewer.user_id);
    let (_season, boards) = app.list_boards(reader).await?;
    let leaderboards = boards.iter().map(|(board, name)| Leaderboard::new(board, name)).collect();
    conditional_json(viewer.0.as_ref(), &LeaderboardList { leaderboards })
}

impl JoinBody {
    fn choice(self) -> Result<BoardChoice, ApiError> {
        match choice(self.leaderboard_id.map(|id| id.0), self.team_id.map(|id| id.0))? {
            BoardChoice::Global => {
                Err(ApiError::invalid_part("/leaderboardId", "leaderboardId or teamId is needed"))
            }
            chosen @ (BoardChoice::Board(_) | BoardChoice::Team(_)) => Ok(chosen),
        }
    }
}

async fn change_membership(
    app: &App,
    user: UserId,
    body: JoinBody,
    joins: bool,
) -> Result<Json<JoinedBoard>, ApiError> {
    let board = body.choice()?;
    let joined = app.execute(ChangeBoardMembership { user, board, joins }).await?;
    let now = app.boards_now(Some(user)).await;
    let shown = app.find_board(now, BoardChoice::Board(joined.board.id), Some(joined.season.id)).await?;
    let me = app.standing(now, &shown, user).await.map_err(ApiError::from)?;
    Ok(Json(JoinedBoard {
        leaderboard: Leaderboard::new(&shown.board, &shown.name),
        me: me.as_ref().map(OwnStanding::from),
    }))
}

/// Join a leaderboard.
///
/// The leaderboard lists the fan with their points, zero included. If the fan is listed already, nothing changes.
#[utoipa::path(
    tag = "Leaderboard",
    operation_id = "joinLeaderboard",
    request_body = JoinBody,
    responses((status = 200, description = "The leaderboard and the caller's position.", body = JoinedBoard)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[post("/api/leaderboard/join")]
pub(crate) async fn join_leaderboard(
    SignedIn(viewer): SignedIn,
    body: JsonBody<JoinBody>,
    app: Data<App>,
) -> Result<Json<JoinedBoard>, ApiError> {
    change_membership(&app, viewer.user_id, body.into_inner(), true).await
}

/// Leave a leaderboard.
///
/// The leaderboard no longer lists the fan. Points continue to count and are shown again after the fan rejoins.
#[utoipa::path(
    tag = "Leaderboard",
    operation_id = "leaveLeaderboard",
    request_body = JoinBody,
    responses((status = 200, description = "The leaderboard.", body = JoinedBoard)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[delete("/api/leaderboard/join")]
pub(crate) async fn leave_leaderboard(
    SignedIn(viewer): SignedIn,
    body: JsonBody<JoinBody>,
    app: Data<App>,
) -> Result<Json<JoinedBoard>, ApiError> {
    change_membership(&app, viewer.user_id, body.into_inner(), false).await
}

/// Read the caller's points.
#[utoipa::path(
    tag = "Leaderboard",
    operation_id = "readPoints",
    params(PageQuery),
    responses((status = 200, description = "The sums, and a page of the records.", body = PointsPage)),
    security(("cookie" = []), ("bearer" = [])),
)]
#[get("/api/user/points")]
pub(crate) async fn read_points(
    SignedIn(viewer): SignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<Json<PointsPage>, ApiError> {
    let filter = viewer.user_id.to_string();
    let page = query.asked(&app, POINTS, &filter)?;
    let points =
        app.query(ReadOwnPoints { user: viewer.user_id, limit: page.limit, after: page.after }).await?;
    // Points in this response must also be visible on the boards.
    app.boards_show_points_of(viewer.user_id).await;
    let next = next_cursor(&app, points.page.next.as_ref(), POINTS, &filter);
    Ok(Json(PointsPage::new(&points, next)))
}
