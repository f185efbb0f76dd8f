//! Everything that one fan has written, page by page.

use crate::conn::on;
use crate::error::broken;
use crate::room::comments::parent;
use crate::room::posts::PostRow;
use crate::room::reactions;
use crate::rows::keyset;
use crate::schema::{comment_likes, comments, content_reports, posts, reactions as reaction_rows};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::{CommentId, PostId, StoreError, TimeKey, UserId};
use terrace_social::{
    AuthoredRead, Comment, ContentKind, OwnCommentReport, OwnLike, OwnReaction, OwnReport, Post,
};

/// Id, post, parent, text, likes, and the times of creation and of the last edit.
type CommentRow = (Key, Key, Option<Key>, String, i64, At, Option<At>);

/// Post, post or comment, reason and time of a report.
type ReportRow = (Key, Key, String, At);

impl DieselTx<'_> {
    fn own_reports(
        &mut self,
        kind: ContentKind,
        fan: UserId,
        limit: u32,
        after: Option<Key>,
    ) -> QueryResult<Vec<ReportRow>> {
        on!(self.conn, |conn| {
            let mut query = content_reports::table
                .filter(content_reports::reporter_id.eq(Key::of(fan)))
                .filter(content_reports::kind.eq(kind.as_str()))
                .select((
                    content_reports::post_id,
                    content_reports::subject_id,
                    content_reports::reason,
                    content_reports::created_at,
                ))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(content_reports::subject_id.gt(after));
            }
            query.order(content_reports::subject_id).limit(i64::from(limit)).load(conn)
        })
    }
}

