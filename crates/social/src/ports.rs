//! What the rules of this crate need from a store. One call is one round trip to the database; a call that
//! writes reports whether it took. `A` is the card of an author, which the store joins in.

use crate::{Comment, NewComment, NewPost, Post, PostView, ReactionCounts, ReactionKind};
use terrace_kernel::{CommentId, Limit, Page, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// Reads posts.
pub trait PostRead<A> {
    /// One post that is not deleted, of an author who is active and whom `reader` may see, with `reader`'s own reaction.
    fn post(&mut self, id: PostId, reader: Option<UserId>) -> Result<Option<PostView<A>>, StoreError>;

    /// Those of these posts that are not deleted and whose authors are active, as who is signed out sees them, in no
    /// order.
    fn posts_among(&mut self, ids: &[PostId]) -> Result<Vec<PostView<A>>, StoreError>;
}

/// Writes posts.
pub trait PostWrite<A>: PostRead<A> {
    /// Creates a post.
    fn insert_post(&mut self, post: &NewPost) -> Result<(), StoreError>;

    /// The post, unless it is deleted, its author is not active, or the author and `reader` are hidden from each other;
    /// locked until the transaction ends: who locks it may change its counters, comments and reactions.
    fn lock_post(&mut self, id: PostId, reader: Option<UserId>) -> Result<Option<Post>, StoreError>;

    /// Hides a post for good; `false` when it was hidden already. Its children are removed afterwards.
    fn mark_post_deleted(&mut self, id: PostId, at: Timestamp) -> Result<bool, StoreError>;

    /// Removes up to `limit` comments, reactions and reports of a deleted post, and the post itself when none
    /// are left; `true` when nothing is left to be removed. A post that is not deleted stays as it is.
    fn remove_deleted_post(&mut self, id: PostId, limit: u32) -> Result<bool, StoreError>;
}

/// Reads comments.
pub trait CommentRead<A> {
    /// The comments of a post by authors who are active and whom `reader` may see, oldest first, after `after`.
    fn comments(
        &mut self,
        post: PostId,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Comment<A>>, StoreError>;

    /// One comment, of an author who is active and whom `reader` may see, on a post that is not deleted.
    fn comment(
        &mut self,
        post: PostId,
        id: CommentId,
        reader: Option<UserId>,
    ) -> Result<Option<Comment<A>>, StoreError>;

    /// Those of these comments that are there and whose authors are active, in no order; their posts may be deleted.
    fn comments_among(&mut self, ids: &[CommentId]) -> Result<Vec<Comment<A>>, StoreError>;
}

/// Writes comments. The post's counter changes in the same transaction.
pub trait CommentWrite<A>: CommentRead<A> {
    /// Counts one more comment, `by` somebody, on a post that is not deleted and whose author is active and not hidden
    /// from them; says its team and the new count, or `None` when there is no such post. Locks the post.
    fn count_comment(
        &mut self,
        post: PostId,
        by: UserId,
    ) -> Result<Option<(Option<TeamId>, i64)>, StoreError>;

    /// Creates a comment.
    fn insert_comment(&mut self, comment: &NewComment) -> Result<(), StoreError>;

    /// Removes `author`'s comment from a post, whose counter the caller has locked and lowers by
    /// [`CommentWrite::uncount_comment`]; `false` when there is none.
    fn delete_comment(&mut self, post: PostId, id: CommentId, author: UserId) -> Result<bool, StoreError>;

    /// Counts one comment less.
    fn uncount_comment(&mut self, post: PostId) -> Result<(), StoreError>;
}

/// Writes reactions. Callers hold the post's lock.
pub trait ReactionWrite {
    /// The fan's reaction to a post.
    fn reaction(&mut self, post: PostId, fan: UserId) -> Result<Option<ReactionKind>, StoreError>;

    /// Sets the fan's reaction to a post, or takes it back; `false` when the fan's account is not active, and so
    /// has no reactions to set.
    fn set_reaction(
        &mut self,
        post: PostId,
        fan: UserId,
        kind: Option<ReactionKind>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Adds `change` to the post's counters.
    fn add_to_reaction_counts(&mut self, post: PostId, change: &ReactionCounts) -> Result<(), StoreError>;
}

/// Writes reports.
pub trait ReportWrite {
    /// Notes that a fan reports a post; a second report by the same fan changes nothing, and neither does one by an
    /// account that is not active.
    fn insert_report(
        &mut self,
        post: PostId,
        fan: UserId,
        reason: &str,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
