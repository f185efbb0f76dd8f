//! Leagues and teams.

#![expect(clippy::ref_option_ref, reason = "diesel derives this for a row with an optional text")]

pub(crate) mod schema;

use crate::conn::on;
use crate::error::broken;
use crate::rows::limited;
use crate::schema::{leagues, teams};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_identity::{League, Team, TeamRead, TeamWrite};
use terrace_kernel::{LeagueId, Limit, Page, StoreError, TeamId, Timestamp, num};

#[derive(Queryable, Selectable)]
#[diesel(table_name = leagues)]
struct LeagueRow {
    id: Key,
    key: String,
    name: String,
    country: String,
    sport: String,
}

impl From<LeagueRow> for League {
    fn from(row: LeagueRow) -> Self {
        Self { id: row.id.id(), key: row.key, name: row.name, country: row.country, sport: row.sport }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = teams)]
pub(crate) struct TeamRow {
    id: Key,
    key: String,
    name: String,
    short_name: String,
    league_id: Key,
    primary_color: String,
    secondary_color: String,
    crest_url: Option<String>,
    follower_count: i64,
    is_retired: bool,
}

impl From<TeamRow> for Team {
    fn from(row: TeamRow) -> Self {
        Self {
            id: row.id.id(),
            key: row.key,
            name: row.name,
            short_name: row.short_name,
            league_id: row.league_id.id(),
            colors: [row.primary_color, row.secondary_color],
            crest_url: row.crest_url,
            follower_count: row.follower_count,
            is_retired: row.is_retired,
        }
    }
}

/// The columns of a league that come from content; an update writes the same columns.
#[derive(Clone, Copy, Insertable, AsChangeset)]
#[diesel(table_name = leagues)]
struct LeagueContent<'a> {
    name: &'a str,
    country: &'a str,
    sport: &'a str,
}

/// The columns of a team that come from content; an update writes the same columns.
#[derive(Clone, Copy, Insertable, AsChangeset)]
#[diesel(table_name = teams, treat_none_as_default_value = false, treat_none_as_null = true)]
struct TeamContent<'a> {
    name: &'a str,
    short_name: &'a str,
    league_id: Key,
    primary_color: &'a str,
    secondary_color: &'a str,
    crest_url: Option<&'a str>,
    is_retired: bool,
}

impl DieselTx<'_> {
    /// The teams with these ids, in no particular order.
    pub(crate) fn teams_among(&mut self, ids: &[TeamId]) -> Result<Vec<Team>, StoreError> {
        let ids = ids.iter().copied().map(Key::of);
        let rows: Vec<TeamRow> = on!(self.conn, |conn| {
            teams::table.filter(teams::id.eq_any(ids)).select(TeamRow::as_select()).load(conn)
        })
        .map_err(broken("read teams by their ids"))?;
        Ok(rows.into_iter().map(Team::from).collect())
    }
}

