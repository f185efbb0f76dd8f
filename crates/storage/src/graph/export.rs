//! Everything that one fan has written into the graph, page by page. Each list is a scan of its primary key.

use crate::conn::on;
use crate::error::broken;
use crate::schema::{blocks, dismissals, follows, team_follows};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{StoreError, TeamId, UserId};
use terrace_social::{OwnGraphRead, OwnTeamFollow, OwnTie};

fn into_ties(rows: Vec<(Key, At)>) -> Vec<OwnTie> {
    rows.into_iter().map(|(user, since)| OwnTie { user: user.id(), since: since.0 }).collect()
}

impl OwnGraphRead for DieselTx<'_> {
    fn own_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError> {
        on!(self.conn, |conn| {
            let mut query = follows::table
                .filter(follows::follower_id.eq(Key::of(fan)))
                .select((follows::followee_id, follows::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(follows::followee_id.gt(Key::of(after)));
            }
            query.order(follows::followee_id).limit(i64::from(limit)).load(conn)
        })
        .map(into_ties)
        .map_err(broken("list a fan's follows"))
    }

    fn own_team_follows(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<TeamId>,
    ) -> Result<Vec<OwnTeamFollow>, StoreError> {
        let rows: Vec<(Key, At)> = on!(self.conn, |conn| {
            let mut query = team_follows::table
                .filter(team_follows::user_id.eq(Key::of(fan)))
                .select((team_follows::team_id, team_follows::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(team_follows::team_id.gt(Key::of(after)));
            }
            query.order(team_follows::team_id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("list a fan's teams"))?;
        Ok(rows.into_iter().map(|(team, since)| OwnTeamFollow { team: team.id(), since: since.0 }).collect())
    }

    fn own_blocks(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError> {
        on!(self.conn, |conn| {
            let mut query = blocks::table
                .filter(blocks::blocker_id.eq(Key::of(fan)))
                .select((blocks::blocked_id, blocks::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(blocks::blocked_id.gt(Key::of(after)));
            }
            query.order(blocks::blocked_id).limit(i64::from(limit)).load(conn)
        })
        .map(into_ties)
        .map_err(broken("list a fan's blocks"))
    }

    fn own_dismissals(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<UserId>,
    ) -> Result<Vec<OwnTie>, StoreError> {
        on!(self.conn, |conn| {
            let mut query = dismissals::table
                .filter(dismissals::user_id.eq(Key::of(fan)))
                .select((dismissals::dismissed_id, dismissals::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(dismissals::dismissed_id.gt(Key::of(after)));
            }
            query.order(dismissals::dismissed_id).limit(i64::from(limit)).load(conn)
        })
        .map(into_ties)
        .map_err(broken("list a fan's dismissals"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, run, team, uuid};
    use terrace_social::{GraphWrite, TeamFollowWrite};

    on_each_database! {
        each_list_is_walked_to_its_end_by_its_keys,
    }

    fn walk<T, K: Copy>(mut page: impl FnMut(Option<K>) -> Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
        let mut all: Vec<T> = Vec::new();
        loop {
            let rows = page(all.last().map(&key));
            let more = rows.len() == 2;
            all.extend(rows);
            if !more {
                return all;
            }
        }
    }

    fn each_list_is_walked_to_its_end_by_its_keys(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let (others, teams) = ([2, 3, 4, 5].map(|n| fan(tx, n)), [1, 2, 3].map(|n| team(tx, n)));
        // A fan cannot follow and block the same user, so these are different accounts.
        assert!(tx.insert_follow(ana, others[1], at(1)).unwrap());
        assert!(tx.insert_follow(ana, others[0], at(2)).unwrap());
        assert!(tx.insert_follow(others[0], ana, at(2)).unwrap());
        assert!(tx.insert_block(ana, others[2], at(3)).unwrap());
        assert!(tx.insert_block(others[3], ana, at(3)).unwrap());
        for team in teams {
            assert!(tx.insert_team_follow(ana, team, at(4)).unwrap());
        }
        for other in others {
            let row = (
                dismissals::user_id.eq(Key::of(ana)),
                dismissals::dismissed_id.eq(Key::of(other)),
                dismissals::created_at.eq(At(at(5))),
            );
            on!(tx.conn, |conn| diesel::insert_into(dismissals::table).values(row).execute(conn)).unwrap();
        }
        // Hidden users are included.
        run(tx, "UPDATE users SET status = 'suspended'");
        let tie = |user, micros| OwnTie { user, since: at(micros) };
        let follows = walk(|after| tx.own_follows(ana, 2, after).unwrap(), |tie| tie.user);
        assert_eq!(follows, [tie(others[0], 2), tie(others[1], 1)]);
        let followed = walk(|after| tx.own_team_follows(ana, 2, after).unwrap(), |follow| follow.team);
        assert_eq!(followed, teams.map(|team| OwnTeamFollow { team, since: at(4) }));
        let blocks = walk(|after| tx.own_blocks(ana, 2, after).unwrap(), |tie| tie.user);
        assert_eq!(blocks, [tie(others[2], 3)]);
        let dismissed = walk(|after| tx.own_dismissals(ana, 2, after).unwrap(), |tie| tie.user);
        assert_eq!(dismissed, others.map(|other| tie(other, 5)));
    }

    #[test]
    fn each_list_walks_its_key() {
        let mut database = Database::sqlite();
        let ana = UserId::from(uuid(1));
        let plans = plans_of(&mut database, |tx| {
            tx.own_follows(ana, 2, Some(ana)).unwrap();
            tx.own_team_follows(ana, 2, Some(TeamId::from(uuid(1)))).unwrap();
            tx.own_blocks(ana, 2, Some(ana)).unwrap();
            tx.own_dismissals(ana, 2, Some(ana)).unwrap();
        });
        for plan in &plans {
            assert!(plan.starts_with("SEARCH") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
