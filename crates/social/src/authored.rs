//! What one fan has written, for who wants it all: the fan, who takes it along, and the service, once the fan is
//! gone. One call is one round trip where it reads; what removes takes a bounded portion.

use crate::{Comment, Post, ReactionKind};
use terrace_kernel::{CommentId, PostId, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// A fan's reaction to a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReaction {
    /// The post.
    pub post: PostId,
    /// What they feel.
    pub kind: ReactionKind,
    /// Since when.
    pub created_at: Timestamp,
}

/// A fan's report of a post.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnReport {
    /// The post.
    pub post: PostId,
    /// Why they reported it.
    pub reason: String,
    /// When.
    pub created_at: Timestamp,
}

/// Reads what one fan has written, in an order that never changes, up to `limit` rows after `after`.
pub trait AuthoredRead {
    /// Their posts that are not deleted, newest first.
    fn posts_of(
        &mut self,
        author: UserId,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<Post>, StoreError>;

    /// Their comments, in the order of their ids.
    fn comments_of(
        &mut self,
        author: UserId,
        limit: u32,
        after: Option<CommentId>,
    ) -> Result<Vec<Comment<()>>, StoreError>;

    /// Their reactions, in the order of the posts' ids.
    fn reactions_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<PostId>,
    ) -> Result<Vec<OwnReaction>, StoreError>;

    /// Their reports, in the order of the posts' ids.
    fn reports_of(
        &mut self,
        fan: UserId,
        limit: u32,
        after: Option<PostId>,
    ) -> Result<Vec<OwnReport>, StoreError>;
}

/// A portion of rows that went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased<T> {
    /// How many were found; fewer than the limit when none are left.
    pub found: u32,
    /// Those whose end others should hear of.
    pub told: Vec<T>,
}

/// A post that was marked deleted, or whose reactions are fewer now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedPost {
    /// The post.
    pub post: PostId,
    /// The team whose room it is in.
    pub team: Option<TeamId>,
}

/// A comment that went from a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedComment {
    /// The post.
    pub post: PostId,
    /// The team whose room that is in.
    pub team: Option<TeamId>,
    /// The comment.
    pub comment: CommentId,
}

/// Removes what a fan who is gone has left, up to `limit` rows at a time, and lowers the counters of other
/// people's posts with them. Of posts that are deleted themselves nothing is told.
pub trait ErasureWrite {
    /// Marks posts of the author as deleted.
    fn erase_posts(
        &mut self,
        author: UserId,
        limit: u32,
        at: Timestamp,
    ) -> Result<Erased<ErasedPost>, StoreError>;

    /// Removes comments of the author.
    fn erase_comments(&mut self, author: UserId, limit: u32) -> Result<Erased<ErasedComment>, StoreError>;

    /// Removes reactions of the fan.
    fn erase_reactions(&mut self, fan: UserId, limit: u32) -> Result<Erased<ErasedPost>, StoreError>;

    /// Removes reports by the fan; says how many.
    fn erase_reports(&mut self, fan: UserId, limit: u32) -> Result<u32, StoreError>;
}
