//! Interpretation of rows of an older system: what they refer to in this service, and whether they are valid.

mod fan_rows;

use crate::import::legacy::records::{Bad, Row};
use crate::import::legacy::rows::id_of;
use crate::import::legacy::seasons;
use crate::import::legacy::seasons::Means;
use crate::import::legacy::table::LegacyTable;
use crate::import::lines::printable;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use terrace_identity::{Team, TimeZone, Username, bio, display_name};
use terrace_kernel::{TeamId, Timestamp, UserId, distinct};
use terrace_quests::{Cadence, Quest, QuestId, StepId, find_quest, find_step};
use terrace_scoring::{Season, SeasonId, Seasons};
use terrace_store::legacy::{LegacyRow, LegacyUser};
use uuid::Uuid;

/// Maximum number of characters of an old id.
const LONGEST_ID: usize = 128;

/// The rows of the service that imported rows may refer to, as of one moment.
#[derive(Debug, Clone)]
pub(super) struct Here {
    pub(super) now: Timestamp,
    pub(super) teams: Vec<Team>,
    pub(super) quests: Vec<Quest>,
    pub(super) seasons: Seasons,
}

impl Here {
    /// Digest of everything that affects the interpretation of rows.
    pub(super) fn digest(&self) -> [u8; 32] {
        let teams = self.teams.iter().map(|team| format!("{}/{}/{}", team.id, team.key, team.name));
        let quest =
            |quest: &Quest| format!("{}/{}/{}/{:?}", quest.id, quest.title, quest.key.as_str(), quest.steps);
        let quests = self.quests.iter().map(quest);
        let season = |season: &Season| {
            format!(
                "{}/{}/{}/{:?}-{:?}",
                season.id,
                season.key,
                season.is_counted(),
                season.starts_at,
                season.ends_at
            )
        };
        let all = teams.chain(quests).chain(self.seasons.iter().map(season));
        let digest = all.fold(Sha256::new(), |digest, line| digest.chain_update(line).chain_update([0]));
        digest.finalize().into()
    }
}

/// Result of interpreting a row.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Rows to be moved.
    pub(super) rows: Vec<LegacyRow>,
    /// Why the row, or a part of it, is skipped, and the value concerned.
    pub(super) remark: Option<Bad>,
}

impl Read {
    fn of(row: LegacyRow) -> Self {
        Self { rows: vec![row], remark: None }
    }

    fn left_out(why: &'static str, about: &str) -> Self {
        Self { rows: Vec::new(), remark: Some(Bad::new(why, about)) }
    }
}

/// A step of the service with the properties of its quest.
#[derive(Debug, Clone, Copy)]
struct KnownStep {
    quest: QuestId,
    cadence: Cadence,
    step: StepId,
}

/// A board of the older system.
#[derive(Debug, Clone, Copy)]
enum Board {
    /// Board of a team; `None` if the team has no match.
    Team(Option<TeamId>),
    /// Global board of a season, if the season counts here; otherwise `None`.
    Global(Option<Uuid>),
}

/// State of reading. It grows with the number of fans, by some tens of bytes each, and with the small tables.
#[derive(Debug)]
pub(super) struct ReadState {
    here: Here,
    /// Existing and new seasons.
    seasons: Seasons,
    new_seasons: Vec<Season>,
    meant: HashMap<String, Means>,
    teams: HashMap<String, Option<TeamId>>,
    boards: HashMap<String, Board>,
    /// By old id: index of the quest of the service, and the old title.
    quests: HashMap<String, (Option<usize>, String)>,
    steps: HashMap<String, Option<KnownStep>>,
    users: HashMap<UserId, TimeZone>,
    names: HashSet<Uuid>,
}

impl ReadState {
    /// Creates a state that contains only the rows of the service.
    pub(super) fn new(here: Here) -> Self {
        Self {
            seasons: here.seasons.clone(),
            here,
            new_seasons: Vec::new(),
            meant: HashMap::new(),
            teams: HashMap::new(),
            boards: HashMap::new(),
            quests: HashMap::new(),
            steps: HashMap::new(),
            users: HashMap::new(),
            names: HashSet::new(),
        }
    }

    /// Seasons that do not exist in the service.
    pub(super) fn new_seasons(&self) -> &[Season] {
        &self.new_seasons
    }

    /// All seasons, including new ones.
    pub(super) const fn seasons(&self) -> &Seasons {
        &self.seasons
    }

    /// Teams whose boards are needed.
    pub(super) fn teams_with_boards(&self) -> Vec<TeamId> {
        let team = |board: &Board| match board {
            Board::Team(team) => *team,
            Board::Global(_) => None,
        };
        distinct(self.boards.values().filter_map(team))
    }

    /// Interprets a row.
    pub(super) fn read(&mut self, table: LegacyTable, row: &Row<'_>) -> Result<Read, Bad> {
        match table {
            LegacyTable::Season => self.season(row),
            LegacyTable::Team => self.team(row),
            LegacyTable::Leaderboard => self.board(row),
            LegacyTable::Quest => self.quest(row),
            LegacyTable::QuestStep => self.step(row),
            LegacyTable::User => self.user(row),
            LegacyTable::PointsHistory => self.points(row),
            LegacyTable::UserQuestStatus => self.run(row),
            LegacyTable::UserStepStatus => self.step_done(row),
            LegacyTable::LeaderboardEntry => self.entry(row),
            LegacyTable::Follow => self.follow(row),
        }
    }

    fn season(&mut self, row: &Row<'_>) -> Result<Read, Bad> {
        let id = id(row, "id")?;
        let (means, new) = seasons::read(row, &self.seasons, self.here.now)?;
        unique(self.meant.insert(id.clone(), means).as_ref(), &id)?;
        if let Some((season, all)) = new {
            self.seasons = all;
            self.new_seasons.push(season);
        }
        Ok(Read::default())
    }

