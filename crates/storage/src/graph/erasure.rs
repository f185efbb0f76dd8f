//! Erases the part of a deleted account in the graph in batches, and updates the counters of others.
//!
//! Accounts are locked in the order of their ids before an edge is written, as they are when a user follows or blocks
//! another. Rows that no longer exist by then were removed, and counted, by another transaction. Teams are locked in
//! the order of their ids, after the rows of their followers.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::schema::{follows, team_follows, teams, users};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use terrace_kernel::{StoreError, TeamId, UserId, num};
use terrace_social::{Erased, ErasedFollow, GraphErasure};

/// Both directions, each by an index in which its rows are adjacent.
const BLOCKS: [&str; 2] = [
    "DELETE FROM blocks WHERE blocker_id = $1 AND blocked_id IN \
        (SELECT blocked_id FROM blocks WHERE blocker_id = $1 LIMIT $2)",
    "DELETE FROM blocks WHERE blocked_id = $1 AND blocker_id IN \
        (SELECT blocker_id FROM blocks WHERE blocked_id = $1 LIMIT $2)",
];
const DISMISSALS: [&str; 2] = [
    "DELETE FROM dismissals WHERE user_id = $1 AND dismissed_id IN \
        (SELECT dismissed_id FROM dismissals WHERE user_id = $1 LIMIT $2)",
    "DELETE FROM dismissals WHERE dismissed_id = $1 AND user_id IN \
        (SELECT user_id FROM dismissals WHERE dismissed_id = $1 LIMIT $2)",
];

/// The side of an edge whose counter is lowered.
#[derive(Clone, Copy)]
enum Side {
    Follower,
    Followee,
}

impl DieselTx<'_> {
    fn lock_accounts(&mut self, ids: &[Key]) -> Result<(), StoreError> {
        let Conn::Pg(conn) = &mut self.conn else { return Ok(()) };
        users::table
            .filter(users::id.eq_any(ids.iter().copied()))
            .order(users::id)
            .select(users::id)
            .for_no_key_update()
            .load::<Key>(*conn)
            .map(drop)
            .map_err(broken("lock the accounts of a portion"))
    }

    /// Lowers one counter of the accounts by `number`.
    fn uncount_follows(&mut self, side: Side, ids: Vec<Key>, number: i64) -> Result<(), StoreError> {
        let accounts = users::table.filter(users::id.eq_any(ids));
        on!(self.conn, |conn| {
            let update = diesel::update(accounts);
            match side {
                Side::Follower => {
                    update.set(users::following_count.eq(users::following_count - number)).execute(conn)
                }
                Side::Followee => {
                    update.set(users::follower_count.eq(users::follower_count - number)).execute(conn)
                }
            }
        })
        .map(drop)
        .map_err(broken("count the follows of a portion less"))
    }

    /// Removes up to `limit` rows of both directions, those of the first statement first.
    fn erase_both(
        &mut self,
        statements: [&str; 2],
        fan: UserId,
        limit: u32,
        context: &'static str,
    ) -> Result<u32, StoreError> {
        let mut removed = 0;
        for sql in statements {
            let left = i64::from(limit) - i64::from(removed);
            let rows = on!(self.conn, |conn| {
                diesel::sql_query(sql).bind::<Uid, _>(Key::of(fan)).bind::<BigInt, _>(left).execute(conn)
            })
            .map_err(broken(context))?;
            removed += num::to_u32(rows);
        }
        Ok(removed)
    }
}

