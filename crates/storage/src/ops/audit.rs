//! Checks of the whole store: whether it has any users, and whether counters agree with the rows that they count.

use crate::conn::on;
use crate::error::broken;
use crate::schema::users;
use crate::trivia::PAID;
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use terrace_kernel::{StoreError, num};
use terrace_store::{Audit, CounterCheck, CounterMismatch};

/// A counter and the rows that it counts.
pub(crate) struct Counter {
    pub(crate) name: &'static str,
    /// The table of the counter, with a condition on its rows.
    pub(crate) of: &'static str,
    /// The column or expression of the stored value.
    pub(crate) stored: &'static str,
    /// The column of the counted rows that refers to the row of the counter.
    pub(crate) owner: &'static str,
    /// Table and condition of the counted rows.
    pub(crate) rows: &'static str,
}

/// Deleted posts are excluded: their children are removed in batches, and their counters deliberately keep their
/// values.
const POSTS: &str = "posts WHERE deleted_at IS NULL";

/// Comments of posts that are not deleted, for the same reason.
const COMMENTS: &str = "comments WHERE \
    EXISTS (SELECT 1 FROM posts WHERE posts.id = comments.post_id AND posts.deleted_at IS NULL)";

const fn of_posts(name: &'static str, stored: &'static str, rows: &'static str) -> Counter {
    Counter { name, of: POSTS, stored, owner: "post_id", rows }
}

pub(crate) const COUNTERS: [Counter; 15] = [
    of_posts("posts.comment_count", "comment_count", "comments"),
    of_posts("posts.like_count", "like_count", "reactions WHERE kind = 'like'"),
    of_posts("posts.love_count", "love_count", "reactions WHERE kind = 'love'"),
    of_posts("posts.fire_count", "fire_count", "reactions WHERE kind = 'fire'"),
    of_posts("posts.clap_count", "clap_count", "reactions WHERE kind = 'clap'"),
    of_posts("posts.laugh_count", "laugh_count", "reactions WHERE kind = 'laugh'"),
    of_posts("posts.sad_count", "sad_count", "reactions WHERE kind = 'sad'"),
    Counter {
        name: "comments.like_count",
        of: COMMENTS,
        stored: "like_count",
        owner: "comment_id",
        rows: "comment_likes",
    },
    Counter {
        name: "users.follower_count",
        of: "users",
        stored: "follower_count",
        owner: "followee_id",
        rows: "follows",
    },
    Counter {
        name: "users.following_count",
        of: "users",
        stored: "following_count",
        owner: "follower_id",
        rows: "follows",
    },
    Counter {
        name: "teams.follower_count",
        of: "teams",
        stored: "follower_count",
        owner: "team_id",
        rows: "team_follows",
    },
    Counter {
        name: "notification_inboxes.listed",
        of: INBOXES,
        stored: "listed",
        owner: "user_id",
        rows: "notifications WHERE listed",
    },
    Counter {
        name: "notification_inboxes.unread",
        of: INBOXES,
        stored: "unread",
        owner: "user_id",
        rows: "notifications WHERE listed AND read_at IS NULL",
    },
    Counter {
        name: "notifications.actor_count",
        of: "notifications WHERE listed",
        stored: "actor_count",
        owner: "notification_id",
        rows: "notification_actors",
    },
    // Not a counter, but checked in the same way: the number of follows between users with a block between them must
    // be zero.
    Counter {
        name: "follows.beside_block",
        of: "users",
        stored: "0",
        owner: "follower_id",
        rows: BESIDE_BLOCK,
    },
];

const INBOXES: &str = "(SELECT user_id AS id, listed, unread FROM notification_inboxes) AS inboxes";

const BESIDE_BLOCK: &str = "follows WHERE \
    EXISTS (SELECT 1 FROM blocks WHERE blocker_id = follower_id AND blocked_id = followee_id) \
    OR EXISTS (SELECT 1 FROM blocks WHERE blocker_id = followee_id AND blocked_id = follower_id)";

/// Compares how often limited segments of wheels gave their grants with the spins that did.
const GIVEN: &str = "\
    SELECT COUNT(*) AS checked, COUNT(*) FILTER (WHERE s.given <> (\
        SELECT COUNT(*) FROM spins AS one \
            WHERE one.wheel_id = s.wheel_id AND one.segment = s.key AND NOT one.is_substituted)) AS wrong \
    FROM wheel_segments AS s WHERE s.stock IS NOT NULL";

