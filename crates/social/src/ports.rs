//! The store interface that the rules of this crate need. One call is one round trip to the database; a call that
//! writes conditionally returns whether it wrote. The store joins in `A`, the card of an author.

use crate::{Comment, NewComment, NewPost, Post, PostView, ReactionCounts, ReactionKind};
use std::collections::{HashMap, HashSet};
use terrace_kernel::{CommentId, Limit, Page, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// Reads posts.
pub trait PostRead<A> {
    /// A post that is not deleted, by an active author who is visible to `reader`, with `reader`'s own reaction.
    fn post(&mut self, id: PostId, reader: Option<UserId>) -> Result<Option<PostView<A>>, StoreError>;

    /// The posts among `ids` that are not deleted and whose authors are active, as a signed-out reader sees them, in no
    /// order.
    fn posts_among(&mut self, ids: &[PostId]) -> Result<Vec<PostView<A>>, StoreError>;
}

/// Writes posts.
pub trait PostWrite<A>: PostRead<A> {
    /// Inserts a post.
    fn insert_post(&mut self, post: &NewPost) -> Result<(), StoreError>;

    /// The post, unless it is deleted, its author is not active, or the author and `reader` are hidden from each other.
    /// It stays locked until the transaction ends: the lock protects its counters, comments and reactions.
    fn lock_post(&mut self, id: PostId, reader: Option<UserId>) -> Result<Option<Post>, StoreError>;

    /// As [`PostWrite::lock_post`]. The lock also protects the text: rows that are derived from it, such as topics, are
    /// not written by another transaction meanwhile.
    fn lock_post_text(&mut self, id: PostId, reader: Option<UserId>) -> Result<Option<Post>, StoreError>;

    /// Replaces the text of a post. The caller holds the lock of [`PostWrite::lock_post_text`].
    fn edit_post(&mut self, id: PostId, body: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Marks a post as deleted; `false` if it was already. Its comments, reactions and decided reports are removed
    /// later.
    fn mark_post_deleted(&mut self, id: PostId, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes up to `limit` comments, reactions and decided reports of a deleted post, and the post itself once it has
    /// none; `true` if nothing is left to remove. A post that is not deleted is not changed.
    fn remove_deleted_post(&mut self, id: PostId, limit: u32) -> Result<bool, StoreError>;
}

/// Reads comments.
pub trait CommentRead<A> {
    /// A page of the comments of a post, oldest first, after `after`: those by active authors who are visible to
    /// `reader`, with `reader`'s own likes.
    fn comments(
        &mut self,
        post: PostId,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Comment<A>>, StoreError>;

    /// A comment by an active author who is visible to `reader`, on a post that is not deleted, with `reader`'s own
    /// like.
    fn comment(
        &mut self,
        post: PostId,
        id: CommentId,
        reader: Option<UserId>,
    ) -> Result<Option<Comment<A>>, StoreError>;

    /// The existing comments among `ids` whose authors are active, in no order; their posts may be deleted.
    fn comments_among(&mut self, ids: &[CommentId]) -> Result<Vec<Comment<A>>, StoreError>;
}

/// Writes comments. The counter of the post changes in the same transaction.
pub trait CommentWrite<A>: CommentRead<A> {
    /// Increments the comment counter of a post that is not deleted, and whose author is active and not hidden from the
    /// commenter `by`. Returns the post's team and the new count, or `None` if there is no such post. Locks the post.
    fn count_comment(
        &mut self,
        post: PostId,
        by: UserId,
    ) -> Result<Option<(Option<TeamId>, i64)>, StoreError>;

    /// Inserts a comment.
    fn insert_comment(&mut self, comment: &NewComment) -> Result<(), StoreError>;

    /// Replaces the text of a comment. The caller holds the lock on the post.
    fn edit_comment(&mut self, id: CommentId, body: &str, at: Timestamp) -> Result<(), StoreError>;

    /// Deletes `author`'s comment from a post, with its likes and decided reports; `false` if there is none. Replies to
    /// it stay. The caller holds the lock on the post and decrements its counter with [`CommentWrite::uncount_comment`].
    fn delete_comment(&mut self, post: PostId, id: CommentId, author: UserId) -> Result<bool, StoreError>;

    /// Decrements the comment counter of a post.
    fn uncount_comment(&mut self, post: PostId) -> Result<(), StoreError>;
}

/// Writes reactions. Callers must hold the lock on the post.
pub trait ReactionWrite {
    /// The fan's reaction to a post, if any.
    fn reaction(&mut self, post: PostId, fan: UserId) -> Result<Option<ReactionKind>, StoreError>;

    /// Sets or removes the fan's reaction to a post; `false` if the fan's account is not active.
    fn set_reaction(
        &mut self,
        post: PostId,
        fan: UserId,
        kind: Option<ReactionKind>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Adds `change` to the reaction counters of a post.
    fn add_to_reaction_counts(&mut self, post: PostId, change: &ReactionCounts) -> Result<(), StoreError>;
}

/// What a fan needs to know of a post to comment on it or to react to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedPost {
    /// The team whose room it is in; `None` for the common room.
    pub team: Option<TeamId>,
    /// Number of its comments.
    pub comment_count: i64,
    /// The fan's reaction to it.
    pub reaction: Option<ReactionKind>,
}

/// Writes posts, comments and reactions of several fans at once, each as [`PostWrite`], [`CommentWrite`] and
/// [`ReactionWrite`] do for one.
pub trait RoomBatch {
    /// Inserts posts without pictures; returns the ids of those that were inserted. Posts of authors whose accounts are not
    /// active, or are being closed by another transaction, are left out.
    fn insert_posts(&mut self, posts: &[NewPost]) -> Result<HashSet<PostId>, StoreError>;

    /// Locks the posts in the order of their ids, as [`PostWrite::lock_post`] does, and reads each for a fan. Posts that
    /// the fan cannot see are left out.
    fn lock_posts_for(
        &mut self,
        fans: &[(PostId, UserId)],
    ) -> Result<HashMap<(PostId, UserId), LockedPost>, StoreError>;

    /// Inserts comments on locked posts; returns the ids of those that were inserted. Comments of authors whose accounts
    /// are not active, or are being closed by another transaction, are left out.
    fn insert_comments(&mut self, comments: &[NewComment]) -> Result<HashSet<CommentId>, StoreError>;

    /// Adds to the comment counters of locked posts, each of which occurs once.
    fn add_to_comment_counts(&mut self, changes: &[(PostId, i64)]) -> Result<(), StoreError>;

    /// Those of these fans who have reacted to the post beside them. Locks nothing.
    fn reacted_among(&mut self, fans: &[(PostId, UserId)]) -> Result<HashSet<(PostId, UserId)>, StoreError>;

    /// Sets or removes reactions, of which no two are of one fan to one post; returns those that were written. Reactions of
    /// fans whose accounts are not active, or are being closed by another transaction, are left out. The posts are locked
    /// with [`RoomBatch::lock_posts_for`].
    fn set_reactions(
        &mut self,
        reactions: &[(PostId, UserId, Option<ReactionKind>, Timestamp)],
    ) -> Result<HashSet<(PostId, UserId)>, StoreError>;

    /// Adds to the reaction counters of locked posts, each of which occurs once.
    fn add_to_reactions_of_posts(&mut self, changes: &[(PostId, ReactionCounts)]) -> Result<(), StoreError>;
}

/// Writes likes of comments. Callers must hold the lock on the post.
pub trait CommentLikeWrite {
    /// Inserts a fan's like of a comment; `false` if there is one already, or if the fan's account is not active.
    fn insert_like(&mut self, comment: CommentId, fan: UserId, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes a fan's like of a comment; `false` if there is none.
    fn delete_like(&mut self, comment: CommentId, fan: UserId) -> Result<bool, StoreError>;

    /// Adds `change` to the like counter of a comment.
    fn add_to_like_count(&mut self, comment: CommentId, change: i64) -> Result<(), StoreError>;
}
