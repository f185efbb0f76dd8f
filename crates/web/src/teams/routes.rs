//! Leagues and teams.

use crate::edge::conditional_json;
use crate::error::ApiError;
use crate::extract::{MaybeSignedIn, PathId, Query};
use crate::platform::{PageQuery, asked, next_cursor};
use crate::teams::dto::{League, LeagueEnvelope, LeagueList, Team, TeamEnvelope, TeamList};
use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use serde::Deserialize;
use terrace_app::App;
use terrace_app::teams::{GetLeague, GetTeam, ListLeagues, ListTeams};
use terrace_kernel::{LeagueId, TeamId};
use utoipa::IntoParams;

const LEAGUES: &str = "leagues";
const TEAMS: &str = "teams";

/// List leagues.
///
/// Ordered by key. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Teams",
    operation_id = "listLeagues",
    params(PageQuery),
    responses(
        (status = 200, description = "A page of leagues.", body = LeagueList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/leagues")]
pub(crate) async fn list_leagues(
    viewer: MaybeSignedIn,
    Query(query): Query<PageQuery>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let page = query.asked(&app, LEAGUES, "")?;
    let leagues = app.query(ListLeagues { limit: page.limit, after: page.after }).await?;
    let body = LeagueList {
        leagues: leagues.items.iter().map(League::from).collect(),
        next_cursor: next_cursor(&app, leagues.next.as_ref(), LEAGUES, ""),
    };
    conditional_json(viewer.0.as_ref(), &body)
}

/// Read a league.
#[utoipa::path(
    tag = "Teams",
    operation_id = "getLeague",
    params(("id" = uuid::Uuid, Path, description = "The id of the league.")),
    responses(
        (status = 200, description = "The league.", body = LeagueEnvelope),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/leagues/{id}")]
pub(crate) async fn get_league(
    viewer: MaybeSignedIn,
    PathId(league): PathId<LeagueId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let league = app.query(GetLeague { league }).await?;
    conditional_json(viewer.0.as_ref(), &LeagueEnvelope { league: League::from(&league) })
}

/// The parameters of the list of teams.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TeamQuery {
    /// Only teams of this league.
    #[param(value_type = Option<uuid::Uuid>)]
    league_id: Option<String>,
    /// The number of rows: 1 to 100, by default 25.
    #[param(minimum = 1, maximum = 100, default = 25)]
    limit: Option<i64>,
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// List teams.
///
/// Ordered by key. Responses carry an `ETag`.
#[utoipa::path(
    tag = "Teams",
    operation_id = "listTeams",
    params(TeamQuery),
    responses(
        (status = 200, description = "A page of teams.", body = TeamList),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/teams")]
pub(crate) async fn list_teams(
    viewer: MaybeSignedIn,
    Query(query): Query<TeamQuery>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let league = query
        .league_id
        .as_deref()
        .map(str::parse::<LeagueId>)
        .transpose()
        .map_err(|error| ApiError::invalid_part("/leagueId", error.to_string()))?;
    let filter = league.map(|league| league.to_string()).unwrap_or_default();
    let page = asked(&app, query.limit, query.cursor.as_deref(), TEAMS, &filter)?;
    let teams = app.query(ListTeams { league, limit: page.limit, after: page.after }).await?;
    let body = TeamList {
        teams: teams.items.iter().map(Team::from).collect(),
        next_cursor: next_cursor(&app, teams.next.as_ref(), TEAMS, &filter),
    };
    conditional_json(viewer.0.as_ref(), &body)
}

/// Read a team.
#[utoipa::path(
    tag = "Teams",
    operation_id = "getTeam",
    params(("id" = uuid::Uuid, Path, description = "The id of the team.")),
    responses(
        (status = 200, description = "The team.", body = TeamEnvelope),
        (status = 304, description = "Nothing has changed."),
    ),
    security((), ("cookie" = []), ("bearer" = [])),
)]
#[get("/api/teams/{id}")]
pub(crate) async fn get_team(
    viewer: MaybeSignedIn,
    PathId(team): PathId<TeamId>,
    app: Data<App>,
) -> Result<HttpResponse, ApiError> {
    let team = app.query(GetTeam { team }).await?;
    conditional_json(viewer.0.as_ref(), &TeamEnvelope { team: Team::from(&team) })
}
