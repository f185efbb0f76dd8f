//! Leagues and teams.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A league.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct League {
    /// The id of the league.
    id: Uuid,
    /// The stable key of the league.
    #[schema(example = "premier-league")]
    key: String,
    /// The name of the league.
    #[schema(example = "Premier League")]
    name: String,
    /// ISO 3166-1 alpha-2, or `INT` for several countries.
    #[schema(example = "GB")]
    country: String,
    /// The sport.
    #[schema(example = "football")]
    sport: String,
}

impl From<&terrace_identity::League> for League {
    fn from(league: &terrace_identity::League) -> Self {
        Self {
            id: league.id.as_uuid(),
            key: league.key.clone(),
            name: league.name.clone(),
            country: league.country.clone(),
            sport: league.sport.clone(),
        }
    }
}

/// A team.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Team {
    /// The id of the team.
    id: Uuid,
    /// The stable key of the team.
    #[schema(example = "arsenal")]
    key: String,
    /// The full name of the team.
    #[schema(example = "Arsenal")]
    name: String,
    /// A short name.
    #[schema(example = "Arsenal")]
    short_name: String,
    /// The league that the team plays in.
    league_id: Uuid,
    /// The team's colours, `#rrggbb`, the main one first.
    #[schema(example = json!(["#ef0107", "#ffffff"]))]
    colors: Vec<String>,
    /// The URL of the crest, if there is one.
    #[schema(required)]
    crest_url: Option<String>,
    /// The number of followers.
    follower_count: i64,
}

impl From<&terrace_identity::Team> for Team {
    fn from(team: &terrace_identity::Team) -> Self {
        Self {
            id: team.id.as_uuid(),
            key: team.key.clone(),
            name: team.name.clone(),
            short_name: team.short_name.clone(),
            league_id: team.league_id.as_uuid(),
            colors: team.colors.to_vec(),
            crest_url: team.crest_url.clone(),
            follower_count: team.follower_count,
        }
    }
}

/// A page of leagues, by key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeagueList {
    /// The leagues.
    pub(crate) leagues: Vec<League>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// A page of teams, by key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TeamList {
    /// The teams.
    pub(crate) teams: Vec<Team>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// One league.
#[derive(Serialize, ToSchema)]
pub(crate) struct LeagueEnvelope {
    /// The league.
    pub(crate) league: League,
}

/// One team.
#[derive(Serialize, ToSchema)]
pub(crate) struct TeamEnvelope {
    /// The team.
    pub(crate) team: Team,
}
