//! Queries for leagues and teams.

use crate::accounts::NotFound;
use crate::store::Query;
use std::convert::Infallible;
use terrace_identity::{League, Team, TeamRead};
use terrace_kernel::{Failure, LeagueId, Limit, Outcome, Page, TeamId, Timestamp};

/// Lists leagues in the order of their keys.
#[derive(Debug, Clone)]
pub struct ListLeagues {
    /// Maximum number of leagues.
    pub limit: Limit,
    /// Key after which the page starts.
    pub after: Option<String>,
}

impl Query for ListLeagues {
    const NAME: &'static str = "list_leagues";
    const ALLOW_STALE: bool = true;
    type Ports = dyn TeamRead;
    type Output = Page<League, String>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TeamRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.leagues(self.limit, self.after.as_deref())?)
    }
}

/// Finds a league.
#[derive(Debug, Clone)]
pub struct GetLeague {
    /// League to find.
    pub league: LeagueId,
}

impl Query for GetLeague {
    const NAME: &'static str = "get_league";
    const ALLOW_STALE: bool = true;
    type Ports = dyn TeamRead;
    type Output = League;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn TeamRead, _now: Timestamp) -> Outcome<League, NotFound> {
        tx.league(self.league)?.ok_or(Failure::Refused(NotFound))
    }
}

/// Lists teams in the order of their keys.
#[derive(Debug, Clone)]
pub struct ListTeams {
    /// League to which the list is restricted, if any.
    pub league: Option<LeagueId>,
    /// Maximum number of teams.
    pub limit: Limit,
    /// Key after which the page starts.
    pub after: Option<String>,
}

impl Query for ListTeams {
    const NAME: &'static str = "list_teams";
    const ALLOW_STALE: bool = true;
    type Ports = dyn TeamRead;
    type Output = Page<Team, String>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TeamRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.teams(self.league, self.limit, self.after.as_deref())?)
    }
}

/// Finds a team.
#[derive(Debug, Clone)]
pub struct GetTeam {
    /// Team to find.
    pub team: TeamId,
}

impl Query for GetTeam {
    const NAME: &'static str = "get_team";
    const ALLOW_STALE: bool = true;
    type Ports = dyn TeamRead;
    type Output = Team;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn TeamRead, _now: Timestamp) -> Outcome<Team, NotFound> {
        tx.team(self.team)?.ok_or(Failure::Refused(NotFound))
    }
}