/// Compares what the account `held` has in each unit with what pending orders hold.
const HELD: &str = "\
    WITH parts AS (\
        SELECT unit, amount AS held, CAST(0 AS bigint) AS due FROM ledger_transfers WHERE credit_house = 'held' \
        UNION ALL SELECT unit, -amount, 0 FROM ledger_transfers WHERE debit_house = 'held' \
        UNION ALL SELECT 'points', 0, points FROM orders WHERE state = 'pending' AND points > 0 \
        UNION ALL SELECT 'coins', 0, coins FROM orders WHERE state = 'pending' AND coins > 0 \
        UNION ALL SELECT currency, 0, balance FROM orders WHERE state = 'pending' AND balance > 0), \
    units AS (SELECT unit, SUM(held) AS held, SUM(due) AS due FROM parts GROUP BY unit) \
    SELECT COUNT(*) AS checked, COUNT(*) FILTER (WHERE held <> due) AS wrong FROM units";

#[derive(QueryableByName)]
struct HeldRow {
    #[diesel(sql_type = BigInt)]
    checked: i64,
    #[diesel(sql_type = BigInt)]
    wrong: i64,
}

/// The totals, repeated for each example, or once without an example.
#[derive(QueryableByName)]
struct CheckRow {
    #[diesel(sql_type = BigInt)]
    checked: i64,
    #[diesel(sql_type = BigInt)]
    wrong: i64,
    #[diesel(sql_type = Nullable<Uid>)]
    id: Option<Key>,
    #[diesel(sql_type = Nullable<BigInt>)]
    stored: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    counted: Option<i64>,
}

impl Counter {
    fn sql(&self) -> String {
        let Self { of, stored, owner, rows, .. } = self;
        format!(
            "WITH counts AS (SELECT {owner} AS owner, COUNT(*) AS counted FROM {rows} GROUP BY {owner}), \
             carriers AS (SELECT id, CAST({stored} AS bigint) AS stored FROM {of}), \
             compared AS (\
                SELECT carriers.id, carriers.stored, COALESCE(counts.counted, 0) AS counted \
                FROM carriers LEFT JOIN counts ON counts.owner = carriers.id), \
             totals AS (\
                SELECT COUNT(*) AS checked, COUNT(*) FILTER (WHERE stored <> counted) AS wrong FROM compared), \
             examples AS (\
                SELECT id, stored, counted FROM compared WHERE stored <> counted ORDER BY id LIMIT 10) \
             SELECT checked, wrong, id, stored, counted FROM totals LEFT JOIN examples ON true ORDER BY id"
        )
    }

    fn check(&self, rows: Vec<CheckRow>) -> CounterCheck {
        let (checked, wrong) =
            rows.first().map_or((0, 0), |row| (num::to_u64(row.checked), num::to_u64(row.wrong)));
        let example = |row: CheckRow| {
            Some(CounterMismatch { row: row.id?.0, stored: row.stored?, counted: row.counted? })
        };
        let examples = rows.into_iter().filter_map(example).collect();
        CounterCheck { counter: self.name, checked, wrong, examples }
    }
}

impl Audit for DieselTx<'_> {
    fn any_account(&mut self) -> Result<bool, StoreError> {
        on!(self.conn, |conn| diesel::select(exists(users::table.select(users::id))).get_result(conn))
            .map_err(broken("look for an account"))
    }

    fn audit_counters(&mut self) -> Result<Vec<CounterCheck>, StoreError> {
        let counters = COUNTERS.iter().map(|counter| {
            let rows: Vec<CheckRow> = on!(self.conn, |conn| diesel::sql_query(counter.sql()).load(conn))
                .map_err(broken("compare counters with rows"))?;
            Ok(counter.check(rows))
        });
        let mut checks = counters.collect::<Result<Vec<_>, StoreError>>()?;
        checks.push(self.audit_held()?);
        checks.push(self.audit_total("wheel_segments.given", GIVEN)?);
        checks.push(self.audit_answers()?);
        checks.push(self.audit_total("trivia_players.paid", PAID)?);
        Ok(checks)
    }

    fn audit_held(&mut self) -> Result<CounterCheck, StoreError> {
        self.audit_total("orders.held", HELD)
    }
}

