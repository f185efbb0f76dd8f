//! Leagues and teams as content: parsed from TOML, validated as a whole, loaded by their stable keys.

use crate::App;
use crate::store::{Command, into_infallible};
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use terrace_identity::{League, Team, TeamWrite};
use terrace_kernel::{Ctx, Outcome, StoreError, TeamId};

/// Validated leagues and teams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    leagues: Vec<LeagueEntry>,
    teams: Vec<TeamEntry>,
}

/// Why a catalogue was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// The text is not TOML of the expected form; the message contains line and column.
    #[error("{file}: {message}")]
    Malformed {
        /// Which of the two texts it is.
        file: &'static str,
        /// Message of the parser.
        message: String,
    },
    /// The same key occurs twice.
    #[error("{file}: the key {key:?} stands twice")]
    DoubleKey {
        /// Which of the two texts it is.
        file: &'static str,
        /// The duplicate key.
        key: String,
    },
    /// A team's league does not exist.
    #[error("teams: {team:?} plays in {league:?}, which is no league of the catalogue")]
    UnknownLeague {
        /// Key of the team.
        team: String,
        /// Key of the league.
        league: String,
    },
    /// A value violates a rule.
    #[error("{file}: {key:?}: {rule}")]
    Invalid {
        /// Which of the two texts it is.
        file: &'static str,
        /// Key of the entry.
        key: String,
        /// The violated rule.
        rule: &'static str,
    },
}

