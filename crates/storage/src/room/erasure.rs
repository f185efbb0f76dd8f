//! Erases the content of a deleted account in batches, and updates the counters of other users' posts.
//!
//! A transaction that adds or removes a comment or a reaction holds the lock on its post. A batch locks all posts that
//! it touches, in the order of their ids. Rows that no longer exist by then were removed, and counted, by another
//! transaction.

use crate::conn::{Conn, on};
use crate::error::broken;
use crate::schema::{comment_likes, comments, posts, reactions as reaction_rows};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use std::collections::{BTreeMap, HashMap};
use terrace_kernel::{StoreError, Timestamp, UserId, distinct, num};
use terrace_social::{Erased, ErasedComment, ErasedPost, ErasureWrite, ReactionKind};

/// The condition `deleted_at IS NULL` occurs twice: for the index, and for a post that its author deletes concurrently.
const MARK_POSTS: &str = "UPDATE posts SET deleted_at = $1 WHERE deleted_at IS NULL AND id IN \
    (SELECT id FROM posts WHERE author_id = $2 AND deleted_at IS NULL LIMIT $3) RETURNING id, team_id";
const REMOVE_REPORTS: &str = "DELETE FROM content_reports WHERE reporter_id = $1 AND subject_id IN \
    (SELECT subject_id FROM content_reports WHERE reporter_id = $1 LIMIT $2)";
const REMOVE_REPORTS_ON: &str = "DELETE FROM content_reports WHERE (subject_id, reporter_id) IN \
    (SELECT subject_id, reporter_id FROM content_reports WHERE author_id = $1 LIMIT $2)";

#[derive(QueryableByName)]
struct PostRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Nullable<Uid>)]
    team_id: Option<Key>,
}

/// The locked posts of a batch with their teams; `None` for deleted posts, for which no events are published.
pub(super) type LockedPosts = HashMap<Key, Option<ErasedPost>>;

impl DieselTx<'_> {
    pub(super) fn lock_posts(&mut self, ids: &[Key]) -> Result<LockedPosts, StoreError> {
        let query = posts::table.filter(posts::id.eq_any(ids.iter().copied())).order(posts::id).select((
            posts::id,
            posts::team_id,
            posts::deleted_at.is_null(),
        ));
        let rows: Vec<(Key, Option<Key>, bool)> = match &mut self.conn {
            Conn::Pg(conn) => query.for_no_key_update().load(*conn),
            Conn::Sqlite(conn) => query.load(*conn),
        }
        .map_err(broken("lock the posts of a portion"))?;
        let erased = |id: Key, team: Option<Key>| ErasedPost { post: id.id(), team: team.map(Key::id) };
        Ok(rows.into_iter().map(|(id, team, shown)| (id, shown.then(|| erased(id, team)))).collect())
    }

    /// Lowers the comment counters of posts by the number of comments removed from each: one statement for each
    /// distinct number.
    fn uncount_comments(&mut self, gone: &[(Key, Key)]) -> Result<(), StoreError> {
        let mut by_post: BTreeMap<Key, i64> = BTreeMap::new();
        for (_, post) in gone {
            *by_post.entry(*post).or_default() += 1;
        }
        let mut by_number: BTreeMap<i64, Vec<Key>> = BTreeMap::new();
        for (post, number) in by_post {
            by_number.entry(number).or_default().push(post);
        }
        for (number, ids) in by_number {
            let fewer = posts::comment_count.eq(posts::comment_count - number);
            on!(self.conn, |conn| {
                diesel::update(posts::table.filter(posts::id.eq_any(ids))).set(fewer).execute(conn)
            })
            .map_err(broken("count the comments of a portion less"))?;
        }
        Ok(())
    }

    /// Runs a statement whose parameters are an account (`$1`) and a maximum number of rows (`$2`).
    fn erase_by(&mut self, sql: &str, fan: UserId, limit: u32) -> QueryResult<u32> {
        on!(self.conn, |conn| {
            diesel::sql_query(sql)
                .bind::<Uid, _>(Key::of(fan))
                .bind::<BigInt, _>(i64::from(limit))
                .execute(conn)
        })
        .map(num::to_u32)
    }

    /// Lowers one reaction counter of the posts by one.
    fn uncount_reactions(&mut self, kind: ReactionKind, ids: Vec<Key>) -> Result<(), StoreError> {
        let of_portion = posts::table.filter(posts::id.eq_any(ids));
        on!(self.conn, |conn| {
            let update = diesel::update(of_portion);
            match kind {
                ReactionKind::Like => update.set(posts::like_count.eq(posts::like_count - 1)).execute(conn),
                ReactionKind::Love => update.set(posts::love_count.eq(posts::love_count - 1)).execute(conn),
                ReactionKind::Fire => update.set(posts::fire_count.eq(posts::fire_count - 1)).execute(conn),
                ReactionKind::Clap => update.set(posts::clap_count.eq(posts::clap_count - 1)).execute(conn),
                ReactionKind::Laugh => {
                    update.set(posts::laugh_count.eq(posts::laugh_count - 1)).execute(conn)
                }
                ReactionKind::Sad => update.set(posts::sad_count.eq(posts::sad_count - 1)).execute(conn),
            }
        })
        .map(drop)
        .map_err(broken("count the reactions of a portion less"))
    }
}