impl DieselTx<'_> {
    fn audit_total(&mut self, counter: &'static str, sql: &'static str) -> Result<CounterCheck, StoreError> {
        let HeldRow { checked, wrong } = on!(self.conn, |conn| diesel::sql_query(sql).get_result(conn))
            .map_err(broken("compare totals with rows"))?;
        let (checked, wrong) = (num::to_u64(checked), num::to_u64(wrong));
        Ok(CounterCheck { counter, checked, wrong, examples: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, post, run, team, uuid};
    use terrace_social::{
        GraphWrite, PostWrite, ReactionCounts, ReactionKind, ReactionWrite, TeamFollowWrite,
    };

    on_each_database! {
        a_counter_that_lies_is_found,
        a_graph_that_lies_is_found,
    }

    #[test]
    fn every_kind_of_reaction_has_its_check() {
        for kind in ReactionKind::ALL {
            let name = format!("posts.{kind}_count");
            let counter = COUNTERS.iter().find(|counter| counter.name == name).unwrap();
            assert_eq!(counter.stored, format!("{kind}_count"));
            assert_eq!(counter.rows, format!("reactions WHERE kind = '{kind}'"));
        }
    }

    fn a_counter_that_lies_is_found(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let none_wrong = |checks: &[CounterCheck]| checks.iter().all(|check| check.wrong == 0);
        let empty = tx.audit_counters().unwrap();
        assert_eq!(empty.len(), COUNTERS.len() + 4);
        assert!(
            none_wrong(&empty) && empty.iter().all(|check| check.checked == 0 && check.examples.is_empty())
        );

        let ana = fan(tx, 1);
        for n in 10..22 {
            let id = post(tx, n, ana, None, 0);
            tx.set_reaction(id, ana, Some(ReactionKind::Fire), at(1)).unwrap();
            tx.add_to_reaction_counts(id, &ReactionCounts { fire: 1, ..ReactionCounts::default() }).unwrap();
        }
        assert!(none_wrong(&tx.audit_counters().unwrap()));

        run(tx, "UPDATE posts SET fire_count = 5, comment_count = comment_count + 2");
        let deleted = terrace_kernel::PostId::from(uuid(10));
        assert!(tx.mark_post_deleted(deleted, at(2)).unwrap());
        let checks = tx.audit_counters().unwrap();
        let fire = checks.iter().find(|check| check.counter == "posts.fire_count").unwrap();
        assert_eq!((fire.checked, fire.wrong, fire.examples.len()), (11, 11, 10));
        assert_eq!(fire.examples.first(), Some(&CounterMismatch { row: uuid(11), stored: 5, counted: 1 }));
        let comments = checks.iter().find(|check| check.counter == "posts.comment_count").unwrap();
        assert_eq!(
            comments.examples.first(),
            Some(&CounterMismatch { row: uuid(11), stored: 2, counted: 0 })
        );
        assert!(checks.iter().filter(|check| check.wrong > 0).count() == 2);
    }

    fn a_graph_that_lies_is_found(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ids = [1, 2, 3].map(|n| fan(tx, n));
        let red = team(tx, 1);
        assert!(tx.insert_follow(ids[0], ids[1], at(1)).unwrap());
        assert!(tx.insert_follow(ids[2], ids[1], at(1)).unwrap());
        assert!(tx.insert_block(ids[1], ids[0], at(1)).unwrap());
        assert!(tx.insert_team_follow(ids[0], red, at(1)).unwrap());
        let found: Vec<_> = tx
            .audit_counters()
            .unwrap()
            .into_iter()
            .flat_map(|check| check.examples.into_iter().map(move |example| (check.counter, example)))
            .collect();
        let lie = |row, counted| CounterMismatch { row: uuid(row), stored: 0, counted };
        let expected = [
            ("users.follower_count", lie(2, 2)),
            ("users.following_count", lie(1, 1)),
            ("users.following_count", lie(3, 1)),
            ("teams.follower_count", lie(1, 1)),
            ("follows.beside_block", lie(1, 1)),
        ];
        assert_eq!(found, expected);
    }
}