impl GraphErasure for DieselTx<'_> {
    fn erase_followed(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedFollow>, StoreError> {
        let of_fan = follows::table.filter(follows::follower_id.eq(Key::of(fan)));
        let portion: Vec<Key> = on!(self.conn, |conn| {
            of_fan.order(follows::followee_id).limit(i64::from(limit)).select(follows::followee_id).load(conn)
        })
        .map_err(broken("find the follows of a fan"))?;
        if portion.is_empty() {
            return Ok(Erased { found: 0, reported: Vec::new() });
        }
        let mut both = portion.clone();
        both.push(Key::of(fan));
        self.lock_accounts(&both)?;
        let gone: Vec<Key> = on!(self.conn, |conn| {
            diesel::delete(of_fan.filter(follows::followee_id.eq_any(portion.iter().copied())))
                .returning(follows::followee_id)
                .get_results(conn)
        })
        .map_err(broken("remove the follows of a fan"))?;
        self.uncount_follows(Side::Followee, gone.clone(), 1)?;
        self.uncount_follows(Side::Follower, vec![Key::of(fan)], num::to_i64(gone.len()))?;
        let reported =
            gone.into_iter().map(|followee| ErasedFollow { follower: fan, followee: followee.id() });
        Ok(Erased { found: num::to_u32(portion.len()), reported: reported.collect() })
    }

    fn erase_followers(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedFollow>, StoreError> {
        let of_fan = follows::table.filter(follows::followee_id.eq(Key::of(fan)));
        let portion: Vec<Key> = on!(self.conn, |conn| {
            of_fan
                .order((follows::created_at.desc(), follows::follower_id.desc()))
                .limit(i64::from(limit))
                .select(follows::follower_id)
                .load(conn)
        })
        .map_err(broken("find the followers of a fan"))?;
        if portion.is_empty() {
            return Ok(Erased { found: 0, reported: Vec::new() });
        }
        let mut both = portion.clone();
        both.push(Key::of(fan));
        self.lock_accounts(&both)?;
        let gone: Vec<Key> = on!(self.conn, |conn| {
            diesel::delete(of_fan.filter(follows::follower_id.eq_any(portion.iter().copied())))
                .returning(follows::follower_id)
                .get_results(conn)
        })
        .map_err(broken("remove the followers of a fan"))?;
        self.uncount_follows(Side::Follower, gone.clone(), 1)?;
        self.uncount_follows(Side::Followee, vec![Key::of(fan)], num::to_i64(gone.len()))?;
        let reported =
            gone.into_iter().map(|follower| ErasedFollow { follower: follower.id(), followee: fan });
        Ok(Erased { found: num::to_u32(portion.len()), reported: reported.collect() })
    }

    fn erase_team_follows(&mut self, fan: UserId, limit: u32) -> Result<Erased<TeamId>, StoreError> {
        let of_fan = team_follows::table.filter(team_follows::user_id.eq(Key::of(fan)));
        let portion: Vec<Key> = on!(self.conn, |conn| {
            of_fan
                .order(team_follows::team_id)
                .limit(i64::from(limit))
                .select(team_follows::team_id)
                .load(conn)
        })
        .map_err(broken("find a fan's teams"))?;
        if portion.is_empty() {
            return Ok(Erased { found: 0, reported: Vec::new() });
        }
        let gone: Vec<Key> = on!(self.conn, |conn| {
            diesel::delete(of_fan.filter(team_follows::team_id.eq_any(portion.iter().copied())))
                .returning(team_follows::team_id)
                .get_results(conn)
        })
        .map_err(broken("remove a fan's teams"))?;
        if let Conn::Pg(conn) = &mut self.conn {
            teams::table
                .filter(teams::id.eq_any(gone.iter().copied()))
                .order(teams::id)
                .select(teams::id)
                .for_no_key_update()
                .load::<Key>(*conn)
                .map_err(broken("lock the teams of a portion"))?;
        }
        let fewer = teams::follower_count.eq(teams::follower_count - 1);
        on!(self.conn, |conn| {
            diesel::update(teams::table.filter(teams::id.eq_any(gone.iter().copied())))
                .set(fewer)
                .execute(conn)
        })
        .map_err(broken("count the followers of teams less"))?;
        Ok(Erased { found: num::to_u32(portion.len()), reported: gone.into_iter().map(Key::id).collect() })
    }

    fn erase_blocks(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError> {
        self.erase_both(BLOCKS, fan, limit, "remove a fan's blocks")
    }

    fn erase_dismissals(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError> {
        self.erase_both(DISMISSALS, fan, limit, "remove a fan's dismissals")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, run, team, uuid};
    use terrace_identity::TeamRead;
    use terrace_social::{GraphRead, GraphWrite, TeamFollowWrite};
    use terrace_store::Audit;

    on_each_database! {
        edges_go_in_portions_with_both_counters,
        teams_blocks_and_dismissals_go_in_portions,
    }

    fn counters_agree(tx: &mut DieselTx<'_>) -> bool {
        tx.audit_counters().unwrap().iter().all(|check| check.wrong == 0)
    }

    fn follow(tx: &mut DieselTx<'_>, from: UserId, to: UserId) {
        assert!(tx.insert_follow(from, to, at(1)).unwrap());
        tx.add_to_follow_counts(from, to, 1).unwrap();
    }

    fn edges_go_in_portions_with_both_counters(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 5);
        let others = [1, 2, 8, 9, 10].map(|n| fan(tx, n));
        for other in others {
            follow(tx, ana, other);
            follow(tx, other, ana);
        }
        follow(tx, others[0], others[1]);
        let erase: [fn(&mut DieselTx<'_>, UserId) -> Erased<ErasedFollow>; 2] =
            [|tx, fan| tx.erase_followed(fan, 2).unwrap(), |tx, fan| tx.erase_followers(fan, 2).unwrap()];
        for (n, erase) in erase.into_iter().enumerate() {
            let mut reported = Vec::new();
            for expected in [2, 2, 1, 0] {
                let erased = erase(tx, ana);
                assert_eq!(erased.found, expected);
                reported.extend(erased.reported);
                assert!(counters_agree(tx));
            }
            reported.sort_by_key(|edge| (edge.follower, edge.followee));
            let edge = |other| {
                if n == 0 {
                    ErasedFollow { follower: ana, followee: other }
                } else {
                    ErasedFollow { follower: other, followee: ana }
                }
            };
            assert_eq!(reported, others.map(edge));
        }
        assert!(tx.ties(others[0], others[1]).unwrap().following);
    }

    fn teams_blocks_and_dismissals_go_in_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea, zoe) = (fan(tx, 1), fan(tx, 2), fan(tx, 3));
        let teams = [1, 2, 3].map(|n| team(tx, n));
        for (fan, team) in teams.iter().map(|team| (ana, *team)).chain([(bea, teams[0])]) {
            assert!(tx.insert_team_follow(fan, team, at(1)).unwrap());
            tx.add_to_team_followers(team, 1).unwrap();
        }
        assert_eq!(
            tx.erase_team_follows(ana, 2).unwrap(),
            Erased { found: 2, reported: teams[..2].to_vec() }
        );
        assert!(counters_agree(tx));
        assert_eq!(
            tx.erase_team_follows(ana, 2).unwrap(),
            Erased { found: 1, reported: teams[2..].to_vec() }
        );
        assert_eq!(tx.erase_team_follows(ana, 2).unwrap().found, 0);
        assert_eq!(tx.team(teams[0]).unwrap().map(|team| team.follower_count), Some(1));
        assert!(counters_agree(tx));

        for (from, to) in [(ana, bea), (ana, zoe), (bea, ana), (bea, zoe)] {
            assert!(tx.insert_block(from, to, at(1)).unwrap());
        }
        run(tx, "INSERT INTO dismissals SELECT blocker_id, blocked_id, created_at FROM blocks");
        for portion in [2, 1, 0] {
            assert_eq!(tx.erase_blocks(ana, 2).unwrap(), portion);
            assert_eq!(tx.erase_dismissals(ana, 2).unwrap(), portion);
        }
        assert!(tx.ties(bea, zoe).unwrap().hidden);
        assert_eq!(tx.erase_dismissals(zoe, 5).unwrap(), 1);
    }

    #[test]
    fn portions_are_found_by_their_indexes() {
        let mut database = Database::sqlite();
        let ana = UserId::from(uuid(1));
        let plans = plans_of(&mut database, |tx| {
            tx.erase_followed(ana, 2).unwrap();
            tx.erase_followers(ana, 2).unwrap();
            tx.erase_team_follows(ana, 2).unwrap();
            tx.erase_blocks(ana, 2).unwrap();
            tx.erase_dismissals(ana, 2).unwrap();
        });
        for plan in &plans {
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
