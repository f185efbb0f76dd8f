//! Leagues and teams.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// A league.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct League {
    /// The league.
    id: Uuid,
    /// Its stable key.
    #[schema(example = "premier-league")]
    key: String,
    /// Its name.
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
    /// The team.
    id: Uuid,
    /// Its stable key.
    #[schema(example = "arsenal")]
    key: String,
    /// Its full name.
    #[schema(example = "Arsenal")]
    name: String,
    /// A name that fits on a tab.
    #[schema(example = "Arsenal")]
    short_name: String,
    /// The league that it plays in.
    league_id: Uuid,
    /// Its colours, `#rrggbb`, the main one first.
    #[schema(example = json!(["#ef0107", "#ffffff"]))]
    colors: Vec<String>,
    /// Where its crest is, if there is one.
    crest_url: Option<String>,
    /// How many fans follow it.
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
    /// Where the next page starts; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// A page of teams, by key.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TeamList {
    /// The teams.
    pub(crate) teams: Vec<Team>,
    /// Where the next page starts; null on the last.
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