impl AuthoredRead for DieselTx<'_> {
    fn posts_of(
        &mut self,
        author: UserId,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<Post>, StoreError> {
        let rows: Vec<PostRow> = on!(self.conn, |conn| {
            let mut query = posts::table
                .filter(posts::author_id.eq(Key::of(author)))
                .filter(posts::deleted_at.is_null())
                .select(PostRow::as_select())
                .into_boxed();
            if let Some(TimeKey { at, id }) = after {
                query = keyset!(query, posts::created_at < At(at), posts::id < Key(id));
            }
            query.order((posts::created_at.desc(), posts::id.desc())).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("list a fan's posts"))?;
        rows.into_iter().map(PostRow::into_post).collect()
    }

    fn comments_of(
        &mut self,
        author: UserId,
        limit: u32,
        after: Option<CommentId>,
    ) -> Result<Vec<Comment<()>>, StoreError> {
        let rows: Vec<CommentRow> = on!(self.conn, |conn| {
            let mut query = comments::table
                .filter(comments::author_id.eq(Key::of(author)))
                .select((
                    comments::id,
                    comments::post_id,
                    parent(),
                    comments::body,
                    comments::like_count,
                    comments::created_at,
                    comments::edited_at,
                ))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(comments::id.gt(Key::of(after)));
            }
            query.order(comments::id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("list a fan's comments"))?;
        let comment = |(id, post, reply_to, body, like_count, at, edited): CommentRow| Comment {
            id: id.id(),
            post: post.id(),
            author: (),
            reply_to: reply_to.map(Key::id),
            body,
            mentions: Vec::new(),
            like_count,
            is_liked: false,
            created_at: at.0,
            edited_at: edited.map(|at| at.0),
        };
        Ok(rows.into_iter().map(comment).collect())
    }

    fn reactions_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<PostId>,
    ) -> Result<Vec<OwnReaction>, StoreError> {
        let rows: Vec<(Key, String, At)> = on!(self.conn, |conn| {
            let mut query = reaction_rows::table
                .filter(reaction_rows::user_id.eq(Key::of(fan)))
                .select((reaction_rows::post_id, reaction_rows::kind, reaction_rows::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(reaction_rows::post_id.gt(Key::of(after)));
            }
            query.order(reaction_rows::post_id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("list a fan's reactions"))?;
        rows.into_iter()
            .map(|(post, kind, at)| {
                Ok(OwnReaction { post: post.id(), kind: reactions::kind(&kind)?, created_at: at.0 })
            })
            .collect()
    }

    fn reports_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<PostId>,
    ) -> Result<Vec<OwnReport>, StoreError> {
        let rows = self
            .own_reports(ContentKind::Post, fan, limit, after.map(Key::of))
            .map_err(broken("list a fan's reports"))?;
        let report =
            |(post, _, reason, at): ReportRow| OwnReport { post: post.id(), reason, created_at: at.0 };
        Ok(rows.into_iter().map(report).collect())
    }

    fn likes_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<CommentId>,
    ) -> Result<Vec<OwnLike>, StoreError> {
        let rows: Vec<(Key, Key, At)> = on!(self.conn, |conn| {
            let mut query = comment_likes::table
                .inner_join(comments::table)
                .filter(comment_likes::user_id.eq(Key::of(fan)))
                .select((comments::post_id, comment_likes::comment_id, comment_likes::created_at))
                .into_boxed();
            if let Some(after) = after {
                query = query.filter(comment_likes::comment_id.gt(Key::of(after)));
            }
            query.order(comment_likes::comment_id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("list a fan's likes"))?;
        let like = |(post, comment, at): (Key, Key, At)| OwnLike {
            post: post.id(),
            comment: comment.id(),
            created_at: at.0,
        };
        Ok(rows.into_iter().map(like).collect())
    }

    fn comment_reports_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<CommentId>,
    ) -> Result<Vec<OwnCommentReport>, StoreError> {
        let rows = self
            .own_reports(ContentKind::Comment, fan, limit, after.map(Key::of))
            .map_err(broken("list a fan's reports of comments"))?;
        let report = |(post, comment, reason, at): ReportRow| OwnCommentReport {
            post: post.id(),
            comment: comment.id(),
            reason,
            created_at: at.0,
        };
        Ok(rows.into_iter().map(report).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, fan, on_each_database, plans_of, post, report, uuid};
    use terrace_social::{CommentWrite, ContentId, NewComment, PostWrite, ReactionKind, ReactionWrite};

    on_each_database! {
        each_list_is_walked_to_its_end_by_its_keys,
    }

    fn each_list_is_walked_to_its_end_by_its_keys(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        for n in 10..15 {
            // All at the same instant, so that the ids decide the order.
            let of_ana = post(tx, n, ana, None, 5);
            let of_bea = post(tx, n + 100, bea, None, 5);
            let comment = |n, author| NewComment {
                id: CommentId::from(uuid(n)),
                post: of_bea,
                author,
                reply_to: None,
                body: format!("comment {n}"),
                created_at: at(6),
            };
            tx.insert_comment(&comment(n + 200, ana)).unwrap();
            tx.insert_comment(&comment(n + 300, bea)).unwrap();
            assert!(tx.set_reaction(of_bea, ana, Some(ReactionKind::Clap), at(7)).unwrap());
            assert!(tx.set_reaction(of_ana, bea, Some(ReactionKind::Sad), at(7)).unwrap());
            report(tx, ContentId::of_post(of_bea, bea), ana, &format!("report {n}"), 8);
            let of_comment = ContentId::of_comment(CommentId::from(uuid(n + 300)), of_bea, bea);
            report(tx, of_comment, ana, "of a comment", 8);
        }
        assert!(tx.mark_post_deleted(PostId::from(uuid(12)), at(9)).unwrap());

        let (mut posts, mut after) = (Vec::new(), None);
        loop {
            let page = tx.posts_of(ana, 2, after).unwrap();
            after = page.last().map(Post::key);
            posts.extend(page.iter().map(|post| post.id.as_uuid().as_u128()));
            if page.len() < 2 {
                break;
            }
        }
        assert_eq!(posts, [14, 13, 11, 10]);

        let (mut comments, mut after) = (Vec::new(), None);
        loop {
            let page = tx.comments_of(ana, 2, after).unwrap();
            after = page.last().map(|comment| comment.id);
            comments.extend(page.iter().map(|comment| comment.id.as_uuid().as_u128()));
            if page.len() < 2 {
                break;
            }
        }
        assert_eq!(comments, [210, 211, 212, 213, 214]);

        let reactions = tx.reactions_of(ana, 9, Some(PostId::from(uuid(112)))).unwrap();
        let last =
            |n| OwnReaction { post: PostId::from(uuid(n)), kind: ReactionKind::Clap, created_at: at(7) };
        assert_eq!(reactions, [last(113), last(114)]);
        let reports = tx.reports_of(ana, 2, Some(PostId::from(uuid(110)))).unwrap();
        assert_eq!(
            reports.iter().map(|report| report.reason.as_str()).collect::<Vec<_>>(),
            ["report 11", "report 12"]
        );
    }

    #[test]
    fn every_page_walks_its_index() {
        let mut database = Database::sqlite();
        let ana = UserId::from(uuid(1));
        let later = uuid(7);
        let plans = plans_of(&mut database, |tx| {
            for after in [None, Some(later)] {
                let key = after.map(|id| TimeKey { at: at(0), id });
                tx.posts_of(ana, 5, key).unwrap();
                tx.comments_of(ana, 5, after.map(CommentId::from)).unwrap();
                tx.reactions_of(ana, 5, after.map(PostId::from)).unwrap();
                tx.reports_of(ana, 5, after.map(PostId::from)).unwrap();
                tx.likes_of(ana, 5, after.map(CommentId::from)).unwrap();
                tx.comment_reports_of(ana, 5, after.map(CommentId::from)).unwrap();
            }
        });
        let indexes = [
            "posts_newest_of_author",
            "comments_of_author",
            "reactions_of_user",
            "content_reports_of_reporter",
            "comment_likes_of_user",
            "content_reports_of_reporter",
        ];
        for (plan, index) in plans.iter().zip(indexes.into_iter().cycle()) {
            assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
        }
        assert_eq!(plans.len(), 12);
    }
}