    fn team(&mut self, row: &Row<'_>) -> Result<Read, Bad> {
        let id = id(row, "id")?;
        let (key, name) = (row.get("key"), row.get("name"));
        let same = |one: &str, other: &str| one.to_lowercase() == other.to_lowercase();
        let by_key = self.here.teams.iter().find(|team| team.key == key);
        let found = by_key.or_else(|| self.here.teams.iter().find(|team| same(&team.name, name)));
        let team = found.map(|team| team.id);
        unique(self.teams.insert(id.clone(), team).as_ref(), &id)?;
        Ok(match team {
            Some(_) => Read::default(),
            None => Read::left_out("no team of the service has this key or name", name),
        })
    }

    fn board(&mut self, row: &Row<'_>) -> Result<Read, Bad> {
        let id = id(row, "id")?;
        let board = match (row.filled("teamId"), row.filled("seasonId")) {
            (Some(team), _) => {
                Board::Team(*named(&self.teams, team, "names a team that Team.csv does not have")?)
            }
            (None, Some(season)) => {
                let means = named(&self.meant, season, "names a season that Season.csv does not have")?;
                Board::Global(means.season().map(SeasonId::as_uuid))
            }
            (None, None) => Board::Global(None),
        };
        unique(self.boards.insert(id.clone(), board).as_ref(), &id)?;
        Ok(match board {
            Board::Team(None) => Read::left_out("is the board of a team that did not match", &id),
            Board::Team(Some(_)) | Board::Global(_) => Read::default(),
        })
    }

    fn quest(&mut self, row: &Row<'_>) -> Result<Read, Bad> {
        let (id, title) = (id(row, "id")?, row.get("title"));
        let found = find_quest(&self.here.quests, title);
        let place =
            found.ok().and_then(|found| self.here.quests.iter().position(|quest| quest.id == found.id));
        unique(self.quests.insert(id.clone(), (place, title.to_owned())).as_ref(), &id)?;
        Ok(match found {
            Ok(_) => Read::default(),
            Err(why) => Read::left_out(seasons::words(why), title),
        })
    }

    fn step(&mut self, row: &Row<'_>) -> Result<Read, Bad> {
        let (id, title) = (id(row, "id")?, row.get("title"));
        let (_, quest) =
            named(&self.quests, row.get("questId"), "names a quest that Quest.csv does not have")?;
        let found = find_step(&self.here.quests, Some(quest), title);
        let step = found.ok().map(|(quest, step)| KnownStep {
            quest: quest.id,
            cadence: quest.cadence,
            step: step.id,
        });
        unique(self.steps.insert(id.clone(), step).as_ref(), &id)?;
        Ok(match found {
            Ok(_) => Read::default(),
            Err(why) => Read::left_out(seasons::words(why), &format!("{quest} / {title}")),
        })
    }

    /// Interprets a fan. The fan is registered by [`Self::admit`].
    fn user(&self, row: &Row<'_>) -> Result<Read, Bad> {
        let id = id(row, "id")?;
        let username = Username::parse(row.get("username")).map_err(|error| wrong("username", &error))?;
        let display_name =
            display_name(row.get("displayName")).map_err(|error| wrong("displayName", &error))?;
        let bio = bio(row.get("bio")).map_err(|error| wrong("bio", &error))?;
        let zone = row.filled("timeZone").map_or(Ok(TimeZone::UTC), str::parse);
        let time_zone = zone.map_err(|error| wrong("timeZone", &error))?;
        let created_at = self.past(row, "createdAt")?;
        let wanted = row.filled("favoriteTeamId");
        let team = wanted
            .map(|team| named(&self.teams, team, "names a team that Team.csv does not have"))
            .transpose()?;
        let favorite_team = team.copied().flatten();
        let lost = wanted.is_some() && favorite_team.is_none();
        let id = id_of("User", &id);
        let user = LegacyUser { id, username, display_name, bio, favorite_team, time_zone, created_at };
        let remark =
            lost.then(|| Bad::new("the favourite team did not match: it is left empty", row.get("username")));
        Ok(Read { rows: vec![LegacyRow::User(user)], remark })
    }

    /// Registers a fan, unless the id or name occurred before.
    pub(super) fn admit(&mut self, user: &LegacyUser) -> Result<(), Bad> {
        if self.users.contains_key(&user.id) {
            return Err(Bad::new("has an id that came before", user.username.as_str()));
        }
        if !self.names.insert(id_of("name", user.username.key())) {
            return Err(Bad::new("has a username that came before", user.username.as_str()));
        }
        self.users.insert(user.id, user.time_zone);
        Ok(())
    }
}

fn id(row: &Row<'_>, column: &str) -> Result<String, Bad> {
    let text = row.get(column);
    if text.is_empty() || text.chars().count() > LONGEST_ID {
        return Err(Bad::new("has no id of 1 to 128 characters", text));
    }
    Ok(text.to_owned())
}

fn named<'k, T>(known: &'k HashMap<String, T>, old: &str, why: &'static str) -> Result<&'k T, Bad> {
    known.get(old).ok_or_else(|| Bad::new(why, old))
}

fn unique<T>(before: Option<&T>, id: &str) -> Result<(), Bad> {
    if before.is_some() { Err(Bad::new("has an id that came before", id)) } else { Ok(()) }
}

/// An error of a value, by its column.
fn wrong(column: &'static str, error: &dyn std::fmt::Display) -> Bad {
    Bad { kind: column, about: printable(&error.to_string()) }
}
