//! Reactions: at most one per fan and post.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::named;
use crate::schema::reactions;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use terrace_kernel::{PostId, StoreError, Timestamp, UserId};
use terrace_social::{ReactionCounts, ReactionKind, ReactionWrite};

/// Parses the `kind` of a reaction; also used by queries that join reactions to posts.
pub(crate) fn kind(text: &str) -> Result<ReactionKind, StoreError> {
    named("reactions", "kind", text)
}

/// Reads and locks the account in the same statement: if it is being closed, the reaction is either written before that
/// or not at all.
const PG: &str = "INSERT INTO reactions (post_id, user_id, kind, created_at) \
    SELECT $1, id, $2, $3 FROM users WHERE id = $4 AND status = $5 FOR KEY SHARE \
    ON CONFLICT (post_id, user_id) DO UPDATE SET kind = excluded.kind, created_at = excluded.created_at";
const SQLITE: &str = "INSERT INTO reactions (post_id, user_id, kind, created_at) \
    SELECT $1, id, $2, $3 FROM users WHERE id = $4 AND status = $5 \
    ON CONFLICT (post_id, user_id) DO UPDATE SET kind = excluded.kind, created_at = excluded.created_at";

const ADD_TO_COUNTS: &str = "UPDATE posts SET like_count = like_count + $2, love_count = love_count + $3, \
    fire_count = fire_count + $4, clap_count = clap_count + $5, laugh_count = laugh_count + $6, \
    sad_count = sad_count + $7 WHERE id = $1";

impl ReactionWrite for DieselTx<'_> {
    fn reaction(&mut self, post: PostId, fan: UserId) -> Result<Option<ReactionKind>, StoreError> {
        let row: Option<String> = on!(self.conn, |conn| {
            reactions::table
                .find((Key::of(post), Key::of(fan)))
                .select(reactions::kind)
                .first(conn)
                .optional()
        })
        .map_err(broken("read a reaction"))?;
        row.as_deref().map(kind).transpose()
    }

    fn set_reaction(
        &mut self,
        post: PostId,
        fan: UserId,
        kind: Option<ReactionKind>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let (post, fan) = (Key::of(post), Key::of(fan));
        let Some(kind) = kind else {
            return on!(self.conn, |conn| diesel::delete(reactions::table.find((post, fan))).execute(conn))
                .map(|_| true)
                .map_err(broken("take back a reaction"));
        };
        let sql = match &self.conn {
            Conn::Pg(_) => PG,
            Conn::Sqlite(_) => SQLITE,
        };
        on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (
                    post.into_sql::<Uid>(),
                    kind.as_str().into_sql::<Text>(),
                    At(at).into_sql::<Instant>(),
                    fan.into_sql::<Uid>(),
                    ACTIVE.into_sql::<Text>(),
                ),
            )
            .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("set a reaction"))
    }

    fn add_to_reaction_counts(&mut self, post: PostId, change: &ReactionCounts) -> Result<(), StoreError> {
        let values = (
            Key::of(post).into_sql::<Uid>(),
            change.like.into_sql::<BigInt>(),
            change.love.into_sql::<BigInt>(),
            change.fire.into_sql::<BigInt>(),
            change.clap.into_sql::<BigInt>(),
            change.laugh.into_sql::<BigInt>(),
            change.sad.into_sql::<BigInt>(),
        );
        on!(self.conn, |conn| Numbered::new(ADD_TO_COUNTS, values).execute(conn))
            .map(drop)
            .map_err(broken("count reactions"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, post, run};
    use terrace_social::PostWrite;

    on_each_database! {
        a_fan_has_one_reaction_which_another_replaces,
        an_account_that_is_not_active_sets_no_reaction,
    }

    fn a_fan_has_one_reaction_which_another_replaces(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let id = post(tx, 10, ana, None, 0);
        let steps =
            [Some(ReactionKind::Like), Some(ReactionKind::Like), Some(ReactionKind::Laugh), None, None];
        for after in steps {
            let before = tx.reaction(id, ana).unwrap();
            assert!(tx.set_reaction(id, ana, after, at(1)).unwrap());
            if let Some(change) = ReactionCounts::change(before, after) {
                tx.add_to_reaction_counts(id, &change).unwrap();
            }
            assert_eq!(tx.reaction(id, ana).unwrap(), after);
            let counts = tx.lock_post(id, None).unwrap().unwrap().reactions;
            assert_eq!(counts.total(), i64::from(after.is_some()));
            assert_eq!(after.map(|kind| counts.of(kind)), after.map(|_| 1));
        }
    }

    fn an_account_that_is_not_active_sets_no_reaction(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let id = post(tx, 10, ana, None, 0);
        for status in ["suspended", "deleted"] {
            run(tx, &format!("UPDATE users SET status = '{status}' WHERE username_key = 'fan2'"));
            assert!(!tx.set_reaction(id, bea, Some(ReactionKind::Like), at(1)).unwrap());
            assert_eq!(tx.reaction(id, bea).unwrap(), None);
        }
    }
}