impl TeamRead for DieselTx<'_> {
    fn team_by_key(&mut self, key: &str) -> Result<Option<TeamId>, StoreError> {
        let id: Option<Key> = on!(self.conn, |conn| {
            teams::table.filter(teams::key.eq(key)).select(teams::id).first(conn).optional()
        })
        .map_err(broken("find a team by its key"))?;
        Ok(id.map(Key::id))
    }

    fn leagues(&mut self, limit: Limit, after: Option<&str>) -> Result<Page<League, String>, StoreError> {
        let rows: Vec<LeagueRow> = on!(self.conn, |conn| {
            let with_teams = teams::table.filter(teams::is_retired.eq(false)).select(teams::league_id);
            let mut query = leagues::table
                .filter(leagues::id.eq_any(with_teams))
                .select(LeagueRow::as_select())
                .into_boxed();
            if let Some(key) = after {
                query = query.filter(leagues::key.gt(key));
            }
            limited(query.order(leagues::key), limit).load(conn)
        })
        .map_err(broken("list leagues"))?;
        let leagues = rows.into_iter().map(League::from).collect();
        Ok(Page::from_overfull(leagues, limit, |league: &League| league.key.clone()))
    }

    fn all_leagues(&mut self) -> Result<Vec<League>, StoreError> {
        let rows: Vec<LeagueRow> = on!(self.conn, |conn| leagues::table
            .select(LeagueRow::as_select())
            .order(leagues::key)
            .load(conn))
        .map_err(broken("list all leagues"))?;
        Ok(rows.into_iter().map(League::from).collect())
    }

    fn league(&mut self, id: LeagueId) -> Result<Option<League>, StoreError> {
        let row: Option<LeagueRow> = on!(self.conn, |conn| {
            leagues::table.find(Key::of(id)).select(LeagueRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a league"))?;
        Ok(row.map(League::from))
    }

    fn teams(
        &mut self,
        league: Option<LeagueId>,
        limit: Limit,
        after: Option<&str>,
    ) -> Result<Page<Team, String>, StoreError> {
        let rows: Vec<TeamRow> = on!(self.conn, |conn| {
            let mut query =
                teams::table.filter(teams::is_retired.eq(false)).select(TeamRow::as_select()).into_boxed();
            if let Some(league) = league {
                query = query.filter(teams::league_id.eq(Key::of(league)));
            }
            if let Some(key) = after {
                query = query.filter(teams::key.gt(key));
            }
            limited(query.order(teams::key), limit).load(conn)
        })
        .map_err(broken("list teams"))?;
        let teams = rows.into_iter().map(Team::from).collect();
        Ok(Page::from_overfull(teams, limit, |team: &Team| team.key.clone()))
    }

    fn all_teams(&mut self) -> Result<Vec<Team>, StoreError> {
        let rows: Vec<TeamRow> =
            on!(self.conn, |conn| teams::table.select(TeamRow::as_select()).order(teams::key).load(conn))
                .map_err(broken("list all teams"))?;
        Ok(rows.into_iter().map(Team::from).collect())
    }

    fn team(&mut self, id: TeamId) -> Result<Option<Team>, StoreError> {
        let row: Option<TeamRow> = on!(self.conn, |conn| {
            teams::table.find(Key::of(id)).select(TeamRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a team"))?;
        Ok(row.map(Team::from))
    }
}

impl TeamWrite for DieselTx<'_> {
    fn upsert_league(&mut self, league: &League, at: Timestamp) -> Result<LeagueId, StoreError> {
        let content = LeagueContent { name: &league.name, country: &league.country, sport: &league.sport };
        let identity = (
            leagues::id.eq(Key::of(league.id)),
            leagues::key.eq(&league.key),
            leagues::created_at.eq(At(at)),
        );
        let id: Key = on!(self.conn, |conn| {
            diesel::insert_into(leagues::table)
                .values((identity, content))
                .on_conflict(leagues::key)
                .do_update()
                .set(content)
                .returning(leagues::id)
                .get_result(conn)
        })
        .map_err(broken("upsert a league"))?;
        Ok(id.id())
    }

    fn retire_teams(&mut self, keep: &[&str]) -> Result<u64, StoreError> {
        let others = teams::table.filter(teams::key.ne_all(keep)).filter(teams::is_retired.eq(false));
        on!(self.conn, |conn| diesel::update(others).set(teams::is_retired.eq(true)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("retire teams"))
    }

    fn upsert_team(&mut self, team: &Team, at: Timestamp) -> Result<TeamId, StoreError> {
        let [primary_color, secondary_color] = &team.colors;
        let content = TeamContent {
            name: &team.name,
            short_name: &team.short_name,
            league_id: Key::of(team.league_id),
            primary_color,
            secondary_color,
            crest_url: team.crest_url.as_deref(),
            is_retired: team.is_retired,
        };
        let identity = (
            teams::id.eq(Key::of(team.id)),
            teams::key.eq(&team.key),
            teams::follower_count.eq(team.follower_count),
            teams::created_at.eq(At(at)),
        );
        let id: Key = on!(self.conn, |conn| {
            diesel::insert_into(teams::table)
                .values((identity, content))
                .on_conflict(teams::key)
                .do_update()
                .set(content)
                .returning(teams::id)
                .get_result(conn)
        })
        .map_err(broken("upsert a team"))?;
        self.index_team(id, team)?;
        Ok(id.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, on_each_database, run, team, uuid};

    on_each_database! {
        an_upsert_keeps_ids_and_counters,
        lists_follow_the_keys,
        a_league_is_listed_with_a_team_that_is_not_retired,
    }

    fn an_upsert_keeps_ids_and_counters(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let id = team(tx, 1);
        run(tx, "UPDATE teams SET follower_count = 3");
        let before = tx.team(id).unwrap().unwrap();
        let renamed = Team {
            id: TeamId::from(uuid(77)),
            name: "Renamed".to_owned(),
            colors: ["#00ff00".to_owned(), "#ffffff".to_owned()],
            crest_url: None,
            follower_count: 0,
            ..before.clone()
        };
        assert_eq!(tx.upsert_team(&renamed, at(9)).unwrap(), id);
        assert_eq!(tx.team(id).unwrap(), Some(Team { id, follower_count: 3, ..renamed.clone() }));
        assert_eq!(tx.team(renamed.id).unwrap(), None);

        let league = tx.league(before.league_id).unwrap().unwrap();
        let renamed = League { id: LeagueId::from(uuid(78)), name: "Renamed".to_owned(), ..league.clone() };
        assert_eq!(tx.upsert_league(&renamed, at(9)).unwrap(), league.id);
        assert_eq!(tx.league(league.id).unwrap(), Some(League { id: league.id, ..renamed }));
    }

    fn a_league_is_listed_with_a_team_that_is_not_retired(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        for n in [1, 2] {
            team(tx, n);
        }
        let without_teams = League {
            id: LeagueId::from(uuid(77)),
            key: "league-3".to_owned(),
            ..tx.league(LeagueId::from(uuid(1))).unwrap().unwrap()
        };
        tx.upsert_league(&without_teams, at(1)).unwrap();
        tx.retire_teams(&["team-2"]).unwrap();
        let keys = |leagues: Vec<League>| leagues.into_iter().map(|league| league.key).collect::<Vec<_>>();
        assert_eq!(keys(tx.leagues(Limit::MAX, None).unwrap().items), ["league-2"]);
        assert_eq!(keys(tx.all_leagues().unwrap()), ["league-1", "league-2", "league-3"]);
    }

    fn lists_follow_the_keys(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        for n in [3, 1, 2] {
            team(tx, n);
        }
        let two = Limit::new(2).unwrap();
        let page = tx.leagues(two, None).unwrap();
        assert_eq!(page.next.as_deref(), Some("league-2"));
        let rest = tx.leagues(two, page.next.as_deref()).unwrap();
        assert_eq!((rest.items.len(), rest.next), (1, None));
        let page = tx.teams(None, two, None).unwrap();
        assert_eq!(page.items.iter().map(|team| team.key.as_str()).collect::<Vec<_>>(), ["team-1", "team-2"]);
        let rest = tx.teams(None, two, page.next.as_deref()).unwrap();
        assert_eq!(rest.items.first().map(|team| team.key.as_str()), Some("team-3"));
        let of_league = tx.teams(Some(LeagueId::from(uuid(2))), two, None).unwrap();
        assert_eq!(of_league.items.iter().map(|team| team.key.as_str()).collect::<Vec<_>>(), ["team-2"]);
    }
}