/// Those of the comments, each with its post, whose posts are not deleted.
fn reported(locked: &LockedPosts, comments: &[(Key, Key)]) -> Vec<ErasedComment> {
    let reported = comments.iter().filter_map(|(comment, post)| {
        let ErasedPost { post, team } = locked.get(post).copied().flatten()?;
        Some(ErasedComment { post, team, comment: comment.id() })
    });
    reported.collect()
}

impl ErasureWrite for DieselTx<'_> {
    fn erase_posts(
        &mut self,
        author: UserId,
        limit: u32,
        at: Timestamp,
    ) -> Result<Erased<ErasedPost>, StoreError> {
        let rows: Vec<PostRow> = on!(self.conn, |conn| {
            diesel::sql_query(MARK_POSTS)
                .bind::<Instant, _>(At(at))
                .bind::<Uid, _>(Key::of(author))
                .bind::<BigInt, _>(i64::from(limit))
                .load(conn)
        })
        .map_err(broken("mark a fan's posts as deleted"))?;
        let reported: Vec<_> = rows
            .into_iter()
            .map(|row| ErasedPost { post: row.id.id(), team: row.team_id.map(Key::id) })
            .collect();
        Ok(Erased { found: num::to_u32(reported.len()), reported })
    }

    fn erase_comments(&mut self, author: UserId, limit: u32) -> Result<Erased<ErasedComment>, StoreError> {
        let portion: Vec<(Key, Key)> = on!(self.conn, |conn| {
            comments::table
                .filter(comments::author_id.eq(Key::of(author)))
                .order(comments::id)
                .limit(i64::from(limit))
                .select((comments::id, comments::post_id))
                .load(conn)
        })
        .map_err(broken("find a fan's comments"))?;
        if portion.is_empty() {
            return Ok(Erased { found: 0, reported: Vec::new() });
        }
        let locked = self.lock_posts(&distinct(portion.iter().map(|(_, post)| *post)))?;
        let ids: Vec<Key> = portion.iter().map(|(id, _)| *id).collect();
        self.remove_of_comments(&ids)?;
        let gone: Vec<(Key, Key)> = on!(self.conn, |conn| {
            diesel::delete(comments::table.filter(comments::id.eq_any(ids.iter().copied())))
                .returning((comments::id, comments::post_id))
                .get_results(conn)
        })
        .map_err(broken("remove a fan's comments"))?;
        self.uncount_comments(&gone)?;
        Ok(Erased { found: num::to_u32(portion.len()), reported: reported(&locked, &gone) })
    }

    fn erase_likes(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedComment>, StoreError> {
        let portion: Vec<(Key, Key)> = on!(self.conn, |conn| {
            comment_likes::table
                .inner_join(comments::table)
                .filter(comment_likes::user_id.eq(Key::of(fan)))
                .order(comment_likes::comment_id)
                .limit(i64::from(limit))
                .select((comment_likes::comment_id, comments::post_id))
                .load(conn)
        })
        .map_err(broken("find a fan's likes"))?;
        if portion.is_empty() {
            return Ok(Erased { found: 0, reported: Vec::new() });
        }
        let locked = self.lock_posts(&distinct(portion.iter().map(|(_, post)| *post)))?;
        let gone: Vec<Key> = on!(self.conn, |conn| {
            let ids = portion.iter().map(|(comment, _)| *comment);
            let of_fan = comment_likes::table
                .filter(comment_likes::user_id.eq(Key::of(fan)))
                .filter(comment_likes::comment_id.eq_any(ids));
            diesel::delete(of_fan).returning(comment_likes::comment_id).get_results(conn)
        })
        .map_err(broken("remove a fan's likes"))?;
        on!(self.conn, |conn| {
            let liked = comments::table.filter(comments::id.eq_any(gone.iter().copied()));
            diesel::update(liked).set(comments::like_count.eq(comments::like_count - 1)).execute(conn)
        })
        .map_err(broken("count the likes of a portion less"))?;
        let lost: Vec<(Key, Key)> =
            portion.iter().copied().filter(|(comment, _)| gone.contains(comment)).collect();
        Ok(Erased { found: num::to_u32(portion.len()), reported: reported(&locked, &lost) })
    }

    fn erase_reactions(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedPost>, StoreError> {
        let portion: Vec<Key> = on!(self.conn, |conn| {
            reaction_rows::table
                .filter(reaction_rows::user_id.eq(Key::of(fan)))
                .order(reaction_rows::post_id)
                .limit(i64::from(limit))
                .select(reaction_rows::post_id)
                .load(conn)
        })
        .map_err(broken("find a fan's reactions"))?;
        if portion.is_empty() {
            return Ok(Erased { found: 0, reported: Vec::new() });
        }
        let locked = self.lock_posts(&portion)?;
        let gone: Vec<(Key, String)> = on!(self.conn, |conn| {
            let of_fan = reaction_rows::table
                .filter(reaction_rows::user_id.eq(Key::of(fan)))
                .filter(reaction_rows::post_id.eq_any(portion.iter().copied()));
            diesel::delete(of_fan).returning((reaction_rows::post_id, reaction_rows::kind)).get_results(conn)
        })
        .map_err(broken("remove a fan's reactions"))?;
        let mut by_kind: HashMap<ReactionKind, Vec<Key>> = HashMap::new();
        for (post, kind) in &gone {
            by_kind.entry(crate::room::kind(kind)?).or_default().push(*post);
        }
        for (kind, ids) in by_kind {
            self.uncount_reactions(kind, ids)?;
        }
        let reported = gone.iter().filter_map(|(post, _)| locked.get(post).copied().flatten()).collect();
        Ok(Erased { found: num::to_u32(portion.len()), reported })
    }

    fn erase_reports(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError> {
        self.erase_by(REMOVE_REPORTS, fan, limit).map_err(broken("remove a fan's reports"))
    }

    fn erase_reports_on(&mut self, author: UserId, limit: u32) -> Result<u32, StoreError> {
        self.erase_by(REMOVE_REPORTS_ON, author, limit)
            .map_err(broken("remove the reports of a fan's content"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{
        Database, DatabaseKind, at, fan, on_each_database, plans_of, post, report, team, uuid,
    };
    use terrace_kernel::{CommentId, PostId};
    use terrace_social::{
        AuthoredRead, CommentLikeWrite, CommentWrite, ContentId, NewComment, PostWrite, ReactionCounts,
        ReactionWrite,
    };
    use terrace_store::Audit;

    on_each_database! {
        posts_are_marked_in_portions_and_published_once,
        counters_fit_after_every_portion_and_deleted_posts_have_no_events,
    }

    fn comment(tx: &mut DieselTx<'_>, n: u128, post: PostId, author: UserId) {
        let id = CommentId::from(uuid(n));
        tx.count_comment(post, author).unwrap().unwrap();
        let body = "Olé".to_owned();
        tx.insert_comment(&NewComment { id, post, author, reply_to: None, body, created_at: at(1) }).unwrap();
    }

    fn react(tx: &mut DieselTx<'_>, post: PostId, fan: UserId, kind: ReactionKind) {
        assert!(tx.set_reaction(post, fan, Some(kind), at(1)).unwrap());
        let change = ReactionCounts::change(None, Some(kind)).unwrap();
        tx.add_to_reaction_counts(post, &change).unwrap();
    }

    fn counters_agree(tx: &mut DieselTx<'_>) -> bool {
        tx.audit_counters().unwrap().iter().all(|check| check.wrong == 0)
    }

    fn posts_are_marked_in_portions_and_published_once(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea, red) = (fan(tx, 1), fan(tx, 2), team(tx, 1));
        for n in 10..15 {
            post(tx, n, ana, (n == 14).then_some(red), 0);
        }
        let other = post(tx, 20, bea, None, 0);
        let portions = [(); 4].map(|()| tx.erase_posts(ana, 2, at(1)).unwrap());
        assert_eq!(portions.each_ref().map(|portion| portion.found), [2, 2, 1, 0]);
        let mut reported: Vec<_> = portions.into_iter().flat_map(|portion| portion.reported).collect();
        reported.sort_by_key(|erased| erased.post);
        assert_eq!(reported.len(), 5);
        assert_eq!(reported.last(), Some(&ErasedPost { post: PostId::from(uuid(14)), team: Some(red) }));
        assert!(tx.lock_post(other, None).unwrap().is_some());
        assert_eq!(tx.posts_of(ana, 10, None).unwrap(), []);
    }

    fn counters_fit_after_every_portion_and_deleted_posts_have_no_events(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (ana, bea) = (fan(tx, 1), fan(tx, 2));
        let posts: Vec<_> = (10..14).map(|n| post(tx, n, bea, None, 0)).collect();
        let mut id = 100;
        for (number, post) in posts.iter().enumerate() {
            // One, two, three and four comments by ana, and one by bea.
            for _ in 0..=number {
                id += 1;
                comment(tx, id, *post, ana);
            }
            comment(tx, id + 1000, *post, bea);
            let liked = CommentId::from(uuid(id + 1000));
            assert!(tx.insert_like(liked, ana, at(1)).unwrap());
            tx.add_to_like_count(liked, 1).unwrap();
            report(tx, ContentId::of_comment(liked, *post, bea), ana, "spam", 1);
            react(tx, *post, ana, ReactionKind::ALL[number]);
            react(tx, *post, bea, ReactionKind::Like);
            report(tx, ContentId::of_post(*post, bea), ana, "spam", 1);
            report(tx, ContentId::of_post(*post, bea), bea, "by its author", 1);
        }
        assert!(tx.mark_post_deleted(posts[0], at(2)).unwrap());

        let mut reported = Vec::new();
        for expected in [4, 4, 2, 0] {
            let portion = tx.erase_comments(ana, 4).unwrap();
            assert_eq!(portion.found, expected);
            reported.extend(portion.reported.into_iter().map(|comment| comment.post));
            assert!(counters_agree(tx));
        }
        assert_eq!(reported.len(), 9);
        assert!(!reported.contains(&posts[0]));
        let mut reported = Vec::new();
        for expected in [3, 1, 0] {
            let portion = tx.erase_reactions(ana, 3).unwrap();
            assert_eq!(portion.found, expected);
            reported.extend(portion.reported.into_iter().map(|erased| erased.post));
            assert!(counters_agree(tx));
        }
        assert_eq!(reported, posts[1..]);
        // Ana likes the comment by bea on each post, and has reported it.
        let likes: Vec<_> = tx.likes_of(ana, 9, None).unwrap();
        assert_eq!(likes.iter().map(|like| like.post).collect::<Vec<_>>(), posts);
        let mut reported = Vec::new();
        for expected in [3, 1, 0] {
            let portion = tx.erase_likes(ana, 3).unwrap();
            assert_eq!(portion.found, expected);
            reported.extend(portion.reported.into_iter().map(|comment| comment.post));
            assert!(counters_agree(tx));
        }
        assert_eq!(reported, posts[1..]);
        assert_eq!([(); 4].map(|()| tx.erase_reports(ana, 3).unwrap()), [3, 3, 2, 0]);
        assert_eq!(tx.erase_reports_on(ana, 3).unwrap(), 0);
        assert_eq!([(); 3].map(|()| tx.erase_reports_on(bea, 3).unwrap()), [3, 1, 0]);
        for post in &posts[1..] {
            let left = tx.lock_post(*post, None).unwrap().unwrap();
            assert_eq!((left.comment_count, left.reactions.total(), left.reactions.like), (1, 1, 1));
        }
    }

    #[test]
    fn portions_are_found_by_index() {
        let mut database = Database::sqlite();
        let ana = {
            let tx = &mut database.tx();
            let (ana, bea) = (fan(tx, 1), fan(tx, 2));
            let of_bea = post(tx, 10, bea, None, 0);
            comment(tx, 1, of_bea, ana);
            react(tx, of_bea, ana, ReactionKind::Fire);
            ana
        };
        let plans = plans_of(&mut database, |tx| {
            tx.erase_posts(ana, 5, at(1)).unwrap();
            tx.erase_comments(ana, 5).unwrap();
            tx.erase_reactions(ana, 5).unwrap();
            tx.erase_likes(ana, 5).unwrap();
            tx.erase_reports(ana, 5).unwrap();
            tx.erase_reports_on(ana, 5).unwrap();
        });
        for plan in &plans {
            assert!(!plan.contains("SCAN"), "{plan}");
        }
        let all = plans.join("\n");
        for index in [
            "posts_newest_of_author",
            "comments_of_author",
            "reactions_of_user",
            "comment_likes_of_user",
            "content_reports_of_reporter",
            "content_reports_of_author",
        ] {
            assert!(all.contains(index), "{all}");
        }
    }
}
