//! Comments.

use crate::accounts::{ACTIVE, CardRow};
use crate::conn::on;
use crate::error::broken;
use crate::graph::not_hidden;
use crate::room::mentions;
use crate::room::posts::writable;
use crate::rows::{keyset, limited};
use crate::schema::{comment_likes, comments, posts, users};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::dsl::{auto_type, sql};
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Nullable;
use terrace_identity::AuthorCard;
use terrace_kernel::{CommentId, Limit, Page, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId};
use terrace_social::{Comment, CommentRead, CommentWrite, NewComment};
use uuid::Uuid;

#[derive(Queryable, Selectable)]
#[diesel(table_name = comments)]
struct CommentRow {
    id: Key,
    post_id: Key,
    #[diesel(select_expression = parent(), select_expression_type = SqlLiteral<Nullable<Uid>>)]
    reply_to: Option<Key>,
    body: String,
    mentions: Option<String>,
    like_count: i64,
    created_at: At,
    edited_at: Option<At>,
}

/// The comment that a comment replies to, unless it was deleted.
pub(crate) fn parent() -> SqlLiteral<Nullable<Uid>> {
    sql("(SELECT parents.id FROM comments AS parents WHERE parents.id = comments.reply_to)")
}

/// The join with the reader's like of the comment.
#[auto_type(no_type_alias)]
fn own_like(reader: Key) -> _ {
    comment_likes::table.on(comment_likes::comment_id.eq(comments::id).and(comment_likes::user_id.eq(reader)))
}

/// The reader's id, or without a reader the nil id, which no account has.
fn liker(reader: Option<UserId>) -> Key {
    reader.map_or(Key(Uuid::nil()), Key::of)
}

/// A comment, its author's card, and the reader if the reader likes it.
type ViewRow = (CommentRow, CardRow, Option<Key>);

fn into_comment((row, author, liked_by): ViewRow) -> Result<Comment<AuthorCard>, StoreError> {
    Ok(Comment {
        id: row.id.id(),
        post: row.post_id.id(),
        author: author.into_card()?,
        reply_to: row.reply_to.map(Key::id),
        mentions: mentions::parse("comments", row.mentions.as_deref())?,
        body: row.body,
        like_count: row.like_count,
        is_liked: liked_by.is_some(),
        created_at: row.created_at.0,
        edited_at: row.edited_at.map(|at| at.0),
    })
}

#[derive(Insertable)]
#[diesel(table_name = comments)]
struct NewCommentRow<'a> {
    id: Key,
    post_id: Key,
    author_id: Key,
    reply_to: Option<Key>,
    body: &'a str,
    created_at: At,
}

impl CommentRead<AuthorCard> for DieselTx<'_> {
    fn comments(
        &mut self,
        post: PostId,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Comment<AuthorCard>>, StoreError> {
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            let mut query = comments::table
                .inner_join(users::table)
                .left_join(own_like(liker(reader)))
                .filter(comments::post_id.eq(Key::of(post)))
                .filter(users::status.eq(ACTIVE))
                .filter(not_hidden(comments::author_id, reader))
                .select((CommentRow::as_select(), CardRow::as_select(), comment_likes::user_id.nullable()))
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, comments::created_at > At(at), comments::id > Key(id));
            }
            limited(query.order((comments::created_at, comments::id)), limit).load(conn)
        })
        .map_err(broken("list comments"))?;
        let comments = rows.into_iter().map(into_comment).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(comments, limit, Comment::key))
    }

    fn comment(
        &mut self,
        post: PostId,
        id: CommentId,
        reader: Option<UserId>,
    ) -> Result<Option<Comment<AuthorCard>>, StoreError> {
        let row: Option<ViewRow> = on!(self.conn, |conn| {
            comments::table
                .inner_join(users::table)
                .inner_join(posts::table)
                .left_join(own_like(liker(reader)))
                .filter(comments::id.eq(Key::of(id)))
                .filter(comments::post_id.eq(Key::of(post)))
                .filter(posts::deleted_at.is_null())
                .filter(users::status.eq(ACTIVE))
                .filter(not_hidden(comments::author_id, reader))
                .select((CommentRow::as_select(), CardRow::as_select(), comment_likes::user_id.nullable()))
                .first(conn)
                .optional()
        })
        .map_err(broken("read a comment"))?;
        row.map(into_comment).transpose()
    }

    fn comments_among(&mut self, ids: &[CommentId]) -> Result<Vec<Comment<AuthorCard>>, StoreError> {
        let ids = ids.iter().copied().map(Key::of);
        let rows: Vec<ViewRow> = on!(self.conn, |conn| {
            comments::table
                .inner_join(users::table)
                .filter(comments::id.eq_any(ids))
                .filter(users::status.eq(ACTIVE))
                .select((
                    CommentRow::as_select(),
                    CardRow::as_select(),
                    None::<Key>.into_sql::<Nullable<Uid>>(),
                ))
                .load(conn)
        })
        .map_err(broken("read comments by their ids"))?;
        rows.into_iter().map(into_comment).collect()
    }
}

