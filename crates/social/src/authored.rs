//! Content written by one fan, for the fan's export and for erasure after the account was deleted. Each read is one
//! round trip; each removal handles a bounded batch.

use crate::{Comment, Post, ReactionKind};
use terrace_kernel::{CommentId, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// A fan's reaction to a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReaction {
    /// Id of the post.
    pub post: PostId,
    /// Kind of the reaction.
    pub kind: ReactionKind,
    /// When the fan reacted.
    pub created_at: Timestamp,
}

/// A fan's report of a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReport {
    /// Id of the post.
    pub post: PostId,
    /// The reason given in the report.
    pub reason: String,
    /// When the fan reported it.
    pub created_at: Timestamp,
}

/// Reads content written by one fan, in a stable order, up to `limit` rows after `after`.
pub trait AuthoredRead {
    /// The fan's posts that are not deleted, newest first.
    fn posts_of(
        &mut self,
        author: UserId,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<Post>, StoreError>;

    /// The fan's comments, ordered by id.
    fn comments_of(
        &mut self,
        author: UserId,
        limit: u32,
        after: Option<CommentId>,
    ) -> Result<Vec<Comment<()>>, StoreError>;

    /// The fan's reactions, ordered by the id of the post.
    fn reactions_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<PostId>,
    ) -> Result<Vec<OwnReaction>, StoreError>;

    /// The fan's reports, ordered by the id of the post.
    fn reports_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<PostId>,
    ) -> Result<Vec<OwnReport>, StoreError>;

    /// The fan's likes, ordered by the id of the comment.
    fn likes_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<CommentId>,
    ) -> Result<Vec<OwnLike>, StoreError>;

    /// The fan's reports of comments, ordered by the id of the comment.
    fn comment_reports_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<CommentId>,
    ) -> Result<Vec<OwnCommentReport>, StoreError>;
}

/// A fan's own like of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnLike {
    /// Id of the post.
    pub post: PostId,
    /// Id of the comment.
    pub comment: CommentId,
    /// When it was set.
    pub created_at: Timestamp,
}

/// A fan's own report of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCommentReport {
    /// Id of the post.
    pub post: PostId,
    /// Id of the comment.
    pub comment: CommentId,
    /// The reason given in the report.
    pub reason: String,
    /// When it was reported.
    pub created_at: Timestamp,
}

/// A batch of removed rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased<T> {
    /// How many rows were found; fewer than the limit if none are left.
    pub found: u32,
    /// The removed rows for which an event must be published.
    pub reported: Vec<T>,
}

/// A post that was marked deleted, or that lost a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedPost {
    /// Id of the post.
    pub post: PostId,
    /// The team whose room the post is in.
    pub team: Option<TeamId>,
}

/// A comment that was removed from a post, or that lost a like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedComment {
    /// Id of the post.
    pub post: PostId,
    /// The team whose room the post is in.
    pub team: Option<TeamId>,
    /// Id of the comment.
    pub comment: CommentId,
}

/// Removes the content of a deleted account, up to `limit` rows at a time, and decrements the counters of other fans'
/// posts. For posts that are already deleted, no event is published.
pub trait ErasureWrite {
    /// Marks posts by the author as deleted.
    fn erase_posts(
        &mut self,
        author: UserId,
        limit: u32,
        at: Timestamp,
    ) -> Result<Erased<ErasedPost>, StoreError>;

    /// Removes comments by the author.
    fn erase_comments(&mut self, author: UserId, limit: u32) -> Result<Erased<ErasedComment>, StoreError>;

    /// Removes reactions by the fan.
    fn erase_reactions(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedPost>, StoreError>;

    /// Removes likes of comments by the fan.
    fn erase_likes(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedComment>, StoreError>;

    /// Removes reports by the fan; returns how many.
    fn erase_reports(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError>;

    /// Removes reports of posts and comments by the author, which keep their texts; returns how many.
    fn erase_reports_on(&mut self, author: UserId, limit: u32) -> Result<u32, StoreError>;
}
