//! Reports.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Text;
use terrace_kernel::{CommentId, PostId, StoreError, Timestamp, UserId};
use terrace_social::ReportWrite;

/// Reads and locks post and account in the same statement, so that no report is written for a post that is being
/// removed, or by an account that is being closed.
const PG: &str = "INSERT INTO reports (post_id, user_id, reason, created_at) \
    SELECT posts.id, users.id, $1, $2 FROM posts, users \
    WHERE posts.id = $3 AND deleted_at IS NULL AND users.id = $4 AND status = $5 FOR KEY SHARE \
    ON CONFLICT (post_id, user_id) DO NOTHING";
const SQLITE: &str = "INSERT INTO reports (post_id, user_id, reason, created_at) \
    SELECT posts.id, users.id, $1, $2 FROM posts, users \
    WHERE posts.id = $3 AND deleted_at IS NULL AND users.id = $4 AND status = $5 \
    ON CONFLICT (post_id, user_id) DO NOTHING";

const PG_COMMENT: &str = "INSERT INTO comment_reports (comment_id, user_id, reason, created_at) \
    SELECT $1, id, $2, $3 FROM users WHERE id = $4 AND status = $5 FOR KEY SHARE \
    ON CONFLICT (comment_id, user_id) DO NOTHING";
const SQLITE_COMMENT: &str = "INSERT INTO comment_reports (comment_id, user_id, reason, created_at) \
    SELECT $1, id, $2, $3 FROM users WHERE id = $4 AND status = $5 \
    ON CONFLICT (comment_id, user_id) DO NOTHING";

impl ReportWrite for DieselTx<'_> {
    fn insert_report(
        &mut self,
        post: PostId,
        fan: UserId,
        reason: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => PG,
            Conn::Sqlite(_) => SQLITE,
        };
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Text, _>(reason)
                .bind::<Instant, _>(At(at))
                .bind::<Uid, _>(Key::of(post))
                .bind::<Uid, _>(Key::of(fan))
                .bind::<Text, _>(ACTIVE)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("insert a report"))
    }

    fn insert_comment_report(
        &mut self,
        comment: CommentId,
        fan: UserId,
        reason: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => PG_COMMENT,
            Conn::Sqlite(_) => SQLITE_COMMENT,
        };
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Uid, _>(Key::of(comment))
                .bind::<Text, _>(reason)
                .bind::<Instant, _>(At(at))
                .bind::<Uid, _>(Key::of(fan))
                .bind::<Text, _>(ACTIVE)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("insert a report of a comment"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, post, run};
    use crate::schema::reports;
    use terrace_social::PostWrite;

    on_each_database! {
        a_fan_reports_a_post_once_and_none_that_is_deleted,
    }

    fn reasons(tx: &mut DieselTx<'_>) -> Vec<String> {
        on!(tx.conn, |conn| reports::table.select(reports::reason).load(conn)).unwrap()
    }

    fn a_fan_reports_a_post_once_and_none_that_is_deleted(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let id = post(tx, 10, ana, None, 0);
        tx.insert_report(id, bea, "spam", at(1)).unwrap();
        tx.insert_report(id, bea, "again", at(2)).unwrap();
        assert_eq!(reasons(tx), ["spam"]);
        run(tx, "UPDATE users SET status = 'suspended' WHERE username_key = 'fan1'");
        tx.insert_report(id, ana, "suspended", at(3)).unwrap();
        run(tx, "UPDATE users SET status = 'active' WHERE username_key = 'fan1'");
        assert_eq!(reasons(tx), ["spam"]);
        assert!(tx.mark_post_deleted(id, at(3)).unwrap());
        tx.insert_report(id, ana, "late", at(4)).unwrap();
        assert_eq!(reasons(tx), ["spam"]);
    }
}
