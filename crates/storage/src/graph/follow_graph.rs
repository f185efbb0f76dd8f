//! The data of the in-memory follow graph: read completely in batches, and edge by edge.
//!
//! Batches scan primary keys without joins, so that millions of edges are read in seconds. The status of accounts is
//! read separately.

use crate::accounts::ACTIVE;
use crate::conn::on;
use crate::error::broken;
use crate::room::{Pair, PairColumns, pairs, with_pairs};
use crate::schema::{team_follows, teams, users};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use std::collections::HashMap;
use terrace_kernel::{LeagueId, StoreError, TeamId, UserId, num};
use terrace_social::{Edges, FollowGraphRead, Member};
use uuid::Uuid;

/// A row-value comparison of both columns, which scans the primary key in its order.
const FOLLOWS: &str = "SELECT follower_id AS one, followee_id AS other FROM follows \
    WHERE (follower_id, followee_id) > ($1, $2) ORDER BY follower_id, followee_id LIMIT $3";
const TEAM_FOLLOWS: &str = "SELECT user_id AS one, team_id AS other FROM team_follows \
    WHERE (user_id, team_id) > ($1, $2) ORDER BY user_id, team_id LIMIT $3";
/// Appended to the prefix of `room::pairs`.
const FOLLOWS_AMONG: &str = "SELECT follower_id AS one, followee_id AS other FROM asked \
    JOIN follows ON follower_id = asked.one AND followee_id = asked.other \
    JOIN users AS a ON a.id = follower_id JOIN users AS b ON b.id = followee_id \
    WHERE a.status = $3 AND b.status = a.status";
const TEAM_FOLLOWS_AMONG: &str = "SELECT user_id AS one, team_id AS other FROM asked \
    JOIN team_follows ON user_id = asked.one AND team_id = asked.other \
    JOIN users AS a ON a.id = user_id WHERE a.status = $3";
const EDGES_FROM: &str = "SELECT follower_id AS one, followee_id AS other FROM follows \
    JOIN users ON users.id = followee_id WHERE follower_id = $1 AND status = $2 LIMIT $3";
const EDGES_TO: &str = "SELECT follower_id AS one, followee_id AS other FROM follows \
    JOIN users ON users.id = follower_id WHERE followee_id = $1 AND status = $2 LIMIT $3";

/// Account, status, favourite team.
type MemberRow = (Key, String, Option<Key>);

fn member((user, status, team): MemberRow) -> Member {
    Member { user: user.id(), is_active: status == ACTIVE, favorite_team: team.map(Key::id) }
}

/// Sorts before all keys.
fn first() -> Key {
    Key(Uuid::nil())
}

impl DieselTx<'_> {
    fn portion(&mut self, sql: &str, after: (Key, Key), limit: u32) -> QueryResult<Vec<Pair>> {
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Uid, _>(after.0)
                .bind::<Uid, _>(after.1)
                .bind::<BigInt, _>(i64::from(limit))
                .load(conn)
        })
    }

    /// The pairs among `asked` that `sql` finds.
    fn among(&mut self, sql: &str, asked: &PairColumns) -> QueryResult<Vec<Pair>> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        with_pairs!(self.conn, sql, asked, [Text: ACTIVE], load)
    }

    fn edges(&mut self, sql: &str, user: UserId, limit: u32) -> QueryResult<Vec<Pair>> {
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Uid, _>(Key::of(user))
                .bind::<Text, _>(ACTIVE)
                .bind::<BigInt, _>(i64::from(limit) + 1)
                .load(conn)
        })
    }
}

