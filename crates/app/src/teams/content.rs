//! Leagues and teams as content: parsed from TOML, validated as a whole, loaded by their stable keys.

use crate::App;
use crate::content::{ContentFaults, Entry, Fields, Text, crest_url, is_color};
use crate::store::{Command, into_infallible};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use terrace_identity::{League, Team, TeamWrite};
use terrace_kernel::{Ctx, LeagueId, Outcome, StoreError, TeamId};
use uuid::Uuid;

/// Leagues and teams; valid, unless reading them noted faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    leagues: Vec<LeagueEntry>,
    teams: Vec<TeamEntry>,
    /// Whether there may be teams whose keys could not be read.
    is_open: bool,
}

/// Number of entries in a catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueSummary {
    /// Number of leagues.
    pub leagues: usize,
    /// Number of teams.
    pub teams: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct LeagueEntry {
    key: String,
    name: String,
    country: String,
    sport: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TeamEntry {
    key: String,
    /// Key of a league; `None` if it could not be read.
    league: Option<String>,
    name: String,
    short_name: String,
    colors: [String; 2],
    /// Path of a picture in the folder of the content.
    crest: Option<String>,
    line: usize,
}

fn league(fields: &mut Fields<'_, '_>) -> LeagueEntry {
    LeagueEntry {
        key: fields.key(),
        name: fields.text("name", "League"),
        country: fields.text("country", INTERNATIONAL),
        sport: fields.text("sport", "football"),
    }
}

fn team(fields: &mut Fields<'_, '_>) -> TeamEntry {
    TeamEntry {
        key: fields.key(),
        league: fields.required("league", None),
        name: fields.text("name", "Team"),
        short_name: fields.text("short_name", "Team"),
        colors: fields.required("colors", [(); 2].map(|()| "#000000".to_owned())),
        crest: fields.optional("crest"),
        line: fields.line,
    }
}

/// Names of the files in messages.
const LEAGUES: &str = "leagues.toml";
const TEAMS: &str = "teams.toml";
/// The country of a league of several countries.
const INTERNATIONAL: &str = "INT";

impl Catalogue {
    /// Returns the embedded catalogue.
    ///
    /// # Errors
    ///
    /// When it is invalid, which tests rule out.
    pub fn embedded() -> Result<Self, ContentFaults> {
        Self::parse(include_str!("../../content/leagues.toml"), include_str!("../../content/teams.toml"))
    }

    /// Parses and validates a catalogue.
    ///
    /// # Errors
    ///
    /// All faults, with line numbers.
    pub fn parse(leagues: &str, teams: &str) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let catalogue = Self::read(Some(leagues), Some(teams), &mut faults);
        faults.unless_any(catalogue)
    }

    /// Parses a catalogue and notes all faults. An entry with faults is part of the result, so that references to it are
    /// no faults. A file that is `None` exists and cannot be read.
    pub fn read(leagues: Option<&str>, teams: Option<&str>, faults: &mut ContentFaults) -> Self {
        let text = Text::new(LEAGUES, leagues);
        let [entries] = text.entries(["league"], faults);
        let any_league = entries.is_open;
        let leagues = text.read_all(entries, faults, league);
        let mut keys = HashSet::new();
        for Entry { place, value } in &leagues {
            let mut check = |holds: bool, rule: &str| {
                if !holds {
                    place.fault(faults, format!("{:?}: {rule}", value.key));
                }
            };
            check(is_key(&value.key), KEY_RULE);
            check(!value.name.trim().is_empty(), "a league has a name");
            let country = value.country.as_str();
            let is_country = country == INTERNATIONAL
                || (country.len() == 2 && country.bytes().all(|byte| byte.is_ascii_uppercase()));
            check(is_country, "country is ISO 3166-1 alpha-2, or INT");
            check(keys.insert(value.key.as_str()), "the key is used twice");
        }
        let text = Text::new(TEAMS, teams);
        let [entries] = text.entries(["team"], faults);
        let is_open = entries.is_open;
        let teams = text.read_all(entries, faults, team);
        let mut team_keys = HashSet::new();
        for Entry { place, value } in &teams {
            let mut check = |holds: bool, rule: &str| {
                if !holds {
                    place.fault(faults, format!("{:?}: {rule}", value.key));
                }
            };
            check(is_key(&value.key), KEY_RULE);
            check(!value.name.trim().is_empty(), "a team has a name");
            let short = value.short_name.chars().count();
            check((2..=20).contains(&short), "short_name holds 2 to 20 characters");
            check(value.colors.iter().all(|color| is_color(color)), "colors are #rrggbb");
            check(team_keys.insert(value.key.as_str()), "the key is used twice");
            if let Some(league) = value.league.as_deref().filter(|_| !any_league) {
                check(keys.contains(league), &format!("there is no league {league:?}"));
            }
        }
        let leagues = leagues.into_iter().map(|entry| entry.value).collect();
        let teams = teams.into_iter().map(|entry| entry.value).collect();
        Self { leagues, teams, is_open }
    }

    /// Whether a team has this key, or may have it.
    pub fn has_team(&self, key: &str) -> bool {
        self.is_open || self.teams.iter().any(|team| team.key == key)
    }

    /// The colours of the team with this key.
    pub(crate) fn colors(&self, key: &str) -> Option<&[String; 2]> {
        self.teams.iter().find(|team| team.key == key).map(|team| &team.colors)
    }

    /// The pictures that teams name, as file, line and path.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, usize, &str)> {
        self.teams.iter().filter_map(|team| Some((TEAMS, team.line, team.crest.as_deref()?)))
    }

    /// The rows that the catalogue describes. `league` returns the id of a stored league, `team` the id and the number of
    /// followers of a stored team, `picture` the URL of a picture of the content.
    pub fn rows(
        &self,
        league: impl Fn(&str) -> Option<LeagueId>,
        team: impl Fn(&str) -> Option<(TeamId, i64)>,
        picture: impl Fn(&str) -> Option<String>,
        mut new_id: impl FnMut() -> Uuid,
    ) -> (Vec<League>, Vec<Team>) {
        let leagues: Vec<League> = self
            .leagues
            .iter()
            .map(|entry| League {
                id: league(&entry.key).unwrap_or_else(|| LeagueId::from_uuid(new_id())),
                key: entry.key.clone(),
                name: entry.name.clone(),
                country: entry.country.clone(),
                sport: entry.sport.clone(),
            })
            .collect();
        let ids: HashMap<&str, LeagueId> = leagues.iter().map(|row| (row.key.as_str(), row.id)).collect();
        let teams = self.teams.iter().filter_map(|entry| {
            let (id, follower_count) = team(&entry.key).unwrap_or_else(|| (TeamId::from_uuid(new_id()), 0));
            Some(Team {
                id,
                key: entry.key.clone(),
                name: entry.name.clone(),
                short_name: entry.short_name.clone(),
                league_id: *ids.get(entry.league.as_deref()?)?,
                colors: entry.colors.clone(),
                crest_url: entry
                    .crest
                    .as_deref()
                    .and_then(&picture)
                    .or_else(|| Some(crest_url(&entry.key, &entry.colors))),
                follower_count,
                is_retired: false,
            })
        });
        let teams = teams.collect();
        (leagues, teams)
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
                .get(entry.league.as_deref().unwrap_or_default())
                .ok_or_else(|| StoreError::defect("load the catalogue", "a team without its league"))?;
            let team = Team {
                id: ctx.new_id(),
                key: entry.key.clone(),
                name: entry.name.clone(),
                short_name: entry.short_name.clone(),
                league_id,
                colors: entry.colors.clone(),
                crest_url: Some(crest_url(&entry.key, &entry.colors)),
                follower_count: 0,
                is_retired: false,
            };
            teams.insert(entry.key.as_str(), tx.upsert_team(&team, ctx.now())?);
        }
        Ok(teams)
    }
}

