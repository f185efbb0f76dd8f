//! Leagues and the teams that play in them.

use terrace_kernel::{LeagueId, TeamId};

/// A competition, in which teams play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct League {
    /// Id of the league.
    pub id: LeagueId,
    /// The stable key in content files.
    pub key: String,
    /// The name that is shown.
    pub name: String,
    /// ISO 3166-1 alpha-2 code, or `INT` for a league of several countries.
    pub country: String,
    /// The sport, such as `football`.
    pub sport: String,
}

/// A club that plays in a league and that fans follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Id of the team.
    pub id: TeamId,
    /// The stable key in content files.
    pub key: String,
    /// The full name.
    pub name: String,
    /// A short name that fits on a tab.
    pub short_name: String,
    /// Id of the league in which the team plays.
    pub league_id: LeagueId,
    /// The colours as `#rrggbb`, the primary one first.
    pub colors: [String; 2],
    /// URL of the crest, if there is one.
    pub crest_url: Option<String>,
    /// The number of fans who follow the team.
    pub follower_count: i64,
    /// Whether the content no longer contains the team. It is not listed, and cannot be followed or chosen any more.
    pub is_retired: bool,
}