impl FollowGraphRead for DieselTx<'_> {
    fn members(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<Member>, StoreError> {
        let rows: Vec<MemberRow> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.gt(after.map_or_else(first, Key::of)))
                .filter(users::status.ne(ACTIVE).or(users::favorite_team_id.is_not_null()))
                .order(users::id)
                .limit(i64::from(limit))
                .select((users::id, users::status, users::favorite_team_id))
                .load(conn)
        })
        .map_err(broken("read the members of the follow graph"))?;
        Ok(rows.into_iter().map(member).collect())
    }

    fn follows(
        &mut self,
        after: Option<(UserId, UserId)>,
        limit: u32,
    ) -> Result<Vec<(UserId, UserId)>, StoreError> {
        let after = after.map_or_else(|| (first(), first()), |(one, other)| (Key::of(one), Key::of(other)));
        self.portion(FOLLOWS, after, limit).map(pairs).map_err(broken("read a portion of the follows"))
    }

    fn team_follows(
        &mut self,
        after: Option<(UserId, TeamId)>,
        limit: u32,
    ) -> Result<Vec<(UserId, TeamId)>, StoreError> {
        let after = after.map_or_else(|| (first(), first()), |(one, team)| (Key::of(one), Key::of(team)));
        self.portion(TEAM_FOLLOWS, after, limit)
            .map(pairs)
            .map_err(broken("read a portion of the follows of teams"))
    }

    fn team_leagues(&mut self) -> Result<HashMap<TeamId, LeagueId>, StoreError> {
        let rows: Vec<(Key, Key)> =
            on!(self.conn, |conn| teams::table.select((teams::id, teams::league_id)).load(conn))
                .map_err(broken("read which leagues teams play in"))?;
        Ok(rows.into_iter().map(|(team, league)| (team.id(), league.id())).collect())
    }

    fn follows_among(&mut self, asked: &[(UserId, UserId)]) -> Result<Vec<(UserId, UserId)>, StoreError> {
        self.among(FOLLOWS_AMONG, &PairColumns::of(asked)).map(pairs).map_err(broken("look follows up"))
    }

    fn team_follows_among(
        &mut self,
        asked: &[(UserId, TeamId)],
    ) -> Result<Vec<(UserId, TeamId)>, StoreError> {
        self.among(TEAM_FOLLOWS_AMONG, &PairColumns::of(asked))
            .map(pairs)
            .map_err(broken("look follows of teams up"))
    }

    fn members_among(&mut self, asked: &[UserId]) -> Result<Vec<Member>, StoreError> {
        let keys: Vec<Key> = asked.iter().copied().map(Key::of).collect();
        let rows: Vec<MemberRow> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.eq_any(keys))
                .select((users::id, users::status, users::favorite_team_id))
                .load(conn)
        })
        .map_err(broken("look members of the follow graph up"))?;
        Ok(rows.into_iter().map(member).collect())
    }

    fn edges_of(&mut self, user: UserId, limit: u32) -> Result<Option<Edges>, StoreError> {
        let mut follows: Vec<(UserId, UserId)> = Vec::new();
        for sql in [EDGES_FROM, EDGES_TO] {
            let edges = self.edges(sql, user, limit).map_err(broken("read a fan's follows"))?;
            if edges.len() > num::to_usize(limit) {
                return Ok(None);
            }
            follows.extend(pairs(edges));
        }
        let teams: Vec<Key> = on!(self.conn, |conn| {
            team_follows::table
                .filter(team_follows::user_id.eq(Key::of(user)))
                .select(team_follows::team_id)
                .load(conn)
        })
        .map_err(broken("read a fan's teams"))?;
        Ok(Some(Edges { follows, teams: teams.into_iter().map(Key::id).collect() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, run, team};
    use crate::schema::follows;
    use crate::types::At;
    use terrace_identity::{AccountWrite, ProfileChange};

    on_each_database! {
        the_graph_is_read_in_portions_and_looked_up_without_those_who_are_not_active,
    }

    fn follow(tx: &mut DieselTx<'_>, one: UserId, other: UserId) {
        let row = (
            follows::follower_id.eq(Key::of(one)),
            follows::followee_id.eq(Key::of(other)),
            follows::created_at.eq(At(at(1))),
        );
        on!(tx.conn, |conn| diesel::insert_into(follows::table).values(row).execute(conn)).unwrap();
    }

    fn follow_team(tx: &mut DieselTx<'_>, one: UserId, team: TeamId) {
        let row = (
            team_follows::user_id.eq(Key::of(one)),
            team_follows::team_id.eq(Key::of(team)),
            team_follows::created_at.eq(At(at(1))),
        );
        on!(tx.conn, |conn| diesel::insert_into(team_follows::table).values(row).execute(conn)).unwrap();
    }

    fn the_graph_is_read_in_portions_and_looked_up_without_those_who_are_not_active(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let [ana, bea, cal, dan] = [1, 2, 3, 4].map(|n| fan(tx, n));
        let (red, blue) = (team(tx, 1), team(tx, 2));
        let edges = [(ana, bea), (ana, cal), (bea, ana), (cal, dan), (dan, ana)];
        for (one, other) in edges {
            follow(tx, one, other);
        }
        for (one, team) in [(ana, red), (bea, red), (cal, blue)] {
            follow_team(tx, one, team);
        }
        run(tx, "UPDATE users SET status = 'suspended' WHERE username_key = 'fan4'");
        let favorite = ProfileChange { favorite_team: Some(Some(blue)), ..ProfileChange::default() };
        assert!(tx.change_profile(ana, &favorite, at(2)).unwrap());

        let (mut all, mut after) = (Vec::<(UserId, UserId)>::new(), None);
        loop {
            let portion = tx.follows(after, 2).unwrap();
            after = portion.last().copied();
            all.extend(&portion);
            if portion.len() < 2 {
                break;
            }
        }
        assert_eq!(all, edges);
        assert_eq!(tx.team_follows(Some((ana, red)), 9).unwrap(), [(bea, red), (cal, blue)]);
        let ana_is = Member { user: ana, is_active: true, favorite_team: Some(blue) };
        let dan_is = Member { user: dan, is_active: false, favorite_team: None };
        assert_eq!(tx.members(None, 9).unwrap(), [ana_is, dan_is]);
        assert_eq!(tx.members(Some(ana), 1).unwrap(), [dan_is]);
        assert_eq!(tx.members_among(&[dan]).unwrap(), [dan_is]);
        assert_eq!(tx.team_leagues().unwrap().len(), 2);

        let asked = [(ana, bea), (bea, cal), (cal, dan), (dan, ana), (bea, ana)];
        let mut found = tx.follows_among(&asked).unwrap();
        found.sort_unstable();
        assert_eq!(found, [(ana, bea), (bea, ana)]);
        assert_eq!(tx.team_follows_among(&[(ana, red), (ana, blue), (dan, red)]).unwrap(), [(ana, red)]);
        assert_eq!((tx.follows_among(&[]).unwrap(), tx.team_follows_among(&[]).unwrap()), (vec![], vec![]));

        let mut of_ana = tx.edges_of(ana, 2).unwrap().unwrap();
        of_ana.follows.sort_unstable();
        assert_eq!(of_ana, Edges { follows: vec![(ana, bea), (ana, cal), (bea, ana)], teams: vec![red] });
        assert_eq!(tx.edges_of(ana, 1).unwrap(), None);
    }

    #[test]
    fn portions_and_what_is_looked_up_walk_keys() {
        let mut database = Database::sqlite();
        let (ana, bea) = {
            let tx = &mut database.tx();
            (fan(tx, 1), fan(tx, 2))
        };
        let plans = plans_of(&mut database, |tx| {
            tx.follows(Some((ana, bea)), 100).unwrap();
            tx.follows_among(&[(ana, bea), (bea, ana)]).unwrap();
            tx.members(None, 100).unwrap();
            tx.edges_of(ana, 100).unwrap();
        });
        for plan in plans {
            assert!(!plan.contains("SCAN follows") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