const KEY_RULE: &str = "a key holds 1 to 60 of a-z, 0-9 and -";

fn is_key(key: &str) -> bool {
    (1..=60).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
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
        assert_eq!(parse(&team("t", "x", "#000000")), "teams.toml:1: \"t\": there is no league \"x\"");
        assert_eq!(parse(&team("t", "l", "red")), "teams.toml:1: \"t\": colors are #rrggbb");
        assert_eq!(parse(&team("T t", "l", "#000000")), format!("teams.toml:1: \"T t\": {KEY_RULE}"));
        let twice = team("t", "l", "#000000") + &team("t", "l", "#000000");
        assert_eq!(parse(&twice), "teams.toml:7: \"t\": the key is used twice");
        assert_eq!(
            parse("[[team]]\nkey = \"t\"\nfoo = 1\nshort_name = 4\ncolors = [\"#000000\"]\n"),
            "teams.toml:1: missing field `league`\nteams.toml:1: missing field `name`\n\
             teams.toml:3: unknown field `foo`; known are key, league, name, short_name, colors, crest\n\
             teams.toml:4: `short_name`: invalid type: integer `4`, expected a string\n\
             teams.toml:5: `colors`: invalid length 1, expected an array of length 2"
        );
    }

    #[test]
    fn a_syntax_error_hides_no_fault_of_another_entry() {
        let broken = "[[team]]\nkey = \"broken\"\nname = \"B\n".to_owned();
        for (teams, expected) in [
            (broken.clone() + &team("t", "l", "red"), ["teams.toml:3: ", "teams.toml:4: \"t\": colors"]),
            (team("t", "l", "red") + &broken, ["teams.toml:1: \"t\": colors", "teams.toml:9: "]),
            // A header without a bracket begins an entry as well.
            (
                team("t", "l", "red") + &team("u", "l", "#000000").replace("]]", "]"),
                ["teams.toml:1: \"t\": colors", "teams.toml:7: "],
            ),
        ] {
            let mut faults = ContentFaults::default();
            let catalogue = Catalogue::read(Some(LEAGUE), Some(&teams), &mut faults);
            let said: Vec<_> = faults.sorted().iter().map(ToString::to_string).collect();
            assert_eq!(said.len(), 2, "{said:?}");
            assert!(said.iter().zip(expected).all(|(fault, start)| fault.starts_with(start)), "{said:?}");
            let other = if teams.contains("broken") { "broken" } else { "u" };
            assert!(catalogue.has_team("t") && catalogue.has_team(other) && !catalogue.has_team("x"));
        }
    }

    #[test]
    fn what_cannot_be_read_is_not_missed() {
        let mut faults = ContentFaults::default();
        let catalogue = Catalogue::read(None, Some(&team("t", "x", "#000000")), &mut faults);
        assert!(catalogue.has_team("t") && !catalogue.has_team("u"));
        assert!(Catalogue::read(Some(LEAGUE), None, &mut faults).has_team("u"));
        assert_eq!(faults.count(), 0, "{faults}");
        // Without leagues, no team can be in one.
        let said = Catalogue::parse("", &team("t", "x", "#000000")).unwrap_err().to_string();
        assert_eq!(said, "teams.toml:1: \"t\": there is no league \"x\"");
    }
}