impl CommentWrite<AuthorCard> for DieselTx<'_> {
    fn count_comment(
        &mut self,
        post: PostId,
        by: UserId,
    ) -> Result<Option<(Option<TeamId>, i64)>, StoreError> {
        let post = writable(Key::of(post)).filter(not_hidden(posts::author_id, Some(by)));
        let counted: Option<(Option<Key>, i64)> = on!(self.conn, |conn| {
            diesel::update(post)
                .set(posts::comment_count.eq(posts::comment_count + 1))
                .returning((posts::team_id, posts::comment_count))
                .get_result(conn)
                .optional()
        })
        .map_err(broken("count a comment"))?;
        Ok(counted.map(|(team, count)| (team.map(Key::id), count)))
    }

    fn insert_comment(&mut self, comment: &NewComment) -> Result<(), StoreError> {
        let row = NewCommentRow {
            id: Key::of(comment.id),
            post_id: Key::of(comment.post),
            author_id: Key::of(comment.author),
            reply_to: comment.reply_to.map(Key::of),
            body: &comment.body,
            created_at: At(comment.created_at),
        };
        on!(self.conn, |conn| diesel::insert_into(comments::table).values(&row).execute(conn))
            .map(drop)
            .map_err(broken("insert a comment"))
    }

    fn edit_comment(&mut self, id: CommentId, body: &str, at: Timestamp) -> Result<(), StoreError> {
        let text = (comments::body.eq(body), comments::edited_at.eq(At(at)));
        on!(self.conn, |conn| diesel::update(comments::table.find(Key::of(id))).set(text).execute(conn))
            .map(drop)
            .map_err(broken("edit a comment"))
    }

    fn delete_comment(&mut self, post: PostId, id: CommentId, author: UserId) -> Result<bool, StoreError> {
        let own: Option<Key> = on!(self.conn, |conn| {
            comments::table
                .find(Key::of(id))
                .filter(comments::post_id.eq(Key::of(post)))
                .filter(comments::author_id.eq(Key::of(author)))
                .select(comments::id)
                .first(conn)
                .optional()
        })
        .map_err(broken("find a comment to delete"))?;
        let Some(own) = own else { return Ok(false) };
        self.remove_of_comments(&[own])?;
        on!(self.conn, |conn| diesel::delete(comments::table.find(own)).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("delete a comment"))
    }

    fn uncount_comment(&mut self, post: PostId) -> Result<(), StoreError> {
        let fewer = posts::comment_count.eq(posts::comment_count - 1);
        on!(self.conn, |conn| diesel::update(posts::table.find(Key::of(post))).set(fewer).execute(conn))
            .map(drop)
            .map_err(broken("count a comment less"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, post, team, uuid};
    use terrace_social::PostWrite;

    on_each_database! {
        comments_page_oldest_first_through_one_instant,
        comments_count_on_posts_that_are_shown,
        a_comment_is_its_posts_and_its_authors,
    }

    fn comment(tx: &mut DieselTx<'_>, n: u128, post: PostId, author: UserId, micros: i64) -> CommentId {
        let (id, body) = (CommentId::from(uuid(n)), format!("comment {n}"));
        tx.insert_comment(&NewComment { id, post, author, reply_to: None, body, created_at: at(micros) })
            .unwrap();
        id
    }

    fn comments_page_oldest_first_through_one_instant(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let (id, other) = (post(tx, 10, ana, None, 0), post(tx, 11, ana, None, 0));
        for (n, micros) in [(5, 1), (3, 2), (4, 2), (2, 2), (1, 3)] {
            comment(tx, n, id, ana, micros);
        }
        comment(tx, 9, other, ana, 2);
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = tx.comments(id, None, Limit::new(2).unwrap(), after).unwrap();
            seen.extend(page.items.iter().map(|comment| comment.id.as_uuid().as_u128()));
            match page.next {
                Some(key) => after = Some(key),
                None => break,
            }
        }
        assert_eq!(seen, [5, 2, 3, 4, 1]);
    }

    fn comments_count_on_posts_that_are_shown(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let ana = fan(tx, 1);
        let red = team(tx, 1);
        let (id, loose) = (post(tx, 10, ana, Some(red), 0), post(tx, 11, ana, None, 0));
        assert_eq!(tx.count_comment(id, ana).unwrap(), Some((Some(red), 1)));
        assert_eq!(tx.count_comment(id, ana).unwrap(), Some((Some(red), 2)));
        tx.uncount_comment(id).unwrap();
        assert_eq!(tx.count_comment(id, ana).unwrap(), Some((Some(red), 2)));
        assert_eq!(tx.count_comment(loose, ana).unwrap(), Some((None, 1)));
        assert!(tx.mark_post_deleted(id, at(1)).unwrap());
        assert_eq!(tx.count_comment(id, ana).unwrap(), None);
        assert_eq!(tx.count_comment(PostId::from(uuid(99)), ana).unwrap(), None);
    }

    fn a_comment_is_its_posts_and_its_authors(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let (id, other) = (post(tx, 10, ana, None, 0), post(tx, 11, ana, None, 0));
        let (first, second) = (comment(tx, 1, id, bea, 1), comment(tx, 2, id, bea, 1));
        assert_eq!(tx.comment(id, first, None).unwrap().map(|found| found.author.id), Some(bea));
        assert_eq!(tx.comment(other, first, None).unwrap(), None);
        assert!(!tx.delete_comment(id, first, ana).unwrap());
        assert!(!tx.delete_comment(other, first, bea).unwrap());
        assert!(tx.delete_comment(id, first, bea).unwrap());
        assert!(!tx.delete_comment(id, first, bea).unwrap());
        assert!(tx.mark_post_deleted(id, at(1)).unwrap());
        assert_eq!(tx.comment(id, second, None).unwrap(), None);
    }
}