/// Number of entries in a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueSummary {
    /// Number of leagues.
    pub leagues: usize,
    /// Number of teams.
    pub teams: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeagueEntry {
    key: String,
    name: String,
    country: String,
    sport: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamEntry {
    key: String,
    league: String,
    name: String,
    short_name: String,
    colors: [String; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LeagueFile {
    league: Vec<LeagueEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TeamFile {
    team: Vec<TeamEntry>,
}

const LEAGUES: &str = "leagues";
const TEAMS: &str = "teams";

impl Catalogue {
    /// Returns the embedded catalogue.
    ///
    /// # Errors
    ///
    /// When it is invalid, which tests rule out.
    pub fn embedded() -> Result<Self, CatalogueError> {
        Self::parse(include_str!("../../content/leagues.toml"), include_str!("../../content/teams.toml"))
    }

    /// Parses and validates a catalogue.
    ///
    /// # Errors
    ///
    /// Describes the first error, with a line number if the text is malformed.
    pub fn parse(leagues: &str, teams: &str) -> Result<Self, CatalogueError> {
        let malformed = |file| {
            move |error: toml::de::Error| CatalogueError::Malformed { file, message: error.to_string() }
        };
        let leagues = toml::from_str::<LeagueFile>(leagues).map_err(malformed(LEAGUES))?.league;
        let teams = toml::from_str::<TeamFile>(teams).map_err(malformed(TEAMS))?.team;
        let mut keys = HashSet::new();
        for league in &leagues {
            check_key(LEAGUES, &league.key)?;
            check(LEAGUES, &league.key, !league.name.trim().is_empty(), "a league has a name")?;
            let country = league.country.as_str();
            let known_form = country == "INT"
                || (country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_uppercase()));
            check(LEAGUES, &league.key, known_form, "country is ISO 3166-1 alpha-2, or INT")?;
            once(LEAGUES, &mut keys, &league.key)?;
        }
        let mut team_keys = HashSet::new();
        for team in &teams {
            check_key(TEAMS, &team.key)?;
            check(TEAMS, &team.key, !team.name.trim().is_empty(), "a team has a name")?;
            let short = team.short_name.chars().count();
            check(TEAMS, &team.key, (2..=20).contains(&short), "short_name holds 2 to 20 characters")?;
            check(TEAMS, &team.key, team.colors.iter().all(|color| is_color(color)), "colors are #rrggbb")?;
            once(TEAMS, &mut team_keys, &team.key)?;
            if !keys.contains(team.league.as_str()) {
                return Err(CatalogueError::UnknownLeague {
                    team: team.key.clone(),
                    league: team.league.clone(),
                });
            }
        }
        Ok(Self { leagues, teams })
    }

    /// Returns the number of entries.
    pub fn summary(&self) -> CatalogueSummary {
        CatalogueSummary { leagues: self.leagues.len(), teams: self.teams.len() }
    }

    /// Inserts new entries and updates existing ones, by key; returns the ids of the teams by key.
    pub fn load(&self, tx: &mut dyn TeamWrite, ctx: &mut Ctx) -> Result<HashMap<&str, TeamId>, StoreError> {
        let mut leagues = HashMap::new();
        for entry in &self.leagues {
            let league = League {
                id: ctx.new_id(),
                key: entry.key.clone(),
                name: entry.name.clone(),
                country: entry.country.clone(),
                sport: entry.sport.clone(),
            };
            leagues.insert(entry.key.as_str(), tx.upsert_league(&league, ctx.now())?);
        }
        let mut teams = HashMap::new();
        for entry in &self.teams {
            let league_id = *leagues
                .get(entry.league.as_str())
                .ok_or_else(|| StoreError::defect("load the catalogue", "a team without its league"))?;
            let team = Team {
                id: ctx.new_id(),
                key: entry.key.clone(),
                name: entry.name.clone(),
                short_name: entry.short_name.clone(),
                league_id,
                colors: entry.colors.clone(),
                crest_url: None,
                follower_count: 0,
            };
            teams.insert(entry.key.as_str(), tx.upsert_team(&team, ctx.now())?);
        }
        Ok(teams)
    }
}

fn check(file: &'static str, key: &str, holds: bool, rule: &'static str) -> Result<(), CatalogueError> {
    if holds { Ok(()) } else { Err(CatalogueError::Invalid { file, key: key.to_owned(), rule }) }
}

fn check_key(file: &'static str, key: &str) -> Result<(), CatalogueError> {
    let known_form = (1..=60).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    check(file, key, known_form, "a key holds 1 to 60 of a-z, 0-9 and -")
}

fn once<'k>(file: &'static str, seen: &mut HashSet<&'k str>, key: &'k str) -> Result<(), CatalogueError> {
    if seen.insert(key) { Ok(()) } else { Err(CatalogueError::DoubleKey { file, key: key.to_owned() }) }
}

fn is_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl App {
    /// Loads leagues and teams: inserts new entries, updates existing ones, removes none.
    pub async fn load_catalogue(&self, catalogue: Catalogue) -> Result<CatalogueSummary, StoreError> {
        into_infallible(self.execute(LoadCatalogue { catalogue }).await)
    }
}

struct LoadCatalogue {
    catalogue: Catalogue,
}

impl Command for LoadCatalogue {
    const NAME: &'static str = "load_catalogue";
    type Ports = dyn TeamWrite;
    type Output = CatalogueSummary;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TeamWrite, ctx: &mut Ctx) -> Outcome<CatalogueSummary, Infallible> {
        self.catalogue.load(tx, ctx)?;
        Ok(self.catalogue.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAGUE: &str = "[[league]]\nkey = \"l\"\nname = \"L\"\ncountry = \"GB\"\nsport = \"football\"\n";

    fn team(key: &str, league: &str, color: &str) -> String {
        format!(
            "[[team]]\nkey = \"{key}\"\nleague = \"{league}\"\nname = \"T\"\nshort_name = \"TT\"\n\
             colors = [\"{color}\", \"#ffffff\"]\n"
        )
    }

    #[test]
    fn the_embedded_catalogue_is_valid() {
        let summary = Catalogue::embedded().unwrap().summary();
        assert!(summary.leagues >= 10 && summary.teams >= 200, "{summary:?}");
    }

    #[test]
    fn refusals_name_what_is_wrong() {
        let parse = |teams: &str| Catalogue::parse(LEAGUE, teams).unwrap_err().to_string();
        assert_eq!(
            parse(&team("t", "x", "#000000")),
            "teams: \"t\" plays in \"x\", which is no league of the catalogue"
        );
        assert_eq!(parse(&team("t", "l", "red")), "teams: \"t\": colors are #rrggbb");
        assert_eq!(
            parse(&team("T t", "l", "#000000")),
            "teams: \"T t\": a key holds 1 to 60 of a-z, 0-9 and -"
        );
        let twice = team("t", "l", "#000000") + &team("t", "l", "#000000");
        assert_eq!(parse(&twice), "teams: the key \"t\" stands twice");
        assert!(parse("[[team]]\nkey = \"t\"\nfoo = 1\n").contains("line 3"));
    }
}
