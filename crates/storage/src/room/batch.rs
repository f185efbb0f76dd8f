//! Posts, comments and reactions of several fans at once. On PostgreSQL each method is one statement, or two where the second must
//! see what was committed before the first had its locks.

use crate::accounts::ACTIVE;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::room::reactions::kind;
use crate::schema::{posts, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use std::collections::{BTreeSet, HashMap, HashSet};
use terrace_kernel::{CommentId, PostId, StoreError, Timestamp, UserId};
use terrace_social::{
    CommentWrite, LockedPost, NewComment, NewPost, Post, PostWrite, ReactionCounts, ReactionKind,
    ReactionWrite, RoomBatch,
};

/// Foreign keys lock the same accounts, but would wait for those that are being closed.
const INSERT_POSTS: &str = ") AS given (id, author_id, team_id, body, created_at)), held AS MATERIALIZED ( \
    SELECT id FROM users WHERE id = ANY ($2) AND status = 'active' ORDER BY id FOR KEY SHARE SKIP LOCKED) \
    INSERT INTO posts (id, author_id, team_id, body, created_at) \
    SELECT given.id, author_id, team_id, body, created_at FROM given JOIN held ON held.id = author_id \
    RETURNING id";

const INSERT_COMMENTS: &str = ") AS given (id, author_id, post_id, reply_to, body, created_at)), held AS MATERIALIZED ( \
    SELECT id FROM users WHERE id = ANY ($2) AND status = 'active' ORDER BY id FOR KEY SHARE SKIP LOCKED) \
    INSERT INTO comments (id, author_id, post_id, reply_to, body, created_at) \
    SELECT given.id, author_id, post_id, reply_to, body, created_at FROM given JOIN held ON held.id = author_id \
    RETURNING id";

const LOCK_POSTS: &str = "SELECT id FROM posts WHERE id = ANY (";
const LOCK_POSTS_END: &str = ") AND deleted_at IS NULL \
    AND EXISTS (SELECT 1 FROM users WHERE users.id = author_id AND users.status = 'active') \
    ORDER BY id FOR NO KEY UPDATE";

const READ_POSTS: &str = ") AS given (post_id, user_id)) \
    SELECT given.post_id, given.user_id, posts.team_id, posts.comment_count, reactions.kind FROM given \
    JOIN posts ON posts.id = given.post_id \
    LEFT JOIN reactions ON reactions.post_id = given.post_id AND reactions.user_id = given.user_id \
    WHERE NOT EXISTS (SELECT 1 FROM blocks \
        WHERE blocker_id = given.user_id AND blocked_id = posts.author_id) \
    AND NOT EXISTS (SELECT 1 FROM blocks \
        WHERE blocker_id = posts.author_id AND blocked_id = given.user_id)";
/// A row of [`READ_POSTS`]: the post, the fan, the team, the number of comments and the fan's reaction.
type ReadPost = (Key, Key, Option<Key>, i64, Option<String>);

const REACTED_AMONG: &str = ") AS given (post_id, user_id)) \
    SELECT post_id, user_id FROM given JOIN reactions USING (post_id, user_id)";

const SET_REACTIONS: &str = ") AS given (post_id, user_id, kind, created_at)), held AS MATERIALIZED ( \
    SELECT id FROM users WHERE id = ANY ($2) AND status = 'active' ORDER BY id FOR KEY SHARE SKIP LOCKED \
    ), removed AS ( \
    DELETE FROM reactions USING given WHERE given.kind IS NULL \
    AND reactions.post_id = given.post_id AND reactions.user_id = given.user_id \
    ), written AS ( \
    INSERT INTO reactions (post_id, user_id, kind, created_at) \
    SELECT post_id, user_id, kind, created_at FROM given JOIN held ON held.id = user_id WHERE kind IS NOT NULL \
    ON CONFLICT (post_id, user_id) DO UPDATE SET kind = excluded.kind, created_at = excluded.created_at \
    RETURNING post_id, user_id) \
    SELECT post_id, user_id FROM written UNION ALL SELECT post_id, user_id FROM given WHERE kind IS NULL";

const COUNT_REACTIONS: &str = "UPDATE posts SET like_count = like_count + likes, love_count = love_count + loves, \
    fire_count = fire_count + fires, clap_count = clap_count + claps, laugh_count = laugh_count + laughs, \
    sad_count = sad_count + sads FROM unnest(";
const COUNT_REACTIONS_END: &str =
    ") AS given (id, likes, loves, fires, claps, laughs, sads) WHERE posts.id = given.id";

impl DieselTx<'_> {
    fn may_write(&mut self, author: UserId) -> Result<bool, StoreError> {
        let account = users::table.find(Key::of(author)).filter(users::status.eq(ACTIVE));
        on!(self.conn, |conn| diesel::select(exists(account)).get_result(conn))
            .map_err(broken("look for an active account"))
    }

    /// Locks the visible posts among `ids` in the order of their ids.
    fn lock_visible_posts(conn: &mut PgConnection, ids: &BTreeSet<Key>) -> Result<HashSet<Key>, StoreError> {
        let ids: Vec<Key> = ids.iter().copied().collect();
        let statement = Fixed::<_, Uid>::new(LOCK_POSTS, ids.into_sql::<Array<Uid>>(), LOCK_POSTS_END);
        let locked: Vec<Key> = statement.load(conn).map_err(broken("lock posts"))?;
        Ok(locked.into_iter().collect())
    }
}

