//! Follows of teams.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::plan::inert;
use crate::schema::{team_follows, teams};
use crate::teams::TeamRow;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Text;
use terrace_identity::Team;
use terrace_kernel::{StoreError, TeamId, Timestamp, UserId};
use terrace_social::{FollowedTeam, TeamFollowRead, TeamFollowWrite};

/// Reads and locks the account in the same statement: if it is being closed, the follow is either written before that
/// or not at all.
const PG: &str = "INSERT INTO team_follows (user_id, team_id, created_at) \
    SELECT id, $1, $2 FROM users \
    WHERE id = $3 AND status = $4 AND EXISTS (SELECT 1 FROM teams WHERE teams.id = $1) FOR KEY SHARE OF users \
    ON CONFLICT (user_id, team_id) DO NOTHING";
const SQLITE: &str = "INSERT INTO team_follows (user_id, team_id, created_at) \
    SELECT id, $1, $2 FROM users \
    WHERE id = $3 AND status = $4 AND EXISTS (SELECT 1 FROM teams WHERE teams.id = $1) \
    ON CONFLICT (user_id, team_id) DO NOTHING";

impl TeamFollowRead<Team> for DieselTx<'_> {
    fn list_followed_teams(&mut self, fan: UserId) -> Result<Vec<FollowedTeam<Team>>, StoreError> {
        let rows: Vec<(At, TeamRow)> = on!(self.conn, |conn| {
            team_follows::table
                .inner_join(teams::table.on(teams::id.eq(inert(team_follows::team_id))))
                .filter(team_follows::user_id.eq(Key::of(fan)))
                .order((team_follows::created_at.desc(), team_follows::team_id.desc()))
                .select((team_follows::created_at, TeamRow::as_select()))
                .load(conn)
        })
        .map_err(broken("list followed teams"))?;
        Ok(rows.into_iter().map(|(since, team)| FollowedTeam { team: team.into(), since: since.0 }).collect())
    }
}

impl TeamFollowWrite for DieselTx<'_> {
    fn insert_team_follow(&mut self, fan: UserId, team: TeamId, at: Timestamp) -> Result<bool, StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => PG,
            Conn::Sqlite(_) => SQLITE,
        };
        on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (
                    Key::of(team).into_sql::<Uid>(),
                    At(at).into_sql::<Instant>(),
                    Key::of(fan).into_sql::<Uid>(),
                    ACTIVE.into_sql::<Text>(),
                ),
            )
            .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("follow a team"))
    }

    fn delete_team_follow(&mut self, fan: UserId, team: TeamId) -> Result<bool, StoreError> {
        let row = team_follows::table.find((Key::of(fan), Key::of(team)));
        on!(self.conn, |conn| diesel::delete(row).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("follow a team no more"))
    }

    fn add_to_team_followers(&mut self, team: TeamId, by: i64) -> Result<Option<i64>, StoreError> {
        let count = teams::follower_count.eq(teams::follower_count + by);
        // A retired team gets no new followers.
        let states = [false, by <= 0];
        on!(self.conn, |conn| {
            diesel::update(teams::table.find(Key::of(team)).filter(teams::is_retired.eq_any(states)))
                .set(count)
                .returning(teams::follower_count)
                .get_result(conn)
                .optional()
        })
        .map_err(broken("count the followers of a team"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, run, team, uuid};
    use terrace_identity::TeamRead;

    on_each_database! {
        a_team_is_followed_once_by_who_is_active_and_only_if_there_is_one,
    }

    fn a_team_is_followed_once_by_who_is_active_and_only_if_there_is_one(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let (red, blue) = (team(tx, 1), team(tx, 2));
        let nothing = TeamId::from(uuid(99));
        assert!(tx.insert_team_follow(ana, red, at(1)).unwrap());
        assert!(!tx.insert_team_follow(ana, red, at(2)).unwrap());
        assert!(tx.insert_team_follow(ana, blue, at(2)).unwrap());
        assert!(!tx.insert_team_follow(ana, nothing, at(2)).unwrap());
        assert_eq!(tx.add_to_team_followers(nothing, 1).unwrap(), None);
        assert_eq!(tx.add_to_team_followers(red, 1).unwrap(), Some(1));
        assert_eq!(tx.add_to_team_followers(red, 1).unwrap(), Some(2));
        assert_eq!(tx.team(red).unwrap().map(|team| team.follower_count), Some(2));
        let followed: Vec<_> = tx
            .list_followed_teams(ana)
            .unwrap()
            .iter()
            .map(|followed| (followed.team.id, followed.since))
            .collect();
        assert_eq!(followed, [(blue, at(2)), (red, at(1))]);
        assert_eq!(tx.list_followed_teams(bea).unwrap(), []);
        assert!(tx.delete_team_follow(ana, red).unwrap());
        assert!(!tx.delete_team_follow(ana, red).unwrap());
        run(tx, "UPDATE users SET status = 'suspended'");
        assert!(!tx.insert_team_follow(bea, red, at(3)).unwrap());
    }
}
