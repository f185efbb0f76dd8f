//! Likes of comments: at most one per fan and comment.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::{comment_likes, comments, content_reports};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Text;
use terrace_kernel::{CommentId, StoreError, Timestamp, UserId};
use terrace_social::CommentLikeWrite;

/// Reads and locks the account in the same statement: if it is being closed, the like is either written before that or
/// not at all.
const PG: &str = "INSERT INTO comment_likes (comment_id, user_id, created_at) \
    SELECT $1, id, $2 FROM users WHERE id = $3 AND status = $4 FOR KEY SHARE \
    ON CONFLICT (comment_id, user_id) DO NOTHING";
const SQLITE: &str = "INSERT INTO comment_likes (comment_id, user_id, created_at) \
    SELECT $1, id, $2 FROM users WHERE id = $3 AND status = $4 \
    ON CONFLICT (comment_id, user_id) DO NOTHING";

impl DieselTx<'_> {
    /// Removes the likes and decided reports of comments that are about to be removed.
    pub(super) fn remove_of_comments(&mut self, ids: &[Key]) -> Result<(), StoreError> {
        let likes = comment_likes::table.filter(comment_likes::comment_id.eq_any(ids.iter().copied()));
        on!(self.conn, |conn| diesel::delete(likes).execute(conn))
            .map_err(broken("remove the likes of comments"))?;
        let reports = content_reports::table
            .filter(content_reports::subject_id.eq_any(ids.iter().copied()))
            .filter(content_reports::decided_at.is_not_null());
        on!(self.conn, |conn| diesel::delete(reports).execute(conn))
            .map(drop)
            .map_err(broken("remove the reports of comments"))
    }
}

impl CommentLikeWrite for DieselTx<'_> {
    fn insert_like(&mut self, comment: CommentId, fan: UserId, at: Timestamp) -> Result<bool, StoreError> {
        let sql = match &self.conn {
            Conn::Pg(_) => PG,
            Conn::Sqlite(_) => SQLITE,
        };
        on!(self.conn, |conn| {
            Numbered::new(
                sql,
                (
                    Key::of(comment).into_sql::<Uid>(),
                    At(at).into_sql::<Instant>(),
                    Key::of(fan).into_sql::<Uid>(),
                    ACTIVE.into_sql::<Text>(),
                ),
            )
            .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(broken("insert a like"))
    }

    fn delete_like(&mut self, comment: CommentId, fan: UserId) -> Result<bool, StoreError> {
        let like = comment_likes::table.find((Key::of(comment), Key::of(fan)));
        on!(self.conn, |conn| diesel::delete(like).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("remove a like"))
    }

    fn add_to_like_count(&mut self, comment: CommentId, change: i64) -> Result<(), StoreError> {
        let count = comments::like_count.eq(comments::like_count + change);
        on!(self.conn, |conn| diesel::update(comments::table.find(Key::of(comment))).set(count).execute(conn))
            .map(drop)
            .map_err(broken("count the likes of a comment"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, post, report, run, uuid};
    use terrace_social::{CommentRead, CommentWrite, NewComment, PostWrite};

    on_each_database! {
        a_fan_likes_a_comment_once,
        likes_and_reports_are_removed_with_their_comment,
        likes_of_a_deleted_post_are_removed_in_portions,
    }

    fn comment(tx: &mut DieselTx<'_>, n: u128, author: UserId) -> NewComment {
        let id = CommentId::from(uuid(n));
        let post = terrace_kernel::PostId::from(uuid(10));
        let body = "Olé".to_owned();
        let comment = NewComment { id, post, author, reply_to: None, body, created_at: at(1) };
        tx.insert_comment(&comment).unwrap();
        comment
    }

    fn a_fan_likes_a_comment_once(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let post = post(tx, 10, ana, None, 0);
        let NewComment { id, .. } = comment(tx, 20, ana);
        assert!(tx.insert_like(id, bea, at(2)).unwrap());
        assert!(!tx.insert_like(id, bea, at(3)).unwrap());
        tx.add_to_like_count(id, 1).unwrap();
        for (reader, is_liked) in [(None, false), (Some(ana), false), (Some(bea), true)] {
            let read = tx.comment(post, id, reader).unwrap().unwrap();
            assert_eq!((read.like_count, read.is_liked), (1, is_liked));
            let page = tx.comments(post, reader, terrace_kernel::Limit::default(), None).unwrap();
            assert_eq!(page.items, [read]);
        }
        assert!(tx.delete_like(id, bea).unwrap());
        assert!(!tx.delete_like(id, bea).unwrap());
        run(tx, "UPDATE users SET status = 'suspended' WHERE username_key = 'fan2'");
        assert!(!tx.insert_like(id, bea, at(4)).unwrap());
    }

    fn likes_and_reports_are_removed_with_their_comment(kind: DatabaseKind) {
        use terrace_social::{ContentId, ReportDecisionWrite, ReportRead};
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let post = post(tx, 10, ana, None, 0);
        let [first, reply] = [20, 21].map(|n| comment(tx, n, ana).id);
        let oldest = "(SELECT id FROM comments ORDER BY id LIMIT 1)";
        run(tx, &format!("UPDATE comments SET reply_to = {oldest} WHERE id <> {oldest}"));
        assert_eq!(tx.comment(post, reply, None).unwrap().unwrap().reply_to, Some(first));
        for comment in [first, reply] {
            assert!(tx.insert_like(comment, bea, at(2)).unwrap());
            report(tx, ContentId::of_comment(comment, post, ana), bea, "spam", 2);
            assert_eq!(tx.dismiss_reports(comment.as_uuid(), at(3)).unwrap(), 1);
            report(tx, ContentId::of_comment(comment, post, ana), ana, "undecided", 4);
        }
        assert!(!tx.delete_comment(post, first, bea).unwrap());
        assert!(tx.delete_comment(post, first, ana).unwrap());
        assert_eq!(tx.comment(post, reply, None).unwrap().unwrap().reply_to, None);
        let left: Vec<Key> =
            on!(tx.conn, |conn| comment_likes::table.select(comment_likes::comment_id).load(conn)).unwrap();
        assert_eq!(left, [Key::of(reply)]);
        let mut reports = |id: CommentId| tx.reports_on(id.as_uuid(), 9).unwrap().len();
        assert_eq!((reports(first), reports(reply)), (1, 2), "only decided ones went");
    }

    fn likes_of_a_deleted_post_are_removed_in_portions(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let fans = [1, 2, 3].map(|n| fan(tx, n));
        let post = post(tx, 10, fans[0], None, 0);
        for n in 20..23 {
            let NewComment { id, .. } = comment(tx, n, fans[0]);
            for fan in fans {
                assert!(tx.insert_like(id, fan, at(2)).unwrap());
            }
        }
        assert!(tx.mark_post_deleted(post, at(3)).unwrap());
        // Nine likes, three comments, the post.
        let portions: Vec<_> =
            std::iter::repeat_with(|| tx.remove_deleted_post(post, 4).unwrap()).take(4).collect();
        assert_eq!(portions, [false, false, false, true]);
    }
}