impl RoomBatch for DieselTx<'_> {
    fn insert_posts(&mut self, posts: &[NewPost]) -> Result<HashSet<PostId>, StoreError> {
        if posts.is_empty() {
            return Ok(HashSet::new());
        }
        if let Conn::Pg(conn) = &mut self.conn {
            let column = |key: fn(&NewPost) -> Key| posts.iter().map(key).collect::<Vec<_>>();
            let teams: Vec<Option<Key>> = posts.iter().map(|post| post.team.map(Key::of)).collect();
            let bodies: Vec<&str> = posts.iter().map(|post| post.body.as_str()).collect();
            let times: Vec<At> = posts.iter().map(|post| At(post.created_at)).collect();
            let values = (
                column(|post| Key::of(post.id)).into_sql::<Array<Uid>>(),
                column(|post| Key::of(post.author)).into_sql::<Array<Uid>>(),
                teams.into_sql::<Array<Nullable<Uid>>>(),
                bodies.into_sql::<Array<Text>>(),
                times.into_sql::<Array<Instant>>(),
            );
            let statement = Fixed::<_, Uid>::new(GIVEN, values, INSERT_POSTS);
            let ids: Vec<Key> = statement.load(*conn).map_err(broken("insert posts"))?;
            return Ok(ids.into_iter().map(Key::id).collect());
        }
        let mut inserted = HashSet::new();
        for post in posts {
            if self.may_write(post.author)? {
                self.insert_post(post)?;
                inserted.insert(post.id);
            }
        }
        Ok(inserted)
    }

    fn lock_posts_for(
        &mut self,
        fans: &[(PostId, UserId)],
    ) -> Result<HashMap<(PostId, UserId), LockedPost>, StoreError> {
        let mut found = HashMap::new();
        let Conn::Pg(conn) = &mut self.conn else {
            for (post, fan) in fans {
                if let Some(Post { team, comment_count, .. }) = self.lock_post(*post, Some(*fan))? {
                    let reaction = self.reaction(*post, *fan)?;
                    found.insert((*post, *fan), LockedPost { team, comment_count, reaction });
                }
            }
            return Ok(found);
        };
        let locked = Self::lock_visible_posts(conn, &fans.iter().map(|(post, _)| Key::of(*post)).collect())?;
        let (posts, fans): (Vec<Key>, Vec<Key>) = fans
            .iter()
            .map(|(post, fan)| (Key::of(*post), Key::of(*fan)))
            .filter(|(post, _)| locked.contains(post))
            .unzip();
        if posts.is_empty() {
            return Ok(found);
        }
        let values = (posts.into_sql::<Array<Uid>>(), fans.into_sql::<Array<Uid>>());
        let statement =
            Fixed::<_, (Uid, Uid, Nullable<Uid>, BigInt, Nullable<Text>)>::new(GIVEN, values, READ_POSTS);
        let rows: Vec<ReadPost> = statement.load(*conn).map_err(broken("read locked posts"))?;
        for (post, fan, team, comment_count, reaction) in rows {
            let reaction = reaction.as_deref().map(kind).transpose()?;
            let locked = LockedPost { team: team.map(Key::id), comment_count, reaction };
            found.insert((post.id(), fan.id()), locked);
        }
        Ok(found)
    }

    fn insert_comments(&mut self, comments: &[NewComment]) -> Result<HashSet<CommentId>, StoreError> {
        let mut inserted = HashSet::new();
        if comments.is_empty() {
            return Ok(inserted);
        }
        let Conn::Pg(conn) = &mut self.conn else {
            for comment in comments {
                if self.may_write(comment.author)? {
                    self.insert_comment(comment)?;
                    inserted.insert(comment.id);
                }
            }
            return Ok(inserted);
        };
        let column = |key: fn(&NewComment) -> Key| comments.iter().map(key).collect::<Vec<_>>();
        let parents: Vec<Option<Key>> =
            comments.iter().map(|comment| comment.reply_to.map(Key::of)).collect();
        let bodies: Vec<&str> = comments.iter().map(|comment| comment.body.as_str()).collect();
        let times: Vec<At> = comments.iter().map(|comment| At(comment.created_at)).collect();
        let values = (
            column(|comment| Key::of(comment.id)).into_sql::<Array<Uid>>(),
            column(|comment| Key::of(comment.author)).into_sql::<Array<Uid>>(),
            column(|comment| Key::of(comment.post)).into_sql::<Array<Uid>>(),
            parents.into_sql::<Array<Nullable<Uid>>>(),
            bodies.into_sql::<Array<Text>>(),
            times.into_sql::<Array<Instant>>(),
        );
        let ids: Vec<Key> = Fixed::<_, Uid>::new(GIVEN, values, INSERT_COMMENTS)
            .load(*conn)
            .map_err(broken("insert comments"))?;
        inserted.extend(ids.into_iter().map(|id| CommentId::from(id.0)));
        Ok(inserted)
    }

    fn add_to_comment_counts(&mut self, changes: &[(PostId, i64)]) -> Result<(), StoreError> {
        for (post, change) in changes {
            let count = posts::comment_count.eq(posts::comment_count + change);
            on!(self.conn, |conn| diesel::update(posts::table.find(Key::of(*post))).set(count).execute(conn))
                .map_err(broken("count comments"))?;
        }
        Ok(())
    }

    fn reacted_among(&mut self, fans: &[(PostId, UserId)]) -> Result<HashSet<(PostId, UserId)>, StoreError> {
        if fans.is_empty() {
            return Ok(HashSet::new());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            let mut reacted = HashSet::new();
            for (post, fan) in fans {
                reacted.extend(self.reaction(*post, *fan)?.map(|_| (*post, *fan)));
            }
            return Ok(reacted);
        };
        let values = (
            column(fans, |(post, _)| Key::of(*post)).into_sql::<Array<Uid>>(),
            column(fans, |(_, fan)| Key::of(*fan)).into_sql::<Array<Uid>>(),
        );
        let statement = Fixed::<_, (Uid, Uid)>::new(GIVEN, values, REACTED_AMONG);
        let rows: Vec<(Key, Key)> = statement.load(*conn).map_err(broken("read reactions"))?;
        Ok(rows.into_iter().map(|(post, fan)| (post.id(), fan.id())).collect())
    }

    fn set_reactions(
        &mut self,
        reactions: &[(PostId, UserId, Option<ReactionKind>, Timestamp)],
    ) -> Result<HashSet<(PostId, UserId)>, StoreError> {
        let mut written = HashSet::new();
        if reactions.is_empty() {
            return Ok(written);
        }
        let Conn::Pg(conn) = &mut self.conn else {
            for (post, fan, kind, at) in reactions {
                if self.set_reaction(*post, *fan, *kind, *at)? {
                    written.insert((*post, *fan));
                }
            }
            return Ok(written);
        };
        let posts: Vec<Key> = reactions.iter().map(|(post, ..)| Key::of(*post)).collect();
        let fans: Vec<Key> = reactions.iter().map(|(_, fan, ..)| Key::of(*fan)).collect();
        let kinds: Vec<Option<&str>> =
            reactions.iter().map(|(_, _, kind, _)| kind.map(ReactionKind::as_str)).collect();
        let times: Vec<At> = reactions.iter().map(|(.., at)| At(*at)).collect();
        let values = (
            posts.into_sql::<Array<Uid>>(),
            fans.into_sql::<Array<Uid>>(),
            kinds.into_sql::<Array<Nullable<Text>>>(),
            times.into_sql::<Array<Instant>>(),
        );
        let statement = Fixed::<_, (Uid, Uid)>::new(GIVEN, values, SET_REACTIONS);
        let rows: Vec<(Key, Key)> = statement.load(*conn).map_err(broken("set reactions"))?;
        written.extend(rows.into_iter().map(|(post, fan)| (post.id(), fan.id())));
        Ok(written)
    }

    fn add_to_reactions_of_posts(&mut self, changes: &[(PostId, ReactionCounts)]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            return changes.iter().try_for_each(|(post, change)| self.add_to_reaction_counts(*post, change));
        };
        let posts: Vec<Key> = changes.iter().map(|(post, _)| Key::of(*post)).collect();
        let of = |count: fn(&ReactionCounts) -> i64| {
            let counts: Vec<i64> = changes.iter().map(|(_, change)| count(change)).collect();
            counts.into_sql::<Array<BigInt>>()
        };
        let values = (
            posts.into_sql::<Array<Uid>>(),
            of(|change| change.like),
            of(|change| change.love),
            of(|change| change.fire),
            of(|change| change.clap),
            of(|change| change.laugh),
            of(|change| change.sad),
        );
        Fixed::<_, ()>::new(COUNT_REACTIONS, values, COUNT_REACTIONS_END)
            .execute(*conn)
            .map(drop)
            .map_err(broken("count reactions of posts"))
    }
}
