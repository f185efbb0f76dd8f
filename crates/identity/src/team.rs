//! Leagues and the teams that play in them.

use terrace_kernel::{LeagueId, TeamId};

/// A league.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct League {
    /// Its id.
    pub id: LeagueId,
    /// Its stable key in content files.
    pub key: String,
    /// Its name.
    pub name: String,
    /// ISO 3166-1 alpha-2, or `INT` for one of several countries.
    pub country: String,
    /// The sport, such as `football`.
    pub sport: String,
}

/// A team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Team {
    /// Its id.
    pub id: TeamId,
    /// Its stable key in content files.
    pub key: String,
    /// Its full name.
    pub name: String,
    /// A name that fits on a tab.
    pub short_name: String,
    /// The league it plays in.
    pub league_id: LeagueId,
    /// Its colours, `#rrggbb`, the main one first.
    pub colors: [String; 2],
    /// Where its crest is shown from, when there is one.
    pub crest_url: Option<String>,
    /// How many fans follow it.
    pub follower_count: i64,
}
